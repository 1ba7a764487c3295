//! Which of many cases a run takes: all, or a part that a seed chooses. `cargo xtask test` says it by a variable.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// Its value is `all` or a seed.
pub const VARIABLE: &str = "PTX_TEST_SAMPLE";

/// The seed where none is given.
const SEED: u64 = 1;

/// What this process was asked for.
static ASKED: OnceLock<Sample> = OnceLock::new();

/// How much of the cases runs.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The number that chooses the cases: the same seed, the same cases.
    pub seed: u64,
    /// Whether nothing is left out.
    pub whole: bool,
}

impl Sample {
    /// Reads the variable. Whoever names cases gets them: nothing is left out then.
    pub fn begin(cases_are_named: bool) {
        let asked = std::env::var(VARIABLE).unwrap_or_default();
        let sample = Self { seed: asked.parse().unwrap_or(SEED), whole: cases_are_named || asked == "all" };
        ASKED.set(sample).expect("a runner begins once");
    }

    /// What was asked for.
    pub fn asked() -> Self {
        *ASKED.get().expect("the runner has begun")
    }

    /// So many of the items, in their order; says what is left out.
    pub fn of<T>(self, what: &str, items: impl IntoIterator<Item = T>, part: usize) -> Vec<T> {
        self.keeping(what, items, part, |_| false)
    }

    /// The same, with those in any case that `needed` names.
    pub fn keeping<T>(
        self,
        what: &str,
        items: impl IntoIterator<Item = T>,
        part: usize,
        needed: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let items: Vec<T> = items.into_iter().collect();
        let count = items.len();
        if self.whole || count <= part {
            return items;
        }
        // Each gets a number by the seed and its place; the smallest win, so that a new item changes little.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|index| (!needed(&items[*index]), mixed(self.seed, *index as u64)));
        let kept: BTreeSet<usize> = order.into_iter().take(part).collect();
        self.say(what, kept.len(), count);
        items.into_iter().enumerate().filter(|(index, _)| kept.contains(index)).map(|(_, item)| item).collect()
    }

    /// How many to make of what is made by a seed.
    pub fn number(self, what: &str, count: u32, part: u32) -> u32 {
        if self.whole {
            return count;
        }
        self.say(what, part as usize, count as usize);
        part
    }

    /// Says it once.
    fn say(self, what: &str, part: usize, count: usize) {
        static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let line = format!("sampled: {part} of {count} {what}, seed {}", self.seed);
        if SAID.lock().expect("nobody panics with the lock").insert(line.clone()) {
            println!("{line}");
        }
    }
}

/// A number that looks random (SplitMix64's finaliser).
fn mixed(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index.wrapping_add(1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_chooses_always_the_same() {
        let of = |seed| Sample { seed, whole: false }.of("numbers", 0..100, 10);
        assert_eq!(of(1).len(), 10);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert!(of(3).is_sorted());
    }

    #[test]
    fn nothing_is_left_out_of_the_whole() {
        let whole = Sample { seed: 1, whole: true };
        assert_eq!(whole.of("numbers", 0..100, 10).len(), 100);
        assert_eq!(whole.number("numbers", 400, 100), 400);
        assert_eq!(Sample { seed: 1, whole: false }.of("numbers", 0..3, 10), [0, 1, 2]);
    }

    #[test]
    fn what_is_needed_is_kept() {
        for seed in 0..20 {
            let kept = Sample { seed, whole: false }.keeping("numbers", 0..100, 3, |number| number % 50 == 7);
            assert!(kept.len() == 3 && kept.contains(&7) && kept.contains(&57), "{kept:?}");
        }
    }
}
