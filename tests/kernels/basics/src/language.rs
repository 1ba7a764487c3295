//! What ordinary Rust is made of: traits, closures, iterators, enums, text.

use core::fmt::Write;
use core::hash::{Hash, Hasher};

use ptx::prelude::*;

trait Shape {
    fn area(&self) -> f32;
    fn name(&self) -> &'static str {
        "shape"
    }
}

struct Square(f32);
struct Disc {
    radius: f32,
}

impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
    fn name(&self) -> &'static str {
        "square"
    }
}

impl Shape for Disc {
    fn area(&self) -> f32 {
        3.25 * self.radius * self.radius
    }
}

/// Calls through `dyn`, chosen at run time.
#[inline]
pub fn dynamic(seed: u32) -> u32 {
    let (square, disc) = (Square((seed % 17) as f32), Disc { radius: (seed % 5) as f32 });
    let shapes: [&dyn Shape; 3] = [&square, &disc, &square];
    let picked = shapes[(seed % 3) as usize];
    picked.area() as u32 + picked.name().len() as u32
}

/// Closures by reference, by value and as function pointers.
#[inline]
pub fn closures(seed: u32) -> u32 {
    fn twice(f: &dyn Fn(u32) -> u32, x: u32) -> u32 {
        f(f(x))
    }
    fn compose<A: Fn(u32) -> u32, B: Fn(u32) -> u32>(a: A, b: B) -> impl Fn(u32) -> u32 {
        move |x| b(a(x))
    }
    let mut count = 0;
    let mut counted = |x: u32| {
        count += 1;
        x.wrapping_mul(seed | 1)
    };
    let sum = counted(3).wrapping_add(counted(5));
    let functions: [fn(u32) -> u32; 2] = [u32::swap_bytes, u32::reverse_bits];
    let chained = compose(|x| x ^ 0x55, functions[(seed & 1) as usize]);
    twice(&chained, sum) ^ count
}

/// Iterator chains, slices and sorting.
#[inline]
pub fn iterators(seed: u32) -> u32 {
    let mut values = [0_u32; 24];
    let mut state = seed;
    values.iter_mut().for_each(|value| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *value = state >> 8;
    });
    values.sort_unstable();
    let windows = values.windows(3).filter(|w| w[2] - w[0] > 5).count() as u32;
    let found = values.binary_search(&values[7]).map_or(0, |at| at as u32);
    let zipped: u32 = values.chunks(5).zip((0..).step_by(3)).map(|(chunk, n)| chunk[0] ^ n).fold(0, u32::wrapping_add);
    let text = values.iter().rev().skip_while(|v| **v % 3 != 0).take(4).copied().max().unwrap_or(1);
    windows ^ found ^ zipped ^ text
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Token {
    Number(u32),
    Plus,
    Times,
    Open { depth: u8 },
    End,
}

/// Enums with data, `match`, `Option`, `Result` and `?`.
#[inline]
pub fn enums(seed: u32) -> u32 {
    fn token(n: u32) -> Result<Token, u32> {
        Ok(match n % 6 {
            0 | 1 => Token::Number(n),
            2 => Token::Plus,
            3 => Token::Times,
            4 => Token::Open { depth: (n >> 3) as u8 },
            _ if n.is_multiple_of(5) => Token::End,
            _ => return Err(n),
        })
    }
    fn evaluate(seed: u32) -> Result<u32, u32> {
        let mut value = seed;
        for n in seed..seed.saturating_add(9) {
            match token(n)? {
                Token::Number(n) => value = value.wrapping_add(n),
                Token::Plus => value = value.wrapping_add(1),
                Token::Times => value = value.wrapping_mul(3),
                Token::Open { depth } if depth > 100 => value ^= u32::from(depth),
                Token::Open { .. } => {}
                Token::End => break,
            }
        }
        Ok(value)
    }
    evaluate(seed).unwrap_or_else(|error| error ^ 0xffff)
}

/// A buffer of text on the stack.
struct Text {
    bytes: [u8; 64],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(core::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// `core::fmt`, strings and parsing.
#[inline]
pub fn text(seed: u32) -> u32 {
    let mut text = Text { bytes: [0; 64], len: 0 };
    // No floats: core's exact decimal conversion keeps ptxas busy for minutes.
    let failed = write!(text, "{seed} {:#06x} {:?} {:>5}|", seed & 0xfff, Some(seed % 3), "ab").is_err();
    let written = core::str::from_utf8(&text.bytes[..text.len]).unwrap_or("?");
    let number = written.split(' ').next().and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
    let sum =
        written.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c as u32).fold(0, |sum, c| sum * 31 % 65_521 + c);
    number ^ sum ^ u32::from(failed)
}

/// FNV-1a.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// `Hash` of nested things.
#[inline]
pub fn hash(seed: u32) -> u32 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    (seed, [Token::Number(seed), Token::End], Some(i128::from(seed) << 70), "text").hash(&mut hasher);
    (hasher.finish() >> 16) as u32
}

/// Recursion, so that there is a real call stack.
#[inline]
pub fn recursion(seed: u32) -> u32 {
    fn ackermann(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    ackermann(2, seed % 6)
}

/// Recursion that needs more stack than the driver's default of 1,024 bytes.
#[inline]
pub fn depth(seed: u32) -> u32 {
    fn down(n: u32, above: &[u32; 16]) -> u32 {
        let mut frame = *above;
        frame[(n % 16) as usize] ^= n;
        match n {
            0 => frame.iter().fold(0, |hash, value| hash.rotate_left(5) ^ value),
            n => down(n - 1, &frame).wrapping_add(frame[(n % 7) as usize]),
        }
    }
    down(30 + seed % 10, &[seed; 16])
}

/// Arrays on the stack of functions that are called by pointer, in loops that all threads go through alike.
#[inline]
pub fn rotation(seed: u32) -> u32 {
    fn left<const BY: usize>(seed: u32) -> u32 {
        let mut values: [u64; 600] = core::array::from_fn(|n| u64::from(seed) + n as u64);
        values.rotate_left(BY);
        values.iter().fold(0, |sum: u32, value| sum.wrapping_mul(31).wrapping_add(*value as u32))
    }
    let functions: [fn(u32) -> u32; 2] = [left::<42>, left::<558>];
    functions[(seed & 1) as usize](seed)
}

/// Powers that overflow, of which what follows is computed before it is known whether there is one.
#[inline]
pub fn powers(seed: u32) -> u32 {
    let base = u128::from(seed) << (seed % 90) | u128::from(seed);
    let float = base.saturating_pow(seed & 3) as f32;
    let rest = (base as i128).wrapping_neg().saturating_pow(seed >> 2 & 3) % 10;
    let left = base.checked_pow(seed & 7).map_or(0.5, |power| power as f64 % 3.0);
    float.to_bits().wrapping_mul(31).wrapping_add(rest as u32).wrapping_mul(31).wrapping_add((left * 2.0) as u32)
}

/// Minima and maxima of three, where one or more are negated.
#[inline]
pub fn extremes(seed: u32) -> u32 {
    let [a, b, c] = [seed, seed.rotate_left(11) ^ 0x8000_0001, seed.wrapping_mul(0x9e37_79b9)].map(|bits| bits as i32);
    let mut most = c;
    for step in 0..4 {
        most = most.max(b.wrapping_sub(a.wrapping_mul(step)).max(step.wrapping_sub(b)));
    }
    let all = [
        a.max(b.wrapping_neg()).max(c),
        c.min(a.wrapping_neg().min(b.wrapping_neg())),
        c.max(a.wrapping_abs()).max(b),
        c.min(b).min(a.wrapping_abs().wrapping_neg()),
        most,
    ];
    all.iter().fold(0, |hash: u32, value| hash.wrapping_mul(31).wrapping_add(*value as u32))
}

/// Choices between zeros of both signs.
#[inline]
pub fn zeros(seed: u32) -> u32 {
    let [a, b] = [seed >> 2, seed >> 4].map(|bits| f32::from((bits & 3) as u8));
    let (a, b) = (if seed & 1 == 0 { a } else { -a }, if seed & 2 == 0 { f64::from(b) } else { f64::from(-b) });
    let all = [
        if a < 0.0 { a } else { 0.0 },
        if a > -0.0 { a } else { -0.0 },
        if a < 0.0 { 0.0 } else { a },
        if b < 0.0 { b } else { 0.0 } as f32,
        if f64::from(a) > b { f64::from(a) } else { b } as f32,
        if b > f64::from(a) { f64::from(a) } else { b } as f32,
    ];
    all.iter().fold(0, |hash: u32, value| hash.wrapping_mul(31).wrapping_add(value.to_bits()))
}

/// A minus, an absolute value and a copied sign change one bit, of a NaN, too.
#[inline]
pub fn signs(seed: u32) -> u32 {
    let payload = seed.wrapping_mul(0x9E37_79B9);
    let single = if seed & 3 == 0 { payload } else { 0x7F80_0001 | payload };
    let double = u64::from(payload) << 32 | if seed & 3 == 0 { 0 } else { 0x7FF0_0000_0000_0000 } | u64::from(seed);
    let (a, b) = (f32::from_bits(single), f64::from_bits(double));
    let other = if seed & 4 == 0 { a } else { -a };
    let mut kept = [-a, a.abs(), a.copysign(1.0), 1.0_f32.copysign(-a), other, -a.abs()];
    kept.rotate_left(seed as usize & 1);
    let order = [a.total_cmp(&-a), (-b).total_cmp(&-f64::INFINITY), b.abs().total_cmp(&b)];
    let doubles = [-b, b.abs(), if seed & 8 == 0 { -b } else { b.abs() }].map(f64::to_bits);
    let hash = |hash: u32, value: u32| hash.wrapping_mul(31).wrapping_add(value);
    let hashed = kept.iter().map(|value| value.to_bits()).chain(order.iter().map(|order| *order as u32)).fold(0, hash);
    doubles.iter().flat_map(|bits| [*bits as u32, (bits >> 32) as u32]).fold(hashed, hash)
}

/// Numbers at which conversions and bounds turn.
const TURNS: [f32; 32] = [
    0.0,
    -0.0,
    0.25,
    -0.25,
    0.5,
    -0.5,
    1.0,
    -1.0,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-40,
    -1e-40,
    126.9,
    127.5,
    128.0,
    -128.9,
    -129.0,
    255.0,
    255.9,
    256.0,
    32_767.9,
    32_768.0,
    -32_768.5,
    -32_769.0,
    65_535.9,
    65_536.0,
    1e30,
    -1e30,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    -f32::NAN,
];

/// One of [`TURNS`], or a number of any size.
fn turn(seed: u32) -> f32 {
    if seed & 1 == 0 { TURNS[(seed >> 1) as usize % TURNS.len()] } else { (seed as i32 >> (seed & 31)) as f32 / 16.0 }
}

/// `clamp` of what arithmetic made, and of what nothing did, between constants and integers.
#[inline]
pub fn clamped(seed: u32) -> u32 {
    let (x, limit) = (turn(seed), (seed >> 6 & 0xff) as f32);
    let all = [
        (x + 0.5).clamp(0.0, limit),
        (x - 0.5).clamp(0.0, limit),
        (x - 0.5).clamp(-0.0, 1.0),
        (x * 2.0).clamp(0.0, limit),
        (x * 2.0).clamp(-1.0, 1.0),
        x.clamp(0.0, 1.0),
        x.clamp(-limit, limit),
        x.clamp(0.0, limit) + 0.25,
        x.clamp(-0.0, limit) * -2.0,
        if limit < x { limit } else { x } - 0.5,
    ];
    let bits = |value: &f32| if value.is_nan() { 1 } else { value.to_bits() };
    all.iter().map(bits).fold(0, |hash: u32, bits| hash.wrapping_mul(31).wrapping_add(bits))
}

/// Conversions of a float into integers of 8 and 16 bits.
#[inline]
pub fn short(seed: u32) -> u32 {
    let x = turn(seed);
    let all = [x as u8 as u32, x as i8 as u32, x as u16 as u32, x as i16 as u32, x.min(255.0) as u8 as u32];
    all.iter().fold(0, |hash: u32, value| hash.wrapping_mul(31).wrapping_add(*value))
}

/// Of pieces that are alike to their third byte, to their last, and throughout.
static PIECES: [u8; 64] = *b"abcdefghabcdefghab-defghabcdefg-abcdefgh-bcdefghabcdefghabcdefg!";

/// Comparisons of bytes that lie at any address.
#[inline]
pub fn pieces(seed: u32) -> u32 {
    let [one, other] = [seed, seed >> 6].map(|at| PIECES.get(at as usize % 64..).unwrap_or_default());
    let (mut found, first) = (0, one.first_chunk::<8>());
    if let Some(first) = first {
        found += other.windows(8).filter(|window| window == first).count() as u32;
        found += other.windows(8).filter(|window| window != b"abcdefgh").count() as u32 * 64;
    }
    let is_long = one.first_chunk::<16>().zip(other.first_chunk::<16>()).is_some_and(|(one, other)| one == other);
    found << 1 | u32::from(is_long)
}

macro_rules! kernels {
    ($($function:ident, $kernel:ident;)*) => {
        $(
            #[kernel]
            pub fn $kernel(seeds: &[u32], mut out: DisjointSlice<u32>) {
                let i = thread::index_1d();
                if let Some(out) = out.get_mut(i) {
                    *out = $function(seeds[i.get()]);
                }
            }
        )*
    };
}

kernels! {
    dynamic, run_dynamic;
    closures, run_closures;
    iterators, run_iterators;
    enums, run_enums;
    text, run_text;
    hash, run_hash;
    recursion, run_recursion;
    depth, run_depth;
    rotation, run_rotation;
    powers, run_powers;
    extremes, run_extremes;
    zeros, run_zeros;
    signs, run_signs;
    clamped, run_clamped;
    short, run_short;
    pieces, run_pieces;
}
