//! Loops over ranges whose end belongs to them, `for k in -r..=r`, as loops with a number of rounds.
//!
//! ```text
//! before: head: %k = phi i32 [ %first, %before ], [ %next, %skip ], [ %next, %body ]
//!               %over = phi i1 [ false, %before ], [ %last, %skip ], [ %last, %body ]
//!               br i1 (select i1 %over, i1 true, i1 (icmp sgt i32 %k, %end)), label %out, label %round
//!         round: %last = icmp sge i32 %k, %end
//!                %next = add i32 %k, (zext i1 (xor i1 %last, true))
//! after:        %over = phi i1 [ (icmp sgt i32 %first, %end), %before ], [ (icmp eq i32 %k, %end), %latch ]
//!               br i1 %over, label %out, label %round
//!         round: %next = add i32 %k, 1
//!         latch: br label %head
//! ```
//!
//! The end may be the largest number there is, so the standard library asks whether a round was the last one before it counts
//! on, and stands still there. Elsewhere LLVM threads the jumps and sees a plain counter; on a GPU it does not, the flag stays,
//! and a loop whose rounds nobody can count is neither unrolled nor freed of its checks.
//!
//! **Why it is right.** In the first round the flag is not set, and the loop ends if the first number is more than the end.
//! Later the flag is not set exactly if the number before was less than the end; the number is more by one then, and so not
//! more than the end. So the comparison with the end says nothing new after the first round, and in every round the number is
//! at most the end: it is not less exactly if it is equal. Where the flag is set, nobody looks at the next number, because
//! only the rounds do, and what a round ends in: behind the loop it is not used.

mod compared;
mod flag;
mod guard;
mod rotated;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::llvm::{BuilderError, Context, FunctionValue, Module};
use crate::settled;

use super::natural::Graph;

use self::flag::Flag;
use self::guard::Guard;
use self::rotated::Rotated;

/// Makes such loops count.
pub fn end_inclusive<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    for function in settled::open(module) {
        rewrite(context, function).map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot count the rounds of a loop: {error}"))
        })?;
    }
    Ok(())
}

fn rewrite<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
    let builder = context.create_builder();
    for found in Graph::of(function).loops() {
        if let Some(flag) = Flag::of(&found) {
            flag.remove(&builder, &found)?;
        } else if let Some(guard) = Guard::of(&found) {
            guard.ask_once(&builder, &found)?;
        } else if let Some(rotated) = Rotated::of(&found) {
            rotated.count(&builder)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::end_inclusive;
    use crate::llvm::{AnyValue, Context, parse_ir};

    /// A loop from `first` to `end` whose head and latch are these, after [`end_inclusive`].
    fn counted(first: &str, end: &str, head: &str, latch: &str) -> String {
        counted_as(str::to_string, first, end, head, latch)
    }

    /// The same of what is made of the text.
    fn counted_as(made: impl Fn(&str) -> String, first: &str, end: &str, head: &str, latch: &str) -> String {
        let text = format!(
            "define void @f(ptr %to, i32 %first, i32 %end, i32 %other) {{
            entry: br label %head
            head: %k = phi i32 [ {first}, %entry ], [ %next, %latch ]
              {head}
            round: store volatile i32 %k, ptr %to
              br label %latch
            latch: %last = icmp sge i32 %k, {end}
              %goes = xor i1 %last, true
              %step = zext i1 %goes to i32
              %next = add nsw i32 %k, %step
              {latch}
            out: ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, made(&text).as_bytes(), "module").unwrap();
        end_inclusive(&context, &module).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    const FLAG: &str = "%over = phi i1 [ false, %entry ], [ %last, %latch ]
        %past = icmp sgt i32 %k, %end
        %done = select i1 %over, i1 true, i1 %past
        br i1 %done, label %out, label %round";

    const BACK: &str = "br label %head";

    #[test]
    fn the_number_alone_ends_a_loop() {
        let ir = counted("%first", "%end", FLAG, BACK);
        assert!(ir.contains("icmp sgt i32 %first, %end") && ir.contains("icmp eq i32"), "{ir}");
        let leaves = ir.lines().find(|line| line.contains("label %out")).unwrap();
        assert!(!leaves.contains("%done"), "{ir}");
        // Flags that say something else.
        let [set, other, unsigned] = [("[ false,", "[ true,"), ("%k, %end", "%k, %other"), ("sgt", "ugt")]
            .map(|(old, new)| FLAG.replace(old, new));
        for head in [set, other, unsigned] {
            assert!(counted("%first", "%end", &head, BACK).contains("br i1 %done"), "{head}");
        }
    }

    #[test]
    fn a_panic_of_a_round_says_which_number_it_was() {
        let panics = |says: &'static str| {
            let check = format!(
                "br i1 %asked, label %panic, label %latch
                panic: call void @says(i32 {says})
                unreachable
                latch:"
            );
            let made = move |ir: &str| {
                let ir = ir.replace("br label %latch\n            latch:", &check);
                let ir = ir.replace("store volatile i32 %k, ptr %to", "%asked = load volatile i1, ptr %to");
                ir.replace("define", "declare void @says(i32)\ndefine")
                    .replace("ret void", "%seen = phi i32 [ 0, %head ]\n ret void")
            };
            counted_as(made, "%first", "%end", FLAG, BACK)
        };
        let ir = panics("%k");
        assert!(!ir.contains("br i1 %done") && ir.contains("@says"), "{ir}");
        let seen = |ir: &str| {
            ir.replace("ret void", "call void @says(i32 %k)\n ret void")
                .replace("define", "declare void @says(i32)\ndefine")
        };
        let ir = counted_as(seen, "%first", "%end", FLAG, BACK);
        assert!(ir.contains("br i1 %done"), "behind the loop it is not what it was: {ir}");
    }

    #[test]
    fn a_loop_of_no_rounds_ends_with_what_it_begins_with() {
        let text = "define float @f(ptr %from, i32 %first, i32 %end) {
            entry: br label %head
            head: %k = phi i32 [ %first, %entry ], [ %next, %round ]
              %sum = phi float [ 1.0, %entry ], [ %more, %round ]
              %past = icmp sgt i32 %k, %end
              br i1 %past, label %out, label %round
            round: %next = add i32 %k, 1
              %x = load volatile float, ptr %from
              %more = fadd float %sum, %x
              %goes = icmp slt i32 %k, %end
              br i1 %goes, label %head, label %out
            out: %all = phi float [ %sum, %head ], [ %more, %round ]
              ret float %all
            }";
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        end_inclusive(&context, &module).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        // So LLVM asks before the loop.
        assert!(ir.contains("phi float [ 1.000000e+00, %head ], [ %more, %round ]"), "{ir}");
    }

    #[test]
    fn a_loop_begins_with_no_question_that_its_rounds_answer() {
        let guard = "%past = icmp sgt i32 %k, %end
            br i1 %past, label %out, label %round";
        let back = "br i1 %goes, label %head, label %out";
        let asks = |back: &str| counted("%first", "%end", guard, back).contains("br i1 %past");
        // The step must be 1 where the loop goes on, as LLVM has seen.
        assert!(asks(back));
        let plain = format!("%more = add i32 %k, 1\n {back}");
        let of = |back: &str| {
            counted(
                "%first",
                "%end",
                &format!("%by = phi i32 [ %first, %entry ], [ %more, %latch ] {}", guard.replace("%k", "%by")),
                &back.replace("%k", "%by"),
            )
        };
        let goes = plain.replace("br i1 %goes", "%is_less = icmp slt i32 %k, %end br i1 %is_less");
        assert!(!of(&goes).contains("br i1 %past") && of(&plain).contains("br i1 %past"));
    }

    #[test]
    fn a_block_that_jumps_back_in_several_cases_is_left_alone() {
        let twice = |ir: &str| ir.replace("[ %next, %latch ]", "[ %next, %latch ], [ %next, %latch ]");
        let twice = |ir: &str| twice(ir).replace("[ %last, %latch ]", "[ %last, %latch ], [ %last, %latch ]");
        let back = "%again = load volatile i32, ptr %to
            switch i32 %again, label %out [ i32 1, label %head
                                            i32 2, label %head ]";
        let ir = counted_as(twice, "%first", "%end", FLAG, back);
        assert!(ir.contains("br i1 %done"), "{ir}");
    }

    #[test]
    fn two_questions_at_the_end_of_a_round_become_one() {
        let back = "%past = icmp sgt i32 %next, 5
            %done = select i1 %last, i1 true, i1 %past
            br i1 %done, label %out, label %head";
        let head = "br label %round";
        assert!(!counted("-1", "5", head, back).contains("br i1 %done"));
        for (first, end) in [("6", "5"), ("%first", "5"), ("-1", "4")] {
            assert!(counted(first, end, head, back).contains("br i1 %done"), "{first} {end}");
        }
        // No end is below 0 without a sign.
        let back = back.replace("%next, 5", "%next, %end");
        let unsigned = |ir: &str| ir.replace("sge", "uge").replace("sgt", "ugt");
        let asks = |first: &str, made: &dyn Fn(&str) -> String| {
            counted_as(made, first, "%end", head, &back).contains("br i1 %done")
        };
        assert!(!asks("0", &unsigned));
        assert!(asks("0", &str::to_string) && asks("1", &unsigned));
    }
}
