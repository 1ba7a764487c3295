//! The choices that make a program: numbers that are drawn from a seed, written down, and can be played again.

/// A stream of numbers that look random and are the same on every machine (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of item `index` of that seed: items do not depend on each other's lengths.
    pub fn of_item(seed: u64, index: u64) -> Self {
        let mut first = Self(seed);
        Self(first.number() ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Choices made from a seed, or made again from a list. Choice 0 is always the simplest: that is what a list that has come
/// to its end gives, and what shrinking aims at.
#[derive(Clone, Debug)]
pub struct Choices {
    made: Vec<u32>,
    next: usize,
    random: Option<Random>,
}

impl Choices {
    /// Those of item `index` of a seed.
    pub fn of_item(seed: u64, index: u64) -> Self {
        Self { made: Vec::new(), next: 0, random: Some(Random::of_item(seed, index)) }
    }

    /// Those of a list, then zeros.
    pub fn again(list: &[u32]) -> Self {
        Self { made: list.to_vec(), next: 0, random: None }
    }

    /// What was chosen so far.
    pub fn made(&self) -> &[u32] {
        &self.made[..self.next.min(self.made.len())]
    }

    /// A number of 32 bits.
    pub fn word(&mut self) -> u32 {
        if self.next == self.made.len()
            && let Some(random) = &mut self.random
        {
            self.made.push((random.number() >> 32) as u32);
        }
        self.next += 1;
        self.made.get(self.next - 1).copied().unwrap_or(0)
    }

    /// One of 0 to `end` - 1. That is also what is written down, so that half of it, say, is a simpler choice.
    pub fn below(&mut self, end: usize) -> usize {
        let number = (self.word() as usize) % end;
        if let Some(made) = self.made.get_mut(self.next - 1) {
            *made = number as u32;
        }
        number
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of the list, which is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// The place of one of the weights, each as likely as it is heavy.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut number = self.below(weights.iter().sum());
        for (place, weight) in weights.iter().enumerate() {
            if number < *weight {
                return place;
            }
            number -= weight;
        }
        unreachable!("the number is below the sum")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_can_be_made_again() {
        let draw = |choices: &mut Choices| [choices.below(10), choices.below(1000), choices.weighted(&[1, 0, 5])];
        let mut first = Choices::of_item(1, 2);
        let drawn = draw(&mut first);
        let mut again = Choices::again(first.made());
        assert_eq!(draw(&mut again), drawn);
        assert_eq!(first.made(), again.made());
        assert_ne!(draw(&mut Choices::of_item(1, 3)), drawn);
    }

    #[test]
    fn after_the_list_come_the_simplest() {
        let mut choices = Choices::again(&[7]);
        assert_eq!((choices.below(5), choices.below(5), choices.chance(99)), (2, 0, false));
        assert_eq!(choices.made(), [2]);
    }
}
