//! Searches that count their rounds and what they find.

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::conditions;
use crate::loops::{SimpleForm, shorten};

/// A loop of at most so many rounds that may end by what it loads, and counts for which rounds a condition holds.
fn searches(u: &mut Unstructured<'_>) -> Result<String> {
    let rounds = *u.choose(&["5", "300", "%few", "%base", "%wide"])?;
    let (first, step, end) = if u.arbitrary()? { (rounds, "-1", "0") } else { ("0", "1", rounds) };
    let is_end = *u.choose(&["ne", "ne", "eq"])?;
    let (found, limit) = (*u.choose(&["ult", "uge"])?, u.int_in_range(1..=250)?);
    let joined = *u.choose(&[
        "and i1 %more, %found",
        "select i1 %found, i1 %more, i1 false",
        "or i1 %more, %found",
        "select i1 %more, i1 true, i1 %found",
        "xor i1 %more, %found",
        "and i1 %more, %more",
        "xor i1 %more, false",
    ])?;
    let targets = *u.choose(&["%loop, label %out", "%out, label %loop"])?;
    let added = *u.choose(&["zext i1 %found", "sext i1 %found", "zext i1 %more", "zext i1 %small"])?;
    let adds =
        *u.choose(&["add i64 %count, %one", "add i64 %one, %count", "sub i64 %count, %one", "sub i64 %one, %count"])?;
    let seen = *u.choose(&["", "", "store volatile i64 %count.next, ptr %to", "store volatile i64 %k, ptr %to"])?;
    Ok(format!(
        "define void @f(ptr %from, ptr %to, i32 %short, i64 %wide, i64 %more.of, i64 %first, i64 %end) {{
        entry: %base = zext i32 %short to i64
          %few = and i64 %end, 15
          %none = icmp eq i64 {rounds}, 0
          br i1 %none, label %nothing, label %before
        before: br label %loop
        loop: %k = phi i64 [ {first}, %before ], [ %next, %loop ]
          %count = phi i64 [ %first, %before ], [ %count.next, %loop ]
          %at = phi ptr [ %from, %before ], [ %behind, %loop ]
          %b = load i8, ptr %at
          %behind = getelementptr i8, ptr %at, i64 1
          %found = icmp {found} i8 %b, {limit}
          %small = icmp ult i8 %b, 9
          %next = add i64 %k, {step}
          %more = icmp {is_end} i64 %next, {end}
          %one = {added} to i64
          %count.next = {adds}
          {seen}
          %goes = {joined}
          br i1 %goes, label {targets}
        out: store volatile i64 %count.next, ptr %to
          ret void
        nothing: ret void
        }}"
    ))
}

#[test]
fn a_search_counts_the_same_without_asking() {
    do_the_same(searches, |context, module, _| conditions::decide(context, module), |old, new| old != new);
}

#[test]
fn a_search_ends_after_as_many_rounds_by_a_short_counter() {
    do_the_same(
        searches,
        |context, module, machine| shorten(context, module, &SimpleForm::of(machine)).unwrap(),
        |old, new| !old.contains("phi i32") && new.contains("phi i32"),
    );
}
