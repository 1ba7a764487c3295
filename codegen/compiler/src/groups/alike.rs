//! Statics of groups that were compiled apart, which are called alike and are not.
//!
//! ```text
//! before: .global .b8 text[2] = {97, 0};   … text …   │   .global .align 16 .b8 text[2] = {97, 0};   … text …
//! after:  .global .b8 text[2] = {97, 0};   … text …   │   .global .align 16 .b8 text_$_1[2] = {97, 0};   … text_$_1 …
//! ```
//!
//! Groups that were divided by [`Apart`](super::split::Statics::Apart) have constants of the same name, and what a stage added.
//! Most are the same in all of them. One that a stage changed, as by aligning it, gets another name if nobody asks for its
//! name or address; of any other there can be only one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::cores::of_each;
use super::join::Parts;
use super::names::{self, Names};
use super::order;
use crate::ptx_text::{self, Definition};

/// The PTX of a group that was compiled apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// As LLVM writes it.
    pub text: String,
    /// Statics of which each part of the text can have a copy.
    pub copied: HashSet<String>,
}

/// The texts with names that tell their statics apart, and the names of all that may be copied; none if that cannot be.
pub fn told_apart(groups: &[Group]) -> Option<(Vec<Cow<'_, str>>, HashSet<String>)> {
    let parts = of_each(groups, |group| Parts::of(&group.text));
    let mut functions: HashMap<&str, Definition<'_>> = HashMap::new();
    for definition in groups.iter().flat_map(|group| ptx_text::definitions(&group.text)) {
        let first = functions.entry(definition.function.name).or_insert_with(|| definition.clone());
        // What panics call has the same text in each group, and is there once when they are joined.
        let is_first = first.text.as_ptr() == definition.text.as_ptr();
        if !is_first && (definition.function.is_kernel || bare(first) != bare(&definition)) {
            return None;
        }
    }
    let mut taken: HashSet<&str> = functions.keys().copied().collect();
    taken.extend(parts.iter().flat_map(|parts| &parts.statics).map(|text| order::name(text)));
    let mut known: HashMap<&str, (Cow<'_, str>, bool)> = HashMap::new();
    // The names of those that are called as another one.
    let mut others: HashMap<Cow<'_, str>, String> = HashMap::new();
    let (mut renamed, mut copied) = (Vec::new(), HashSet::new());
    for (group, parts) in groups.iter().zip(&parts) {
        let mut names: HashMap<&str, String> = HashMap::new();
        // Each stands behind those that it refers to.
        for &text in &parts.statics {
            let (name, mut text) = (order::name(text), Cow::from(text));
            if !names.is_empty() {
                text = names::replaced(&text, |name| names.get(name).cloned()).into();
            }
            let is_copied = group.copied.contains(name);
            let first = known.entry(name).or_insert_with(|| (text.clone(), is_copied));
            if first.0 != text && is_copied {
                let number = others.len();
                let new = others.entry(text).or_insert_with(|| {
                    let free = |new: &String| !taken.contains(&**new) && !copied.contains(new);
                    (number..).map(|number| format!("{name}_$_{number}")).find(free).unwrap_or_default()
                });
                copied.insert(new.clone());
                names.insert(name, new.clone());
            } else if *first != (text, is_copied) {
                return None;
            } else if is_copied {
                copied.insert(name.to_string());
            }
        }
        renamed.push(names);
    }
    let texts = groups.iter().zip(renamed).map(|(group, renamed)| {
        if renamed.is_empty() {
            return group.text.as_str().into();
        }
        let renamed: Names<'_, String> = renamed.into_iter().collect();
        names::replaced(&group.text, |name| renamed.get(name).cloned()).into()
    });
    Some((texts.collect(), copied))
}

/// A function's text without the numbers that LLVM gives to functions in labels and local variables, and to calls in comments.
fn bare(function: &Definition<'_>) -> String {
    let lines = ptx_text::lines(function.text).map(|line| line.code());
    let text = lines.collect::<Vec<_>>().join("\n");
    ["$L__BB", "__local_depot"].into_iter().fold(text, |text, name| {
        let parts = text.split(name).map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        parts.collect::<Vec<_>>().join(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(statics: &str, kernel: &str, copied: &[&str]) -> Group {
        let head = ".version 7.8\n.target sm_90\n.address_size 64\n";
        let text = format!("{head}{statics}.visible .entry {kernel}()\n{{\n\tmov.b64 %rd1, text-1;\n}}\n");
        Group { text, copied: copied.iter().map(ToString::to_string).collect() }
    }

    const TEXT: &str = ".global .b8 text[2] = {97, 0};\n";
    const PLACE: &str = ".global .b8 text[2] = {97, 0};\n.global .u64 place = text;\n";
    const ALIGNED: &str = ".global .align 16 .b8 text[2] = {97, 0};\n.global .u64 place = text;\n";

    #[test]
    fn a_changed_constant_gets_another_name() {
        let copied = ["text", "place"];
        let groups = [(TEXT, "a"), (ALIGNED, "b"), (PLACE, "c"), (ALIGNED, "d")];
        let groups = groups.map(|(statics, kernel)| group(statics, kernel, &copied));
        let (texts, names) = told_apart(&groups).expect("all may be copied");
        assert_eq!(&*texts[0], groups[0].text);
        let statics =
            |text: &str| text.lines().filter(|line| line.starts_with(".global")).collect::<Vec<_>>().join("\n");
        assert_eq!(statics(&texts[1]), statics(&texts[3]));
        assert!(
            texts[2].contains(" text[2]") && texts[2].contains(" place_$_1 = text;"),
            "not that of `b`: {}",
            texts[2]
        );
        assert!(!texts[1].contains(" text[") && !texts[1].contains("= text;") && !texts[1].contains(" text-1;"));
        assert_eq!(names.len(), 4);
        assert!(names.iter().all(|name| texts.iter().any(|text| text.contains(&format!(" {name}")))), "{names:?}");
    }

    #[test]
    fn what_is_looked_for_is_there_once() {
        let visible = ".visible .global .u64 text = 0;\n";
        assert!(told_apart(&[group(visible, "a", &[]), group(visible, "b", &[])]).is_some());
        assert!(told_apart(&[group(visible, "a", &[]), group(TEXT, "b", &[])]).is_none());
        assert!(told_apart(&[group(TEXT, "a", &["text"]), group(TEXT, "b", &[])]).is_none());
        assert!(told_apart(&[group(TEXT, "a", &["text"]), group(TEXT, "a", &["text"])]).is_none(), "a kernel");
    }

    #[test]
    fn a_function_is_there_once_if_its_text_is_one() {
        let with = |kernel: &str, label: u32, more: &str| {
            let mut group = group(TEXT, kernel, &["text"]);
            group.text += &format!(".func fail()\n{{\n$L__BB{label}_1: // {label}\n\tbra $L__BB{label}_1;\n{more}}}\n");
            group
        };
        let groups = [with("a", 1, ""), with("b", 7, "")];
        let (texts, _) = told_apart(&groups).expect("they are the same");
        let joined = super::super::join::texts(&texts, &[]);
        assert_eq!(joined.matches(".func fail").count(), 1, "{joined}");
        assert!(joined.contains(".entry a") && joined.contains(".entry b"), "{joined}");
        assert!(told_apart(&[with("a", 1, ""), with("b", 1, "\tret;\n")]).is_none());
    }
}
