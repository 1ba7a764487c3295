//! Numbers as sums of products, of which is shown that they are not negative.
//!
//! `(y + 1) * width + x - ((y - 1) * width + x - 1)` is `2 * width + 1`, whatever the numbers. Every atom of a sum is a number
//! that is not negative; so a sum that subtracts nothing is none either. What is known brings others into this form: where
//! `x < width`, the width is `x + 1` and some number that is not negative, and a number that is at least 1 is one more than
//! such a number.

/// Products of one sum.
const MOST_TERMS: usize = 40;

/// Factors of one product.
const MOST_FACTORS: usize = 5;

/// How often an atom is written as others.
const MOST_STEPS: usize = 24;

/// How often an atom is written as others on all ways to what is wanted.
const MOST_WAYS: u32 = 100;

/// A number that is not negative, by its place in a list.
pub type Atom = usize;

/// A product of atoms, in one number: so many bits for each factor, one more than the atom, the first one lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Product(u128);

const BITS_OF_FACTOR: usize = 25;

impl Product {
    /// That of no factors.
    const ONE: Self = Self(0);

    /// The product of some atoms; none where they are too many.
    fn of(factors: impl IntoIterator<Item = Atom>) -> Option<Self> {
        let mut sorted = [0; MOST_FACTORS];
        let mut count = 0;
        for factor in factors {
            *sorted.get_mut(count)? = factor + 1;
            count += 1;
        }
        let sorted = &mut sorted[..count];
        sorted.sort_unstable();
        assert!(sorted.iter().all(|factor| *factor < 1 << BITS_OF_FACTOR), "a function has not so many values");
        Some(Self(sorted.iter().rev().fold(0, |all, factor| all << BITS_OF_FACTOR | *factor as u128)))
    }

    fn factors(self) -> impl Iterator<Item = Atom> {
        let factor = move |at| (self.0 >> (at * BITS_OF_FACTOR)) as usize & ((1 << BITS_OF_FACTOR) - 1);
        (0..MOST_FACTORS).map(factor).take_while(|factor| *factor > 0).map(|factor| factor - 1)
    }

    fn contains(self, atom: Atom) -> bool {
        self.factors().any(|factor| factor == atom)
    }

    fn times(self, other: Self) -> Option<Self> {
        Self::of(self.factors().chain(other.factors()))
    }
}

/// A sum of products, each with how often it is taken, without an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    /// Sorted, each product once, and none that is not taken.
    terms: Vec<(Product, i128)>,
}

impl Sum {
    pub fn number(value: i128) -> Self {
        Self { terms: [(Product::ONE, value)].into_iter().filter(|(_, times)| *times != 0).collect() }
    }

    pub fn atom(atom: Atom) -> Self {
        Self { terms: Product::of([atom]).into_iter().map(|product| (product, 1)).collect() }
    }

    /// A sum of products in any order; none where it is too long.
    fn of(mut terms: Vec<(Product, i128)>) -> Option<Self> {
        terms.sort_unstable_by_key(|(product, _)| *product);
        let mut sum: Vec<(Product, i128)> = Vec::with_capacity(terms.len());
        for (product, times) in terms {
            match sum.last_mut() {
                Some((last, known)) if *last == product => *known = known.checked_add(times)?,
                _ => sum.push((product, times)),
            }
        }
        sum.retain(|(_, times)| *times != 0);
        (sum.len() <= MOST_TERMS).then_some(Self { terms: sum })
    }

    /// This and the other one, so many times; none where it is too long.
    pub fn plus(mut self, other: &Self, times: i128) -> Option<Self> {
        for (product, own) in &other.terms {
            self.terms.push((*product, own.checked_mul(times)?));
        }
        Self::of(self.terms)
    }

    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut terms = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (ours, own) in &self.terms {
            for (theirs, times) in &other.terms {
                terms.push((ours.times(*theirs)?, own.checked_mul(*times)?));
            }
        }
        Self::of(terms)
    }

    /// Between which numbers this lies, if each atom lies between two.
    pub fn range(&self, of: impl Fn(Atom) -> (i128, i128)) -> Option<(i128, i128)> {
        let (mut low, mut high) = (0_i128, 0_i128);
        for (product, times) in &self.terms {
            let (mut least, mut most) = (1_i128, 1_i128);
            for (from, to) in product.factors().map(&of) {
                least = least.checked_mul(from)?;
                most = most.checked_mul(to)?;
            }
            let (one, other) = (least.checked_mul(*times)?, most.checked_mul(*times)?);
            low = low.checked_add(one.min(other))?;
            high = high.checked_add(one.max(other))?;
        }
        Some((low, high))
    }

    /// Has something else in the place of an atom.
    fn replace(&self, atom: Atom, with: &Self) -> Option<Self> {
        let (written, kept): (Vec<_>, Vec<_>) = self.terms.iter().partition(|(product, _)| product.contains(atom));
        let mut sum = Self { terms: kept };
        for (product, times) in written {
            let others = product.factors().filter(|factor| *factor != atom);
            let mut part = Self { terms: vec![(Product::of(others)?, times)] };
            for _ in product.factors().filter(|factor| *factor == atom) {
                part = part.times(with)?;
            }
            sum = sum.plus(&part, 1)?;
        }
        Some(sum)
    }

    /// The atom that stands alone, and what is subtracted from it: nothing else is added but a number.
    fn above(&self) -> Option<(Atom, Self)> {
        let mut added = self.terms.iter().filter(|(product, times)| *product != Product::ONE && *times > 0);
        let (product, 1) = *added.next().filter(|_| added.next().is_none())? else { return None };
        let mut factors = product.factors();
        let atom = factors.next().filter(|_| factors.next().is_none())?;
        let rest = Self::atom(atom).plus(self, -1)?;
        let is_alone = rest.terms.iter().all(|(product, _)| product.factors().all(|other| other != atom));
        is_alone.then_some((atom, rest))
    }

    /// The atom and the number that this is the sum of.
    fn and_number(&self) -> Option<(Atom, i128)> {
        let (number, atom) = match self.terms[..] {
            [(product, 1)] => (0, product),
            [(Product::ONE, number), (product, 1)] => (number, product),
            _ => return None,
        };
        let mut factors = atom.factors();
        Some((factors.next().filter(|_| factors.next().is_none())?, number))
    }

    /// Two atoms and the number that the first one is above the second, at least, where this is not negative.
    pub fn apart(&self) -> Option<(Atom, Atom, i128)> {
        let (number, one, other) = match self.terms[..] {
            [one, other] => (0, one, other),
            [(Product::ONE, number), one, other] => (-number, one, other),
            _ => return None,
        };
        let (above, below) = match (one, other) {
            ((above, 1), (below, -1)) | ((below, -1), (above, 1)) => (above, below),
            _ => return None,
        };
        let atom = |product: Product| {
            let mut factors = product.factors();
            factors.next().filter(|_| factors.next().is_none())
        };
        Some((atom(above)?, atom(below)?, number))
    }

    fn subtracts_nothing(&self) -> bool {
        self.terms.iter().all(|(_, times)| *times >= 0)
    }
}

/// What is known of some atoms.
#[derive(Clone, Default)]
pub struct Known {
    /// How many atoms there are.
    pub atoms: usize,
    /// What is not negative.
    pub positive: Vec<Sum>,
    /// What is not 0.
    pub nonzero: Vec<Sum>,
}

impl Known {
    /// Whether all of these are seen not to be negative.
    pub fn imply(mut self, mut wanted: Vec<Sum>) -> bool {
        for _ in 0..MOST_STEPS {
            self.compare();
            let Some((at, atom, rest)) = self.next() else { break };
            self.positive.swap_remove(at);
            // What the atom is more than the others.
            let with = Sum::atom(self.atoms).plus(&rest, 1);
            self.atoms += 1;
            let Some(with) = with else { break };
            // What grows too long is forgotten.
            let write = |sums: &[Sum]| -> Vec<Sum> { sums.iter().filter_map(|sum| sum.replace(atom, &with)).collect() };
            (self.positive, self.nonzero) = (write(&self.positive), write(&self.nonzero));
            let count = wanted.len();
            wanted = write(&wanted);
            if wanted.len() < count {
                return false;
            }
            // The atom itself is not negative.
            self.positive.push(with);
        }
        wanted.iter().all(|wanted| self.is_seen(wanted))
    }

    /// Whether all of these are seen not to be negative, if an atom is written as what it is above, and something is
    /// subtracted of that. Of much that is known little is of use here, and an atom may be above several.
    pub fn lead_to(mut self, wanted: &[Sum]) -> bool {
        self.compare();
        let says_more = |(_, rest): &(Atom, Sum)| rest.terms.iter().any(|(_, times)| *times > 0);
        let mut above: Vec<(Atom, Sum)> = self.positive.iter().filter_map(Sum::above).filter(says_more).collect();
        // A length is above an area, and also above each index that has been compared with it.
        above.sort_by_key(|(_, rest)| rest.terms.len());
        wanted.iter().all(|wanted| self.leads_to(wanted, &above, self.atoms, &mut { MOST_WAYS }))
    }

    fn leads_to(&self, wanted: &Sum, above: &[(Atom, Sum)], new: Atom, ways: &mut u32) -> bool {
        if self.is_seen(wanted) {
            return true;
        }
        let is_subtracted = |atom| wanted.terms.iter().any(|(product, times)| *times < 0 && product.contains(atom));
        let is_added = |atom| wanted.terms.iter().any(|(product, times)| *times > 0 && product.contains(atom));
        let is_of_use = |rest: &Sum| rest.terms.iter().any(|(product, _)| product.factors().any(is_subtracted));
        let useful = above.iter().filter(|(_, rest)| is_of_use(rest));
        let more = useful.clone().filter(|(atom, _)| is_added(*atom)).filter_map(|(atom, rest)| {
            let with = Sum::atom(new).plus(rest, 1)?;
            wanted.replace(*atom, &with)
        });
        // More is subtracted then, and nothing less is added.
        let less = useful.filter_map(|(atom, rest)| {
            let (below, number) = rest.and_number().filter(|(below, _)| is_subtracted(*below) && !is_added(*below))?;
            wanted.replace(below, &Sum::atom(*atom).plus(&Sum::number(number), -1)?)
        });
        for written in more.chain(less) {
            if *ways == 0 {
                return false;
            }
            *ways -= 1;
            if self.leads_to(&written, above, new + 1, ways) {
                return true;
            }
        }
        false
    }

    /// An atom that is above others, and where this is known.
    fn next(&self) -> Option<(usize, Atom, Sum)> {
        let found = |(at, sum): (usize, &Sum)| {
            let (atom, rest) = sum.above()?;
            // Of an atom that is above less than nothing, or above nothing, nothing new is known.
            let says_more = rest.terms.iter().any(|(_, times)| *times > 0);
            says_more.then_some((at, atom, rest))
        };
        self.positive.iter().enumerate().find_map(found)
    }

    /// What is not 0, and not negative, or not positive, is 1 at least.
    fn compare(&mut self) {
        let mut rest = Vec::new();
        for sum in std::mem::take(&mut self.nonzero) {
            // No factor of a product is 0 that is not.
            if let [(product, _)] = sum.terms[..] {
                self.positive.extend(product.factors().filter_map(|atom| Sum::atom(atom).plus(&Sum::number(1), -1)));
                continue;
            }
            let negated = Sum::default().plus(&sum, -1);
            match [Some(sum.clone()), negated].into_iter().flatten().find(|sum| self.is_seen(sum)) {
                Some(positive) => self.positive.extend(positive.plus(&Sum::number(1), -1)),
                None => rest.push(sum),
            }
        }
        self.nonzero = rest;
    }

    /// Whether nothing is subtracted, or nothing once something else is that is not negative.
    fn is_seen(&self, sum: &Sum) -> bool {
        let less = |known: &Sum| sum.clone().plus(known, -1).is_some_and(|rest| rest.subtracts_nothing());
        sum.subtracts_nothing() || self.positive.iter().any(less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Atom = 0;
    const Y: Atom = 1;
    const WIDTH: Atom = 2;
    const HEIGHT: Atom = 3;
    const LEN: Atom = 4;

    fn number(value: i128) -> Sum {
        Sum::number(value)
    }

    fn sum(terms: &[(&[Atom], i128)]) -> Sum {
        let of = |factors: &[Atom]| Product::of(factors.iter().copied()).unwrap();
        Sum::of(terms.iter().map(|(factors, times)| (of(factors), *times)).collect()).unwrap()
    }

    fn known(positive: &[Sum], nonzero: &[Sum]) -> Known {
        Known { atoms: 5, positive: positive.to_vec(), nonzero: nonzero.to_vec() }
    }

    #[test]
    fn sums_are_computed_exactly() {
        let next = Sum::atom(X).plus(&number(1), 1).unwrap();
        assert_eq!(next.times(&next).unwrap(), sum(&[(&[], 1), (&[X], 2), (&[X, X], 1)]));
        assert_eq!(next.clone().plus(&next, -1).unwrap(), Sum::default());
        assert_eq!(next.range(|_| (2, 5)), Some((3, 6)));
        assert_eq!(sum(&[(&[X, Y], -1), (&[], 7)]).range(|_| (2, 5)), Some((-18, 3)));
        assert_eq!(sum(&[(&[X, Y], 1)]).range(|_| (0, i128::MAX)), None);
    }

    #[test]
    fn what_a_branch_tells_is_used() {
        // y width + x below width height, where x is below width, and y below height.
        let inside = [sum(&[(&[WIDTH], 1), (&[X], -1), (&[], -1)]), sum(&[(&[HEIGHT], 1), (&[Y], -1), (&[], -1)])];
        let below = sum(&[(&[WIDTH, HEIGHT], 1), (&[WIDTH, Y], -1), (&[X], -1), (&[], -1)]);
        assert!(known(&inside, &[]).imply(vec![below.clone()]));
        assert!(!known(&inside[..1], &[]).imply(vec![below.clone()]));
        assert!(!known(&inside[1..], &[]).imply(vec![below.clone()]));
        // One more is not, but if it is not the width.
        let next = below.plus(&number(1), -1).unwrap();
        assert!(!known(&inside, &[]).imply(vec![next.clone()]));
        let apart = sum(&[(&[X], 1), (&[WIDTH], -1), (&[], 1)]);
        assert!(known(&inside, std::slice::from_ref(&apart)).imply(vec![next.clone()]));
        let other = sum(&[(&[X], 1), (&[WIDTH], -1), (&[], 2)]);
        assert!(!known(&inside, &[other]).imply(vec![next]));
    }

    #[test]
    fn a_length_is_above_what_it_covers() {
        let covers = sum(&[(&[LEN], 1), (&[WIDTH, HEIGHT], -1)]);
        let below = sum(&[(&[HEIGHT], 1), (&[Y], -1), (&[], -1)]);
        let row = sum(&[(&[LEN], 1), (&[WIDTH, Y], -1), (&[WIDTH], -1)]);
        assert!(known(&[covers.clone(), below.clone()], &[]).imply(vec![row.clone()]));
        assert!(!known(&[covers], &[]).imply(vec![row.clone()]));
        assert!(!known(&[below], &[]).imply(vec![row]));
    }

    #[test]
    fn of_much_that_is_known_what_is_of_use_is_found() {
        const LEAST: Atom = 5;
        // x and a smaller number are below the width, y is below the height; and the length is above some index.
        let facts = [
            sum(&[(&[WIDTH], 1), (&[X], -1), (&[], -1)]),
            sum(&[(&[X], 1), (&[LEAST], -1)]),
            sum(&[(&[HEIGHT], 1), (&[Y], -1), (&[], -1)]),
            sum(&[(&[LEN], 1), (&[WIDTH, Y], -1), (&[HEIGHT], -1), (&[], -1)]),
            sum(&[(&[LEN], 1), (&[WIDTH, HEIGHT], -1)]),
        ];
        let all = Known { atoms: 6, positive: facts.to_vec(), nonzero: Vec::new() };
        let index = |x: Atom, more: i128| sum(&[(&[LEN], 1), (&[WIDTH, Y], -1), (&[x], -1), (&[], -1 - more)]);
        assert!(all.clone().lead_to(&[index(X, 0), index(LEAST, 0)]));
        // It may be one more than x is.
        assert!(!all.clone().lead_to(&[index(LEAST, 1)]));
        for missing in [0, 1, 2, 4] {
            let mut less = all.clone();
            less.positive.remove(missing);
            assert!(!less.lead_to(&[index(LEAST, 0)]), "{missing}");
        }
    }

    #[test]
    fn nothing_follows_from_nothing() {
        assert!(Known::default().imply(vec![number(0), number(3)]));
        assert!(!Known::default().imply(vec![number(-1)]));
        assert!(!known(&[], &[]).imply(vec![sum(&[(&[X], 1), (&[Y], -1)])]));
        assert!(!known(&[sum(&[(&[X], 1), (&[], -3)])], &[]).imply(vec![sum(&[(&[X], 1), (&[], -4)])]));
        assert!(known(&[sum(&[(&[X], 1), (&[], -3)])], &[]).imply(vec![sum(&[(&[X], 1), (&[], -3)])]));
    }
}
