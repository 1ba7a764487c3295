//! Loops by a constant step below a number that may have 32 bits, and may be below their first one; and loops over
//! windows that are a step apart.

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::{SimpleForm, count, shorten};

/// A loop by a constant step, behind a branch that may say where it begins.
fn stepped(u: &mut Unstructured<'_>) -> Result<String> {
    let bound = *u.choose(&["and i64 %end, 4294967295", "lshr i64 %end, 32", "add i64 %end, 0"])?;
    let first = *u.choose(&["zext i32 %short to i64", "and i64 %first, 63", "add i64 %first, 0"])?;
    let step = *u.choose(&["2", "3", "32", "256", "65536", "65537", "-4"])?;
    let asks = *u.choose(&[
        "icmp ult i64 %begin, %bound",
        "icmp ugt i64 %bound, %begin",
        "icmp ult i32 %short, %cut",
        "icmp ule i64 %begin, %bound",
        "icmp ult i64 %begin, %end",
    ])?;
    let goes = *u.choose(&[
        "%go = icmp ult i64 %next, %bound\n br i1 %go, label %loop, label %out",
        "%go = icmp ugt i64 %bound, %next\n br i1 %go, label %loop, label %out",
        "%ends = icmp uge i64 %next, %bound\n br i1 %ends, label %out, label %loop",
        "%go = icmp ule i64 %next, %bound\n br i1 %go, label %loop, label %out",
    ])?;
    let targets =
        *u.choose(&["label %before, label %none", "label %before, label %none", "label %none, label %before"])?;
    let check = if u.arbitrary()? { "icmp ult i64 %k, %more" } else { "icmp eq i32 0, 0" };
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %bound = {bound}
          %cut = trunc i64 %end to i32
          %begin = {first}
          %is = {asks}
          br i1 %is, {targets}
        before: br label %loop
        loop: %k = phi i64 [ %begin, %before ], [ %next, %inside ]
          %inner = {check}
          br i1 %inner, label %inside, label %panic
        inside: %p = getelementptr i32, ptr %to, i64 %k
          store volatile i32 7, ptr %p
          %next = add i64 %k, {step}
          {goes}
        out: ret void
        none: ret void
        panic: call void @__rust_ptx_panic_with_1(i64 %k)
          unreachable
        }}"
    ))
}

#[test]
fn a_loop_by_a_constant_step_ends_in_the_same_round() {
    do_the_same(
        stepped,
        |context, module, machine| count(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.contains("udiv i32") && !before.contains("udiv i32"),
    );
}

#[test]
fn and_by_a_short_counter() {
    do_the_same(
        stepped,
        |context, module, machine| {
            count(context, module, &SimpleForm::of(machine)).unwrap();
            shorten(context, module, &SimpleForm::of(machine)).unwrap();
        },
        |_, after| after.contains("phi i32"),
    );
}

/// A loop over what is left of a slice, which asks for a step and for a window.
fn windows(u: &mut Unstructured<'_>) -> Result<String> {
    let step = *u.choose(&["zext i32 %short to i64", "and i64 %more, 7", "add i64 %more, 0"])?;
    let asks = *u.choose(&["icmp ult i64 %first, 4", "icmp ult i64 %first, 3", "icmp ule i64 %first, 3"])?;
    let few = *u.choose(&[
        "icmp ult i64 %left.less, %less",
        "icmp ule i64 %left, %less",
        "icmp ult i64 %left, %less",
        "icmp ule i64 %left.less, %less",
    ])?;
    let short = *u.choose(&["icmp ult i64 %next, 4", "icmp ule i64 %next, 3", "icmp ule i64 %next, 4"])?;
    let joined = *u.choose(&["or i1 %few, %are", "select i1 %few, i1 true, i1 %are", "and i1 %few, %are"])?;
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %step = {step}
          %less = add i64 %step, -1
          %is = {asks}
          br i1 %is, label %none, label %before
        before: br label %loop
        loop: %left = phi i64 [ %first, %before ], [ %next, %loop ]
          store volatile i64 %left, ptr %to
          %left.less = add i64 %left, -1
          %next = sub i64 %left, %step
          %few = {few}
          %are = {short}
          %ends = {joined}
          br i1 %ends, label %out, label %loop
        out: ret void
        none: ret void
        }}"
    ))
}

#[test]
fn windows_end_in_the_same_round() {
    do_the_same(
        windows,
        |context, module, machine| count(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.contains("udiv i64") && !before.contains("udiv i64"),
    );
}
