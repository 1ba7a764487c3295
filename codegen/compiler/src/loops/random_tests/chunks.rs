//! Random loops over the chunks of a slice.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::{SimpleForm, chunk, join};

/// A loop over chunks whose rounds hand on several numbers, each of which may be another one in the next round.
fn rows(u: &mut Unstructured<'_>) -> Result<String> {
    let values = ["%a", "%b", "%c", "%early", "%new", "%late", "%here", "%round.next", "%wide"];
    let mut phis = String::new();
    for name in ["a", "b", "c"] {
        let (begin, next) = (u.int_in_range(0..=9)?, u.choose(&values)?);
        _ = writeln!(phis, "%{name} = phi i64 [ {begin}, %entry ], [ {next}, %latch ]");
    }
    let is_apart = u.arbitrary()?;
    let (apart, head) = if is_apart { ("br label %inside\ninside:", "inside") } else { ("", "loop") };
    let size = *u.choose(&["%more", "%more", "4"])?;
    let sat = format!("call i64 @llvm.usub.sat.i64(i64 %rest, i64 {size})");
    let next = *u.choose(&["sub i64 %rest, %here", &sat])?;
    let is_short =
        *u.choose(&["ult i64 %here, %first", "ule i64 %here, %first", "ugt i64 %rest, %first", "ule i64 %rest, 3"])?;
    let told = *u.choose(&["%a", "%new", "%late"])?;
    Ok(format!(
        "declare i64 @llvm.umin.i64(i64, i64)
        declare i64 @llvm.umax.i64(i64, i64)
        declare i64 @llvm.usub.sat.i64(i64, i64)
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: br label %loop
        loop: %rest = phi i64 [ %wide, %entry ], [ %rest.next, %latch ]
          %round = phi i64 [ 0, %entry ], [ %round.next, %latch ]
          {phis}
          %early = add i64 %a, 5
          {apart}
          %here = call i64 @llvm.umin.i64(i64 {size}, i64 %rest)
          %times = mul i64 %b, 31
          %new = xor i64 %times, %here
          %is.short = icmp {is_short}
          br i1 %is.short, label %rare, label %latch
        rare: store volatile i64 %here, ptr %to
          br label %latch
        latch: %late = phi i64 [ %new, %{head} ], [ %c, %rare ]
          store volatile i64 %late, ptr %to
          %round.next = add i64 %round, 1
          %rest.next = {next}
          %over = icmp eq i64 %rest.next, 0
          br i1 %over, label %out, label %loop
        out: store volatile i64 {told}, ptr %to
          ret void
        }}"
    ))
}

#[test]
fn chunks_hand_on_the_same() {
    do_the_same(
        rows,
        |context, module, machine| chunk(context, module, &SimpleForm::of(machine)).unwrap(),
        |_, after| after.contains("udiv i64"),
    );
}

/// A loop that looks for the next chunk with an element, and may end by a number that goes on by a step of its own.
fn searches(u: &mut Unstructured<'_>) -> Result<String> {
    let (size, element) = (u.choose(&["8", "3", "%more"])?, u.choose(&["%first", "%narrow", "2", "%more"])?);
    let (length, len) = (u.choose(&["%left", "%here"])?, u.choose(&["%wide", "%narrow", "%end"])?);
    let has =
        *u.choose(&["ugt i64 {length}, {element}", "ult i64 {element}, {length}", "ule i64 {length}, {element}"])?;
    let (yes, no) = if has.starts_with("ule") { ("inner", "takes") } else { ("takes", "inner") };
    let has = has.replace("{length}", length).replace("{element}", element);
    let (begin, step) = (u.choose(&["0", "%narrow", "%first"])?, u.choose(&["%small", "1", "8", "%more", "%narrow"])?);
    let counts = "%by = select i1 %go, i64 {step}, i64 0\n %on = add i64 {sum}\n br i1 %go, label %inner, label %out";
    let sum = *u.choose(&["%by, %k", "%k, %by"])?;
    let head = format!("%go = icmp ult i64 %k, %end\n {}", counts.replace("{step}", step).replace("{sum}", sum));
    let plain = "br label %inner".to_string();
    let again =
        format!("%on = add i64 %k, {step}\n %go = icmp ult i64 %on, %end\n br i1 %go, label %outer, label %out");
    let never = format!("%on = add i64 %k, {step}\n br label %outer");
    let also = *u.choose(&["%here", "%k", "%left", "%wide.has"])?;
    let checked = u.arbitrary()?;
    let limit = if checked { "60" } else { "-1" };
    let (head, latch, told) = match u.int_in_range(0..=2)? {
        0 => (head, "br label %outer".into(), "[ %k, %outer ], [ %left, %inner ]"),
        1 => (plain, again, "[ %on, %inside ], [ %left, %inner ]"),
        _ => (plain, never, "[ %k, %inner ]"),
    };
    Ok(format!(
        "declare i64 @llvm.umin.i64(i64, i64)
        declare i64 @llvm.umax.i64(i64, i64)
        declare void @__rust_ptx_panic_with_1(i64) noreturn
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %narrow = zext i32 %short to i64
          %small = call i64 @llvm.umin.i64(i64 %more, i64 8)
          br label %outer
        outer: %rest = phi i64 [ {len}, %entry ], [ %next, %inside ]
          %k = phi i64 [ {begin}, %entry ], [ %on, %inside ]
          %before = phi i64 [ 7, %entry ], [ {also}, %inside ]
          {head}
        inner: %left = phi i64 [ %rest, %outer ], [ %next, %looks ]
          %none = icmp eq i64 %left, 0
          br i1 %none, label %out, label %looks
        looks: %here = call i64 @llvm.umin.i64(i64 %left, i64 {size})
          %next = sub i64 %left, %here
          %has = icmp {has}
          br i1 %has, label %{yes}, label %{no}
        takes: %wide.has = zext i1 %has to i64
          store volatile i64 %left, ptr %to
          store volatile i64 %before, ptr %to
          %is = icmp ult i64 %k, {limit}
          br i1 %is, label %inside, label %panic
        inside: store volatile i64 %k, ptr %to
          store volatile i64 %here, ptr %to
          {latch}
        out: %told = phi i64 {told}
          store volatile i64 %told, ptr %to
          ret void
        panic: call void @__rust_ptx_panic_with_1(i64 %k)
          unreachable
        }}"
    ))
}

#[test]
fn whole_chunks_are_taken_as_those_that_are_searched_for() {
    do_the_same(
        searches,
        |context, module, machine| {
            join(context, module).unwrap();
            chunk(context, module, &SimpleForm::of(machine)).unwrap();
        },
        |_, after| after.contains("udiv i64"),
    );
}
