//! Merges checks that follow each other into one.
//!
//! ```text
//! before: a:  br i1 (icmp ult i64 %i, %len), label %b, label %panic.a
//!         b:  %x = load …
//!             br i1 (icmp ult i64 (add i64 %i, 1), %len), label %c, label %panic.b
//!         c:  br i1 (icmp ult i64 (add i64 %i, 2), %len), label %d, label %panic.c
//! after:  a:  br i1 (icmp ult i64 %i, (usub.sat i64 %len, 2)), label %b, label %slow
//!         b:  %x = load …                                      ; and c, d without a check
//!         slow:    br i1 (icmp ult i64 %i, %len), label %slow.b, label %panic.a
//!         slow.b:  br i1 (icmp ult i64 (add i64 %i, 1), %len), label %panic.c, label %panic.b
//! ```
//!
//! A thread that looks at its neighbours checks each of them, with two comparisons of 64 bits and a jump, before ptxas can
//! load the first two together. Here all of them are checked at once. Where that fails, a second place makes the checks one
//! by one, so that the first that fails panics, with its own numbers. Between the checks nothing may be done that another
//! thread could see: what only loads and computes may as well come after a check that fails, where it is never done.
//!
//! Where a part of a slice begins and ends, as of `&x[at..][..3]`, is checked as the indices of its first and last element. A
//! failed check of a part asks which of its two ends is outside, and then panics.
//!
//! A check may also end a function without loops, as the one that sends home the threads past the end of a slice.
//!
//! Indices that differ by a constant need one comparison, if the length is below 2^63, as LLVM is told of every slice: with
//! `%j` the smallest and `d` between it and the largest, all are below `%len` exactly if `%j < %len - d`, and never where
//! `d > %len`. Where LLVM has found that an index is not negative when its check is reached, as that of `a[i - 1]` behind
//! `i > 0`, it is enough that a larger one is below. So it is where indices are sums that cannot wrap around, and it is known which
//! is the largest, as of those that are columns apart (`largest.rs`). Conditions are joined by `select`, which does not look at
//! the second where the first fails: what a later check computes may mean nothing there.

mod again;
mod ahead;
mod apart;
mod areas;
mod assumed;
mod behind;
mod bounds;
mod chain;
mod clamped;
mod copy;
mod early;
mod extended;
mod growing;
mod largest;
mod later;
mod loads;
mod moved;
mod planes;
#[cfg(test)]
pub mod random_tests;
mod regions;
mod rows;
mod separate;
mod start;
mod sums;
mod within;

use std::collections::HashSet;

pub use ahead::compute_ahead;
pub(crate) use bounds::shown;
pub use early::read_early;
pub use loads::load_early;

use chain::{Chain, Check, Indexed};
use clamped::Elements;
use copy::Copies;

use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, Builder, BuilderError, Context, FunctionValue, IntPredicate, IntValue, Module, TargetMachine,
};
use crate::loops;
use crate::settled;

/// What cleans up behind the merging.
const CLEAN: &str = "function(simplifycfg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Drops the checks of elements of a plane in every function.
pub fn drop_of_planes<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    let functions = settled::open(module).filter(|function| function.count_basic_blocks() > 1);
    functions.for_each(|function| planes::drop(context, function));
}

/// Runs every function in a copy without the checks of elements of an area, where the slice has as many.
pub fn ask_of_areas<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let functions = settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 1);
    // What keeps copies apart may be declared.
    for function in functions.collect::<Vec<_>>() {
        areas::copy(context, module, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot copy what has indices of an area: {error}"))
        })?;
    }
    Ok(())
}

/// Merges the checks of every function.
pub fn merge<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    apart::drop(module);
    let mut any = false;
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        let failed = |error: BuilderError| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot merge the checks of a function: {error}"))
        };
        let mut slow = regions::copy(context, function, &unlikely(context, function)).map_err(failed)?;
        any |= !slow.is_empty();
        // Anew, as blocks may have been parted.
        slow.extend(unlikely(context, function));
        for chain in chain::chains(function, slow) {
            let elements = clamped::elements(&chain);
            let stage = Stage { context, builder: context.create_builder(), function, chain: &chain, elements };
            stage.merge().map_err(failed)?;
            any = true;
        }
    }
    if any {
        llvm::run_passes(module, machine, CLEAN)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}")))?;
    }
    Ok(())
}

/// The blocks that only an unlikely way leads to: a copy of the kernel for where its checks may fail. Asked at once, they would
/// have as many addresses ahead of all loads, and with them the kernel more registers than the other copy takes. So would copies
/// of its stretches, which were six registers more in a depthwise convolution.
fn unlikely<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> HashSet<BasicBlock<'ctx>> {
    let blocks = function.get_basic_blocks();
    let ends = blocks.iter().filter_map(|block| block.get_terminator());
    let seldom: Vec<_> = ends
        .filter_map(|end| llvm::unlikely_target(context, end))
        .filter(|target| llvm::predecessors(*target).len() == 1)
        .collect();
    if seldom.is_empty() {
        return HashSet::new();
    }
    let graph = loops::Graph::of(function);
    let is_behind = |block: &BasicBlock<'ctx>| {
        graph.dominator(*block).is_some() && seldom.iter().any(|target| graph.is_reached_by_way_of(*block, *target))
    };
    blocks.into_iter().filter(is_behind).collect()
}

/// Keeps comparisons apart that LLVM would join, or could not, when it is done with everything else.
pub fn separate<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) -> Result<()> {
    let failed = |error: BuilderError| {
        Diagnostic::error(Code::LlvmFailed, format!("cannot separate two comparisons: {error}")).into()
    };
    // What is compared again lives longer, and in a loop a register counts more than a comparison.
    let is_straight =
        |function: &FunctionValue<'ctx>| function.count_basic_blocks() > 1 && !loops::has_loops(*function);
    for function in llvm::functions(module).filter(is_straight) {
        again::compare(context, function).map_err(failed)?;
    }
    separate::separate(context, module, arch).map_err(failed)
}

struct Stage<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    chain: &'a Chain<'ctx>,
    /// Checks that one test shows to hold, which may fail where they hold.
    elements: Vec<Elements<'ctx>>,
}

impl<'ctx> Stage<'_, 'ctx> {
    fn merge(&self) -> Result<(), BuilderError> {
        let Chain { head, checks, .. } = self.chain;
        let Some(end) = head.get_terminator() else { return Ok(()) };
        let slow = self.one_by_one()?;
        self.builder.position_before(&end);
        let all = self.all_at_once()?;
        self.builder.build_conditional_branch(all, checks[0].inside, slow)?;
        end.erase_from_basic_block();
        for check in &checks[1..] {
            if let Some(end) = check.block.get_terminator() {
                self.builder.position_before(&end);
                self.builder.build_unconditional_branch(check.inside)?;
                end.erase_from_basic_block();
            }
        }
        Ok(())
    }

    /// Writes the place where each check is made by itself, in their order; the last fails if none before does and what is asked of
    /// all holds exactly if none fails.
    fn one_by_one(&self) -> Result<BasicBlock<'ctx>, BuilderError> {
        let checks = &self.chain.checks;
        let blocks: Vec<BasicBlock<'ctx>> =
            checks.iter().map(|_| self.context.append_basic_block(self.function, "")).collect();
        let mut copies = Copies::new(self.chain.behind());
        for (at, check) in checks.iter().enumerate() {
            self.builder.position_at_end(blocks[at]);
            llvm::replace_predecessor(check.outside, check.block, blocks[at], |value| copies.of(&self.builder, value));
            if !check.outside_is_shared {
                let panics = check.panics().into_iter().flat_map(|block| block.get_instructions());
                panics.for_each(|instruction| copies.use_in(&self.builder, instruction));
            }
            match blocks.get(at + 1) {
                Some(next) => {
                    let holds = self.holds(check, &mut copies)?;
                    self.builder.build_conditional_branch(holds, *next, check.outside)?;
                }
                None if self.elements.is_empty() => {
                    self.builder.build_unconditional_branch(check.outside)?;
                }
                None => {
                    let holds = self.holds(check, &mut copies)?;
                    let inside = checks[0].inside;
                    self.builder.build_conditional_branch(holds, inside, check.outside)?;
                    for phi in llvm::phis(inside) {
                        if let Some(value) = llvm::incoming_from(phi, self.chain.head) {
                            llvm::add_incoming(phi, value, blocks[at]);
                        }
                    }
                }
            }
        }
        Ok(blocks[0])
    }

    /// Writes the condition of all checks.
    fn all_at_once(&self) -> Result<IntValue<'ctx>, BuilderError> {
        let mut copies = Copies::new(self.chain.behind());
        let mut all: Option<IntValue<'ctx>> = None;
        let mut done = HashSet::new();
        let checks = &self.chain.checks;
        let behind: Vec<_> = self.chain.behind().into_iter().collect();
        for elements in &self.elements {
            let fit = elements.fit(&self.builder, &behind)?;
            all = Some(match all {
                Some(before) => self.builder.build_and(before, fit, "")?,
                None => fit,
            });
            done.extend(elements.checks.iter().copied());
        }
        for (at, check) in checks.iter().enumerate() {
            if done.contains(&at) {
                continue;
            }
            if let Some((largest, implied)) = self.largest(at, &done) {
                done.extend(implied);
                let holds = self.in_reach(largest, largest.offset, largest.offset, &mut copies)?;
                all = Some(self.and_then(all, holds)?);
                continue;
            }
            let is_like = |other: &usize| !done.contains(other) && check.is_like(&checks[*other]);
            let like: Vec<usize> = (at..checks.len()).filter(is_like).collect();
            let offsets = || like.iter().filter_map(|at| Some(checks[*at].indexed.as_ref()?.offset));
            let (least, most) = (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0));
            let is_implied = |other: &usize| {
                let is_largest = checks[*other].indexed.as_ref().is_some_and(|indexed| indexed.offset == most);
                is_largest || checks[*other].is_of_same_signs()
            };
            let holds = match &check.indexed {
                // Where an index is not negative, it is below a larger one that differs by a constant.
                Some(first) if like.len() > 1 && like.iter().all(is_implied) => {
                    done.extend(like);
                    self.in_reach(first, most, most, &mut copies)?
                }
                Some(first)
                    if like.len() > 2
                        || like.len() > 1 && (first.base.is_none() || like.iter().any(|at| checks[*at].is_of_part)) =>
                {
                    done.extend(like);
                    self.in_reach(first, least, most, &mut copies)?
                }
                _ => self.holds(check, &mut copies)?,
            };
            all = Some(self.and_then(all, holds)?);
        }
        Ok(all.unwrap_or_else(|| self.context.bool_type().const_int(1, false)))
    }

    /// Writes whether a condition holds behind those that are asked before it.
    fn and_then(&self, before: Option<IntValue<'ctx>>, holds: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let Some(before) = before else { return Ok(holds) };
        let never = self.context.bool_type().const_zero();
        Ok(self.builder.build_select(before, holds, never, "")?.into_int_value())
    }

    /// The largest of the indices that are compared with the same length, a check's and later ones, if it is known, and the checks
    /// that hold if it is inside.
    fn largest(&self, at: usize, done: &HashSet<usize>) -> Option<(&Indexed<'ctx>, Vec<usize>)> {
        let checks = &self.chain.checks;
        let is_left = |other: &usize| !done.contains(other) && !checks[*other].is_of_part;
        let largest = (at..checks.len()).filter(is_left).fold(at, |known, other| {
            let can_be =
                checks[other].implies(&checks[known]) && checks[other].can_be_made_at(&checks[at], self.function);
            if can_be { other } else { known }
        });
        let implied = |other: &usize| is_left(other) && checks[largest].implies(&checks[*other]);
        let implied: Vec<usize> = (at..checks.len()).filter(implied).collect();
        let largest = checks[largest].indexed.as_ref().filter(|_| implied.len() > 1)?;
        Some((largest, implied))
    }

    /// Whether one check does not fail.
    fn holds(&self, check: &Check<'ctx>, copies: &mut Copies<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let condition = copies.of(&self.builder, check.condition.into()).into_int_value();
        if check.inside_first { Ok(condition) } else { self.builder.build_not(condition, "") }
    }

    /// Whether a base with every offset from the least to the most is below the length.
    fn in_reach(
        &self,
        indexed: &Indexed<'ctx>,
        least: i64,
        most: i64,
        copies: &mut Copies<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let word = self.context.i64_type();
        let number = |value: i64| word.const_int(value.cast_unsigned(), true);
        let len = copies.of(&self.builder, indexed.len.into()).into_int_value();
        let Some(base) = indexed.base else {
            return self.builder.build_int_compare(IntPredicate::ULT, number(most), len, "");
        };
        let base = copies.of(&self.builder, base.into()).into_int_value();
        let below = |offset| {
            let index = self.builder.build_int_add(base, number(offset), "")?;
            self.builder.build_int_compare(IntPredicate::ULT, index, len, "")
        };
        if least == most {
            return below(most);
        }
        let (first, last) = (below(least)?, below(most)?);
        self.builder.build_and(first, last, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::AnyValue;
    use crate::llvm::parse_ir;
    use crate::request::OptLevel;

    /// A function that makes the checks of `indices` one after the other, with what is between them, after [`merge`].
    pub fn merged(indices: &[&str], between: &str, entry: &str) -> String {
        let mut blocks = String::new();
        let mut panics = String::new();
        for (at, index) in indices.iter().enumerate() {
            let next = at + 1;
            blocks += &format!(
                "b{at}: %i{at} = {index}
                  %ok{at} = icmp ult i64 %i{at}, %len
                  br i1 %ok{at}, label %l{at}, label %p{at}
                l{at}: %at{at} = getelementptr i32, ptr %data, i64 %i{at}
                  %x{at} = load i32, ptr %at{at}
                  {between}
                  br label %b{next}\n"
            );
            panics += &format!(
                "p{at}: call void @panic(i64 %i{at}, i32 {at})
                  unreachable\n"
            );
        }
        let sum = (1..indices.len()).map(|at| {
            let before = if at == 1 { "%x0".to_string() } else { format!("%sum{}", at - 1) };
            format!("%sum{at} = add i32 {before}, %x{at}\n")
        });
        let (last, sum) = (indices.len() - 1, sum.collect::<String>());
        let text = format!(
            "declare void @llvm.assume(i1)
            declare void @panic(i64, i32) noreturn
            define i32 @f(ptr %data, ptr %other, i64 %len, i64 %i, i64 %w) {{
            entry: {entry}
              br label %b0
            {blocks}
            b{}: {sum} ret i32 %sum{last}
            {panics}
            }}",
            indices.len()
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        llvm::run_passes(&module, &machine, "function(simplifycfg)").unwrap();
        merge(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    pub const SMALL: &str = "%small = icmp sgt i64 %len, -1\n call void @llvm.assume(i1 %small)";

    /// The block in which everything is loaded, and whether it is the only one that loads.
    pub fn loads_at_once(ir: &str, loads: usize) -> bool {
        let blocks = ir.split("\n\n");
        let counts: Vec<usize> = blocks.map(|block| block.matches("load i32").count()).filter(|n| *n > 0).collect();
        counts == [loads]
    }

    #[test]
    fn checks_are_made_at_once_and_panics_stay_apart() {
        let ir = merged(&["add i64 %i, 0", "add i64 %i, %w", "sub i64 %i, %w"], "", SMALL);
        assert!(loads_at_once(&ir, 3), "{ir}");
        // Each panic still tells its own index.
        for panic in 0..3 {
            assert!(ir.contains(&format!(", i32 {panic})")), "{ir}");
        }
    }

    #[test]
    fn of_neighbours_the_first_and_the_last_are_compared() {
        let indices = ["add i64 %i, -1", "add i64 %i, 0", "add i64 %i, 1", "add i64 %i, 2"];
        let compares = |ir: &str| {
            let first = ir.split("br i1").next().unwrap_or_default();
            first.matches("icmp ult i64").count()
        };
        let ir = merged(&indices, "", SMALL);
        assert!(loads_at_once(&ir, 4) && compares(&ir) == 2, "{ir}");
        // With a length of 2^64 - 1 the first and the last could be on both sides of 0.
        let ir = merged(&indices, "", "");
        assert!(loads_at_once(&ir, 4) && compares(&ir) == 4, "{ir}");
    }

    #[test]
    fn of_indices_that_are_not_negative_the_last_is_compared() {
        let text = |sign: &str| {
            format!(
                "declare void @llvm.assume(i1)
                declare void @panic(i64) noreturn
                define i32 @f(ptr %data, i64 %len, i32 %n) {{
                entry: {SMALL}
                  %i = zext i32 %n to i64
                  %before = add nsw i64 %i, -1
                  %one = icmp {sign} ult i64 %before, %len
                  br i1 %one, label %a, label %first
                a: %two = icmp samesign ult i64 %i, %len
                  br i1 %two, label %b, label %second
                b: %left = getelementptr i32, ptr %data, i64 %before
                  %x = load i32, ptr %left
                  %at = getelementptr i32, ptr %data, i64 %i
                  %y = load i32, ptr %at
                  %sum = add i32 %x, %y
                  ret i32 %sum
                first: call void @panic(i64 %before)
                  unreachable
                second: call void @panic(i64 %i)
                  unreachable
                }}"
            )
        };
        let compares = |sign: &str| {
            let context = Context::create();
            let module = parse_ir(&context, text(sign).as_bytes(), "module").unwrap();
            let arch = "sm_90".parse::<Arch>().unwrap();
            let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
            merge(&context, &module, &machine).unwrap();
            module.verify().unwrap();
            let ir = module.get_function("f").unwrap().print_to_string().to_string();
            assert!(loads_at_once(&ir, 2), "{ir}");
            let entry = ir.split("br i1").next().unwrap_or_default();
            entry.matches("%len").count() - entry.matches("sgt i64 %len").count() - 1
        };
        assert_eq!((compares("samesign"), compares("")), (1, 2));
    }

    #[test]
    fn threads_that_have_nothing_to_do_leave_by_the_same_branch() {
        let text = |back: &str| {
            format!(
                "declare void @panic(i64) noreturn
                define void @f(ptr %data, ptr %to, i64 %n, i64 %len, i64 %i) {{
                entry: %mine = icmp ult i64 %i, %n
                  br i1 %mine, label %a, label %end
                a: %ok = icmp ult i64 %i, %len
                  br i1 %ok, label %b, label %fail
                b: %at = getelementptr i32, ptr %data, i64 %i
                  %x = load i32, ptr %at
                  store i32 %x, ptr %to
                  {back}
                end: ret void
                fail: call void @panic(i64 %i)
                  unreachable
                }}"
            )
        };
        let first_branch_is_both = |back: &str| {
            let context = Context::create();
            let module = parse_ir(&context, text(back).as_bytes(), "module").unwrap();
            let arch = "sm_90".parse::<Arch>().unwrap();
            let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
            merge(&context, &module, &machine).unwrap();
            module.verify().unwrap();
            let ir = module.get_function("f").unwrap().print_to_string().to_string();
            let entry = ir.split("br i1").next().unwrap_or_default();
            entry.matches("icmp ult").count() == 2 || entry.contains("llvm.umin")
        };
        assert!(first_branch_is_both("br label %end"));
        // Before a loop, registers count more.
        assert!(!first_branch_is_both("%again = icmp eq i32 %x, 0\n br i1 %again, label %b, label %end"));
    }

    #[test]
    fn what_is_seen_between_checks_keeps_them_apart() {
        for between in ["store i32 1, ptr %other", "call void @panic(i64 0, i32 7)", "fence seq_cst"] {
            let ir = merged(&["add i64 %i, 0", "add i64 %i, 1"], between, SMALL);
            assert!(!loads_at_once(&ir, 2), "{between}: {ir}");
        }
    }

    #[test]
    fn a_panic_of_two_checks_may_use_what_is_computed_before_both() {
        let text = "declare void @panic(i64) noreturn
            define i32 @f(ptr %data, i64 %i, i64 %len, i64 %limit) {
            a: %mine = icmp ult i64 %i, %len
              br i1 %mine, label %b, label %first
            b: %next = add i64 %i, 1
              %told = mul i64 %i, 7
              %ok = icmp ult i64 %next, %len
              br i1 %ok, label %c, label %second
            c: %fine = icmp ult i64 %next, %limit
              br i1 %fine, label %d, label %second
            d: %at = getelementptr i32, ptr %data, i64 %next
              %x = load i32, ptr %at
              %part = trunc i64 %told to i32
              %sum = add i32 %x, %part
              ret i32 %sum
            first: call void @panic(i64 %i)
              unreachable
            second: call void @panic(i64 %told)
              unreachable
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        merge(&context, &module, &machine).unwrap();
        module.verify().unwrap();
    }

    #[test]
    fn where_parts_begin_and_end_is_checked_at_once() {
        let rows: String = (0..3)
            .map(|row| {
                let next = row + 1;
                format!(
                    "b{row}: %a{row} = mul i64 %w, {row}
                      %late{row} = icmp ugt i64 %a{row}, %len
                      br i1 %late{row}, label %fail.{row}, label %c{row}
                    c{row}: %left{row} = sub i64 %len, %a{row}
                      %enough{row} = icmp ugt i64 %left{row}, 2
                      br i1 %enough{row}, label %l{row}, label %short{row}
                    l{row}: %at{row} = getelementptr i32, ptr %data, i64 %a{row}
                      %x{row} = load i32, ptr %at{row}
                      br label %b{next}
                    fail.{row}: %why{row} = icmp ugt i64 %a{row}, %n
                      br i1 %why{row}, label %one{row}, label %two{row}
                    one{row}: call void @panic(i64 %a{row}, i32 1{row})
                      unreachable
                    two{row}: call void @panic(i64 %a{row}, i32 2{row})
                      unreachable
                    short{row}: call void @panic(i64 %left{row}, i32 3{row})
                      unreachable\n"
                )
            })
            .collect();
        let text = |small: &str| {
            format!(
                "declare void @llvm.assume(i1)
                declare void @panic(i64, i32) noreturn
                define i32 @f(ptr %data, i64 %len, i64 %w, i64 %n) {{
                entry: {small}
                  br label %b0
                {rows}
                b3: %s = add i32 %x0, %x1
                  %t = add i32 %s, %x2
                  ret i32 %t
                }}"
            )
        };
        let after = |small: &str| {
            let context = Context::create();
            let module = parse_ir(&context, text(small).as_bytes(), "module").unwrap();
            let arch = "sm_90".parse::<Arch>().unwrap();
            let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
            llvm::run_passes(&module, &machine, "function(simplifycfg)").unwrap();
            merge(&context, &module, &machine).unwrap();
            module.verify().unwrap();
            module.get_function("f").unwrap().print_to_string().to_string()
        };
        let ir = after(SMALL);
        assert!(loads_at_once(&ir, 3), "{ir}");
        let first = ir.split("br i1").next().unwrap_or_default();
        assert!(!first.contains("sub i64") && first.matches("add i64").count() >= 2, "as of two indices: {ir}");
        // Each of a row's three panics is still there.
        for row in 0..3 {
            assert!((1..4).all(|why| ir.contains(&format!("i32 {why}{row})"))) || row == 0, "{ir}");
        }
        // With a length of 2^64 - 1 the last index could wrap around.
        let ir = after("");
        assert!(loads_at_once(&ir, 3) && ir.split("br i1").next().unwrap_or_default().contains("sub i64"), "{ir}");
    }

    #[test]
    fn an_index_from_memory_is_not_loaded_before_its_check() {
        let ir = merged(&["add i64 %i, 0", "zext i32 %x0 to i64"], "", SMALL);
        assert!(!loads_at_once(&ir, 2), "{ir}");
    }

    #[test]
    fn comparisons_with_one_limit_are_written_as_ptx() {
        let text = "define i1 @f(i64 %a, i64 %b, i64 %c, i64 %n, i1 %x) {
            %1 = icmp ult i64 %a, %n
            %2 = icmp ugt i64 %n, %b
            %3 = icmp ult i64 %c, %n
            %4 = and i1 %1, %2
            %5 = select i1 %4, i1 %3, i1 false
            %6 = select i1 %5, i1 %x, i1 false
            ret i1 %6
        }
        define i1 @g(i64 %a, i64 %b, i64 %n) {
            %1 = icmp uge i64 %a, %n
            %2 = icmp uge i64 %b, %n
            %3 = or i1 %1, %2
            ret i1 %3
        }
        define i1 @h(i64 %a, i64 %b, i64 %n, i64 %m) {
            %1 = icmp ult i64 %a, %n
            %2 = icmp ult i64 %b, %m
            %3 = and i1 %1, %2
            ret i1 %3
        }
        define i1 @k(i64 %a, i64 %n, i64 %m) {
            %1 = icmp ult i64 %a, %n
            %2 = icmp ult i64 %a, %m
            %3 = and i1 %1, %2
            ret i1 %3
        }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        separate(&context, &module, "sm_90".parse().unwrap()).unwrap();
        module.verify().unwrap();
        let ir = |name: &str| module.get_function(name).unwrap().print_to_string().to_string();
        let f = ir("f");
        assert!(
            f.contains("setp.lt.u64 %p, $1, $2; setp.lt.and.u64 %p, $3, $2, %p; setp.lt.and.u64 %p, $4, $2, %p;"),
            "{f}"
        );
        assert!(f.contains("(i64 %a, i64 %n, i64 %b, i64 %c)") && f.contains("i1 %x, i1 false"), "{f}");
        assert!(ir("g").contains("setp.ge.u64 %p, $1, $2; setp.ge.or.u64 %p, $3, $2, %p;"), "{}", ir("g"));
        assert!(!ir("h").contains("asm"), "{}", ir("h"));
        assert!(ir("k").contains("setp.lt.u64 %p, $1, $2; setp.lt.and.u64 %p, $1, $3, %p;"), "{}", ir("k"));
    }

    #[test]
    fn comparisons_of_numbers_that_grow_alike_are_one_of_the_largest() {
        // Rows and a column of a table, the plain numbers, and what does not grow alike or may overflow.
        let kinds = [
            ("%w{k} = mul nuw i64 %r{k}, %width\n %v{k} = add nuw i64 %w{k}, %x", true),
            ("%w{k} = mul nuw i64 %pair.low, %r{k}\n %v{k} = add nuw i64 %x, %w{k}", true),
            ("%v{k} = add i64 %r{k}, %x", true),
            ("%v{k} = or i64 %r{k}, 0", false),
            ("%w{k} = mul i64 %r{k}, %pair\n %v{k} = add i64 %w{k}, %x", false),
            ("%w{k} = mul i64 %r{k}, %width\n %v{k} = add i64 %w{k}, %pair", false),
        ];
        for (value, grows) in kinds {
            let rounds = (0..3).map(|k| {
                format!(
                    "%r{k} = zext i32 %row{k} to i64\n {}\n %c{k} = icmp ult i64 %v{k}, %len\n",
                    value.replace("{k}", &k.to_string())
                )
            });
            let text = format!(
                "define i1 @f(i32 %row0, i32 %row1, i32 %row2, i32 %w, i32 %c, i64 %pair, i64 %len) {{
                %width = zext i32 %w to i64
                %pair.low = and i64 %pair, 4294967295
                %x = zext i32 %c to i64
                {}
                %both = select i1 %c0, i1 %c1, i1 false
                %all = select i1 %both, i1 %c2, i1 false
                ret i1 %all
                }}",
                rounds.collect::<String>()
            );
            for arch in ["sm_80", "sm_90"] {
                let context = Context::create();
                let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
                separate(&context, &module, arch.parse().unwrap()).unwrap();
                module.verify().unwrap();
                let ir = module.get_function("f").unwrap().print_to_string().to_string();
                let maxima = ir.matches("icmp ugt i32").count();
                assert_eq!((maxima, ir.contains("setp.lt.u64")), if grows { (2, false) } else { (0, true) }, "{ir}");
                let frozen = if grows { ["%row0", "%row1", "%row2"].to_vec() } else { Vec::new() };
                assert!(frozen.iter().all(|row| ir.contains(&format!("freeze i32 {row}\n"))), "{ir}");
            }
        }
    }

    #[test]
    fn comparisons_of_32_bits_with_one_limit_are_one_of_the_largest() {
        let text = "define i1 @f(i32 %a, i32 %b, i32 %c, i32 %n, i1 %x) {
            %1 = icmp ult i32 %a, %n
            %2 = icmp ugt i32 %n, %b
            %3 = icmp ult i32 %c, %n
            %4 = select i1 %1, i1 %2, i1 false
            %5 = select i1 %4, i1 %3, i1 false
            %6 = select i1 %5, i1 %x, i1 false
            ret i1 %6
        }
        define i1 @g(i32 %a, i32 %b, i32 %c, i32 %n) {
            %1 = icmp uge i32 %a, %n
            %2 = icmp uge i32 %b, %n
            %3 = icmp ule i32 %n, %c
            %4 = or i1 %1, %2
            %5 = or i1 %4, %3
            ret i1 %5
        }
        define i1 @h(i32 %a, i32 %b, i32 %n) {
            %1 = icmp ult i32 %a, %n
            %2 = icmp ult i32 %b, %n
            %3 = and i1 %1, %2
            ret i1 %3
        }";
        let after = |arch: &str, name: &str| {
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
            separate(&context, &module, arch.parse().unwrap()).unwrap();
            module.verify().unwrap();
            let machine =
                emit::machine("sm_90".parse().unwrap(), Arch::min_ptx("sm_90".parse().unwrap()), OptLevel::O3);
            llvm::run_passes(&module, &machine.unwrap(), "function(dce)").unwrap();
            module.get_function(name).unwrap().print_to_string().to_string()
        };
        let f = after("sm_90", "f");
        assert_eq!(
            (f.matches("freeze").count(), f.matches("icmp ugt").count(), f.matches("icmp ult").count()),
            (4, 2, 1),
            "{f}"
        );
        assert!(f.contains("i1 %x, i1 false"), "{f}");
        let g = after("sm_120", "g");
        assert_eq!((g.matches("icmp ugt").count(), g.matches("icmp uge").count()), (2, 1), "{g}");
        // Two are compared as fast as their maximum, and before sm_90 there is none of three.
        assert_eq!(after("sm_90", "h").matches("icmp").count(), 2);
        assert_eq!(after("sm_80", "f").matches("icmp").count(), 3);
    }
}
