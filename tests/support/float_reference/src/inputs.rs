//! Inputs: special numbers, and random ones of the kinds that go wrong.

use crate::format::Format;

/// Numbers that look random and are the same every time (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for every seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Any encoding.
    pub fn any<T: Format>(&mut self) -> T {
        T::of_bits(self.bits() >> (64 - width::<T>()))
    }

    /// A number whose exponent differs from `near`'s by a few at most, with either sign.
    fn near_exponent<T: Format>(&mut self, near: T, reach: i64) -> T {
        let fraction = T::fraction_bits();
        let exponents = (1_i64 << T::EXPONENT_BITS) - 1;
        let exponent = (near.bits() >> fraction) as i64 & exponents;
        let shift = self.bits() as i64 % (reach + 1);
        let exponent = (exponent + shift).clamp(0, exponents - 1) as u64;
        let random = self.bits();
        let sign = random >> 63 << (width::<T>() - 1);
        T::of_bits(sign | exponent << fraction | (random & ((1 << fraction) - 1)))
    }

    /// The number a few places up or down.
    fn neighbour<T: Format>(&mut self, value: T) -> T {
        let step = self.bits() % 9;
        T::of_bits(value.bits().wrapping_add(step).wrapping_sub(4) & mask::<T>())
    }
}

fn width<T: Format>() -> u32 {
    1 + T::EXPONENT_BITS + T::fraction_bits()
}

fn mask<T: Format>() -> u64 {
    u64::MAX >> (64 - width::<T>())
}

fn negated<T: Format>(value: T) -> T {
    T::of_bits(value.bits() ^ 1 << (width::<T>() - 1))
}

/// Three operands.
pub type Triple<T> = [T; 3];

/// Random operands: any bits, exponents that are close, sums that cancel, products that nearly do, quotients and roots
/// near a tie.
pub fn operands<T: Format>(seed: u64, count: usize) -> Vec<Triple<T>> {
    let mut random = Random::new(seed);
    let one = |random: &mut Random, kind: u64| {
        let a: T = random.any();
        match kind {
            0..=2 => [a, random.any(), random.any()],
            3 | 4 => {
                let b = random.near_exponent(a, 3);
                [a, b, random.near_exponent(a, 60)]
            }
            5 => {
                let b = negated(random.neighbour(a));
                [a, b, random.near_exponent(a, 30)]
            }
            6 => {
                // The addend nearly cancels the product.
                let a: T = moderate(random);
                let b: T = moderate(random);
                let product = T::from_f64(a.to_f64() * b.to_f64());
                let c = random.neighbour(negated(product));
                [a, b, c]
            }
            7 => {
                // A product of two short numbers over one of them, and a bit more or less; also a square.
                let b: T = short(random);
                let q: T = if random.bits() & 1 == 0 { short(random) } else { b };
                let a = T::from_f64(b.to_f64() * q.to_f64());
                let a = random.neighbour(a);
                [a, b, random.near_exponent(a, 3)]
            }
            8 => {
                // Subnormal results.
                let a = random.near_exponent(T::of_bits(1 << T::fraction_bits()), 60);
                let b = random.near_exponent(T::from_f64(2_f64.powi(-40)), 60);
                [a, b, random.near_exponent(T::of_bits(0), 3)]
            }
            _ => {
                let largest = T::of_bits(((1 << T::EXPONENT_BITS) - 2) << T::fraction_bits());
                let a = random.near_exponent(largest, 2);
                [a, random.near_exponent(T::from_f64(1.0), 2), random.near_exponent(largest, 2)]
            }
        }
    };
    (0..count as u64).map(|index| one(&mut random, index % 10)).collect()
}

/// A number of an exponent whose square does not overflow.
fn moderate<T: Format>(random: &mut Random) -> T {
    random.near_exponent(T::from_f64(1.0), 20)
}

/// A number of half the precision.
fn short<T: Format>(random: &mut Random) -> T {
    let value: T = moderate(random);
    let cut = T::fraction_bits() / 2;
    T::of_bits(value.bits() >> cut << cut)
}

/// At least 10,000 special operands: every pair of the special numbers, and triples of some.
pub fn special_operands<T: Format>() -> Vec<Triple<T>> {
    let numbers = special_numbers::<T>();
    let mut all: Vec<Triple<T>> = Vec::new();
    for (i, &a) in numbers.iter().enumerate() {
        for (j, &b) in numbers.iter().enumerate() {
            all.push([a, b, numbers[(7 * i + 3 * j) % numbers.len()]]);
        }
    }
    let few: Vec<T> = numbers.iter().step_by(4).copied().collect();
    for &a in &few {
        for &b in &few {
            all.extend(few.iter().map(|&c| [a, b, c]));
        }
    }
    all.extend(just_below_normal());
    all
}

/// Operands whose results lie around the smallest normal number, closer than the precision can tell: the exact one is below
/// it, and rounded it is that number, even with exponents without limits.
fn just_below_normal<T: Format>() -> Vec<Triple<T>> {
    let smallest = 1_u64 << T::fraction_bits();
    let one = T::from_f64(1.0).bits();
    let reciprocal = T::from_f64(2_f64.powi(-T::MIN_EXPONENT)).bits();
    let triples = [
        // Products: (1 + e) (1 - e), (1 + e) (1 - e/2), (1 + 2e) (1 - 2e).
        [smallest + 1, one - 2, 0],
        [smallest + 1, one - 1, 0],
        [smallest + 2, one - 4, 0],
        [one + 1, smallest + 1, 0],
        // Quotients and reciprocals: 1 / (1 + e), and the largest below 1.
        [smallest, one + 1, 1],
        [2 * smallest - 2, one + smallest - 1, 0],
        [reciprocal + 1, one, 0],
    ];
    let mut all: Vec<Triple<T>> = triples.into_iter().map(|bits| bits.map(T::of_bits)).collect();
    // Fused: the smallest number, and far less taken away or added.
    let least = T::of_bits(smallest);
    all.extend([[least, negated(least), least], [least, least, least], [least, least, negated(least)]]);
    all.iter().flat_map(|&[a, b, c]| [[a, b, c], [negated(a), b, negated(c)], [a, negated(b), negated(c)]]).collect()
}

/// Zeros, subnormal numbers, infinities, NaN, the extremes, powers of two and their neighbours, and numbers whose sums and
/// products lie halfway between two others; each with both signs.
pub fn special_numbers<T: Format>() -> Vec<T> {
    let fraction = T::fraction_bits();
    let infinity = ((1_u64 << T::EXPONENT_BITS) - 1) << fraction;
    let hidden = 1_u64 << fraction;
    let mut bits = vec![
        0,
        1,
        2,
        3,
        hidden / 2,
        hidden - 1,
        hidden,
        hidden + 1,
        2 * hidden - 1,
        2 * hidden,
        infinity - 1,
        infinity - 2,
        infinity - hidden,
        infinity - hidden - 1,
        infinity,
        infinity | (hidden / 2),
        infinity | 1,
    ];
    let precision = T::PRECISION;
    for exponent in
        [0, 1, -1, 2, precision - 1, precision, precision + 1, -precision, 1 - precision, -1 - precision, 60]
    {
        let power = T::from_f64(2_f64.powi(exponent)).bits();
        bits.extend([power - 1, power, power + 1]);
    }
    let half = 1_u64 << (fraction / 2);
    for value in [3.0, 1.5, 1.0 / 3.0, 0.1, 10.0] {
        bits.push(T::from_f64(value).bits());
    }
    let one = T::from_f64(1.0).bits();
    // The square of 1 + 2^-k for half the precision ends just at, before or after a tie.
    bits.extend([one + half, one + 2 * half, one + half - 1, one + hidden / 2 + half]);
    let sign = 1 << (width::<T>() - 1);
    bits.iter().flat_map(|&bits| [T::of_bits(bits), T::of_bits(bits | sign)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds<T: Format>() {
        let special = special_operands::<T>();
        assert!(special.len() >= 10_000, "{}", special.len());
        let random = operands::<T>(1, 10_000);
        assert_eq!(random.len(), 10_000);
        for all in [special, random] {
            let has = |what: &str, found: &dyn Fn(f64) -> bool| {
                for operand in 0..3 {
                    let some = all.iter().any(|triple| found(triple[operand].to_f64()));
                    assert!(some, "no {what} among the operands {operand}");
                }
            };
            let smallest = 2_f64.powi(T::MIN_EXPONENT);
            has("NaN or infinity", &|x| !x.is_finite());
            has("subnormal number", &|x| x != 0.0 && x.abs() < smallest);
            has("negative number", &|x| x < 0.0);
            has("number around 1", &|x| (0.5..2.0).contains(&x));
        }
    }

    #[test]
    fn inputs_have_every_kind() {
        kinds::<f32>();
        kinds::<f64>();
    }

    #[test]
    fn inputs_are_the_same_every_time() {
        let bits = |values: Vec<Triple<f32>>| values.into_iter().flatten().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(operands(5, 100)), bits(operands(5, 100)));
        assert_ne!(bits(operands(5, 100)), bits(operands(6, 100)));
    }
}
