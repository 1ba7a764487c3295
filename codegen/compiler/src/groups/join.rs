//! One PTX text of those of several groups.
//!
//! ```text
//! before: .version 7.8                     │ .version 7.8
//!         // .globl a                      │ // .globl b
//!         .global .b8 text[2] = {97, 0};   │ .global .b8 text[2] = {97, 0};
//!         .visible .entry a() { … }        │ .visible .entry b() { … }
//! after:  .version 7.8
//!         // .globl a
//!         .global .b8 text[2] = {97, 0};
//!         .visible .entry a() { … }
//!         // .globl b
//!         .visible .entry b() { … }
//! ```
//!
//! As LLVM writes it, functions are declared first, statics follow, each after those that it names, and then come the
//! functions; their order is that of [`order`]. A constant of which several groups have a copy has one name and one text in
//! all of them.

use std::collections::HashSet;

use super::cores::of_each;
use super::order;
use crate::ptx_text::{self, Kind};

/// A group's text by its parts.
#[derive(Default)]
pub struct Parts<'a> {
    /// Up to `.address_size`.
    pub head: String,
    /// LLVM's comment on the first function, which it writes above all that follows.
    begin: String,
    /// LLVM's comments that are above all that follows, on statics that became a function's.
    remarks: String,
    /// Of functions.
    pub declarations: Vec<&'a str>,
    /// Statements.
    pub statics: Vec<&'a str>,
    functions: &'a str,
}

impl<'a> Parts<'a> {
    /// By what LLVM writes.
    pub fn of(text: &'a str) -> Self {
        let first = ptx_text::definitions(text).next().map_or(text.len(), |definition| {
            // It is a part of the text.
            definition.text.as_ptr().addr() - text.as_ptr().addr()
        });
        let (front, functions) = text.split_at(first);
        let mut parts = Self { functions, ..Self::default() };
        let mut is_head = true;
        // Where the statement began, and whether it declares a function.
        let mut open: Option<(usize, bool)> = None;
        for line in ptx_text::lines(front) {
            let whole = &front[line.range.clone()];
            match line.kind {
                _ if is_head => parts.head += whole,
                Kind::Comment(_) if open.is_none() && whole.contains(".globl") => parts.begin += whole,
                Kind::Comment(_) if open.is_none() => parts.remarks += whole,
                Kind::Empty if open.is_none() => {}
                kind => {
                    let (start, declares) = *open.get_or_insert((line.range.start, matches!(kind, Kind::Function(_))));
                    if line.code().ends_with(';') {
                        let list = if declares { &mut parts.declarations } else { &mut parts.statics };
                        list.push(&front[start..line.range.end]);
                        open = None;
                    }
                }
            }
            is_head &= !line.code().starts_with(".address_size");
        }
        parts
    }

    /// The functions one by one, and what stands behind them.
    pub fn functions(&self) -> (Vec<order::Function<'a>>, &'a str) {
        let mut functions = Vec::new();
        let mut start = 0;
        for definition in ptx_text::definitions(self.functions) {
            // Both are parts of the text. The brace ends a line.
            let end = definition.text.as_ptr().addr() + definition.text.len() + 1 - self.functions.as_ptr().addr();
            let end = end.min(self.functions.len());
            let begin = if start == 0 { &*self.begin } else { "" };
            let text = format!("{begin}{}", self.functions[start..end].trim_start_matches('\n'));
            functions.push(order::Function { text, definition });
            start = end;
        }
        (functions, &self.functions[start..])
    }
}

/// The texts as one, its functions in the order of their names in `order`.
pub fn texts(texts: &[impl AsRef<str> + Sync], order: &[String]) -> String {
    let parts = of_each(texts, |text| Parts::of(text.as_ref()));
    let Some(first) = parts.first() else { return String::new() };
    let mut seen = HashSet::new();
    let mut declarations: Vec<&str> = parts.iter().flat_map(|parts| parts.declarations.iter().copied()).collect();
    declarations.retain(|declaration| seen.insert(*declaration));
    let mut statics: Vec<&str> = parts.iter().flat_map(|parts| parts.statics.iter().copied()).collect();
    statics.retain(|text| seen.insert(*text));
    let (functions, ends): (Vec<_>, Vec<_>) = of_each(&parts, Parts::functions).into_iter().unzip();
    let mut functions: Vec<_> = functions.into_iter().flatten().collect();
    functions.retain(|function| seen.insert(function.definition.function.name));
    let defined: HashSet<&str> = functions.iter().map(|function| function.definition.function.name).collect();
    declarations.retain(|declaration| !ptx_text::words(declaration).any(|word| defined.contains(word)));
    let (functions, undeclared) = order::functions(functions, order, &statics);
    let mut text = format!("{}\n", first.head);
    text.extend(parts.iter().map(|parts| parts.remarks.as_str()));
    text.extend(declarations);
    text.extend(undeclared);
    text.extend(order::statics(statics, &functions));
    functions.iter().for_each(|function| {
        text += "\n";
        text += &function.text;
    });
    text.extend(ends);
    text
}

#[cfg(test)]
mod tests {
    use super::texts as texts_of;
    use crate::llvm::{self, Context};

    fn texts(groups: &[impl AsRef<str> + Sync]) -> String {
        texts_of(groups, &["a", "helper", "b", "c"].map(String::from))
    }

    const STATICS: &str = "
        @text = private unnamed_addr addrspace(1) constant [2 x i8] c\"a\\00\"
        @place = private unnamed_addr addrspace(1) constant ptr addrspace(1) @text
        @other = private unnamed_addr addrspace(1) constant [2 x i8] c\"b\\00\"
        declare void @outside(ptr addrspace(1))
        declare i32 @another(i32)
        define internal void @helper(ptr %p) noinline { store i8 1, ptr %p ret void }";

    const A: &str = "define ptx_kernel void @a(ptr %p) { call void @outside(ptr addrspace(1) @place) ret void }";
    const B: &str = "define ptx_kernel void @b(ptr %p) { call void @outside(ptr addrspace(1) @text)
        call void @outside(ptr addrspace(1) @other) %x = call i32 @another(i32 1) call void @helper(ptr %p) ret void }
        define ptx_kernel void @c(ptr %p) { call void @helper(ptr %p) ret void }";

    fn emitted(text: &str) -> String {
        let context = Context::create();
        let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
        llvm::set_target(&module);
        let arch = crate::arch::Arch::portable();
        let machine = crate::emit::machine(arch, arch.min_ptx(), crate::request::OptLevel::O3).unwrap();
        llvm::run_passes(&module, &machine, "globaldce").unwrap();
        crate::emit::emit(&module, &machine, arch).unwrap()
    }

    #[test]
    fn joined_texts_are_what_llvm_writes_of_the_whole() {
        let groups = [A, B].map(|kernels| emitted(&format!("{STATICS}\n{kernels}")));
        let joined = texts(&groups);
        // LLVM numbers calls in comments.
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or(line).trim()).collect();
            lines.retain(|line| !line.is_empty());
            lines.sort_unstable();
            lines.join("\n")
        };
        let whole = emitted(&format!("{STATICS}\n{A}\n{B}"));
        assert_eq!(sorted(&joined), sorted(&whole));
        let at = |what: &str| joined.find(what).unwrap_or_else(|| panic!("no `{what}` in\n{joined}"));
        assert!(at(".func  (.param .b32 func_retval0) another") < at(" text[2]"));
        assert!(at(" text[2]") < at(" place") && at(" other") < at(".entry a("));
        assert!(at(".entry a(") < at("// .globl\tb") && at("// .globl\tb") < at(".entry b("));
        assert_eq!(joined.matches(" text[2]").count(), 1);
        assert_eq!(joined.matches(".address_size").count(), 1);
    }

    #[test]
    fn added_functions_are_in_the_order_of_their_names() {
        let added = |name: &str, kernel: &str| {
            emitted(&format!(
                "define internal void @{name}(ptr %p) noinline {{ store volatile i8 1, ptr %p ret void }}
                 define ptx_kernel void @{kernel}(ptr %p) {{ call void @{name}(ptr %p) ret void }}"
            ))
        };
        let [one, two] = [added("added_1", "a"), added("added_2", "b")];
        for groups in [[&one, &two], [&two, &one]] {
            let joined = texts(&groups);
            let at = |what: &str| joined.rfind(what).unwrap_or_else(|| panic!("no `{what}` in\n{joined}"));
            assert!(at(".entry b(") < at(".func added_1(") && at(".func added_1(") < at(".func added_2("), "{joined}");
        }
    }

    #[test]
    fn one_text_keeps_all_that_it_has() {
        let text = emitted(&format!("{STATICS}\n{B}"));
        let sorted = |text: &str| {
            let mut lines: Vec<String> =
                text.lines().map(str::to_string).filter(|line| !line.is_empty() && !line.contains(".globl")).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&texts(&[&text])), sorted(&text));
        assert_eq!(texts(&[texts(&[&text])]), texts(&[&text]));
    }

    #[test]
    fn the_order_is_the_same_for_all_groups_and_orders() {
        let whole = texts(&[emitted(&format!("{STATICS}\n{A}\n{B}"))]);
        let bare = |text: &str| {
            text.lines()
                .map(|line| line.split("//").next().unwrap_or(line).trim_end())
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        };
        let numbered = without_numbers(&bare(&whole));
        for groups in [vec![format!("{B}\n{A}")], vec![A.into(), B.into()], vec![B.into(), A.into()]] {
            let groups: Vec<_> = groups.iter().map(|kernels| emitted(&format!("{STATICS}\n{kernels}"))).collect();
            assert_eq!(without_numbers(&bare(&texts(&groups))), numbered);
        }
    }

    /// Without the numbers that LLVM gives to functions, in labels.
    fn without_numbers(text: &str) -> String {
        text.split("$L__BB")
            .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()))
            .collect::<Vec<_>>()
            .join("$L__BB")
    }
}
