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
}
