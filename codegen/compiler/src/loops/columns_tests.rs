//! Tests of [`super`].

use super::*;
use crate::arch::Arch;
use crate::emit;
use crate::llvm::{AnyValue, parse_ir};
use crate::request::OptLevel;

const FILL: &str = "%value = getelementptr float, ptr %first, i64 %index
  store ptr %value, ptr %slot";

/// A function whose `loop` stores to 64 addresses that `fill` has put into `%a`, after [`recompute`]; `moved` stands between.
fn text(index: &str, fill: &str, moved: &str, load: &str) -> String {
    format!(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
        declare void @llvm.lifetime.start.p0(ptr)
        declare void @use(ptr)
        define void @f(ptr %to, i64 %n, i64 %stride, ptr %out, i64 %u) {{
        entry: %a = alloca [512 x i8], align 8
          %b = alloca [536 x i8], align 8
          %c = alloca [504 x i8], align 8
          call void @llvm.lifetime.start.p0(ptr %a)
          br label %before
        before: %first = getelementptr float, ptr %to, i64 %u
          br label %fill
        fill: %k = phi i64 [ 0, %before ], [ %after, %fill ]
          %index = {index}
          %slot = getelementptr inbounds ptr, ptr %a, i64 %k
          {fill}
          %after = add nuw nsw i64 %k, 1
          %filled = icmp eq i64 %after, 64
          br i1 %filled, label %moved, label %fill
        moved: {moved}
          br label %loop
        loop: %z = phi i64 [ 0, %moved ], [ %next, %loop ]
          {load}
          store volatile float 1.0, ptr %p
          %next = add nuw nsw i64 %z, 1
          %done = icmp eq i64 %next, 64
          br i1 %done, label %end, label %loop
        end: ret void
        }}"
    )
}

fn recomputed(text: &str) -> String {
    let context = Context::create();
    let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    recompute(&context, &module, &machine).unwrap();
    module.verify().unwrap();
    module.get_function("f").unwrap().print_to_string().to_string()
}

const SHIFTED: &str = "shl i64 %k, %n";
const LOAD: &str = "%at = getelementptr inbounds ptr, ptr %a, i64 %z
  %p = load ptr, ptr %at, !nonnull !{}";

/// Whether no round reads the array: LLVM removes what fills it in its next run.
fn is_gone(text: &str) -> bool {
    !recomputed(text).contains("load ptr")
}

#[test]
fn addresses_a_step_apart_are_computed() {
    let ir = recomputed(&text(SHIFTED, FILL, "", LOAD));
    assert!(ir.contains("shl i64 %z, %n") && !ir.contains("load ptr"), "{ir}");
    for index in ["mul i64 %k, %stride", "mul i64 %stride, %k"] {
        let ir = recomputed(&text(index, FILL, "", LOAD));
        assert!(ir.contains("mul i64 %z, %stride") && !ir.contains("load ptr"), "{ir}");
    }
    let next = FILL.replace("%index", "%k");
    assert!(is_gone(&text(SHIFTED, &next, "", LOAD)));
}

#[test]
fn so_are_those_that_were_moved() {
    // An `Option` has its first address apart; an iterator counts beside the array.
    let moved = "%one = load ptr, ptr %a
      %rest = getelementptr i8, ptr %a, i64 8
      call void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %rest, i64 504, i1 false)
      %head = getelementptr i8, ptr %b, i64 16
      store ptr %one, ptr %head
      %tail = getelementptr i8, ptr %b, i64 24
      call void @llvm.memcpy.p0.p0.i64(ptr %tail, ptr %c, i64 504, i1 false)
      %range = getelementptr i8, ptr %b, i64 528
      store i64 0, ptr %range";
    let load = "%at = getelementptr inbounds ptr, ptr %head, i64 %z
      %p = load ptr, ptr %at";
    let ir = recomputed(&text(SHIFTED, FILL, moved, load));
    assert!(ir.contains("shl i64 %z, %n") && !ir.contains("load ptr") && !ir.contains("memcpy"), "{ir}");
    // In bytes, as LLVM counts where an iterator walks.
    let bytes = |step: u64, until: u64| {
        text(SHIFTED, FILL, "", "%at = getelementptr i8, ptr %a, i64 %z\n %p = load ptr, ptr %at")
            .replace("%next = add nuw nsw i64 %z, 1", &format!("%next = add nuw nsw i64 %z, {step}"))
            .replace("%next, 64", &format!("%next, {until}"))
    };
    assert!(is_gone(&bytes(8, 512)) && !is_gone(&bytes(4, 512)));
    // The iterator's own number is no address, and another address may have been put where the first one was.
    let far = load.replace("i64 %z", "i64 %more").replacen("%at", "%more = add i64 %z, %u\n %at", 1);
    for (moved, load) in [
        (moved, far.as_str()),
        (moved, &load.replace("%head", "%tail")),
        (&moved.replace("store ptr %one", "store ptr %out"), load),
        (&moved.replace("i64 528", "i64 40"), load),
        (&moved.replace("ptr %c, i64 504", "ptr %out, i64 504"), load),
        (&moved.replace("ptr %a, i64 8", "ptr %a, i64 16"), load),
    ] {
        assert!(recomputed(&text(SHIFTED, FILL, moved, load)).contains("%p = load ptr"), "{moved}\n{load}");
    }
}

#[test]
fn others_stay() {
    let elsewhere = format!("{FILL}\n store ptr %out, ptr %slot");
    for (fill, moved, why) in [
        (elsewhere.as_str(), "", "something else is put at the same places"),
        (FILL, "store ptr %out, ptr %a", "the first may be another one"),
        (FILL, "call void @use(ptr %a)", "who knows the array may write to it"),
        (FILL, "store volatile ptr %a, ptr %out", "the same"),
        (
            &FILL.replace("ptr %slot", "ptr %slot\n %u2 = getelementptr i8, ptr %slot, i64 4\n store i64 0, ptr %u2"),
            "",
            "half",
        ),
    ] {
        assert!(recomputed(&text(SHIFTED, fill, moved, LOAD)).contains("%p = load ptr"), "{why}");
    }
    assert!(!is_gone(&text("xor i64 %k, %n", FILL, "", LOAD)));
    // A smaller one becomes registers.
    assert!(!is_gone(&text(SHIFTED, FILL, "", LOAD).replace("alloca [512 x i8]", "alloca [128 x i8]")));
}

#[test]
fn what_is_computed_again_in_a_loop_is_another_one() {
    let again = text(SHIFTED, FILL, "", LOAD)
        .replace("br label %before", "%skip = icmp eq i64 %u, 3\n br label %before")
        .replace("before: %first", "before: %i = phi i64 [ 0, %entry ], [ %j, %end ]\n %first")
        .replace("i64 %u\n", "i64 %i\n")
        .replace("end: ret void", "end: %j = add i64 %i, 1\n br i1 %skip, label %before, label %out\n out: ret void")
        .replace("label %out", "label %leave")
        .replace("out: ret", "leave: ret");
    assert!(recomputed(&again).contains("%p = load ptr"), "{again}");
}
