//! The table, a row a kernel.

use crate::data::{below, bytes, csr, doubles, floats, permutation, random, words};
use crate::row::{Row, input, output, row, update, value};

/// Numbers of a stream: more than a cache holds.
const STREAM: usize = 1 << 26;
/// Elements where there is more to do for each.
const MANY: usize = 1 << 24;
/// Threads that do much.
const SOME: usize = 1 << 20;
/// Threads that do very much.
const FEW: usize = 1 << 18;
/// Blocks of kernels whose threads go through memory in strides.
const BLOCKS: u32 = 2048;
/// Columns and rows of large images, and of smaller ones.
const LARGE: (usize, usize) = (8192, 4096);
const SMALL: (usize, usize) = (2048, 1024);
/// Threads of a block in two dimensions.
const FLAT: (u32, u32) = (32, 8);
/// Side of a cube.
const SIDE: usize = 400;
const CUBE: usize = SIDE * SIDE * SIDE;
/// Rows and columns of matrices.
const MATRIX: usize = 1024;
const TILED: usize = 2048;
const BODIES: usize = 1 << 15;

const fn area((width, height): (usize, usize)) -> usize {
    width * height
}

/// Every kernel, by field; those with raw pointers last.
pub fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = [
        streams(),
        reductions(),
        blocks(),
        stencils(),
        graphs(),
        dense(),
        particles(),
        fractals(),
        finance(),
        hashes(),
        sorting(),
        tensors(),
        signals(),
        sequences(),
        images(),
        numbers(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let shared = [
        ("matmul_tiled", "matmul_tiled_safe"),
        ("transpose", "transpose_safe"),
        ("reduce", "reduce_safe"),
        ("scan", "scan_safe"),
        ("histogram", "histogram_safe"),
    ];
    let shared = shared.map(|(with_unsafe, safe)| named(&rows, with_unsafe).map(|row| row.shared(safe)));
    let raw = [
        ("copy", "copy_raw"),
        ("saxpy", "saxpy_raw"),
        ("transpose", "transpose_raw"),
        ("reduce", "reduce_raw"),
        ("stencil_3d", "stencil_3d_raw"),
        ("matmul", "matmul_raw"),
        ("dgemm", "dgemm_raw"),
        ("nbody", "nbody_raw"),
    ];
    let raw = raw.map(|(safe, raw)| named(&rows, safe).map(|row| row.raw(raw)));
    rows.extend(shared.into_iter().chain(raw).flatten());
    rows
}

fn named<'r>(rows: &'r [Row], name: &str) -> Option<&'r Row> {
    rows.iter().find(|row| row.name == name)
}

fn streams() -> Vec<Row> {
    let of = |name| row("streams", name).cover(STREAM, 256);
    vec![
        of("copy").moves(8 * STREAM).takes(|| vec![input(floats(STREAM, -1.0, 1.0, 1)), output::<f32>(STREAM)]),
        of("saxpy")
            .moves(12 * STREAM)
            .flops(2 * STREAM)
            .within(1e-6)
            .takes(|| vec![value(2.0_f32), input(floats(STREAM, -1.0, 1.0, 2)), update(floats(STREAM, -1.0, 1.0, 3))]),
        of("triad").moves(12 * STREAM).flops(2 * STREAM).within(1e-6).takes(|| {
            let (x, y) = (floats(STREAM, -1.0, 1.0, 4), floats(STREAM, -1.0, 1.0, 5));
            vec![value(3.0_f32), input(x), input(y), output::<f32>(STREAM)]
        }),
        of("transpose").cover_2d(LARGE, FLAT, 4).moves(8 * area(LARGE)).takes(|| {
            let from = floats(area(LARGE), -1.0, 1.0, 6);
            let (width, height) = (LARGE.0 as u32, LARGE.1 as u32);
            vec![input(from), value(width), value(height), output::<f32>(area(LARGE)).plane(LARGE.1)]
        }),
    ]
}

fn reductions() -> Vec<Row> {
    let of = |name| row("reductions", name).blocks(BLOCKS, 256);
    vec![
        of("reduce")
            .moves(4 * STREAM)
            .flops(STREAM)
            .within(1e-5)
            .takes(|| vec![input(floats(STREAM, 0.0, 1.0, 10)), output::<f32>(BLOCKS as usize)]),
        of("dot").moves(4 * STREAM).flops(STREAM).within(1e-5).takes(|| {
            let (x, y) = (floats(STREAM / 2, 0.0, 1.0, 11), floats(STREAM / 2, 0.0, 1.0, 12));
            vec![input(x), input(y), output::<f32>(BLOCKS as usize)]
        }),
        of("largest").moves(4 * STREAM).takes(|| vec![input(floats(STREAM, -9.0, 9.0, 13)), update(vec![0_u32])]),
        of("scan").cover(STREAM, 256).moves(8 * STREAM).takes(|| vec![input(words(STREAM, 14)), output::<u32>(STREAM)]),
        of("histogram").moves(STREAM).takes(|| vec![input(bytes(STREAM, 256, 15)), update(vec![0_u32; 256])]),
        of("histogram_global")
            .cover(MANY, 256)
            .moves(4 * MANY)
            .takes(|| vec![input(words(MANY, 16)), update(vec![0_u32; 1 << 16])]),
    ]
}

/// Block algorithms beside CUB's: 256 threads with four items each, or with one where a block repeats its work.
fn blocks() -> Vec<Row> {
    let of = |name| row("block algorithms", name);
    let tiles = |name| of(name).cover(STREAM / 4, 256);
    let rounds = |name| of(name).cover(MANY, 256);
    vec![
        tiles("block_reduce")
            .moves(4 * STREAM)
            .within(1e-5)
            .takes(|| vec![input(floats(STREAM, 0.0, 1.0, 110)), output::<f32>(STREAM / 1024)]),
        rounds("block_reduce_rounds")
            .within(1e-4)
            .takes(|| vec![input(floats(MANY, 0.0, 1.0, 111)), output::<f32>(MANY / 256)]),
        tiles("block_scan").moves(8 * STREAM).takes(|| vec![input(words(STREAM, 112)), output::<u32>(STREAM)]),
        rounds("block_scan_rounds").takes(|| vec![input(words(MANY, 113)), output::<u32>(MANY)]),
        tiles("block_exchange")
            .moves(8 * STREAM)
            .within(1e-6)
            .takes(|| vec![input(floats(STREAM, -1.0, 1.0, 114)), output::<f32>(STREAM)]),
        tiles("block_radix_sort").moves(8 * STREAM).takes(|| vec![input(words(STREAM, 115)), output::<u32>(STREAM)]),
        tiles("block_radix_sort_pairs").moves(16 * STREAM).takes(|| {
            let (keys, values) = (input(words(STREAM, 116)), input(words(STREAM, 117)));
            vec![keys, values, output::<u32>(STREAM), output::<u32>(STREAM)]
        }),
        tiles("block_merge_sort").moves(8 * STREAM).takes(|| vec![input(words(STREAM, 118)), output::<u32>(STREAM)]),
        of("block_histogram")
            .blocks(BLOCKS, 256)
            .moves(STREAM)
            .takes(|| vec![input(bytes(STREAM, 256, 119)), update(vec![0_u32; 256])]),
        tiles("block_differences").moves(8 * STREAM).takes(|| vec![input(words(STREAM, 120)), output::<u32>(STREAM)]),
    ]
}

fn stencils() -> Vec<Row> {
    let of = |name| row("stencils", name);
    vec![
        of("stencil_1d")
            .cover(STREAM, 256)
            .moves(8 * STREAM)
            .flops(13 * STREAM)
            .within(1e-5)
            .takes(|| vec![input(floats(STREAM, 0.0, 1.0, 20)), output::<f32>(STREAM)]),
        of("stencil_2d").cover_2d(LARGE, FLAT, 1).moves(8 * area(LARGE)).flops(6 * area(LARGE)).within(1e-5).takes(
            || {
                let from = floats(area(LARGE), 0.0, 1.0, 21);
                vec![input(from), output::<f32>(area(LARGE)).plane(LARGE.0)]
            },
        ),
        of("stencil_3d")
            .cover(CUBE, 256)
            .moves(8 * CUBE)
            .flops(8 * CUBE)
            .within(1e-5)
            .takes(|| vec![input(floats(CUBE, 0.0, 1.0, 22)), value(SIDE), output::<f32>(CUBE)]),
        of("life")
            .cover_2d(LARGE, FLAT, 1)
            .moves(2 * area(LARGE))
            .takes(|| vec![input(bytes(area(LARGE), 2, 23)), output::<u8>(area(LARGE)).plane(LARGE.0)]),
    ]
}

fn graphs() -> Vec<Row> {
    let of = |name| row("gather and scatter", name).cover(MANY, 256).moves(12 * MANY);
    let sparse = |name| row("sparse and graphs", name).cover(SOME, 256);
    vec![
        of("gather").takes(|| {
            let indices = below(MANY, MANY as u32, 31);
            vec![input(floats(MANY, -1.0, 1.0, 30)), input(indices), output::<f32>(MANY)]
        }),
        // Each index once: which of two values stays is not said.
        of("scatter")
            .takes(|| vec![input(floats(MANY, -1.0, 1.0, 32)), input(permutation(MANY)), update(vec![0.0_f32; MANY])]),
        // 24 entries a row in the mean.
        sparse("spmv").moves((24 * 8 + 12) * SOME).flops(24 * 2 * SOME).within(1e-5).takes(|| {
            let (offsets, columns) = csr(SOME, SOME as u32, (8, 40), 33);
            let values = floats(columns.len(), 0.0, 1.0, 34);
            let x = floats(SOME, 0.0, 1.0, 35);
            vec![input(offsets), input(columns), input(values), input(x), output::<f32>(SOME)]
        }),
        sparse("bfs").takes(|| {
            let (offsets, edges) = csr(SOME, SOME as u32, (4, 12), 36);
            let levels: Vec<u32> =
                below(SOME, 4, 37).into_iter().map(|level| if level == 3 { u32::MAX } else { level }).collect();
            vec![input(offsets), input(edges), value(2_u32), input(levels), output::<u32>(SOME)]
        }),
    ]
}

fn dense() -> Vec<Row> {
    let of = |name, n: usize| row("dense", name).cover_2d((n, n), (16, 16), 1).within(1e-4);
    vec![
        of("matmul", MATRIX).flops(2 * MATRIX.pow(3)).takes(|| {
            let [a, b] = [40, 41].map(|seed| input(floats(MATRIX * MATRIX, 0.0, 1.0, seed)));
            vec![a, b, value(MATRIX), output::<f32>(MATRIX * MATRIX).plane(MATRIX)]
        }),
        of("matmul_tiled", TILED).flops(2 * TILED.pow(3)).takes(|| {
            let [a, b] = [42, 43].map(|seed| input(floats(TILED * TILED, 0.0, 1.0, seed)));
            vec![a, b, value(TILED), output::<f32>(TILED * TILED).plane(TILED)]
        }),
        of("dgemm", MATRIX).flops_f64(2 * MATRIX.pow(3)).within(1e-12).takes(|| {
            let [a, b, c] = [44, 45, 46].map(|seed| doubles(MATRIX * MATRIX, 0.0, 1.0, seed));
            vec![value(MATRIX), value(0.75_f64), input(a), input(b), value(0.5_f64), update(c).plane(MATRIX)]
        }),
        // 1,024 columns.
        of("gemv", MATRIX).cover(STREAM >> 10, 256).moves(4 * STREAM).flops(2 * STREAM).takes(|| {
            vec![input(floats(STREAM, 0.0, 1.0, 47)), input(floats(1 << 10, 0.0, 1.0, 48)), output::<f32>(STREAM >> 10)]
        }),
    ]
}

fn particles() -> Vec<Row> {
    let of = |name| row("particles", name);
    vec![
        of("nbody")
            .cover(BODIES, 256)
            .flops(20 * BODIES * BODIES)
            .within(1e-3)
            .takes(|| vec![input(floats(4 * BODIES, 0.0, 1.0, 50)).by(4), output::<f32>(4 * BODIES).by(4)]),
        of("kepler")
            .cover(SOME, 256)
            .within(1e-12)
            .takes(|| vec![value(0.3_f64), input(doubles(SOME, 0.1, 6.0, 51)), output::<f64>(SOME)]),
    ]
}

fn fractals() -> Vec<Row> {
    // A rounding can decide in which iteration a point leaves.
    let of = |name, size| row("fractals and rays", name).cover_2d(size, FLAT, 1).within(1e-3).but_for(0.005);
    vec![
        of("mandelbrot", LARGE).takes(|| vec![value(LARGE.0), value(LARGE.1), output::<u32>(area(LARGE))]),
        of("julia", SMALL).takes(|| {
            vec![value(SMALL.0), value(SMALL.1), value(-0.8_f64), value(0.156_f64), output::<u32>(area(SMALL))]
        }),
        of("raymarch", SMALL).takes(|| vec![value(SMALL.0), value(SMALL.1), output::<f32>(area(SMALL))]),
    ]
}

fn finance() -> Vec<Row> {
    let of = |name, n| row("finance and Monte Carlo", name).cover(n, 256).within(1e-3);
    vec![
        of("black_scholes", MANY).moves(20 * MANY).takes(|| {
            let spots = floats(MANY, 5.0, 30.0, 60);
            let strikes = floats(MANY, 1.0, 100.0, 61);
            let years = floats(MANY, 0.25, 10.0, 62);
            let options = [value(0.02_f32), value(0.3_f32), output::<f32>(MANY), output::<f32>(MANY)];
            [input(spots), input(strikes), input(years)].into_iter().chain(options).collect()
        }),
        of("monte_carlo_pi", FEW).but_for(0.001).takes(|| vec![value(1024_u32), output::<u32>(FEW)]),
        of("monte_carlo_asian", FEW)
            .but_for(0.001)
            .takes(|| vec![value(64_u32), value(100.0_f32), value(1e-4_f32), value(0.02_f32), output::<f32>(FEW)]),
    ]
}

fn hashes() -> Vec<Row> {
    let of = |name| row("hashes and ciphers", name).cover(SOME, 256);
    vec![
        of("sha256").moves(96 * SOME).takes(|| vec![input(words(16 * SOME, 70)).by(16), output::<u32>(8 * SOME).by(8)]),
        of("chacha20").moves(128 * SOME).takes(|| {
            let plain = input(words(16 * SOME, 73)).by(16);
            vec![input(words(8, 71)), input(words(3, 72)), plain, output::<u32>(16 * SOME).by(16)]
        }),
        of("blake2s")
            .moves(96 * SOME)
            .takes(|| vec![input(words(16 * SOME, 74)).by(16), output::<u32>(8 * SOME).by(8)]),
        of("fnv1a").moves(72 * SOME).takes(|| vec![input(bytes(64 * SOME, 256, 75)).by(64), output::<u64>(SOME)]),
        of("crc32")
            .moves(68 * SOME)
            .takes(|| vec![input(crc_table()), input(bytes(64 * SOME, 256, 76)).by(64), output::<u32>(SOME)]),
    ]
}

/// For each byte what it adds to a CRC-32 with the reversed polynomial of IEEE 802.3.
fn crc_table() -> Vec<u32> {
    let step = |sum: u32| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
    (0..256).map(|byte| (0..8).fold(byte, |sum, _| step(sum))).collect()
}

fn sorting() -> Vec<Row> {
    let of = |name| row("sorting and searching", name);
    vec![
        of("bitonic_step").cover(STREAM, 256).moves(8 * STREAM).takes(|| {
            vec![input(words(STREAM, 80)), value(1_usize << 10), value(1_usize << 13), output::<u32>(STREAM)]
        }),
        of("binary_search").cover(MANY, 256).takes(|| {
            let mut sorted = words(SOME, 81);
            sorted.sort_unstable();
            vec![input(sorted), input(words(MANY, 82)), output::<u32>(MANY)]
        }),
    ]
}

fn tensors() -> Vec<Row> {
    let of = |name| row("neural networks", name).cover(MANY / 64, 256).moves(8 * MANY).within(1e-4);
    vec![
        of("softmax").takes(|| vec![input(floats(MANY, -4.0, 4.0, 90)).by(64), output::<f32>(MANY).by(64)]),
        of("softmax_block")
            .blocks((MANY >> 10) as u32, 256)
            .takes(|| vec![input(floats(MANY, -4.0, 4.0, 91)), output::<f32>(MANY).plane(1 << 10)]),
        of("layer_norm").takes(|| {
            let [scale, shift] = [92, 93].map(|seed| input(floats(64, 0.5, 1.5, seed)));
            vec![input(floats(MANY, -4.0, 4.0, 94)).by(64), scale, shift, output::<f32>(MANY).by(64)]
        }),
        of("gelu")
            .cover(STREAM, 256)
            .moves(8 * STREAM)
            .takes(|| vec![input(floats(STREAM, -4.0, 4.0, 95)), output::<f32>(STREAM)]),
    ]
}

fn signals() -> Vec<Row> {
    let of = |name| row("convolutions and transforms", name).within(1e-4);
    vec![
        of("convolve_1d").cover(MANY, 256).moves(8 * MANY).flops(64 * MANY).takes(|| {
            let x = input(floats(MANY + 31, -1.0, 1.0, 100));
            vec![x, input(floats(32, 0.0, 1.0, 101)), output::<f32>(MANY)]
        }),
        of("convolve_2d").cover_2d(LARGE, FLAT, 1).moves(8 * area(LARGE)).flops(50 * area(LARGE)).takes(|| {
            let from = input(floats((LARGE.0 + 4) * (LARGE.1 + 4), -1.0, 1.0, 102));
            vec![from, input(floats(25, 0.0, 1.0, 103)), output::<f32>(area(LARGE)).plane(LARGE.0)]
        }),
        of("fft_16")
            .cover(SOME, 256)
            .moves(256 * SOME)
            .flops(320 * SOME)
            .takes(|| vec![input(floats(32 * SOME, -1.0, 1.0, 104)).by(32), output::<f32>(32 * SOME).by(32)]),
        of("fft_stage").cover(MANY, 256).moves(16 * MANY).takes(|| {
            let from = input(floats(2 * MANY, -1.0, 1.0, 105)).by(2);
            vec![from, value(1_usize << 10), output::<f32>(2 * MANY).by(2)]
        }),
    ]
}

fn sequences() -> Vec<Row> {
    let of = |name| row("strings and codes", name);
    vec![
        of("common_subsequence").cover(FEW, 256).takes(|| {
            let [a, b] = [110, 111].map(|seed| input(bytes(32 * FEW, 4, seed)).by(32));
            vec![a, b, output::<u32>(FEW)]
        }),
        of("edit_distance").cover(STREAM, 256).moves(14 * STREAM).takes(|| {
            let [a, b] = [112, 113].map(|seed| input(bytes(STREAM, 4, seed)));
            let [previous, before] = [114, 115].map(|seed| input(below(STREAM, 1000, seed)));
            vec![a, b, value(STREAM), previous, before, output::<u32>(STREAM)]
        }),
        of("string_search")
            .cover(STREAM, 256)
            .moves(2 * STREAM)
            .takes(|| vec![input(bytes(STREAM, 4, 116)), input(bytes(8, 4, 117)), output::<u8>(STREAM)]),
        of("prefix_decode").cover(SOME, 256).takes(|| {
            // Thirty-two codes of at most eight bits each, and what the last words are read with.
            let offsets: Vec<u32> = (0..SOME as u32)
                .map(|thread| 256 * thread)
                .zip(below(SOME, 32, 119))
                .map(|(at, more)| at + more)
                .collect();
            vec![input(words(8 * SOME + 4, 118)), input(prefix_code()), input(offsets), output::<u8>(32 * SOME).by(32)]
        }),
    ]
}

/// A complete prefix code of one word of two bits, two each of three to seven, and 68 of eight: for each byte, whose
/// lowest bit comes first, the symbol and above it the word's length.
fn prefix_code() -> Vec<u16> {
    let lengths = [2].into_iter().chain((3..8).flat_map(|length| [length; 2])).chain([8; 68]);
    let entry = |(symbol, length): (usize, u16)| symbol as u16 | length << 8;
    let codes = lengths.enumerate().flat_map(|word| std::iter::repeat_n(entry(word), 1 << (8 - word.1)));
    let by_first_bit: Vec<u16> = codes.collect();
    (0..=u8::MAX).map(|byte| by_first_bit[usize::from(byte.reverse_bits())]).collect()
}

fn images() -> Vec<Row> {
    let of = |name| row("images", name).cover_2d(LARGE, FLAT, 1);
    vec![
        of("rgb_to_gray")
            .cover(STREAM / 2, 256)
            .moves(2 * STREAM)
            .takes(|| vec![input(bytes(3 * STREAM / 2, 256, 120)).by(3), output::<u8>(STREAM / 2)]),
        of("box_blur").moves(8 * area(LARGE)).within(1e-5).takes(|| {
            let from = floats(area(LARGE), 0.0, 1.0, 121);
            vec![input(from), output::<f32>(area(LARGE)).plane(LARGE.0)]
        }),
        of("sobel")
            .moves(2 * area(LARGE))
            .takes(|| vec![input(bytes(area(LARGE), 256, 122)), output::<u8>(area(LARGE)).plane(LARGE.0)]),
    ]
}

fn numbers() -> Vec<Row> {
    let of = |name| row("integers", name);
    vec![
        of("xorshift").cover(SOME, 256).takes(|| {
            let seeds: Vec<u64> = random(130).take(SOME).map(|bits| bits | 1).collect();
            vec![input(seeds), value(512_u32), output::<u64>(SOME)]
        }),
        of("gcd")
            .cover(4 * SOME, 256)
            .takes(|| vec![input(words(4 * SOME, 131)), input(words(4 * SOME, 132)), output::<u32>(4 * SOME)]),
        of("hamming").cover(MANY, 256).moves(20 * MANY).takes(|| {
            let [a, b] = [133, 134].map(|seed| input(random(seed).take(MANY).collect::<Vec<u64>>()));
            vec![a, b, output::<u32>(MANY)]
        }),
        of("collatz").cover(SOME, 256).takes(|| vec![value(1_000_000_u64), output::<u32>(SOME)]),
        of("primes").cover(FEW, 256).takes(|| vec![value(100_000_000_u32), output::<u8>(FEW)]),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::row::Style;

    #[test]
    fn every_kernel_has_a_row_of_its_own_and_a_grid() {
        let rows = rows();
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len());
        assert!(rows.iter().filter(|row| row.style == Style::Safe).count() >= 40);
        assert_eq!(rows.iter().filter(|row| row.style == Style::Raw).count(), 8);
        for Row { name, blocks, threads, .. } in &rows {
            assert!(blocks.0 * blocks.1 > 100 && threads.0 * threads.1 == 256, "{name}");
            assert!(blocks.1 <= 65_535, "{name}");
        }
    }

    #[test]
    fn the_prefix_code_is_complete_and_no_word_begins_another() {
        let table = prefix_code();
        assert_eq!(table.len(), 256);
        for (byte, entry) in table.iter().enumerate() {
            let mask = (1 << (entry >> 8)) - 1;
            let begins_so = table.iter().enumerate().filter(|(other, _)| other & mask == byte & mask);
            assert!(begins_so.clone().all(|(_, other)| other == entry), "{byte:08b}");
            assert_eq!(begins_so.count(), 1 << (8 - (entry >> 8)));
        }
    }

    #[test]
    fn the_table_of_the_checksum_is_that_of_the_standard() {
        let table = crc_table();
        assert_eq!((table[1], table[255]), (0x7707_3096, 0x2d02_ef8d));
        let sum = b"123456789"
            .iter()
            .fold(u32::MAX, |sum, byte| table[((sum ^ u32::from(*byte)) & 0xff) as usize] ^ (sum >> 8));
        assert_eq!(!sum, 0xcbf4_3926);
    }
}
