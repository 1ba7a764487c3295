//! Tests of [`super`].

use super::*;
use crate::arch::Arch;
use crate::emit;
use crate::llvm::AnyValue;
use crate::request::OptLevel;

/// A loop over `%k` from 0 by 1 that loads `%column` at `%index`, checks `condition` of it, and adds up; after the stage.
fn batched(index: &str, condition: &str, more: &str) -> String {
    batched_text(&text_of_loop("ptr %columns", index, condition, more))
}

fn batched_of(columns: &str, index: &str, condition: &str, more: &str) -> String {
    batched_text(&text_of_loop(columns, index, condition, more))
}

fn text_of_loop(columns: &str, index: &str, condition: &str, more: &str) -> String {
    format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare void @__rust_ptx_panic_with_1(i64) noreturn
        declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
        define float @f({columns}, i64 %columns.len, ptr %x, i64 %len, ptr %to, i64 %n, i64 %start) {{
        entry: %row = getelementptr i32, ptr %columns, i64 %start
          br label %loop
        loop:
          %k = phi i64 [ 0, %entry ], [ %next, %inside ]
          %sum = phi float [ 0.0, %entry ], [ %more, %inside ]
          {index}
          %at = getelementptr i32, ptr %row, i64 %index
          %column = load i32, ptr %at
          %wide = zext i32 %column to i64
          {condition}
          br i1 %below, label %inside, label %panic
        inside:
          %there = getelementptr float, ptr %x, i64 %wide
          %value = load float, ptr %there
          %more = fadd float %sum, %value
          {more}
          %next = add nuw i64 %k, 1
          %go = icmp ult i64 %next, %n
          br i1 %go, label %loop, label %end
        end: ret float %more
        panic:
          call void @__rust_ptx_panic_with_1(i64 %wide)
          unreachable
        }}
        declare void @llvm.experimental.noalias.scope.decl(metadata)
        !0 = !{{!1}}
        !1 = distinct !{{!1, !2}}
        !2 = distinct !{{!2}}"
    )
}

fn batched_text(text: &str) -> String {
    let context = Context::create();
    let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    let form = SimpleForm::of(&machine);
    form.give(&module).unwrap();
    let function = module.get_function("f").unwrap();
    let param = |index| function.get_nth_param(index).unwrap();
    let slice = Slice { function, pointer: param(0).into_pointer_value(), len: param(1).into_int_value(), size: 4 };
    batch_function(&context, &module, &form, function, &[slice]).unwrap();
    module.verify().unwrap();
    function.print_to_string().to_string()
}

const PLAIN: &str = "%index = add i64 %k, 0";
const BELOW: &str = "%below = icmp ult i64 %wide, %len";

fn loads(ir: &str) -> (usize, usize) {
    (ir.matches("load i32").count(), ir.matches("load float").count())
}

#[test]
fn rounds_are_checked_at_once() {
    for index in [PLAIN, "%index = add i64 %k, 7", "%index = sub i64 %k, %start"] {
        let ir = batched(index, BELOW, "");
        assert_eq!(loads(&ir), (13, 13), "eight, four and one: {ir}");
        for rounds in [8, 4] {
            // In a block of their own, before any of what they lead to.
            let of_checks = ir.split("\n\n").find(|block| block.matches("load i32").count() == rounds).expect(&ir);
            assert!(!of_checks.contains("load float"), "{ir}");
            assert_eq!(of_checks.matches("select i1").count(), rounds - 1, "{ir}");
            let of_work = ir.split("\n\n").find(|block| block.matches("load float").count() == rounds).expect(&ir);
            assert!(!of_work.contains("load i32") && of_work.matches("fadd float").count() == rounds, "{ir}");
        }
        assert_eq!(ir.matches("call void @__rust_ptx_panic_with_1").count(), 1, "{ir}");
    }
}

#[test]
fn what_is_behind_a_pointer_that_moves_is_checked_at_once() {
    let text = text_of_loop("ptr %columns", "", BELOW, "")
        .replace("%k = phi i64 [ 0, %entry ]", "%at = phi ptr [ %row, %entry ]")
        .replace("%at = getelementptr i32, ptr %row, i64 %index\n", "\n")
        .replace("%next = add nuw i64 %k, 1", "%next = getelementptr inbounds nuw i8, ptr %at, i64 4")
        .replace("br label %loop\n", "%behind = getelementptr inbounds nuw i32, ptr %row, i64 %n\n br label %loop\n")
        .replace("icmp ult i64 %next, %n", "icmp ne ptr %next, %behind");
    let ir = batched_text(&text);
    assert_eq!(loads(&ir), (13, 13), "eight, four and one: {ir}");
    assert!(ir.contains("udiv i64") && ir.contains("ptrtoint ptr %columns to i64"), "{ir}");
    // One that may wrap around, or that goes on by what is not known.
    for other in ["getelementptr i8, ptr %at, i64 4", "getelementptr inbounds nuw i8, ptr %at, i64 %start"] {
        let ir = batched_text(&text.replace("getelementptr inbounds nuw i8, ptr %at, i64 4", other));
        assert_eq!(loads(&ir), (1, 1), "{ir}");
    }
}

#[test]
fn four_rounds_of_many_loads_are_checked_at_once() {
    let more = "%a = load float, ptr %x\n %b = load float, ptr %to";
    let ir = batched(PLAIN, BELOW, more);
    assert_eq!(ir.matches("load i32").count(), 5, "four and one: {ir}");
    let again = ir.split("\n\n").find(|block| block.matches("fadd float").count() == 4).expect(&ir);
    assert!(again.contains("icmp uge i64"), "{ir}");
}

#[test]
fn rounds_that_are_a_row_apart_are_checked_at_once() {
    for index in ["mul i64 %k, %n", "mul i64 %start, %k"] {
        let ir = batched(&format!("%down = {index}\n %index = add i64 %down, %start"), BELOW, "");
        assert_eq!(loads(&ir), (13, 13), "eight, four and one: {ir}");
        let before = ir.split("\n\n").next().unwrap_or_default();
        assert_eq!(before.matches("llvm.umul.with.overflow").count(), 2, "the growth in bytes, and that of all: {ir}");
    }
    let ir = batched("%down = mul i64 %k, %n\n %index = mul i64 %down, %k", BELOW, "");
    assert_eq!(loads(&ir), (1, 1), "{ir}");
}

#[test]
fn nothing_is_read_behind_a_slice() {
    let ir = batched(PLAIN, BELOW, "");
    let before = ir.split("\n\n").next().unwrap_or_default();
    for needed in ["freeze i64", "llvm.umul.with.overflow", "llvm.uadd.with.overflow", "llvm.usub.sat", "sub i64"] {
        assert!(before.contains(needed), "{needed}: {before}");
    }
    // Bytes of the slice, but for the last three, at which no number of four begins.
    assert!(before.contains("%columns.len") && before.contains(", i64 3)"), "{before}");
}

#[test]
fn what_is_seen_stays_in_its_order() {
    for more in [
        "store float %more, ptr %there",
        "%old = atomicrmw umin ptr %to, i32 %column syncscope(\"device\") monotonic",
        "store atomic i32 %column, ptr %to monotonic, align 4",
    ] {
        let ir = batched_of("ptr noalias readonly %columns", PLAIN, BELOW, more);
        let kind = if more.contains("atomicrmw") { "atomicrmw" } else { "store" };
        assert_eq!((loads(&ir), ir.matches(kind).count()), ((5, 5), 5), "four and one: {more}: {ir}");
        let body = ir.split("\n\n").find(|block| block.matches(kind).count() == 4).expect(&ir);
        // Each round loads behind what the one before it is seen to do.
        let parts: Vec<_> = body.split(kind).map(|part| part.matches("load float").count()).collect();
        assert_eq!(parts, [1, 1, 1, 1, 0], "{more}: {body}");
    }
    // A scope is of one round.
    let scope = "call void @llvm.experimental.noalias.scope.decl(metadata !0)\n store float %more, ptr %there";
    let ir = batched_of("ptr noalias readonly %columns", PLAIN, BELOW, scope);
    assert_eq!(loads(&ir), (1, 1), "{ir}");
}

#[test]
fn a_check_of_what_rounds_hand_on_is_done_at_once() {
    // As `max_by(|a, b| a.partial_cmp(b).unwrap())`, which fails where the largest number or the next one is none.
    let check = "%number = bitcast i32 %column to float\n %below = fcmp ord float %sum, %number";
    let largest = "%is.more = fcmp ogt float %number, %sum
          %most = select i1 %is.more, float %number, float %sum";
    let text = text_of_loop("ptr %columns", PLAIN, check, largest).replace("[ %more, %inside ]", "[ %most, %inside ]");
    let ir = batched_text(&text);
    assert_eq!(loads(&ir), (13, 13), "eight, four and one: {ir}");
    let of_checks = ir.split("\n\n").find(|block| block.matches("load i32").count() == 8).expect(&ir);
    // Each check of the largest number until then.
    assert_eq!(of_checks.matches("fcmp ogt").count(), 7, "{ir}");
    assert_eq!(ir.matches("fcmp ogt").count(), 13, "{ir}");
}

#[test]
fn a_part_of_an_element_is_checked_at_once() {
    let text = text_of_loop("ptr %columns", PLAIN, BELOW, "").replace(
        "%at = getelementptr i32, ptr %row, i64 %index",
        "%pair = getelementptr [2 x i32], ptr %row, i64 %index
         %at = getelementptr i8, ptr %pair, i64 4",
    );
    let ir = batched_text(&text);
    assert_eq!(loads(&ir), (13, 13), "eight, four and one: {ir}");
    let before = ir.split("\n\n").next().unwrap_or_default();
    assert!(before.lines().any(|line| line.contains(" = add i64 %") && line.ends_with(", 4")), "{before}");
}

/// The loop, whose rounds go to an arm where `%value` is small.
fn with_arm(columns: &str, check: &str, more: &str) -> String {
    let arm = format!(
        "%small = fcmp olt float %value, 1.0
          br i1 %small, label %arm, label %join
        arm: {check}
          %arm.at = getelementptr float, ptr %to, i64 %wide
          {more}
          br label %join
        join:"
    );
    text_of_loop(columns, PLAIN, BELOW, &arm)
        .replace("[ %next, %inside ]", "[ %next, %join ]")
        .replace("[ %more, %inside ]", "[ %more, %join ]")
}

#[test]
fn rounds_with_branches_are_checked_at_once() {
    let check = "%fits = icmp ult i64 %wide, %start
          br i1 %fits, label %work, label %panic
        work:";
    let store = "store float %more, ptr %arm.at";
    let text = with_arm("ptr noalias readonly %columns", check, store);
    let ir = batched_text(&text);
    assert_eq!((loads(&ir), ir.matches("store float").count()), ((5, 5), 5), "four and one: {ir}");
    let of_checks = ir.split("\n\n").find(|block| block.matches("load i32").count() == 4).expect(&ir);
    // What an arm asks may mean nothing.
    assert_eq!((of_checks.matches("select i1").count(), of_checks.matches("freeze i1").count()), (7, 4), "{ir}");
    // What is looked up in the slice is looked up before the first branch; elsewhere a store may change it.
    let at_once = |text: &str| {
        let ir = batched_text(text);
        ir.split("\n\n").map(|block| block.matches("load float").count()).max()
    };
    assert_eq!(at_once(&text), Some(1));
    assert_eq!(
        at_once(&text.replace("getelementptr float, ptr %x, i64", "getelementptr float, ptr %columns, i64")),
        Some(4)
    );
    // Not if an arm ends the loop, or goes on to another block.
    for (old, new) in [
        ("br label %join\n        join:", "br label %end\n        join:"),
        ("label %join\n        arm:", "label %end\n        arm:"),
    ] {
        let other = text.replace(old, new).replace("ret float %more", "ret float 0.0");
        assert_ne!(other, text);
        assert_eq!(loads(&batched_text(&other)), (1, 1), "{other}");
    }
}

/// What an arm asks of what it loads is loaded in every round, where the number may be none that it promises.
#[test]
fn a_load_of_an_arm_promises_nothing_early() {
    let check = "%arm.p = getelementptr i32, ptr %row, i64 %index
          %u = load i32, ptr %arm.p, !noundef !9
          %fits = icmp ult i32 %u, 9
          br i1 %fits, label %work, label %panic
        work:";
    let text = with_arm("ptr noalias readonly %columns", check, "store float %more, ptr %arm.at") + "\n!9 = !{}";
    let ir = batched_text(&text);
    assert_eq!((ir.matches("load i32").count(), ir.matches("!noundef").count()), (10, 1), "{ir}");
}

#[test]
fn others_stay_as_they_are() {
    let again = "%again.at = getelementptr i32, ptr %x, i64 %k
          %again = load i32, ptr %again.at
          %two = add i32 %again, %column
          %below = icmp ult i32 %two, 9";
    for (index, condition, more) in [
        // What is loaded for the check is not known to be there.
        (PLAIN, again, ""),
        ("%index = mul i64 %k, %k", BELOW, ""),
        ("%index = sub i64 0, %k", BELOW, ""),
        // The check needs what the last round loaded from who knows where.
        (PLAIN, "%below = fcmp olt float %sum, 1.0", ""),
        // It may write what is loaded for the check.
        (PLAIN, BELOW, "store float %more, ptr %to"),
        (PLAIN, BELOW, "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)"),
        (PLAIN, BELOW, "%v = load volatile i32, ptr %to"),
    ] {
        let ir = batched(index, condition, more);
        assert_eq!(ir.matches("load float").count(), 1, "{index}, {condition}, {more}: {ir}");
    }
}
