//! Tests of [`super`]: which panics leave a loop by its end, and that a thread does the same then.

use std::cell::Cell;

use super::*;
use crate::checks::random_tests::functions::{Kind, do_the_same};
use crate::llvm::{AnyValue, Intrinsic, Module, parse_ir};
use crate::marks::{AT_LOCATION, PANIC_WITH};
use crate::request::{AfterPanic, OptLevel};

/// A kernel after its panics were written.
fn lowered(body: &str) -> String {
    let (z, w) = (r"\00".repeat(7), r"\00".repeat(3));
    let text = format!(
        "@a = private constant <{{ ptr, [16 x i8] }}> <{{ ptr @file, [16 x i8] c\"\\04{z}\\01{w}\\02{w}\" }}>
        @file = private constant [4 x i8] c\"a.rs\"
        declare void @{AT_LOCATION}(ptr) noreturn
        declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        define ptx_kernel void @k(i32 %n, ptr %data, ptr %to) {{
        entry: %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
          {body}
        fail: call void @{AT_LOCATION}(ptr @a)
          unreachable
        }}"
    );
    let context = Context::create();
    let module = parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
    super::super::lower(&context, &module, OptLevel::O3, AfterPanic::Trap).unwrap();
    module.verify().unwrap();
    module.get_function("k").unwrap().print_to_string().to_string()
}

/// The blocks that go on to the panic, and those to where a loop is left.
fn jumps(text: &str) -> (Vec<String>, Vec<String>) {
    let to = |label: &str| {
        let mut block = "";
        let mut found = Vec::new();
        for line in text.lines() {
            match line.split_once(':') {
                Some((name, _)) if !line.starts_with(' ') => block = name,
                _ if line.trim().starts_with("br ") && line.contains(&format!("label %{label}")) => {
                    found.push(block.to_string());
                }
                _ => {}
            }
        }
        found
    };
    (to("panic"), to("left"))
}

/// Over as many rounds as a thread's number says, or as many as all have.
fn over(limit: &str, round: &str) -> String {
    format!(
        "br label %loop
        loop: %i = phi i32 [ 0, %entry ], [ %next, %more ]
          {round}
          %inside = icmp ult i32 %value, 100
          br i1 %inside, label %more, label %fail
        more: %next = add i32 %i, 1
          %again = icmp ult i32 %next, {limit}
          br i1 %again, label %loop, label %end
        end: store i32 %next, ptr %to
          ret void"
    )
}

const LOAD: &str = "%at = getelementptr i32, ptr %data, i32 %i
          %value = load i32, ptr %at";

#[test]
fn threads_that_part_in_a_loop_leave_it_by_its_end() {
    let text = lowered(&over("%t", LOAD));
    assert_eq!(jumps(&text), (vec!["left".into()], vec!["more".into(), "fail".into()]), "{text}");
    // What a thread that panics has no value of.
    assert!(text.contains("phi i32 [ %next, %more ], [ poison, %fail ]"), "{text}");
    assert!(text.contains("%failed = phi i1 [ false, %more ], [ true, %fail ]"), "{text}");
}

#[test]
fn threads_that_stay_together_panic_where_they_are() {
    let text = lowered(&over("%n", LOAD));
    assert_eq!(jumps(&text), (vec!["fail".into()], vec![]), "{text}");
}

#[test]
fn a_thread_that_may_wait_panics_where_it_is() {
    for wait in [
        "%value = load volatile i32, ptr %data",
        "%value = load atomic i32, ptr %data monotonic, align 4",
        "%value = atomicrmw xchg ptr %data, i32 1 acquire",
        "%pair = cmpxchg ptr %data, i32 0, i32 1 acquire monotonic
        %value = extractvalue { i32, i1 } %pair, 0",
        "%value = call i32 asm sideeffect \"ld.acquire.gpu.u32 $0, [$1];\", \"=r,l\"(ptr %data)",
    ] {
        let text = lowered(&over("%t", wait));
        assert_eq!(jumps(&text), (vec!["fail".into()], vec![]), "{text}");
    }
    // These wait for nothing.
    for adds in ["%old = atomicrmw add ptr %data, i32 1 monotonic", "store atomic i32 1, ptr %data monotonic, align 4"]
    {
        let text = lowered(&over("%t", &format!("{adds}\n{LOAD}")));
        assert_eq!(jumps(&text).0, ["left"], "{text}");
    }
}

#[test]
fn a_loop_that_nothing_comes_behind_is_left_alone() {
    let text = lowered(&over("%t", LOAD).replace("store i32 %next, ptr %to", ""));
    assert_eq!(jumps(&text), (vec!["fail".into()], vec![]), "{text}");
}

#[test]
fn a_thread_that_returns_from_the_loop_is_waited_for_by_none() {
    let text = lowered(
        &over("%t", LOAD)
            .replace("more: ", "more: %found = icmp eq i32 %value, 7\n br i1 %found, label %out, label %rest\n rest: ")
            .replace("[ %next, %more ]", "[ %next, %rest ]")
            .replace("ret void", "br label %out\n out: ret void"),
    );
    assert_eq!(jumps(&text), (vec!["left".into()], vec!["rest".into(), "fail".into()]), "{text}");
}

#[test]
fn loops_that_panic_alike_have_panics_of_their_own() {
    let second = over("%t", LOAD)
        .replace("entry", "end")
        .replace("br label %loop", "")
        .replace("more:", "more.2:")
        .replace("loop:", "loop.2:")
        .replace("end:", "end.2:")
        .replace("%more", "%more.2")
        .replace("%loop", "%loop.2");
    let names = ["%i ", "%i,", "%i\n", "%next", "%at", "%value", "%inside", "%again"];
    let second = names.iter().fold(second, |text, name| {
        let (word, rest) = name.split_at(name.trim_end_matches([' ', ',', '\n']).len());
        text.replace(name, &format!("{word}.2{rest}"))
    });
    let second = second.replace("label %end\n", "label %end.2\n");
    let first = over("%t", LOAD).replace("ret void", "br label %loop.2");
    let text = lowered(&format!("{first}\n{second}"));
    let (panics, _) = jumps(&text);
    assert_eq!(panics.len(), 2, "{text}");
    assert!(panics.iter().all(|block| block.starts_with("left")), "{text}");
}

#[test]
fn a_loop_that_ends_where_another_begins_is_left_before_that() {
    let text = lowered(&over("%t", LOAD).replace("label %end", "label %second").replace(
        "end: store i32 %next, ptr %to",
        "second: %j = phi i32 [ 0, %more ], [ %on, %second ]
          %on = add i32 %j, %next
          %short = icmp ult i32 %on, %t
          br i1 %short, label %second, label %end
        end:",
    ));
    assert_eq!(jumps(&text), (vec!["left".into()], vec!["more".into(), "fail".into()]), "{text}");
    assert!(text.contains("phi i32 [ %next, %more ], [ poison, %fail ]"), "{text}");
    assert!(text.contains("[ %on, %second ]"), "no round of the second loop asks who has panicked: {text}");
}

#[test]
fn what_comes_by_a_block_of_phis_alone_is_handed_over() {
    let text = lowered(&over("%t", LOAD).replace("label %end", "label %between").replace(
        "end: store i32 %next, ptr %to",
        "between: %last = phi i32 [ %next, %more ]
          br label %second
        second: %j = phi i32 [ 0, %between ], [ %on, %second ]
          %on = add i32 %j, %last
          %short = icmp ult i32 %on, %t
          br i1 %short, label %second, label %end
        end: store i32 %last, ptr %to",
    ));
    assert_eq!(jumps(&text), (vec!["left".into()], vec!["between".into(), "fail".into()]), "{text}");
    assert!(text.contains("phi i32 [ %last, %between ], [ poison, %fail ]"), "{text}");
}

#[test]
fn a_loop_that_ends_where_two_others_begin_is_left_before_both() {
    let text = lowered(&over("%t", LOAD).replace("label %end", "label %between").replace(
        "end: store i32 %next, ptr %to",
        "between: %last = phi i32 [ %next, %more ]
          br label %outer
        outer: %k = phi i32 [ 0, %between ], [ %on, %repeat ]
          br label %second
        second: %j = phi i32 [ %k, %outer ], [ %on, %second.more ]
          %on = add i32 %j, %last
          %short = icmp ult i32 %on, %t
          br i1 %short, label %second.more, label %end
        second.more: %even = icmp ult i32 %on, 7
          br i1 %even, label %second, label %repeat
        repeat: store volatile i32 %on, ptr %to
          br label %outer
        end: store i32 %last, ptr %to",
    ));
    assert_eq!(jumps(&text), (vec!["left".into()], vec!["between".into(), "fail".into()]), "{text}");
    assert!(
        text.contains("phi i32 [ %on, %repeat ], [ 0, %left ]"),
        "no round of the others asks who panicked: {text}"
    );
}

#[test]
fn a_panic_of_an_inner_loop_leaves_both() {
    let text = lowered(
        "br label %outer
        outer: %y = phi i32 [ 0, %entry ], [ %y.next, %row ]
          br label %loop
        loop: %i = phi i32 [ %y, %outer ], [ %next, %more ]
          %at = getelementptr i32, ptr %data, i32 %i
          %value = load i32, ptr %at
          %inside = icmp ult i32 %value, 100
          br i1 %inside, label %more, label %fail
        more: %next = add i32 %i, 1
          %again = icmp ult i32 %next, %t
          br i1 %again, label %loop, label %row
        row: store i32 %next, ptr %to
          %y.next = add i32 %y, %next
          %short = icmp ult i32 %y.next, %t
          br i1 %short, label %outer, label %end
        end: store i32 %y.next, ptr %to
          ret void",
    );
    let (panics, lefts) = jumps(&text);
    assert_eq!(panics.len(), 1, "{text}");
    assert!(lefts.contains(&"row".to_string()) || lefts.contains(&"more".to_string()), "{text}");
    assert_eq!(text.matches("phi i1").count(), 2, "{text}");
}

#[test]
fn a_panic_written_where_it_stands_keeps_all_there() {
    let text = lowered(&over("%t", LOAD).replace("label %fail", "label %own").replace(
        "end:",
        "own: call void asm sideeffect \"trap;\", \"\"()
          unreachable
        end:",
    ));
    assert!(!text.contains("left"), "{text}");
}

/// Makes claims of what panics in a random function, and has them leave its loops.
fn leave<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> usize {
    let function = module.get_function("f").unwrap();
    let panics = module.get_function(&format!("{PANIC_WITH}1")).unwrap();
    let least = Intrinsic::find("llvm.umin").unwrap().get_declaration(module, &[context.i64_type().into()]).unwrap();
    let builder = context.create_builder();
    let calls: Vec<_> =
        llvm::instructions(function).filter(|call| llvm::called_function(*call) == Some(panics)).collect();
    let panic = context.append_basic_block(function, "panic");
    let mut claims = Vec::new();
    for call in calls {
        let block = call.get_parent().unwrap();
        let told = call.get_operand(0).unwrap().unwrap_value().into_int_value();
        builder.position_before(&call);
        // A claim is an instruction, also of a constant.
        let record = builder.build_call(least, &[told.into(), told.into()], "").unwrap();
        let record = record.try_as_basic_value().unwrap_basic().into_int_value();
        call.erase_from_basic_block();
        block.get_terminator().unwrap().erase_from_basic_block();
        builder.position_at_end(block);
        builder.build_unconditional_branch(panic).unwrap();
        claims.push((record, block));
    }
    let claims = leave_loops(context, function, panic, claims, |_| true).unwrap();
    builder.position_at_end(panic);
    if claims.is_empty() {
        panic.remove_from_function().unwrap();
        return 0;
    }
    let phi = builder.build_phi(context.i64_type(), "").unwrap();
    claims.iter().for_each(|(record, block)| phi.add_incoming(&[(record, *block)]));
    builder.build_call(panics, &[phi.as_basic_value().into()], "").unwrap();
    builder.build_unreachable().unwrap();
    function.get_basic_block_iter().filter(|block| block.get_name().to_string_lossy().starts_with("left")).count()
}

#[test]
fn random_functions_do_the_same() {
    let left = Cell::new(0);
    for kind in [Kind::Branches, Kind::Checks] {
        do_the_same(kind, |context, module, _| left.set(left.get() + leave(context, module)));
    }
    assert!(left.get() > 0, "no loop was left");
}
