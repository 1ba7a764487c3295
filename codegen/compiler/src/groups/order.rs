//! The order of functions and statics in a text: the same, however the program was divided and whatever else it has.
//!
//! ```text
//! before: .global text2; .global text1;   .entry b() { … text2 … }   .entry a() { … text1 … }
//! after:  .global text1; .global text2;   .entry a() { … text1 … }   .entry b() { … text2 … }
//! ```
//!
//! ptxas numbers a static's address, in a kernel's bank of constants, by the order in which it meets them. So that machine code
//! is the same with lines and without, functions are in the order that the program had before it was divided, and statics in
//! the order in which the functions name them.

use std::collections::HashSet;

use super::names::Names;
use crate::ptx_text::{self, Definition};

/// A function, and its text with the comments in front of it.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// With what stands between the function before and this one.
    pub text: String,
    /// The function itself.
    pub definition: Definition<'a>,
}

/// The functions in the order of their names in `order`, then the others by name; and declarations of those that others name
/// before, or statics do.
pub fn functions<'a>(
    mut functions: Vec<Function<'a>>,
    order: &[String],
    statics: &[&str],
) -> (Vec<Function<'a>>, Vec<String>) {
    let places: Names<'_, usize> = order.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    // What a stage has added has no place: by name, because stages add it in another order where there are other groups.
    functions.sort_by_key(|Function { definition, .. }| {
        let name = definition.function.name;
        places.get(name).map_or((usize::MAX, name), |place| (*place, ""))
    });
    let by_name: Names<'_, usize> =
        functions.iter().enumerate().map(|(place, function)| (function.definition.function.name, place)).collect();
    let in_statics = statics.iter().flat_map(|text| ptx_text::words(text));
    let mut early: Vec<usize> = in_statics.filter_map(|word| by_name.get(word)).copied().collect();
    for (place, function) in functions.iter().enumerate() {
        let used = ptx_text::words(function.definition.body).filter_map(|word| by_name.get(word));
        early.extend(used.filter(|used| **used > place));
    }
    early.sort_unstable();
    early.dedup();
    let undeclared = early.into_iter().map(|place| declaration(&functions[place].definition)).collect();
    (functions, undeclared)
}

/// The statics in that order; those that no function names are last.
pub fn statics<'a>(statics: Vec<&'a str>, functions: &[Function<'_>]) -> Vec<&'a str> {
    let names: Vec<&str> = statics.iter().map(|text| name(text)).collect();
    let by_name: Names<'a, &'a str> = names.iter().copied().zip(statics).collect();
    let uses: Names<'_, Vec<&str>> = by_name
        .iter()
        .map(|(name, text)| {
            let words = ptx_text::words(text.split_once('=').map_or("", |(_, contents)| contents));
            (name, words.filter(|word| by_name.get(word).is_some()).collect())
        })
        .collect();
    let words = functions.iter().flat_map(|function| ptx_text::words(function.definition.text));
    let named: Vec<&str> = words.filter_map(|word| by_name.entry(word)).map(|(name, _)| name).collect();
    let order = behind_uses(named.into_iter().chain(names).collect(), &uses);
    order.into_iter().filter_map(|name| by_name.get(name).copied()).collect()
}

/// The names in their order, each once, behind those that it uses.
fn behind_uses<'a>(names: Vec<&'a str>, uses: &Names<'a, Vec<&'a str>>) -> Vec<&'a str> {
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    for first in names {
        // A name, and whether what it uses is before it by now.
        let mut pending = vec![(first, false)];
        while let Some((name, is_last)) = pending.pop() {
            if is_last {
                order.push(name);
            } else if seen.insert(name) {
                pending.push((name, true));
                let used = uses.get(name).into_iter().flatten().rev();
                pending.extend(used.filter(|used| !seen.contains(*used)).map(|used| (*used, false)));
            }
        }
    }
    order
}

/// The name that a statement gives to a static: `text` of `.global .align 1 .b8 text[2] = {97, 0};`.
pub fn name(statement: &str) -> &str {
    let front = statement.split(['=', ';']).next().unwrap_or_default();
    let words =
        ptx_text::words(front).filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c)));
    words.last().unwrap_or(statement)
}

/// The function without its body.
fn declaration(definition: &Definition<'_>) -> String {
    let header = definition.text.split("\n{").next().unwrap_or_default();
    format!("{}\n;\n", header.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(text: &str) -> Function<'_> {
        Function { text: text.into(), definition: ptx_text::definitions(text).next().expect("it is one") }
    }

    #[test]
    fn functions_are_in_the_order_of_the_program() {
        let a = ".visible .entry a(\n\t.param .u64 p\n)\n{\n\tcall.uni f, ();\n}\n";
        let b = ".visible .entry b()\n{\n\tmov.b64 %rd1, g;\n\tcall.uni f, ();\n}\n";
        let f = ".func f()\n{\n\tret;\n}\n";
        let g = ".func g()\n.noreturn\n{\n\tcall.uni h, ();\n}\n";
        let h = ".func  (.param .b32 r) h(\n\t.param .b64 x\n)\n{\n\tcall.uni g, (); // a comment on f\n}\n";
        let order = ["a", "f", "b", "h"].map(String::from);
        let names = |texts: &[&'static str]| {
            let texts = texts.iter().map(|text| function(text)).collect();
            let (functions, undeclared) = functions(texts, &order, &[]);
            (functions.iter().map(|f| f.definition.function.name).collect::<Vec<_>>().join(" "), undeclared)
        };
        let of_f = ".func f()\n;\n".to_string();
        let of_h = ".func  (.param .b32 r) h(\n\t.param .b64 x\n)\n;\n".to_string();
        let of_g = ".func g()\n.noreturn\n;\n".to_string();
        for texts in [[a, b, f, g, h], [h, g, f, b, a], [g, b, h, a, f]] {
            assert_eq!(names(&texts), ("a f b h g".into(), vec![of_f.clone(), of_g.clone()]));
        }
        assert_eq!(names(&[g, f]), ("f g".into(), vec![]));
        let table = ".global .align 8 .u64 table[1] = {f};\n";
        assert_eq!(functions(vec![function(f)], &order, &[table]).1, [of_f]);
        assert_eq!(names(&[h]).1, Vec::<String>::new());
        assert!(!names(&[g, h]).1.contains(&of_h), "it is in front");
    }

    #[test]
    fn statics_are_in_the_order_of_their_uses() {
        let code = ".entry a()\n{\n\tmov.b64 %rd1, table+8;\n\tld.global.b8 %rs1, [tile$];\n\tmov.b64 %rd2, text;\n}\n";
        let unused = ".visible .global .align 8 .u64 unused;\n";
        let all = [
            unused,
            ".global .align 1 .b8 text[2] = {97, 0};\n",
            ".global .align 8 .u64 table[2] = {generic(other), generic(text)};\n",
            ".extern .shared .align 16 .b8 tile$[];\n",
            ".global .attribute(.managed) .align 4 .u32 other = 5;\n",
        ];
        let expected = ["other", "text", "table", "tile$", "unused"];
        for shift in 0..all.len() {
            let mut given = all.to_vec();
            given.rotate_left(shift);
            let names: Vec<_> = statics(given, &[function(code)]).into_iter().map(name).collect();
            assert_eq!(names, expected);
        }
    }
}
