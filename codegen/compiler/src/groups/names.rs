//! What names of a text stand for, asked for every one of its words: nine in ten are registers, numbers and signs.

use crate::hash::QuickMap;
use crate::ptx_text;

/// The text with another name where there is one.
pub fn replaced(text: &str, new: impl Fn(&str) -> Option<String>) -> String {
    let (mut replaced, mut end) = (String::new(), 0);
    for word in ptx_text::words(text) {
        let name = without_offset(word);
        if let Some(new) = new(name) {
            // The word is a part of the text.
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            replaced += &text[end..start];
            replaced += &new;
            end = start + name.len();
        }
    }
    replaced + &text[end..]
}

/// The name in a word such as `table-8`.
pub fn without_offset(word: &str) -> &str {
    word.split('-').next().unwrap_or(word)
}

/// A map from names.
pub struct Names<'a, T> {
    by_name: QuickMap<&'a str, T>,
    /// Whether a name begins with that byte: a word that begins otherwise is none.
    begins: [bool; 256],
}

impl<'a, T> Names<'a, T> {
    /// What a word stands for, if it is a name.
    pub fn get(&self, word: &str) -> Option<&T> {
        self.entry(word).map(|(_, value)| value)
    }

    /// The same, with the name.
    pub fn entry(&self, word: &str) -> Option<(&'a str, &T)> {
        let begin = *word.as_bytes().first()?;
        let entry = self.begins[usize::from(begin)].then(|| self.by_name.get_key_value(word))?;
        entry.map(|(name, value)| (*name, value))
    }

    /// Each name once.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &T)> {
        self.by_name.iter().map(|(name, value)| (*name, value))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }
}

impl<'a, T> FromIterator<(&'a str, T)> for Names<'a, T> {
    fn from_iter<I: IntoIterator<Item = (&'a str, T)>>(names: I) -> Self {
        let by_name: QuickMap<&str, T> = names.into_iter().collect();
        let mut begins = [false; 256];
        for begin in by_name.keys().filter_map(|name| name.as_bytes().first()) {
            begins[usize::from(*begin)] = true;
        }
        Self { by_name, begins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_name_or_none() {
        let names: Names<'_, i32> = [("copy", 1), ("_a", 2), ("copy", 3)].into_iter().collect();
        let words = ["copy", "_a", "cop", "copy2", "", "%r1"];
        assert_eq!(words.map(|word| names.get(word).copied()), [Some(3), Some(2), None, None, None, None]);
        assert_eq!((names.entry("_a"), names.len(), names.iter().count()), (Some(("_a", &2)), 2, 2));
    }
}
