//! Elements of a plane by guards, windows, and choices in steps.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::checks::ask_of_areas;
use crate::conditions::choose;
use crate::loops::SimpleForm;
use crate::windows;

/// That a number is outside of an extent, asked in one of several ways; the number is a value and the constant that is added.
fn outside(u: &mut Unstructured<'_>, name: &str, value: &str, extent: &str) -> Result<String> {
    let text = match u.int_in_range(0..=3)? {
        0 => format!("%{name}.a = icmp slt i32 {value}, 0 %{name}.b = icmp sge i32 {value}, {extent}"),
        1 => format!("%{name}.a = icmp uge i32 {value}, {extent} %{name}.b = icmp slt i32 {value}, 0"),
        2 => format!("%{name}.a = icmp sgt i32 0, {value} %{name}.b = icmp sle i32 {extent}, {value}"),
        _ => format!("%{name}.a = icmp uge i32 {value}, {extent} %{name}.b = icmp ugt i32 {value}, 1000000"),
    };
    Ok(format!("{text} %{name}.out = or i1 %{name}.a, %{name}.b"))
}

/// A column of a plane, each element if it is inside; with a neighbour to the left or the right of what was asked for, where
/// that is known to be inside as well.
fn column(u: &mut Unstructured<'_>) -> Result<String> {
    let (first, last) = (u.int_in_range(-3..=0)?, u.int_in_range(1..=3)?);
    let (right, below) = (u.int_in_range(-2..=2)?, u.int_in_range(-2..=2)?);
    let extends = *u.choose(&["sext", "zext"])?;
    let (x, y) = (outside(u, "x", "%xx", "%w")?, outside(u, "y", "%yy", "%h")?);
    // What is loaded lies before what was asked for.
    let (back, more) = if u.arbitrary()? {
        ("add i32 %xx, -1", "%z.out = icmp eq i32 %xx, 0 %xz.out = or i1 %x.out, %z.out")
    } else {
        ("add i32 %xx, 0", "%xz.out = or i1 %x.out, %x.out")
    };
    let index = *u.choose(&["add i32 %row, %back", "add i32 %back, %row"])?;
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        define void @f(ptr noalias %from, ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %w = trunc i64 %wide to i32
          %h = trunc i64 %more to i32
          %y = trunc i64 %first to i32
          br label %loop
        loop: %dy = phi i32 [ {first}, %entry ], [ %dy.next, %latch ]
          %xx = add i32 %short, {right}
          %y.dy = add i32 %y, %dy
          %yy = add i32 %y.dy, {below}
          {x} {y} {more}
          %out.of = or i1 %xz.out, %y.out
          br i1 %out.of, label %latch, label %check
        check: %row = mul i32 %yy, %w
          %back = {back}
          %at = {index}
          %wide.at = {extends} i32 %at to i64
          %ok = icmp ult i64 %wide.at, %end
          br i1 %ok, label %inside, label %panic
        inside: %p = getelementptr i32, ptr %from, i64 %wide.at
          %v = load i32, ptr %p
          store volatile i32 %v, ptr %to
          br label %latch
        latch: %dy.next = add nsw i32 %dy, 1
          %go = icmp slt i32 %dy.next, {last}
          br i1 %go, label %loop, label %out
        panic: call void @__rust_ptx_panic_with_1(i64 %wide.at)
          unreachable
        out: ret void
        }}"
    ))
}

#[test]
fn elements_of_a_plane_are_the_same_without_checks() {
    do_the_same(column, |context, module, _| ask_of_areas(context, module).unwrap(), |before, after| before != after);
}

/// A loop from a number near another one to a number near that.
fn window(u: &mut Unstructured<'_>) -> Result<String> {
    let (first, bound) = (u.int_in_range(-3..=2)?, u.int_in_range(-2..=3)?);
    let is = u.choose(&["ugt i64 %y, 2", "ult i64 %y, 9", "uge i64 %y, 1", "ne i64 %y, 0", "sgt i64 %y, 3"])?;
    let number = *u.choose(&["zext i32 %short to i64", "sext i32 %short to i64"])?;
    let predicate = *u.choose(&["ugt", "uge", "sgt", "sge", "eq"])?;
    let counted = *u.choose(&["%k", "%next"])?;
    let (ends, goes) = if u.arbitrary()? { ("%done", "%loop") } else { ("%loop", "%done") };
    let predicate = if ends == "%done" { predicate } else { *u.choose(&["ult", "ule", "slt", "sle", "ne"])? };
    Ok(format!(
        "define void @f(ptr %to, i32 %short) {{
        entry: %y = {number}
          %is = icmp {is}
          br i1 %is, label %before, label %out
        before: %first = add i64 %y, {first}
          %bound = add i64 %y, {bound}
          br label %loop
        loop: %k = phi i64 [ %first, %before ], [ %next, %loop ]
          store volatile i64 %k, ptr %to
          %next = add i64 %k, 1
          %ends = icmp {predicate} i64 {counted}, %bound
          br i1 %ends, label {ends}, label {goes}
        done: br label %out
        out: ret void
        }}"
    ))
}

#[test]
fn windows_have_the_same_rounds() {
    do_the_same(
        window,
        |context, module, machine| {
            windows::count(context, module, &SimpleForm::of(machine)).unwrap();
        },
        |before, after| after.matches("phi").count() > before.matches("phi").count(),
    );
}

/// A loop whose rounds choose a number in steps.
fn steps(u: &mut Unstructured<'_>) -> Result<String> {
    let count = u.int_in_range(3..=6_usize)?;
    // Each block goes to the next one, and perhaps to a later one; the last is where all meet.
    let mut targets = Vec::new();
    for at in 0..=count {
        targets.push([at + 1, u.int_in_range(at + 1..=count + 1)?]);
    }
    let mut text = String::new();
    for at in 0..=count + 1 {
        let from = |before: usize| if before == 0 { "%loop".to_string() } else { format!("%b.{before}") };
        let value = |before: usize| if before == 0 { "%acc".to_string() } else { format!("%y.{before}") };
        if at > 0 {
            let known: Vec<_> = (0..at.min(count + 1)).filter(|before| targets[*before].contains(&at)).collect();
            let ways: Vec<_> =
                known.iter().map(|before| format!("[ {}, {} ]", value(*before), from(*before))).collect();
            _ = writeln!(text, "b.{at}: %x.{at} = phi i64 {}", ways.join(", "));
        }
        if at == count + 1 {
            break;
        }
        if at > 0 {
            let op = *u.choose(&["add", "xor", "mul", "sub"])?;
            let by = *u.choose(&["1", "3", "%k", "%first"])?;
            _ = writeln!(text, "%y.{at} = {op} i64 %x.{at}, {by}");
        }
        let bit = 1_u64 << u.int_in_range(0..=4)?;
        _ = writeln!(text, "%q.{at} = and i64 {}, {bit}\n %c.{at} = icmp eq i64 %q.{at}, 0", value(at));
        let [one, other] = targets[at];
        _ = if one == other {
            writeln!(text, "br label %b.{one}")
        } else {
            writeln!(text, "br i1 %c.{at}, label %b.{one}, label %b.{other}")
        };
    }
    Ok(format!(
        "define void @f(ptr %to, i64 %first) {{
        entry: br label %loop
        loop: %k = phi i64 [ 0, %entry ], [ %next, %b.{end} ]
          %acc = phi i64 [ %first, %entry ], [ %x.{end}, %b.{end} ]
          {text}
          store volatile i64 %x.{end}, ptr %to
          %next = add i64 %k, 1
          %go = icmp ult i64 %next, 5
          br i1 %go, label %loop, label %out
        out: ret void
        }}",
        end = count + 1
    ))
}

#[test]
fn choices_in_steps_are_the_same_at_once() {
    do_the_same(
        steps,
        |context, module, machine| choose(context, module, machine).unwrap(),
        |before, after| after.matches("br i1").count() + 1 < before.matches("br i1").count(),
    );
}
