//! Makes a failing program small: takes choices away, or makes them simpler, as long as it still fails.
//!
//! Many candidates are tried at once, because what tries them compiles them: one crate of a hundred costs little more than
//! one of one.

use std::collections::BTreeSet;
use std::ops::Range;

/// Candidates that are tried together.
pub const TOGETHER: usize = 96;

/// What is done to some choices.
#[derive(Clone, Copy, Debug)]
enum Change {
    Delete,
    Zero,
    Halve,
    Decrement,
}

/// A simpler list of choices.
#[derive(Clone, Debug)]
struct Edit {
    range: Range<usize>,
    change: Change,
}

impl Edit {
    fn apply(&self, list: &mut Vec<u32>) {
        match self.change {
            Change::Delete => drop(list.drain(self.range.clone())),
            Change::Zero => list[self.range.clone()].fill(0),
            Change::Halve => list[self.range.clone()].iter_mut().for_each(|number| *number /= 2),
            Change::Decrement => {
                list[self.range.clone()].iter_mut().for_each(|number| *number = number.saturating_sub(1))
            }
        }
    }
}

/// The smallest list found whose program still fails, after at most so many rounds.
///
/// `text` writes a program, of which the shorter is the smaller; `fails` says which of several lists still fail.
pub fn smallest<E>(
    start: &[u32],
    rounds: usize,
    text: impl Fn(&[u32]) -> String,
    mut fails: impl FnMut(&[Vec<u32>]) -> Result<Vec<bool>, E>,
) -> Result<Vec<u32>, E> {
    let mut best = start.to_vec();
    for _ in 0..rounds {
        let size = text(&best).len();
        let mut improved = None;
        for edits in edits(&best, &text, size).chunks(TOGETHER) {
            let candidates: Vec<Vec<u32>> = edits.iter().map(|edit| edited(&best, [edit])).collect();
            let failing = fails(&candidates)?;
            let working: Vec<&Edit> = edits.iter().zip(&failing).filter(|(_, fails)| **fails).map(|(e, _)| e).collect();
            if working.is_empty() {
                continue;
            }
            // What works alone often works together.
            let mut lists = vec![edited(&best, [working[0]])];
            for count in [2, 4, 8, working.len()] {
                lists.push(edited(&best, working.iter().take(count).copied()));
            }
            let failing = fails(&lists)?;
            let still = lists.into_iter().zip(failing).filter(|(_, fails)| *fails).map(|(list, _)| list);
            improved = still.min_by_key(|list| text(list).len());
            break;
        }
        match improved {
            Some(list) => best = list,
            None => break,
        }
    }
    Ok(best)
}

/// Edits that make the text shorter, those first that make it the shortest.
fn edits(list: &[u32], text: &impl Fn(&[u32]) -> String, size: usize) -> Vec<Edit> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut len = list.len() / 2;
    while len > 0 {
        for start in (0..list.len()).step_by(len) {
            let all = [Change::Delete, Change::Zero, Change::Halve, Change::Decrement];
            for change in &all[..if len == 1 { 4 } else { 2 }] {
                let edit = Edit { range: start..(start + len).min(list.len()), change: *change };
                let text = text(&edited(list, [&edit]));
                if text.len() < size && seen.insert(text.clone()) {
                    found.push((text.len(), edit));
                }
            }
        }
        len /= 2;
    }
    found.sort_by_key(|(len, _)| *len);
    found.into_iter().map(|(_, edit)| edit).collect()
}

/// The list with the edits, of which those behind come first and none overlaps another.
fn edited<'a>(list: &[u32], edits: impl IntoIterator<Item = &'a Edit>) -> Vec<u32> {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.range.end, edit.range.start)));
    let (mut list, mut end) = (list.to_vec(), usize::MAX);
    for edit in edits {
        if edit.range.end <= end {
            edit.apply(&mut list);
            end = edit.range.start;
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Choices;

    /// A text that names its choices; it "fails" if it has the word 7 and, after that, a word above 900.
    fn text(list: &[u32]) -> String {
        let mut choices = Choices::again(list);
        (0..choices.below(50)).map(|_| format!("{} ", choices.below(1000))).collect()
    }

    fn fails(text: &str) -> bool {
        let words: Vec<u32> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        words.iter().position(|word| *word == 7).is_some_and(|at| words[at..].iter().any(|word| *word > 900))
    }

    #[test]
    fn what_has_no_part_in_the_failure_goes() {
        let start: Vec<u32> =
            std::iter::once(40).chain((0..40).map(|n| if n == 20 { 7 } else { 400 + 17 * n })).collect();
        assert!(fails(&text(&start)));
        let mut tried = 0;
        let all = |lists: &[Vec<u32>]| {
            tried += lists.len();
            Ok::<_, ()>(lists.iter().map(|list| fails(&text(list))).collect())
        };
        let small = smallest(&start, 100, text, all).expect("nothing goes wrong");
        let text = text(&small);
        assert!(fails(&text) && text.len() < 40, "{text:?} after {tried}");
    }

    #[test]
    fn without_rounds_nothing_changes() {
        let same = smallest(&[3, 4], 0, text, |lists| Ok::<_, ()>(vec![true; lists.len()]));
        assert_eq!(same, Ok(vec![3, 4]));
    }
}
