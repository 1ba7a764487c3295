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
//! Indices that differ by a constant need one comparison, if the length is below 2^63, as LLVM is told of every slice: with
//! `%j` the smallest and `d` between it and the largest, all are below `%len` exactly if `%j < %len - d`, and never where
//! `d > %len`. Conditions are joined by `select`, which does not look at the second where the first fails: what a later check
//! computes may mean nothing there.

mod chain;
mod copy;
mod separate;

use std::collections::HashSet;

use chain::{Chain, Check, Indexed};
use copy::Copies;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{
    self, BasicBlock, Builder, BuilderError, Context, FunctionValue, IntPredicate, IntValue, Module, TargetMachine,
};

/// What cleans up behind the merging.
const CLEAN: &str = "function(simplifycfg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// Merges the checks of every function.
pub fn merge<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    let mut any = false;
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        for chain in chain::chains(function) {
            let stage = Stage { context, builder: context.create_builder(), function, chain: &chain };
            stage.merge().map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot merge the checks of a function: {error}"))
            })?;
            any = true;
        }
    }
    if any {
        llvm::run_passes(module, machine, CLEAN)
            .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}")))?;
    }
    Ok(())
}

/// Keeps comparisons apart that LLVM would join, when it is done with everything else.
pub fn separate<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    separate::separate(context, module).map_err(|error| {
        Diagnostic::error(Code::LlvmFailed, format!("cannot separate two comparisons: {error}")).into()
    })
}

struct Stage<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    chain: &'a Chain<'ctx>,
}

impl<'ctx> Stage<'_, 'ctx> {
    fn merge(&self) -> Result<(), BuilderError> {
        let Chain { head, checks } = self.chain;
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

    /// Writes the place where each check is made by itself, in their order; the last fails if none before does.
    fn one_by_one(&self) -> Result<BasicBlock<'ctx>, BuilderError> {
        let checks = &self.chain.checks;
        let blocks: Vec<BasicBlock<'ctx>> =
            checks.iter().map(|_| self.context.append_basic_block(self.function, "")).collect();
        let mut copies = Copies::new(self.chain);
        for (at, check) in checks.iter().enumerate() {
            self.builder.position_at_end(blocks[at]);
            llvm::replace_predecessor(check.outside, check.block, blocks[at], |value| copies.of(&self.builder, value));
            if !check.outside_is_shared {
                check.outside.get_instructions().for_each(|instruction| copies.use_in(&self.builder, instruction));
            }
            match blocks.get(at + 1) {
                Some(next) => {
                    let holds = self.holds(check, &mut copies)?;
                    self.builder.build_conditional_branch(holds, *next, check.outside)?;
                }
                None => {
                    self.builder.build_unconditional_branch(check.outside)?;
                }
            }
        }
        Ok(blocks[0])
    }

    /// Writes the condition of all checks.
    fn all_at_once(&self) -> Result<IntValue<'ctx>, BuilderError> {
        let mut copies = Copies::new(self.chain);
        let mut all: Option<IntValue<'ctx>> = None;
        let mut done = HashSet::new();
        let checks = &self.chain.checks;
        for (at, check) in checks.iter().enumerate() {
            if done.contains(&at) {
                continue;
            }
            let like: Vec<usize> = (at..checks.len()).filter(|other| check.is_like(&checks[*other])).collect();
            let holds = match &check.indexed {
                Some(first) if like.len() > 2 || like.len() > 1 && first.base.is_none() => {
                    let offsets = || like.iter().filter_map(|at| Some(checks[*at].indexed.as_ref()?.offset));
                    let (least, most) = (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0));
                    done.extend(like);
                    self.in_reach(first, least, most, &mut copies)?
                }
                _ => self.holds(check, &mut copies)?,
            };
            all = Some(match all {
                Some(before) => {
                    let never = self.context.bool_type().const_zero();
                    self.builder.build_select(before, holds, never, "")?.into_int_value()
                }
                None => holds,
            });
        }
        Ok(all.unwrap_or_else(|| self.context.bool_type().const_int(1, false)))
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
        let (first, last) = (below(least)?, below(most)?);
        self.builder.build_and(first, last, "")
    }
}
