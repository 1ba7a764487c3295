//! The PTX in parts that have nothing in common, each of which ptxas compiles on its own and only if it has changed.
//!
//! ```text
//! before: .global text, tile; .func f;   .entry a() { … text … call f }   .entry b() { … tile … call f }   .entry c() { … tile … }
//! after:  .global text; .func f;   .entry a() { … }   │   .global tile; .func f;   .entry b() { … }   .entry c() { … }
//! ```
//!
//! Kernels are together that name the same static, unless it is one of which each part can have a copy: constants whose
//! address nobody compares, shared memory, which every block has anew, and what the host writes in each part when it loads
//! it. What an `asm!` names counts, because this is the text that ptxas reads. A function that is called by its name is copied:
//! ptxas compiles it for each kernel anyway. Not so one whose address is taken. It may be left in memory for another kernel to
//! call, so all kernels that take such an address or call one are together. A text of another form than LLVM's stays whole.
//!
//! The rest is as in `split`: names say where a part begins, and a part has what it has in the order of the whole. What LLVM
//! numbers in the whole, constants, labels and calls, is numbered anew: a change to one kernel then changes no other part.

use std::collections::{HashMap, HashSet};

use super::cores::of_each;
use super::join::Parts;
use super::names::{self, Names};
use super::order;
use crate::hash;
use crate::ptx_text::{self, Kind};

/// A part has so many kernels at least, if there are so many: to start ptxas costs as much as to compile a kernel or two.
const LEAST_KERNELS: usize = 6;

/// Of so many names that come then, one begins the next part.
const NAMES: u64 = 3;

/// After so many kernels it begins, whatever their names are.
const MOST_KERNELS: usize = 12;

/// A kernel is a part of its own if its text has so many bytes, with what it calls: ptxas takes longest for those.
const LARGE: usize = 96 << 10;

/// What constants are called in a part, before their number.
const CONSTANT: &str = "__rust_ptx_constant";

/// How LLVM's labels begin, before the function's number, a `_` and the block's number.
const LABEL: &str = "$L__BB";

/// A text with fewer bytes is not cut.
const SMALL: usize = 64 << 10;

/// The parts of a text, of whose statics those in `copied` may be in several; none if it is not divided.
pub fn texts(text: &str, copied: &HashSet<String>) -> Vec<String> {
    parts_of(LEAST_KERNELS, text, copied)
}

fn parts_of(least: usize, text: &str, copied: &HashSet<String>) -> Vec<String> {
    if text.len() < SMALL {
        return Vec::new();
    }
    let whole = Parts::of(text);
    let Some(program) = Program::of(&whole, copied) else { return Vec::new() };
    let parts = program.parts(least);
    if parts.len() < 2 { Vec::new() } else { of_each(&parts, |part| program.text(part)) }
}

/// A function or static.
#[derive(Default)]
struct Piece<'a> {
    name: &'a str,
    text: &'a str,
    /// Its name may be looked for.
    is_visible: bool,
    is_kernel: bool,
    /// Parts may each have one.
    is_copied: bool,
    /// Nobody asks for its name or address.
    is_constant: bool,
    /// Other pieces that it names, each once.
    uses: Vec<usize>,
    /// Whether it takes a function's address, or calls a function by one.
    has_addresses: bool,
}

/// A text's pieces: statics, then functions, in the text's order.
struct Program<'a> {
    head: &'a str,
    /// Each with the name of the function; none if it is not known.
    declarations: Vec<(&'a str, &'a str)>,
    pieces: Vec<Piece<'a>>,
    statics: usize,
}

impl<'a> Program<'a> {
    /// None if there is something that is not understood.
    fn of(whole: &'a Parts<'a>, copied: &HashSet<String>) -> Option<Self> {
        let (functions, end) = whole.functions();
        let is_blank = |text: &str| ptx_text::words(text).next().is_none();
        let has_directive = |text: &str| {
            let mut words = ptx_text::words(text);
            words.any(|word| matches!(word, ".global" | ".const" | ".alias" | ".visible" | ".weak" | ".extern"))
        };
        if !is_blank(end) || functions.iter().any(|function| has_directive(function.definition.body)) {
            return None;
        }
        let mut pieces = Vec::new();
        for text in &whole.statics {
            let front = text.split('=').next().unwrap_or_default();
            let is = |directive: &str| ptx_text::words(front).any(|word| word == directive);
            if ![".global", ".const", ".shared"].into_iter().any(is) {
                return None;
            }
            let name = order::name(text);
            let is_visible = [".visible", ".weak", ".extern"].into_iter().any(is);
            let is_constant = copied.contains(name) && !is_visible;
            let is_copied = copied.contains(name) || is(".shared");
            pieces.push(Piece { name, text, is_visible, is_copied, is_constant, ..Piece::default() });
        }
        let statics = pieces.len();
        for function in &functions {
            let (definition, is_kernel) = (&function.definition, function.definition.function.is_kernel);
            let is_visible = is_kernel || !definition.text.starts_with(".func");
            let (name, text) = (definition.function.name, definition.text);
            pieces.push(Piece { name, text, is_visible, is_kernel, is_copied: true, ..Piece::default() });
        }
        let by_name: Names<'_, usize> = pieces.iter().enumerate().map(|(at, piece)| (piece.name, at)).collect();
        if by_name.len() < pieces.len() || pieces.iter().any(|piece| piece.name.is_empty()) {
            return None;
        }
        let bodies = pieces.iter().enumerate().map(|(at, piece)| match at.checked_sub(statics) {
            Some(function) => functions[function].definition.body,
            None => piece.text.split_once('=').map_or("", |(_, contents)| contents),
        });
        let found = of_each(&bodies.collect::<Vec<_>>(), |body| uses(body, &by_name, statics));
        for (piece, found) in pieces.iter_mut().zip(found) {
            (piece.uses, piece.has_addresses) = found;
        }
        let declarations = whole.declarations.iter().map(|text| (*text, declared(text))).collect();
        Some(Self { head: &whole.head, declarations, pieces, statics })
    }

    /// The pieces that one leads to, itself among them.
    fn reached(&self, from: usize) -> Vec<usize> {
        let (mut seen, mut pending) = (HashSet::from([from]), vec![from]);
        while let Some(at) = pending.pop() {
            pending.extend(self.pieces[at].uses.iter().copied().filter(|used| seen.insert(*used)));
        }
        let mut reached: Vec<usize> = seen.into_iter().collect();
        reached.sort_unstable();
        reached
    }

    /// The pieces of each part, in the text's order; a part has `least` kernels, if there are so many.
    fn parts(&self, least: usize) -> Vec<Vec<usize>> {
        // Kernels, and what no kernel leads to.
        let mut roots: Vec<usize> = (0..self.pieces.len()).filter(|at| self.pieces[*at].is_kernel).collect();
        let mut reached: Vec<Vec<usize>> = roots.iter().map(|root| self.reached(*root)).collect();
        let mut seen: HashSet<usize> = reached.iter().flatten().copied().collect();
        // What others name is seen by then, unless only a circle does.
        let rest = (0..self.pieces.len()).rev().filter(|at| self.pieces[*at].is_visible);
        for root in rest.chain((0..self.pieces.len()).rev()) {
            if !seen.contains(&root) {
                roots.push(root);
                reached.push(self.reached(root));
                seen.extend(reached.last().into_iter().flatten());
            }
        }
        let mut together = self.together(&reached);
        let name = |root: &usize| self.pieces[roots[*root]].name;
        together.iter_mut().for_each(|roots| roots.sort_by_key(name));
        together.sort_by_key(|roots| roots.first().map(name));
        let bytes = |root: &usize| reached[*root].iter().map(|at| self.pieces[*at].text.len()).sum::<usize>();
        // No part for what no code needs.
        let is_needed = |root: &usize| roots[*root] >= self.statics && self.pieces[roots[*root]].is_visible;
        let (needed, left): (Vec<_>, Vec<_>) = together.into_iter().partition(|roots| roots.iter().any(is_needed));
        let (large, rest): (Vec<_>, Vec<_>) =
            needed.into_iter().partition(|roots| roots.iter().map(bytes).sum::<usize>() >= LARGE);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let begins =
            |together: &Vec<usize>| together.first().is_none_or(|root| hash::stable([name(root)]) % NAMES == 0);
        for together in rest {
            match parts.last_mut() {
                Some(part) if part.len() < least || part.len() < MOST_KERNELS && !begins(&together) => {
                    part.extend(together);
                }
                _ => parts.push(together),
            }
        }
        parts.extend(large);
        if let Some(first) = parts.first_mut() {
            first.extend(left.into_iter().flatten());
        }
        let pieces = |part: &Vec<usize>| {
            let mut pieces: Vec<usize> = part.iter().flat_map(|root| reached[*root].iter().copied()).collect();
            pieces.sort_unstable();
            pieces.dedup();
            pieces
        };
        parts.iter().map(pieces).collect()
    }

    /// The indices of those that are to be in one part.
    fn together(&self, reached: &[Vec<usize>]) -> Vec<Vec<usize>> {
        // Of each another one, up to that of the whole.
        let mut above: Vec<usize> = (0..reached.len()).collect();
        fn top(above: &[usize], mut at: usize) -> usize {
            while above[at] != at {
                at = above[at];
            }
            at
        }
        // Who met the piece first; and the addresses of functions, as if they were one more.
        let mut first: HashMap<usize, usize> = HashMap::new();
        for (root, pieces) in reached.iter().enumerate() {
            let has_addresses = pieces.iter().any(|at| self.pieces[*at].has_addresses);
            let binding = pieces.iter().copied().filter(|at| !self.pieces[*at].is_copied);
            for piece in binding.chain(has_addresses.then_some(self.pieces.len())) {
                let other = *first.entry(piece).or_insert(root);
                let (own, other) = (top(&above, root), top(&above, other));
                above[own] = other;
            }
        }
        let mut together: HashMap<usize, Vec<usize>> = HashMap::new();
        for root in 0..reached.len() {
            together.entry(top(&above, root)).or_default().push(root);
        }
        together.into_values().collect()
    }

    /// The text of a part.
    fn text(&self, part: &[usize]) -> String {
        let mut text = format!("{}\n", self.head);
        let words = |at: &usize| ptx_text::words(self.pieces[*at].text);
        let is_named = |name: &str| part.iter().flat_map(words).any(|word| word == name);
        let declared = self.declarations.iter().filter(|(_, name)| name.is_empty() || is_named(name));
        text.extend(declared.map(|(declaration, _)| *declaration));
        let constants = part.iter().map(|at| &self.pieces[*at]).filter(|piece| piece.is_constant);
        let names = constants.enumerate().map(|(number, piece)| (piece.name, format!("{CONSTANT}{number}"))).collect();
        for (number, at) in part.iter().enumerate() {
            text += &numbered(self.pieces[*at].text, &names, number);
        }
        text
    }
}

/// A piece with other names of constants, another number in its labels, and without comments, in which LLVM numbers calls.
fn numbered(piece: &str, names: &Names<'_, String>, function: usize) -> String {
    let has_long_comments = piece.contains("/*");
    let lines = ptx_text::lines(piece).map(|line| if has_long_comments { line.text } else { line.code() });
    let piece = lines.filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect::<String>();
    names::replaced(&piece, |name| {
        let label = || {
            let (_, block) = name.strip_prefix(LABEL)?.split_once('_')?;
            Some(format!("{LABEL}{function}_{block}"))
        };
        names.get(name).cloned().or_else(label)
    })
}

/// The pieces that a body names, and whether it takes a function's address or calls by one. Functions come behind statics.
fn uses(body: &str, by_name: &Names<'_, usize>, statics: usize) -> (Vec<usize>, bool) {
    let (mut uses, mut has_addresses) = (Vec::new(), false);
    // How deep in the parentheses of a call's result, until its function was named.
    let mut call: Option<usize> = None;
    for word in ptx_text::words(body) {
        let depth = call.take();
        let is_called = match (depth, word) {
            (Some(depth), "(") => {
                call = Some(depth + 1);
                continue;
            }
            (Some(1), ")") => {
                call = Some(0);
                continue;
            }
            (Some(1..), _) | (Some(0), ",") => {
                call = depth;
                continue;
            }
            (depth, _) => depth.is_some(),
        };
        has_addresses |= is_called && word.starts_with('%');
        if let Some(used) = by_name.get(names::without_offset(word)) {
            uses.push(*used);
            has_addresses |= !is_called && *used >= statics;
        }
        if word == "call" || word.starts_with("call.") {
            call = Some(0);
        }
    }
    uses.sort_unstable();
    uses.dedup();
    (uses, has_addresses)
}

/// The name of the function that a text declares.
fn declared(text: &str) -> &str {
    let mut names = ptx_text::lines(text).filter_map(|line| match line.kind {
        Kind::Function(function) => Some(function.name),
        _ => None,
    });
    names.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\n";

    const STATICS: &str = ".extern .func outside\n(\n\t.param .b32 x\n)\n;\n.func called\n()\n;\n\
        .extern .shared .align 4 .b8 dynamic[];\n\
        .weak .global .align 8 .u64 __ptx_panic;\n\
        .global .align 1 .b8 text[2] = {97, 0};\n\
        .global .align 8 .u64 place[1] = {generic(text)};\n\
        .global .align 8 .u64 table[1] = {taken};\n\
        .visible .global .align 4 .u32 counter;\n\
        .visible .global .align 4 .u32 unused;\n\
        .shared .align 4 .b8 tile[64];\n";

    const FUNCTIONS: &str = ".func called()\n{\n\tret;\n}\n.func taken()\n{\n\tret;\n}\n";

    fn copied() -> HashSet<String> {
        ["__ptx_panic", "text", "place", "table"].map(String::from).into()
    }

    /// The kernels of each part, of those with such bodies: `a` has the first, and so on.
    fn kernels_of_parts(bodies: &[&str]) -> Vec<String> {
        let names = names(bodies.len());
        let kernels = bodies.iter().zip(&names).map(|(body, name)| kernel(name, body));
        let text = format!("{HEAD}{STATICS}{}{FUNCTIONS}", kernels.collect::<String>());
        let parts = parts_of(1, &text, &copied());
        if parts.is_empty() { vec![letters(&text, &names)] } else { parts.iter().map(|p| letters(p, &names)).collect() }
    }

    /// Names with which a part begins.
    fn names(count: usize) -> Vec<String> {
        let begins = |name: &String| hash::stable([name]) % NAMES == 0;
        let name = |letter: char| (0..).map(|n| format!("{letter}{n}")).find(begins).unwrap();
        ('a'..).take(count).map(name).collect()
    }

    fn letters(text: &str, names: &[String]) -> String {
        names.iter().filter(|name| text.contains(&format!(".entry {name}("))).map(|name| &name[..1]).collect()
    }

    /// Large enough to be worth it, and not to be alone.
    fn kernel(name: &str, body: &str) -> String {
        let filled = "\tadd.s32 %r1, %r1, 1;\n".repeat(SMALL / 40);
        format!(".visible .entry {name}(\n\t.param .u64 {name}_param_0\n)\n{{\n{filled}\t{body}\n\tret;\n}}\n")
    }

    #[test]
    fn kernels_are_together_that_have_more_in_common_than_copies() {
        let call = "call.uni (retval0), called, (param0);";
        for (bodies, expected) in [
            (["", "", ""], "a b c"),
            (["ld.global.u32 %r1, [text+1];", "", "mov.b64 %rd1, place;"], "a b c"),
            (["ld.global.u64 %rd1, [__ptx_panic];", "", "ld.global.u64 %rd1, [__ptx_panic];"], "a b c"),
            (["st.shared.u32 [tile], 1;", "st.shared.u32 [dynamic], 1;", "st.shared.u32 [tile+4], 1;"], "a b c"),
            ([call, "call outside, (param0);", call], "a b c"),
            (["st.global.u32 [counter+4], 1;", "", "mov.b64 %rd1, counter;"], "ac b"),
            (["mov.b64 %rd1, taken;", "", "mov.b64 %rd1, called;"], "ac b"),
            (["mov.b64 %rd1, table;", "", "call (retval0), %rd1, (param0), prototype_0;"], "ac b"),
            (["call.uni %rd1, (param0), p;", "@%p1 call.uni called, ();", "call %rd1, (), p;"], "ac b"),
            (["// counter", "", "mov.b64 %rd1, counter;"], "a b c"),
            (["ld.global.u32 %r1, [counter-4];", "", "mov.b64 %rd1, counter;"], "ac b"),
        ] {
            assert_eq!(kernels_of_parts(&bodies).join(" "), expected, "{bodies:?}");
        }
        let is_whole = kernels_of_parts(&["", "\t.global .u32 own;", ""]);
        assert_eq!(is_whole, ["abc"], "what is declared in a function, is seen by all");
    }

    #[test]
    fn a_part_has_what_it_needs_in_the_order_of_the_whole() {
        let mut names = names(4);
        // The first has what nobody needs, too.
        let first = kernel(&names.remove(0), "");
        let [a, b, c] = [
            "mov.b64 %rd1, place;\n\tcall.uni called, ();",
            "call.uni outside, (param0);\n\tst.shared.u32 [tile], 1;",
            "st.global.u32 [counter], 1;",
        ];
        let kernels: Vec<_> = names.iter().zip([a, b, c]).map(|(name, body)| kernel(name, body)).collect();
        let text = format!("{HEAD}{STATICS}{first}{}{FUNCTIONS}", kernels.concat());
        let parts = parts_of(1, &text, &copied());
        let bare = |text: &str| {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.collect::<Vec<_>>().join("\n").replace("\n\t", "\n")
        };
        let statics = ".func called\n()\n;\n.global .align 1 .b8 __rust_ptx_constant0[2] = {97, 0};\n\
            .global .align 8 .u64 __rust_ptx_constant1[1] = {generic(__rust_ptx_constant0)};\n";
        let kernel = kernels[0].replace("place;", "__rust_ptx_constant1;");
        let expected = format!("{HEAD}{statics}{kernel}.func called()\n{{\n\tret;\n}}\n");
        assert_eq!(bare(&parts[1]), bare(&expected));
        let statics = ".extern .func outside\n(\n\t.param .b32 x\n)\n;\n.shared .align 4 .b8 tile[64];\n";
        assert_eq!(bare(&parts[2]), bare(&format!("{HEAD}{statics}{}", kernels[1])));
        for line in ["unused;", "counter;", ".func taken()"] {
            assert_eq!(parts.iter().filter(|part| part.contains(line)).count(), 1, "{line}");
        }
    }

    #[test]
    fn a_change_to_one_kernel_changes_one_part() {
        let names: Vec<String> = (0..60).map(|number| format!("kernel_{number}")).collect();
        let text = |changed: usize| {
            let body = |number: usize| format!("mov.u32 %r1, {};", number + usize::from(number == changed) * 100);
            let kernels: String = (0..names.len()).map(|number| kernel(&names[number], &body(number))).collect();
            format!("{HEAD}{kernels}")
        };
        let (before, after) = (texts(&text(usize::MAX), &copied()), texts(&text(17), &copied()));
        assert!(before.len() > 4 && before.len() < 30, "{}", before.len());
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        assert_eq!((changed, before.len()), (1, after.len()));
    }

    #[test]
    fn what_llvm_numbers_is_numbered_anew() {
        let text =
            "mov.b64 \t%rd1, text7-1; // a comment\n\n\t{ // callseq 5, 0\n$L__BB12_3:\n\t@%p1 bra \t$L__BB12_3;\n";
        let names = [("text7", "c0".to_string())].into_iter().collect();
        assert_eq!(numbered(text, &names, 4), "mov.b64 \t%rd1, c0-1;\n{\n$L__BB4_3:\n@%p1 bra \t$L__BB4_3;\n");
        assert_eq!(numbered("a; /* // */ b;\n", &names, 4), "a; /* // */ b;\n");
    }

    #[test]
    fn small_texts_and_kernels_of_one_static_stay_whole() {
        assert_eq!(
            texts(&format!("{HEAD}.visible .entry a()\n{{\n}}\n.visible .entry b()\n{{\n}}\n"), &copied()).len(),
            0
        );
        let counter = "st.global.u32 [counter], 1;";
        assert_eq!(kernels_of_parts(&[counter, counter, counter]), ["abc"]);
    }
}
