//! Doc comments that say nothing: one or two words that stand for any item, or repeat the name of theirs.

use super::tree::Source;

/// Words that say nothing of their own.
const EMPTY: [&str; 14] =
    ["a", "an", "any", "all", "it", "its", "of", "one", "that", "the", "this", "what", "which", "these"];

/// First words after which one more says nothing: "The file."
const ARTICLES: [&str; 7] = ["a", "an", "its", "the", "this", "what", "which"];

pub fn empty(source: &Source) -> Vec<String> {
    if !source.is("rs") {
        return vec![];
    }
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let is_doc = |at: usize| lines.get(at).is_some_and(|line| line.starts_with("///"));
    let alone = |at: &usize| is_doc(*at) && !is_doc(at + 1) && (*at == 0 || !is_doc(at - 1));
    let item = |at: usize| lines[at + 1..].iter().find(|line| !line.starts_with("#[")).copied().unwrap_or_default();
    let found = (0..lines.len()).filter(alone).filter(|&at| says_nothing(&lines[at][3..], item(at)));
    found.map(|at| format!("{}: {} [{}]", at + 1, lines[at], item(at))).collect()
}

fn says_nothing(comment: &str, item: &str) -> bool {
    // Code and links point elsewhere, which is something.
    if comment.contains(['`', '[']) {
        return false;
    }
    let words: Vec<String> =
        comment.split_whitespace().map(|word| word.trim_matches(['.', ',', ':']).to_lowercase()).collect();
    let item = item.split(['=', '{', ';']).next().unwrap_or_default().to_lowercase().replace('_', "");
    let repeats = |word: &String| EMPTY.contains(&&**word) || item.contains(word.as_str());
    words.len() <= 2 && (words.iter().all(repeats) || words.first().is_some_and(|first| ARTICLES.contains(&&**first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::tests::source;

    #[test]
    fn comments_that_say_nothing_are_found() {
        let text = "/// Which.\npub code: Code,\n/// The file.\n#[must_use]\npub path: PathBuf,\n/// Device count.\nfn \
                    device_count()\n/// In bytes.\npub size: u64,\n/// `T`\nA,\n/// The place\n/// of the call.\nB,\n/// \
                    The reader's own.\nC,\n";
        let expected = [
            "1: /// Which. [pub code: Code,]",
            "3: /// The file. [pub path: PathBuf,]",
            "6: /// Device count. [fn device_count()]",
        ];
        assert_eq!(empty(&source("a.rs", text)), expected);
        assert!(empty(&source("a.md", text)).is_empty());
    }
}
