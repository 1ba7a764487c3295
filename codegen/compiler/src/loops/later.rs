//! Has loops stay whole until the stages that look at them have run.
//!
//! ```text
//! before: loop: …   br i1 %more, label %loop, label %end
//! after:  loop: …   br i1 %more, label %loop, label %end, !llvm.loop !{…, !"llvm.loop.unroll.runtime.disable"}
//! ```
//!
//! LLVM's pipeline inlines, and unrolls at its end. Where it does not know how many rounds there are, it makes two loops of
//! one: four rounds at a time, and the rest. Stages between the first pipeline and the second no longer see how many there
//! are at most. So it unrolls such loops in the second.
//!
//! **Why it is right.** Marks change how often a body stands in a loop, never what it does.

use crate::llvm::{self, Context, Module, Unroll};

use super::natural::{Graph, Loop};

/// Marks every loop of which nothing is said, before the first pipeline.
pub fn delay(context: &Context, module: &Module<'_>) {
    each(module, Graph::innermost, |found| {
        let jumps = found.jumps_back();
        if !llvm::has_loop_mark(context, &jumps) {
            llvm::set_unroll(context, &jumps, Unroll::Later);
        }
    });
}

/// Takes the marks away, also of loops that others were inlined into: those may be gone before LLVM unrolls.
pub fn resume(context: &Context, module: &Module<'_>) {
    each(module, Graph::loops, |found| {
        let jumps = found.jumps_back();
        if llvm::unroll_was_delayed(context, &jumps) {
            llvm::forget_loop(context, &jumps);
        }
    });
}

fn each<'ctx>(
    module: &Module<'ctx>,
    which: impl Fn(&Graph<'ctx>) -> Vec<Loop<'ctx>>,
    mut act: impl FnMut(&Loop<'ctx>),
) {
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        which(&Graph::of(function)).iter().for_each(&mut act);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::parse_ir;

    #[test]
    fn loops_are_whole_until_their_marks_are_taken_away() {
        let text = "define void @f(i1 %c) {
            entry: br label %loop
            loop: br i1 %c, label %loop, label %said
            said: br i1 %c, label %said, label %end, !llvm.loop !0
            end: ret void
        }
        !0 = distinct !{!0, !1}
        !1 = !{!\"llvm.loop.unroll.count\", i32 2}";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let count = |mark: &str| module.print_to_string().to_string().matches(mark).count();
        delay(&context, &module);
        module.verify().unwrap();
        // What a user said of the other one counts.
        assert_eq!((count("!llvm.loop !"), count("unroll.runtime.disable"), count("unroll.count")), (2, 1, 1));
        resume(&context, &module);
        module.verify().unwrap();
        assert_eq!((count("!llvm.loop !"), count("unroll.count")), (1, 1));
    }

    #[test]
    fn a_loop_that_another_was_inlined_into_has_no_mark_either() {
        let text = "define void @f(i1 %c) {
            entry: br label %outer
            outer: br label %inner
            inner: br i1 %c, label %inner, label %rest
            rest: br i1 %c, label %outer, label %end, !llvm.loop !0
            end: ret void
        }
        !0 = distinct !{!0, !1}
        !1 = !{!\"llvm.loop.unroll.runtime.disable\"}";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        resume(&context, &module);
        assert!(!module.print_to_string().to_string().contains("llvm.loop"));
    }
}
