//! What [`split`] makes of loops.

use super::super::split;
use super::*;
use crate::arch::Arch;
use crate::emit;
use crate::llvm::AnyValue;
use crate::request::OptLevel;

/// A loop over `%k` from 0 by 1 whose body computes `%index` and loads the element, after [`split`] and the passes behind
/// it; `condition` is what its last block ends in.
fn split_loop(index: &str, condition: &str, more: &str) -> String {
    split_text(&text_of_loop(index, condition, more))
}

fn text_of_loop(index: &str, condition: &str, more: &str) -> String {
    format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare void @__rust_ptx_panic_with_2(ptr, ptr, i64, i64) noreturn
        declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
        define i32 @f(ptr %data, i64 %len, i64 %n, i64 %stride) {{
        entry: br label %loop
        loop:
          %k = phi i64 [ 0, %entry ], [ %next, %inside ]
          %sum = phi i32 [ 0, %entry ], [ %more, %inside ]
          {index}
          %below = icmp ult i64 %index, %len
          br i1 %below, label %inside, label %panic
        inside:
          %at = getelementptr inbounds i32, ptr %data, i64 %index
          %value = load i32, ptr %at
          %more = add i32 %sum, %value
          {more}
          %next = add nuw i64 %k, 1
          {condition}
        end: ret i32 %more
        panic:
          call void @__rust_ptx_panic_with_2(ptr null, ptr null, i64 %len, i64 %index)
          unreachable
        }}"
    )
}

fn split_text(text: &str) -> String {
    let context = Context::create();
    let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    split(&context, &module, &SimpleForm::of(&machine)).unwrap();
    module.verify().unwrap();
    llvm::run_passes(&module, &machine, "function(simplifycfg)").unwrap();
    module.get_function("f").unwrap().print_to_string().to_string()
}

const UNTIL: &str = "%go = icmp eq i64 %next, %n
          br i1 %go, label %end, label %loop";
const WHILE: &str = "%go = icmp ult i64 %next, %n
          br i1 %go, label %loop, label %end";

/// How many loops have a check, and how many loads there are.
fn checks_and_loads(ir: &str) -> (usize, usize) {
    (ir.matches("icmp ult i64 %index").count(), ir.matches("load i32").count())
}

#[test]
fn a_loop_whose_index_grows_has_a_twin_without_checks() {
    for index in [
        "%index = add i64 %k, %stride",
        "%index = mul i64 %k, %stride",
        "%row = mul i64 %stride, %k
          %shifted = shl i64 %k, 3
          %index = add i64 %row, %shifted",
        "%even = shl i64 %k, 1
          %index = or disjoint i64 %even, 1",
    ] {
        for condition in [UNTIL, WHILE] {
            let ir = split_loop(index, condition, "");
            assert_eq!(checks_and_loads(&ir), (1, 2), "{ir}");
            assert!(ir.contains("llvm.umul.with.overflow.i64"), "{ir}");
            assert!(ir.contains("llvm.uadd.with.overflow.i64"), "{ir}");
            assert_eq!(ir.contains("llvm.usub.sat"), condition == WHILE, "{ir}");
        }
    }
}

#[test]
fn what_is_the_same_in_all_rounds_is_asked_before_if_a_panic_tells_the_round() {
    // As in `for k in (0..n).rev() { … c[k] … }`, of which LLVM finds that the first index is the highest.
    let text = text_of_loop("%index = add i64 %k, 0", UNTIL, "").replace("icmp ult i64 %index", "icmp ult i64 %n");
    assert_eq!(split_text(&text).matches("load i32").count(), 2);
    // Else LLVM asks it before the loop itself.
    let text = text.replace("i64 %len, i64 %index)", "i64 %len, i64 %n)");
    assert_eq!(split_text(&text).matches("load i32").count(), 1);
}

#[test]
fn a_panic_that_several_loops_lead_to_is_one() {
    // Each loop has a block of its own before the one that both leave to, once LLVM has simplified them.
    let text = text_of_loop("%index = add i64 %k, %stride", UNTIL, "").replace("label %panic", "label %way");
    let ir = split_text(&text.replace("panic:\n", "way: br label %panic\n panic:\n"));
    assert_eq!(checks_and_loads(&ir), (1, 2), "{ir}");
    // What leaves the loop for something else is one too.
    let text = text.replace("panic:\n", "way: store i32 %sum, ptr %data\n br label %end\n panic:\n");
    let text = text.replace("ret i32 %more", "%all = phi i32 [ %more, %inside ], [ %sum, %way ]\n ret i32 %all");
    assert_eq!(checks_and_loads(&split_text(&text)), (1, 2));
}

#[test]
fn a_loop_that_ends_at_an_address_has_a_twin() {
    let ends = "%go = icmp ne ptr %p.next, %behind";
    let phi = "%p = phi ptr [ %first, %entry ], [ %p.next, %inside ]";
    let is_split = |begin: &str, next: &str| {
        let text = text_of_loop("PHI", "ENDS", next)
            .replace("br label %loop\n", &format!("{begin}\n br label %loop\n"))
            .replace("PHI", &format!("{phi}\n %index = add i64 %k, %stride"))
            .replace("ENDS", &format!("{ends}\n br i1 %go, label %loop, label %end"));
        split_text(&text).matches("load i32").count() == 2
    };
    let (one, four) = ("getelementptr i8, ptr %p, i64 1", "getelementptr i8, ptr %p, i64 4");
    let next = |step: &str| format!("%p.next = {step}");
    let begin = |first: &str, behind: &str| format!("%first = {first}\n %behind = {behind}");
    let words = begin("getelementptr i32, ptr %data, i64 %n", "getelementptr i32, ptr %data, i64 %len");
    assert!(is_split(&words, &next(four)));
    assert!(is_split(&words, &next(one)));
    let bytes = begin("getelementptr i8, ptr %data, i64 %n", "getelementptr i8, ptr %data, i64 %len");
    assert!(is_split(&bytes, &next(one)));
    let chosen = "%any = icmp ne i64 %n, 0\n %skip = select i1 %any, i64 4, i64 SKIP\n";
    let chosen = |skip: &str| {
        chosen.replace("SKIP", skip) + &words.replace("i32, ptr %data, i64 %n", "i8, ptr %data, i64 %skip")
    };
    assert!(is_split(&chosen("0"), &next(four)));
    // It may never be met.
    assert!(!is_split(&chosen("2"), &next(four)));
    assert!(!is_split(&bytes, &next(four)));
    assert!(!is_split(&words, &next("getelementptr i8, ptr %p, i64 12")));
    assert!(!is_split(&words, &next("getelementptr i8, ptr %p, i64 -4")));
    // Three words are no power of two: nothing may wrap around.
    let threes = begin("getelementptr i32, ptr %data, i64 3", "getelementptr FLAGS [3 x i32], ptr %first, i64 %len");
    let step = "getelementptr inbounds nuw i8, ptr %p, i64 12";
    assert!(is_split(&threes.replace("FLAGS", "inbounds nuw"), &next(step)));
    assert!(!is_split(&threes.replace("FLAGS", "inbounds"), &next(step)));
    assert!(!is_split(&threes.replace("FLAGS", "inbounds nuw"), &next(&step.replace(" nuw", ""))));
}

#[test]
fn a_loop_that_also_ends_otherwise_has_a_twin_that_does_not() {
    for (other, is_split) in
        [("icmp ult i64 %index, %len", true), ("icmp ne i64 %next, %len", true), ("icmp slt i64 %index, %len", false)]
    {
        for join in ["select i1 %below.n, i1 %other, i1 false", "and i1 %other, %below.n"] {
            let end = format!(
                "%below.n = icmp ult i64 %next, %n
                %other = {other}
                %go = {join}
                br i1 %go, label %loop, label %end"
            );
            let text = text_of_loop("%index = add i64 %k, %stride", &end, "");
            let text = text.replace("br i1 %below, label %inside, label %panic", "br label %inside");
            let ir = split_text(&text.replace("panic:", "never:"));
            assert_eq!(ir.matches("load i32").count(), if is_split { 2 } else { 1 }, "{ir}");
            assert_eq!(ir.matches("%other").count() > 0, is_split || ir.contains("slt"), "{ir}");
        }
    }
}

#[test]
fn what_is_left_stays_enough() {
    let left = "%gone = mul i64 %k, %stride
        %moved = sub i64 %len, %gone
        %left = lshr i64 %moved, 2
        %index = add i64 %k, %n
        %below = icmp ult i64 %n, %left
        br i1 %below, label %inside, label %panic";
    let text = text_of_loop("LEFT", UNTIL, "");
    let (first, rest) = text.split_once("LEFT").unwrap();
    let ir = split_text(&format!("{first}{left}\n inside:{}", rest.split_once("inside:").unwrap().1));
    assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
    // One more than `%n`, four times, and the loss of all rounds.
    assert_eq!(ir.matches("call { i64, i1 } @llvm.umul.with.overflow").count(), 2, "{ir}");
}

#[test]
fn the_smaller_of_two_and_a_chosen_index_are_checked_at_once() {
    let part = "%gone = mul i64 %k, %stride
        %rest = sub i64 %len, %gone
        %part = call i64 @llvm.umin.i64(i64 %stride, i64 %rest)
        %index = add i64 %gone, 1";
    let text = text_of_loop(part, UNTIL, "").replace("icmp ult i64 %index, %len", "icmp ugt i64 %part, 1");
    let ir = split_text(&text.replace("define", "declare i64 @llvm.umin.i64(i64, i64)\n define"));
    assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
    for (choice, is_split) in [("%k", true), ("%index", true), ("%square", false)] {
        let more = format!(
            "%square = mul i64 %k, %k
            %is = icmp ugt i32 %value, 7
            %best.next = select i1 %is, i64 {choice}, i64 %best"
        );
        let text = text_of_loop("BEST\n %index = add i64 %k, %stride", UNTIL, &more)
            .replace("BEST", "%best = phi i64 [ 0, %entry ], [ %best.next, %inside ]")
            .replace("icmp ult i64 %index, %len", "icmp ult i64 %best, %len");
        let ir = split_text(&text);
        assert_eq!(ir.matches("load i32").count(), if is_split { 2 } else { 1 }, "{ir}");
    }
}

#[test]
fn a_loop_over_parts_of_a_slice_has_a_twin_without_checks() {
    let part = "%index = mul i64 %k, %stride
          %starts = icmp ule i64 %index, %len
          br i1 %starts, label %started, label %panic
        started:
          %rest = sub nuw i64 %len, %index";
    for (check, inside) in [
        ("icmp ugt i64 %rest, 3", "label %inside, label %panic"),
        ("icmp ult i64 %rest, %stride", "label %panic, label %inside"),
        ("icmp uge i64 %rest, %stride", "label %inside, label %panic"),
        ("icmp ule i64 %rest, 3", "label %panic, label %inside"),
    ] {
        let text = text_of_loop(part, UNTIL, "").replace("icmp ult i64 %index, %len", check);
        let ir =
            split_text(&text.replace("label %inside, label %panic\n        inside:", &format!("{inside}\n inside:")));
        // The loop as it was has both checks, or one that LLVM has made of them.
        assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
        assert!(ir.matches("label %panic").count() <= 2, "{ir}");
        assert!(ir.contains("sub i64") && ir.contains("llvm.uadd.with.overflow"), "{ir}");
    }
    // One of which nothing is known keeps its check in both.
    let text = text_of_loop(part, UNTIL, "").replace("icmp ult i64 %index, %len", "icmp ugt i64 %rest, %k");
    let ir = split_text(&text);
    assert_eq!((ir.matches("load i32").count(), ir.matches("icmp ugt i64").count()), (2, 2), "{ir}");
}

#[test]
fn where_a_part_begins_and_ends_is_checked_at_once() {
    let part = "%index = mul i64 %k, %stride
          %after = add nuw i64 %k, 1
          %to = mul i64 %after, %stride
          %turned = icmp ult i64 %to, %index
          %past = icmp ugt i64 %to, %len
          %bad = or i1 %turned, %past
          br i1 %bad, label %which, label %part
        which: br i1 %past, label %panic, label %panic.2
        panic.2: unreachable
        part:
          %below = icmp ult i64 %n, %stride
          br i1 %below, label %inside, label %panic
        inside:";
    let text = text_of_loop("INDEX", UNTIL, "");
    let (first, rest) = text.split_once("INDEX").unwrap();
    let body = rest.split_once("inside:").unwrap().1;
    let text = format!("{first}{part}{body}").replace("%len, i64 %index)\n", "%len, i64 0)\n");
    let ir = split_text(&text);
    assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
    // Of where it ends nothing is known.
    let ir = split_text(&text.replace("%to = mul i64 %after, %stride", "%to = mul i64 %k, %k"));
    assert_eq!(ir.matches("load i32").count(), 1, "{ir}");
}

#[test]
fn a_check_that_is_an_inequality_holds_for_so_many_rounds() {
    for (check, is_split) in [
        ("icmp ne i64 %k, %len", true),
        ("icmp ne i64 %len, %k", true),
        ("icmp ne i64 %index, %len", true),
        ("icmp eq i64 %k, %len", false),
        ("icmp ne i64 %double, %len", false),
    ] {
        let index = "%double = shl i64 %k, 1\n %index = add i64 %k, %stride";
        let ir = split_text(&text_of_loop(index, UNTIL, "").replace("icmp ult i64 %index, %len", check));
        assert_eq!(ir.matches("load i32").count(), if is_split { 2 } else { 1 }, "{ir}");
        assert_eq!(ir.contains("icmp ugt i64"), is_split, "{ir}");
    }
}

#[test]
fn a_search_has_a_twin_without_checks() {
    for end in [
        "%below.n = icmp ult i64 %next, %n
         %other = icmp ne i32 %value, 7
         %go = select i1 %other, i1 %below.n, i1 false
         br i1 %go, label %loop, label %end",
        "%last = icmp eq i64 %next, %n
         %found = icmp eq i32 %value, 7
         %stop = or i1 %found, %last
         br i1 %stop, label %end, label %loop",
        "%last = icmp eq i64 %next, %n
         %found = icmp eq i32 %value, 7
         %stop = select i1 %last, i1 true, i1 %found
         br i1 %stop, label %end, label %loop",
    ] {
        let ir = split_loop("%index = add i64 %k, %stride", end, "");
        assert_eq!(checks_and_loads(&ir), (1, 2), "{ir}");
    }
    // It goes on while either holds.
    let either = "%below.n = icmp ult i64 %next, %n
         %other = icmp ne i32 %value, 7
         %go = or i1 %other, %below.n
         br i1 %go, label %loop, label %end";
    assert_eq!(checks_and_loads(&split_loop("%index = add i64 %k, %stride", either, "")), (1, 1));
}

#[test]
fn what_may_be_undefined_is_frozen() {
    // `%n` is looked at after the first check alone, `%stride` from the second round on.
    let ir = split_loop("%index = mul i64 %k, %stride", UNTIL, "");
    let frozen: Vec<&str> = ir.lines().filter_map(|line| Some(line.trim().split_once(" = freeze i64")?.0)).collect();
    let (_, product) = ir.split_once("@llvm.umul.with.overflow.i64(i64 ").expect("the growth is multiplied");
    let operands: Vec<&str> = product.split(')').next().unwrap_or_default().split(", i64 ").collect();
    assert!(operands.len() == 2 && operands.iter().all(|operand| frozen.contains(operand)), "{operands:?} in\n{ir}");
    assert!(ir.contains("freeze i64 %len"), "{ir}");
}

#[test]
fn others_stay_as_they_are() {
    let barrier = "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)";
    let signed = "%go = icmp slt i64 %next, %n
          br i1 %go, label %loop, label %end";
    for (index, condition, more) in [
        // An index from memory is any.
        ("%index = load i64, ptr %data", UNTIL, ""),
        ("%index = or i64 %k, 1", UNTIL, ""),
        ("%index = add i64 %k, 1", signed, ""),
        ("%index = add i64 %k, 1", UNTIL, barrier),
    ] {
        let ir = split_loop(index, condition, more);
        assert_eq!(checks_and_loads(&ir), (1, 1), "{ir}");
    }
}

#[test]
fn a_split_loop_is_not_split_again() {
    let context = Context::create();
    let ir = split_loop("%index = add i64 %k, %stride", UNTIL, "");
    let text = format!(
        "declare void @__rust_ptx_panic_with_2(ptr, ptr, i64, i64)\n\
         declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)\n\
         declare {{ i64, i1 }} @llvm.uadd.with.overflow.i64(i64, i64)\n\
         {}\n!0 = distinct !{{!0, !1, !2}}\n!1 = !{{!\"llvm.loop.unroll.disable\"}}\n\
         !2 = !{{!\"rust-ptx.unroll.disable\"}}\n",
        ir.replace(" #0", "").replace(" #1", "")
    );
    let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    split(&context, &module, &SimpleForm::of(&machine)).unwrap();
    let again = module.get_function("f").unwrap().print_to_string().to_string();
    assert_eq!(checks_and_loads(&again), (1, 2), "{again}");
}

/// A window of rows that are clamped into an image, whose pixels are checked, after [`split`].
fn split_window(row: &str, first: &str, next: &str) -> String {
    split_text(&format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare i64 @llvm.umin.i64(i64, i64)
        declare void @__rust_ptx_panic_with_2(ptr, ptr, i64, i64) noreturn
        define i32 @f(ptr %data, i64 %len, i64 %width, i64 %from, i64 %last, i64 %left, i64 %count) {{
        entry: br label %rows
        rows:
          %y = phi i64 [ {first}, %entry ], [ %y.next, %behind ]
          %all = phi i32 [ 0, %entry ], [ %more, %behind ]
          {row}
          %begin = add i64 %row, %left
          br label %loop
        loop:
          %k = phi i64 [ 0, %rows ], [ %next, %inside ]
          %sum = phi i32 [ %all, %rows ], [ %more, %inside ]
          %index = add i64 %begin, %k
          %below = icmp ult i64 %index, %len
          br i1 %below, label %inside, label %panic
        inside:
          %at = getelementptr inbounds i32, ptr %data, i64 %index
          %value = load i32, ptr %at
          %more = add i32 %sum, %value
          %next = add nuw i64 %k, 1
          %go = icmp ult i64 %next, %count
          br i1 %go, label %loop, label %behind
        behind:
          %y.next = add i64 %y, {next}
          %again = icmp ne i64 %y, %last
          br i1 %again, label %rows, label %end
        end: ret i32 %more
        panic:
          call void @__rust_ptx_panic_with_2(ptr null, ptr null, i64 %len, i64 %index)
          unreachable
        }}"
    ))
}

#[test]
fn rows_are_asked_for_at_once() {
    for row in
        ["%row = mul i64 %y, %width", "%in = call i64 @llvm.umin.i64(i64 %y, i64 %last)\n %row = mul i64 %in, %width"]
    {
        let ir = split_window(row, "%from", "1");
        assert_eq!((checks_and_loads(&ir), nests(&ir)), ((1, 2), 2), "{ir}");
    }
}

/// How many copies there are of the loop over rows.
fn nests(ir: &str) -> usize {
    ir.lines().filter(|line| line.contains("icmp ne i64") && line.ends_with("%last")).count()
}

#[test]
fn rows_that_go_up_are_asked_for_one_by_one() {
    for (row, first, next) in [
        ("%row = mul i64 %y, %width", "%from", "-1"),
        ("%down = sub i64 %last, %y\n %row = mul i64 %down, %width", "0", "1"),
    ] {
        let ir = split_window(row, first, next);
        assert_eq!((checks_and_loads(&ir), nests(&ir)), ((1, 2), 1), "{ir}");
    }
}

#[test]
fn an_index_may_be_shifted_by_what_does_not_change() {
    let ir = split_loop("%layer = add i64 %k, 3\n %index = shl i64 %layer, %stride", UNTIL, "");
    assert_eq!(checks_and_loads(&ir), (1, 2), "{ir}");
    let ir = split_loop("%index = shl i64 %stride, %k", UNTIL, "");
    assert_eq!(checks_and_loads(&ir), (1, 1), "{ir}");
}

/// A loop whose rounds come by the check only where `%is_edge` is false, and whose others go to a block with this phi.
fn text_with_edge(to: &str, all: &str, told: &str) -> String {
    format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare void @__rust_ptx_panic_with_2(ptr, ptr, i64, i64) noreturn
        define i32 @f(ptr %data, i64 %len, i64 %n, i64 %stride) {{
        entry: %is_edge = icmp eq i64 %n, 9
          br label %loop
        loop:
          %k = phi i64 [ 0, %entry ], [ %next, %turn ]
          %sum = phi i32 [ 0, %entry ], [ %all, %turn ]
          %index = add i64 %k, %stride
          br i1 %is_edge, label %{to}, label %inner
        inner:
          %below = icmp ult i64 %index, %len
          br i1 %below, label %inside, label %panic
        inside:
          %at = getelementptr inbounds i32, ptr %data, i64 %index
          %value = load i32, ptr %at
          %more = add i32 %sum, %value
          br label %turn
        turn:
          %all = phi i32 {all}
          %next = add nuw i64 %k, 1
          {UNTIL}
        end: ret i32 %all
        panic:
          %told = phi i64 {told}
          call void @__rust_ptx_panic_with_2(ptr null, ptr null, i64 %len, i64 %told)
          unreachable
        }}"
    )
}

#[test]
fn a_check_that_no_round_comes_by_does_not_send_to_the_loop_with_it() {
    let ir = split_text(&text_with_edge("turn", "[ %sum, %loop ], [ %more, %inside ]", "[ %index, %inner ]"));
    assert_eq!(ir.matches("load i32").count(), 2, "{ir}");
    assert!(ir.contains("freeze i1 %is_edge"), "{ir}");
    // Not where the other side leaves the loop: that is a check itself.
    let ir = split_text(&text_with_edge("panic", "[ %more, %inside ]", "[ 0, %loop ], [ %index, %inner ]"));
    assert!(ir.matches("load i32").count() == 2 && !ir.contains("freeze i1"), "{ir}");
}
