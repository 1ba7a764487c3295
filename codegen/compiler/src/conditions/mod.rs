//! Computes at once what decides together: the parts of an `&&`, and the few values that a `match` tells apart; where it is one of
//! the order of two numbers, those are compared.
//!
//! LLVM keeps a branch for each part, because a branch costs a CPU nothing that is rarely taken. Here the warp takes it in any
//! case, as soon as one of its threads needs the second part, and ptxas moves nothing across: what the second part waits for,
//! a division above all, waits for the first part, too. nvcc computes both and branches once.
//!
//! Last of all that is optimised: LLVM would make branches of it again.

mod alike;
mod beside;
mod both;
mod cases;
mod cheap;
mod decided;
mod floats;
mod nulls;
mod onward;
mod orders;
#[cfg(test)]
mod random_tests;
mod shared;
mod steps;
mod waits;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Failure, Result};
use crate::llvm::{self, BuilderError, Context, Module, TargetMachine};
use crate::loops::SimpleForm;
use crate::settled;

/// What cleans up. Not LLVM's `instcombine`, which would compute in 64 bits again what was narrowed.
const CLEAN: &str = "function(simplifycfg,early-cse)";

/// The same in one function.
const CLEAN_ONE: &str = "simplifycfg,early-cse";

/// Parts of one condition that are joined.
const MOST_PARTS: usize = 8;

/// Folds choices that a branch has made, and questions for null that have one answer, in every function.
pub fn decide<'ctx>(context: &'ctx Context, module: &Module<'ctx>) {
    for function in settled::open(module) {
        nulls::decide_never(context, function);
        decided::decide(function);
        onward::count(context, function);
    }
}

/// The same of loops of a known number of rounds, before LLVM's first pipeline.
pub fn decide_counted(module: &Module<'_>) {
    settled::open(module).for_each(decided::decide_counted);
}

/// Decides whether an `Option<&T>` is one by where control comes from, before LLVM's first pipeline.
pub fn decide_nulls<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    settled::open(module).try_for_each(|function| nulls::decide(context, function)).map_err(failed)
}

/// Chooses by comparisons of floats rather than branch, in every function.
pub fn choose<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    let mut any = false;
    for function in settled::open(module).filter(|function| function.count_basic_blocks() > 1) {
        while floats::choose(context, function).map_err(failed)? {
            any = true;
        }
        any |= steps::choose(context, function).map_err(failed)?;
    }
    if any { clean(module, machine) } else { Ok(()) }
}

/// Does not tell a number apart for which the other way does the same, where speed counts.
pub fn unite<'ctx>(context: &'ctx Context, module: &Module<'ctx>, form: &SimpleForm<'_>) -> Result<()> {
    for function in settled::open_and_fast(module).filter(|function| function.count_basic_blocks() > 3) {
        if alike::unite(context, function).map_err(failed)? {
            form.lose();
            llvm::run_passes_on_function(function, form.machine, CLEAN_ONE).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN_ONE}` failed: {error}"))
            })?;
        }
    }
    Ok(())
}

fn failed(error: BuilderError) -> Failure {
    Diagnostic::error(Code::LlvmFailed, format!("cannot join the branches of a function: {error}")).into()
}

fn clean(module: &Module<'_>, machine: &TargetMachine) -> Result<()> {
    llvm::run_passes(module, machine, CLEAN)
        .map_err(|error| Diagnostic::error(Code::LlvmFailed, format!("LLVM's passes `{CLEAN}` failed: {error}")).into())
}

/// Puts branches that stand in each other beside each other, and has nothing wait for a load before another one, in every
/// function; when LLVM is done, which would undo it.
pub fn part<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let mut functions = llvm::functions(module).filter(|function| function.count_basic_blocks() > 1);
    let part_one = |function| {
        beside::put(context, function)?;
        waits::choose(context, function)
    };
    functions.try_for_each(part_one).map_err(failed)
}

/// Joins the branches of every function.
pub fn join<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) -> Result<()> {
    let mut any = false;
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        any |= shared::load(context, function);
    }
    if any {
        clean(module, machine)?;
    }
    // What was joined is a first part again, once the empty block behind it is gone.
    for _ in 0..MOST_PARTS {
        let mut any = false;
        for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
            any |= cases::join(context, function).map_err(failed)?;
            any |= both::join(context, function).map_err(failed)?;
            any |= floats::choose(context, function).map_err(failed)?;
        }
        if !any {
            break;
        }
        clean(module, machine)?;
    }
    // What does more than choose values.
    let mut any = false;
    for function in llvm::functions(module).filter(|function| function.count_basic_blocks() > 1) {
        any |= orders::part(context, function).map_err(failed)?;
    }
    if any { clean(module, machine) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{AnyValue, parse_ir};
    use crate::request::OptLevel;

    /// What becomes of a function `f`.
    fn joined(text: &str) -> String {
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        join(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        module.get_function("f").unwrap().print_to_string().to_string()
    }

    /// Whether a function of three parts has one branch; the first part is `i % n`, if `entry` is passed.
    fn is_one(entry: &str, second: &str, third: &str) -> bool {
        let ir = joined(&format!(
            "declare void @fail() noreturn
            define void @f(ptr %to, i32 %i, i32 %n, i32 %m) {{
            entry: {entry}
            parts: %q = udiv i32 %i, 7
              %one = icmp ult i32 %q, 100
              br i1 %one, label %second, label %no
            second: {second}
              br i1 %two, label %third, label %no
            third: {third}
              br i1 %three, label %yes, label %no
            yes: store i32 1, ptr %to
              br label %end
            no: store volatile i32 2, ptr %to
              br label %end
            end: ret void
            fail: call void @fail()
              unreachable
            }}"
        ));
        ir.matches("br i1").count() == usize::from(entry.contains("br i1")) + 1
    }

    const ALWAYS: &str = "br label %parts";
    const LESS: &str = "%two = icmp ult i32 %i, %m";
    const MORE: &str = "%j = add i32 %i, 5\n %k = mul i32 %j, %m\n %three = icmp ugt i32 %k, 9";

    #[test]
    fn parts_of_a_condition_are_computed_at_once() {
        assert!(is_one(ALWAYS, LESS, MORE));
    }

    #[test]
    fn what_may_do_harm_waits_for_its_turn() {
        for second in [
            "%x = load i32, ptr %to\n %two = icmp eq i32 %x, 3",
            "%x = udiv i32 %i, %n\n %two = icmp eq i32 %x, 3",
            "%w = zext i32 %i to i64\n %x = udiv i64 1000000000000, %w\n %two = icmp eq i64 %x, 3",
            "%x = sdiv i32 %i, -1\n %two = icmp eq i32 %x, 3",
            "store i32 7, ptr %to\n %two = icmp eq i32 %i, 3",
        ] {
            assert!(!is_one(ALWAYS, second, MORE), "{second}");
        }
        let step = |text: String, at: u32| text + &format!("%a{} = mul i32 %a{at}, %m\n", at + 1);
        let long = (0..20).fold("%a0 = add i32 %i, 1\n".to_string(), step) + "%two = icmp ult i32 %a20, %m";
        assert!(!is_one(ALWAYS, &long, MORE));
    }

    #[test]
    fn a_division_by_what_is_not_0_may_be_made_early() {
        let second = "%x = urem i32 %q, %n\n %two = icmp ne i32 %x, 0";
        for entry in [
            "%some = icmp eq i32 %n, 0\n br i1 %some, label %fail, label %parts",
            "%some = icmp ugt i32 %n, %i\n br i1 %some, label %parts, label %fail",
            "%a = icmp ne i32 %n, 0\n %b = icmp ult i32 %i, %m\n %both = select i1 %b, i1 %a, i1 false
             br i1 %both, label %parts, label %fail",
            "%first = udiv i32 %i, %n\n store i32 %first, ptr %to\n br label %parts",
        ] {
            assert!(is_one(entry, second, MORE), "{entry}");
        }
        for entry in [
            ALWAYS,
            "%some = icmp eq i32 %n, 0\n br i1 %some, label %parts, label %fail",
            "%a = icmp ne i32 %n, 0\n %b = icmp ult i32 %i, %m\n %both = select i1 %b, i1 true, i1 %a
             br i1 %both, label %parts, label %fail",
        ] {
            assert!(!is_one(entry, second, MORE), "{entry}");
        }
    }

    #[test]
    fn a_panic_keeps_its_own_branch() {
        let ir = joined(
            "define void @f(ptr %to, i32 %i, i32 %m) {
            entry: %one = icmp ult i32 %i, 5
              br i1 %one, label %second, label %fail
            second: %two = icmp ult i32 %i, %m
              br i1 %two, label %yes, label %fail
            yes: store i32 1, ptr %to
              ret void
            fail: call void asm sideeffect \"trap;\", \"\"()
              unreachable
            }",
        );
        assert_eq!(ir.matches("br i1").count(), 2, "{ir}");
    }

    /// A function that chooses between values by these cases.
    fn chosen(cases: &str, four: &str) -> String {
        joined(&format!(
            "define i8 @f(i8 %x, i8 %me, ptr %from) {{
            entry: switch i8 %x, label %rest [{cases}]
            four: {four}
              br label %end
            rest: br label %end
            end: %y = phi i8 [ 9, %entry ], [ %z, %four ], [ %me, %rest ]
              ret i8 %y
            }}"
        ))
    }

    #[test]
    fn a_match_that_chooses_values_has_no_branch() {
        let ir = chosen("i8 3, label %end i8 4, label %four", "%z = mul i8 %me, 3");
        assert!(!ir.contains("br ") && !ir.contains("switch") && ir.matches("select").count() == 2, "{ir}");
        assert!(ir.contains("icmp eq i8 %x, 3") && ir.contains("icmp eq i8 %x, 4"), "{ir}");
    }

    #[test]
    fn a_match_that_changes_one_of_several_values_has_no_branch() {
        let ir = joined(
            "define i32 @f(i32 %n, i32 %x, i32 %y) {
            entry: switch i32 %n, label %rest [i32 0, label %a i32 1, label %b i32 2, label %c]
            a: %xa = add i32 %x, 1
              br label %end
            b: %xb = sub i32 %x, 1
              br label %end
            c: %yc = mul i32 %y, 5
              br label %end
            rest: br label %end
            end: %p = phi i32 [ %xa, %a ], [ %xb, %b ], [ %x, %c ], [ %x, %rest ]
              %q = phi i32 [ %y, %a ], [ %y, %b ], [ %yc, %c ], [ %y, %rest ]
              %r = xor i32 %p, %q
              ret i32 %r
            }",
        );
        assert!(!ir.contains("br ") && !ir.contains("switch") && ir.matches("select").count() == 3, "{ir}");
    }

    #[test]
    fn a_match_that_is_a_condition_joins_its_cases() {
        let condition = |rest: &str| {
            joined(&format!(
                "define i1 @f(i8 %x, i8 %me) {{
                entry: switch i8 %x, label %rest [i8 3, label %end i8 4, label %four]
                four: %z = icmp eq i8 %me, 1
                  br label %end
                rest: br label %end
                end: %y = phi i1 [ true, %entry ], [ %z, %four ], [ {rest}, %rest ]
                  ret i1 %y
                }}"
            ))
        };
        let ir = condition("false");
        assert_eq!((ir.matches("or i1").count(), ir.matches("select").count()), (1, 1), "{ir}");
        assert!(ir.contains(", i1 false"), "{ir}");
        // Then the cases are not `false` where another one is chosen.
        let ir = condition("true");
        assert!(!ir.contains("or i1"), "{ir}");
    }

    /// What becomes of a step of a merge of sorted lists; `more` is what it does where it finds the same number in both.
    fn merged(compare: &str, more: &str) -> String {
        joined(&format!(
            "define i64 @f(i32 %x, i32 %y, i64 %i, i64 %j, i64 %n, ptr %from) {{
            entry: %order = call i8 @llvm.{compare}.i8.i32(i32 %x, i32 %y)
              %next.i = add i64 %i, 1
              %next.j = add i64 %j, 1
              switch i8 %order, label %never [i8 -1, label %end i8 0, label %equal i8 1, label %greater]
            equal: {more}
              br label %end
            greater: br label %end
            end: %a = phi i64 [ %next.i, %entry ], [ %next.i, %equal ], [ %i, %greater ]
              %b = phi i64 [ %j, %entry ], [ %next.j, %equal ], [ %next.j, %greater ]
              %c = phi i64 [ %n, %entry ], [ %m, %equal ], [ %n, %greater ]
              %ab = mul i64 %a, %b
              %abc = mul i64 %ab, %c
              ret i64 %abc
            never: unreachable
            }}"
        ))
    }

    #[test]
    fn a_match_of_an_order_compares_the_numbers() {
        for (compare, [less, greater]) in [("ucmp", ["ult", "ugt"]), ("scmp", ["slt", "sgt"])] {
            let ir = merged(compare, "%m = add i64 %n, 1");
            assert!(!ir.contains("br ") && !ir.contains("switch") && !ir.contains("cmp.i8"), "{ir}");
            // Each of the three values asks for the one case that is different.
            assert_eq!((ir.matches("select").count(), ir.matches("icmp").count()), (3, 3), "{ir}");
            for (predicate, choice) in [(less, "i64 %j, i64 %next.j"), (greater, "i64 %i, i64 %next.i")] {
                let compared = ir.lines().find(|line| line.contains(&format!("icmp {predicate} i32 %x, %y"))).unwrap();
                let condition = compared.trim().split(' ').next().unwrap();
                assert!(ir.contains(&format!("select i1 {condition}, {choice}")), "{ir}");
            }
        }
    }

    #[test]
    fn a_match_of_an_order_that_does_more_has_two_branches() {
        let ir = merged("ucmp", "%m = load volatile i64, ptr %from");
        assert!(!ir.contains("switch") && !ir.contains("cmp.i8"), "{ir}");
        assert_eq!((ir.matches("br i1").count(), ir.matches("icmp").count()), (2, 2), "{ir}");
    }

    /// What becomes of a `match` of four cases, of which all numbers are one; `first` and so on are what they choose.
    fn of_four([first, second, third, fourth]: [&str; 4]) -> String {
        joined(&format!(
            "define i1 @f(i8 %x, i1 %u, i1 %v) {{
            entry: switch i8 %x, label %never [i8 0, label %a i8 1, label %b i8 4, label %c i8 9, label %d]
            a: br label %end
            b: br label %end
            c: br label %end
            d: br label %end
            end: %y = phi i1 [ {first}, %a ], [ {second}, %b ], [ {third}, %c ], [ {fourth}, %d ]
              ret i1 %y
            never: unreachable
            }}"
        ))
    }

    #[test]
    fn a_match_without_other_numbers_asks_for_what_few_arms_choose() {
        let ir = of_four(["%u", "%v", "%u", "%u"]);
        assert!(!ir.contains("br ") && !ir.contains("switch") && ir.matches("select").count() == 1, "{ir}");
        assert!(ir.contains("icmp eq i8 %x, 1") && ir.contains("i1 %v, i1 %u"), "{ir}");
        // `false` is chosen by none of the others, so they are joined.
        let ir = of_four(["%u", "true", "%v", "false"]);
        assert!(!ir.contains("switch") && ir.matches("or i1").count() == 2, "{ir}");
        assert!(!ir.contains("icmp eq i8 %x, 9"), "{ir}");
    }

    #[test]
    fn numbers_that_follow_each_other_are_one_comparison() {
        let run: String = (9..14).map(|number| format!("i8 {number}, label %four ")).collect();
        let ir =
            chosen(&format!("i8 -1, label %end {run} i8 32, label %four i8 -2, label %four"), "%z = mul i8 %me, 3");
        assert!(!ir.contains("br ") && !ir.contains("switch") && ir.matches("select").count() == 2, "{ir}");
        assert_eq!((ir.matches("icmp eq").count(), ir.matches("icmp u").count()), (3, 1), "{ir}");
        assert!(ir.contains("add i8 %x, -9") || ir.contains("sub i8 %x, 9"), "{ir}");
    }

    #[test]
    fn a_match_that_loads_or_has_many_arms_keeps_its_branches() {
        let ir = chosen("i8 3, label %end i8 4, label %four", "%z = load i8, ptr %from");
        assert!(ir.contains("switch"), "{ir}");
        let case = |number: u32| format!("i8 {number}, label %four ");
        let many: String = (4..20).step_by(2).map(case).collect();
        assert!(chosen(&format!("i8 3, label %end {many}"), "%z = mul i8 %me, 3").contains("switch"));
        // Two of the cases go straight to the end.
        let ir = joined(
            "define i8 @f(i8 %x, i8 %me) {
            entry: switch i8 %x, label %rest [i8 3, label %end i8 4, label %end]
            rest: %z = mul i8 %me, 3
              br label %end
            end: %y = phi i8 [ 9, %entry ], [ 9, %entry ], [ %z, %rest ]
              ret i8 %y
            }",
        );
        assert!(ir.contains("switch"), "{ir}");
    }

    /// How many branches are left of `x < own || x == own && second`, and how many choices there are.
    fn counted(first: &str, second: &str) -> (usize, usize) {
        let ir = joined(&format!(
            "define i32 @f(float %x, float %own, i32 %j, i32 %me, ptr %to) {{
            entry: %less = {first}
              br i1 %less, label %end, label %equal
            equal: %same = fcmp oeq float %x, %own
              br i1 %same, label %third, label %end
            third: {second}
              %one = zext i1 %is to i32
              br label %end
            end: %n = phi i32 [ 1, %entry ], [ 0, %equal ], [ %one, %third ]
              ret i32 %n
            }}"
        ));
        (ir.matches("br i1").count(), ir.matches("select").count())
    }

    #[test]
    fn floats_decide_between_values_without_a_branch() {
        let less = "fcmp olt float %x, %own";
        assert_eq!(counted(less, "%is = icmp ult i32 %j, %me"), (0, 2));
        // All parts together must be few.
        assert_eq!(counted(less, "%k = mul i32 %j, 3\n %is = icmp ult i32 %k, %me"), (1, 1));
        // What loads, what divides and what takes long waits for its turn.
        for second in [
            "%k = load i32, ptr %to\n %is = icmp ult i32 %k, %me",
            "%y = fdiv float %x, %own\n %is = fcmp olt float %y, 3.0",
            "%a = mul i32 %j, 3\n %b = xor i32 %a, %me\n %c = mul i32 %b, %a\n %is = icmp ult i32 %c, %me",
        ] {
            assert!(counted(less, second).0 > 0, "{second}");
        }
    }
}
