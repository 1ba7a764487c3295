//! All integers between two, and what comparisons, minima and maxima say of them.

use crate::llvm::IntPredicate;

/// All numbers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: i128,
    pub high: i128,
}

impl Interval {
    /// No number.
    pub const NONE: Self = Self::new(0, -1);

    pub const fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    /// Those of a type.
    pub(super) fn of_bits(bits: u32) -> Self {
        if bits >= 64 { Self::new(i64::MIN.into(), i64::MAX.into()) } else { Self::new(0, (1 << bits) - 1) }
    }

    pub fn is_inside(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Whether all fit into 32 bits with a sign.
    pub fn is_narrow(self) -> bool {
        self.is_inside(Self::new(i32::MIN.into(), i32::MAX.into()))
    }

    /// Whether none is below 0, and all fit into 32 bits with a sign.
    pub fn is_small(self) -> bool {
        self.is_inside(Self::new(0, i32::MAX.into()))
    }

    /// Whether all fit into 32 bits without a sign.
    pub fn is_unsigned(self) -> bool {
        self.is_inside(Self::of_bits(32))
    }

    /// Whether numbers of both are equal exactly if their lower 32 bits are.
    pub fn is_told_by_lower(self, other: Self) -> bool {
        let most = 1_i128 << 32;
        self.high - other.low < most && other.high - self.low < most
    }

    pub(super) fn join(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// What is in both; the first, where nothing is: such code never runs.
    pub(super) fn meet(self, other: Self) -> Self {
        let both = Self::new(self.low.max(other.low), self.high.min(other.high));
        if both.low <= both.high { both } else { self }
    }

    pub(super) fn corners(self, other: Self, of: impl Fn(i128, i128) -> i128) -> Self {
        let all =
            [of(self.low, other.low), of(self.low, other.high), of(self.high, other.low), of(self.high, other.high)];
        all.iter().fold(Self::new(all[0], all[0]), |known, value| known.join(Self::new(*value, *value)))
    }

    /// Those of a type as numbers with a sign.
    pub(super) fn with_sign(bits: u32) -> Self {
        let half = 1_i128 << (bits.clamp(1, 64) - 1);
        Self::new(-half, half - 1)
    }

    /// The same numbers of so many bits with a sign, or without one; more, where these are on both sides of an end.
    pub(super) fn read(self, signed: bool, bits: u32) -> Self {
        let (half, has_sign) = (1_i128 << (bits - 1), bits >= 64);
        match (signed, has_sign) {
            (true, false) if self.low >= half => Self::new(self.low - 2 * half, self.high - 2 * half),
            (true, false) if self.high >= half => Self::new(-half, half - 1),
            (false, true) if self.high < 0 => Self::new(self.low + 2 * half, self.high + 2 * half),
            (false, true) if self.low < 0 => Self::new(0, 2 * half - 1),
            _ => self,
        }
    }

    /// What was read so, as an interval of so many bits is; none, where that is none.
    fn written(self, signed: bool, bits: u32) -> Option<Self> {
        let (half, has_sign) = (1_i128 << (bits - 1), bits >= 64);
        let by = match (signed, has_sign) {
            (true, false) if self.high < 0 => 2 * half,
            (false, true) if self.low >= half => -2 * half,
            _ => 0,
        };
        let moved = Self::new(self.low + by, self.high + by);
        moved.is_inside(Self::of_bits(bits)).then_some(moved)
    }

    /// Whether numbers of so many bits compare in one way, if that is the same for all.
    pub fn decide(self, predicate: IntPredicate, other: Self, bits: u32) -> Option<bool> {
        use IntPredicate as P;
        let signed = matches!(predicate, P::SLT | P::SLE | P::SGT | P::SGE);
        let (a, b) = (self.read(signed, bits), other.read(signed, bits));
        let less = |a: Self, b: Self, strict: i128| {
            let always = a.high + strict <= b.low;
            let never = a.low + strict > b.high;
            (always || never).then_some(always)
        };
        let apart = a.high < b.low || b.high < a.low;
        match predicate {
            P::ULT | P::SLT => less(a, b, 1),
            P::ULE | P::SLE => less(a, b, 0),
            P::UGT | P::SGT => less(b, a, 1),
            P::UGE | P::SGE => less(b, a, 0),
            P::EQ => apart.then_some(false),
            P::NE => apart.then_some(true),
        }
    }

    /// Where two numbers of so many bits lie of which the first is less than the other by `strict` at least; none, if that is
    /// never so.
    pub fn less(self, other: Self, strict: i128, signed: bool, bits: u32) -> Option<[Option<Self>; 2]> {
        let (a, b) = (self.read(signed, bits), other.read(signed, bits));
        let small = Self::new(a.low, a.high.min(b.high - strict));
        let large = Self::new(b.low.max(a.low + strict), b.high);
        let may_be = small.low <= small.high && large.low <= large.high;
        may_be.then(|| [small, large].map(|range| range.written(signed, bits)))
    }

    /// What one of LLVM's minima and maxima, or a difference that ends at 0, makes of two numbers of so many bits.
    pub fn chosen(self, other: Self, call: &str, bits: u32) -> Option<Self> {
        let name = call.split('.').next()?;
        // Of any number at all nothing is gained: it has 64 bits where it is computed.
        let is_any = |range: Self| bits >= 64 && range.low < -1;
        if bits > 64 || name.starts_with('u') && (is_any(self) || is_any(other)) {
            return None;
        }
        let signed = name.starts_with('s');
        let (a, b) = (self.read(signed, bits), other.read(signed, bits));
        let chosen = match name {
            "umin" | "smin" => Self::new(a.low.min(b.low), a.high.min(b.high)),
            "umax" | "smax" => Self::new(a.low.max(b.low), a.high.max(b.high)),
            "usub" if call.starts_with("usub.sat.") => Self::new((a.low - b.high).max(0), (a.high - b.low).max(0)),
            _ => return None,
        };
        chosen.written(signed, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREDICATES: [IntPredicate; 10] = [
        IntPredicate::EQ,
        IntPredicate::NE,
        IntPredicate::ULT,
        IntPredicate::ULE,
        IntPredicate::UGT,
        IntPredicate::UGE,
        IntPredicate::SLT,
        IntPredicate::SLE,
        IntPredicate::SGT,
        IntPredicate::SGE,
    ];

    /// A number of three bits, or of 64, as an interval has it.
    fn kept(number: i128, bits: u32) -> i128 {
        if bits == 64 { number } else { number.rem_euclid(1 << bits) }
    }

    fn of(name: &str, a: i128, b: i128, bits: u32) -> i128 {
        let end = 1_i128 << bits;
        let signed = |number: i128| {
            let number = number.rem_euclid(end);
            if number >= end / 2 { number - end } else { number }
        };
        let (ua, ub) = (a.rem_euclid(end), b.rem_euclid(end));
        let result = match name {
            "umin" => ua.min(ub),
            "umax" => ua.max(ub),
            "usub.sat.i" => (ua - ub).max(0),
            "smin" => signed(a).min(signed(b)),
            _ => signed(a).max(signed(b)),
        };
        if bits == 64 { signed(result) } else { result.rem_euclid(end) }
    }

    fn holds(predicate: IntPredicate, a: i128, b: i128, bits: u32) -> bool {
        use IntPredicate as P;
        let end = 1_i128 << bits;
        let half = end / 2;
        let (ua, ub) = (a.rem_euclid(end), b.rem_euclid(end));
        let (sa, sb) = ((a + half).rem_euclid(end), (b + half).rem_euclid(end));
        match predicate {
            P::EQ => ua == ub,
            P::NE => ua != ub,
            P::ULT => ua < ub,
            P::ULE => ua <= ub,
            P::UGT => ua > ub,
            P::UGE => ua >= ub,
            P::SLT => sa < sb,
            P::SLE => sa <= sb,
            P::SGT => sa > sb,
            P::SGE => sa >= sb,
        }
    }

    /// All intervals of numbers of three bits, and some of 64.
    fn intervals(bits: u32) -> Vec<Interval> {
        let (low, high) = if bits == 64 { (-4, 3) } else { (0, 7) };
        let pairs = (low..=high).flat_map(|low| (low..=high).map(move |high| (low, high)));
        pairs.filter(|(low, high)| low <= high).map(|(low, high)| Interval::new(low, high)).collect()
    }

    fn pairs(bits: u32) -> impl Iterator<Item = (Interval, Interval)> {
        intervals(bits).into_iter().flat_map(move |a| intervals(bits).into_iter().map(move |b| (a, b)))
    }

    fn numbers(a: Interval, b: Interval) -> impl Iterator<Item = (i128, i128)> {
        (a.low..=a.high).flat_map(move |one| (b.low..=b.high).map(move |other| (one, other)))
    }

    fn contains(range: Interval, number: i128) -> bool {
        range.low <= number && number <= range.high
    }

    #[test]
    fn what_is_chosen_lies_in_the_interval() {
        for (bits, call) in
            [3, 64].into_iter().flat_map(|bits| ["umin", "umax", "smin", "smax", "usub.sat.i"].map(|call| (bits, call)))
        {
            let mut exact = 0;
            for (a, b) in pairs(bits) {
                let Some(range) = a.chosen(b, call, bits) else { continue };
                let all: Vec<i128> = numbers(a, b).map(|(a, b)| of(call, a, b, bits)).collect();
                assert!(all.iter().all(|one| contains(range, *one)), "{call} of {bits}: {a:?}, {b:?}: {range:?}");
                exact += usize::from(all.contains(&range.low) && all.contains(&range.high));
            }
            assert!(exact > 100, "{call} of {bits} bits: {exact}");
        }
        let any = Interval::of_bits(64);
        assert_eq!(Interval::new(0, 5).chosen(any, "umin.i64", 64), None);
        assert_eq!(Interval::new(0, 5).chosen(any, "smin.i64", 64), Some(Interval::new(any.low, 5)));
        assert_eq!(Interval::new(2, 5).chosen(Interval::of_bits(32), "smax.i32", 32).map(|of| of.low), Some(2));
        assert_eq!(Interval::new(2, 5).chosen(Interval::of_bits(32), "smin.i32", 32), None);
        assert_eq!(Interval::new(0, 5).chosen(Interval::new(-1, 9), "umin.i64", 64), Some(Interval::new(0, 5)));
    }

    #[test]
    fn comparisons_are_decided_and_tell() {
        for (bits, predicate) in [3, 64].into_iter().flat_map(|bits| PREDICATES.map(|predicate| (bits, predicate))) {
            for (a, b) in pairs(bits) {
                if let Some(known) = a.decide(predicate, b, bits) {
                    let is_so = |(a, b): (i128, i128)| holds(predicate, a, b, bits) == known;
                    assert!(numbers(a, b).all(is_so), "{predicate:?} of {bits}: {a:?}, {b:?}");
                }
            }
        }
        let minus = Interval::new(kept(-1, 32), kept(-1, 32));
        assert_eq!(Interval::new(0, 5).decide(IntPredicate::SGT, minus, 32), Some(true));
        assert_eq!(Interval::new(0, 5).decide(IntPredicate::UGT, minus, 32), Some(false));
    }

    #[test]
    fn what_is_less_lies_below() {
        for (bits, signed) in [(3, true), (3, false), (64, true), (64, false)] {
            for (strict, predicate) in [
                (1, if signed { IntPredicate::SLT } else { IntPredicate::ULT }),
                (0, if signed { IntPredicate::SLE } else { IntPredicate::ULE }),
            ] {
                for (a, b) in pairs(bits) {
                    let told = a.less(b, strict, signed, bits);
                    for (one, other) in numbers(a, b).filter(|(a, b)| holds(predicate, *a, *b, bits)) {
                        let [small, large] = told.expect("there are such numbers");
                        let is_in = |range: Option<Interval>, number| range.is_none_or(|range| contains(range, number));
                        assert!(is_in(small, one) && is_in(large, other), "{predicate:?} of {bits}: {a:?}, {b:?}");
                    }
                }
            }
        }
    }
}
