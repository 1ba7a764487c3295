//! Loops whose rounds exchange what the next one works with.

use arbtest::arbitrary::{Result, Unstructured};

use super::super::{SimpleForm, alternate};
use super::do_the_same;

/// A loop with two addresses, or two numbers, that change places, or one number that tells one of two.
fn swaps(u: &mut Unstructured<'_>) -> Result<String> {
    let phis = *u.choose(&[
        "%a = phi i64 [ %wide, %entry ], [ %b, %latch ]
          %b = phi i64 [ %more, %entry ], [ %a, %latch ]",
        "%a = phi i64 [ 0, %entry ], [ %b, %latch ]
          %b = xor i64 %a, 1",
        "%a = phi i64 [ %wide, %entry ], [ %b, %latch ]
          %b = sub i64 1, %a",
    ])?;
    let (first, rounds) = (*u.choose(&["0", "3", "%low.first"])?, u.int_in_range(1..=7)?);
    let end = if first == "%low.first" || u.arbitrary()? { "%last".into() } else { (3 + rounds).to_string() };
    let goes = *u.choose(&["icmp ne i64 %next", "icmp ult i64 %next"])?;
    let leaves = *u.choose(&["false", "%is"])?;
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %low.first = and i64 %first, 7
          %few = and i64 %end, 15
          %above = add i64 %few, 1
          %last = add i64 %above, {first}
          br label %loop
        loop: %k = phi i64 [ {first}, %entry ], [ %next, %latch ]
          %sum = phi i32 [ %short, %entry ], [ %new, %latch ]
          {phis}
          %low = trunc i64 %a to i32
          store volatile i32 %low, ptr %to
          %new = add i32 %sum, %low
          %is = trunc i64 %b to i1
          br i1 {leaves}, label %early, label %latch
        latch: %next = add i64 %k, 1
          %goes = {goes}, {end}
          br i1 %goes, label %loop, label %out
        early: store volatile i32 %sum, ptr %to
          br label %spin
        out: %high = trunc i64 %b to i32
          store volatile i32 %high, ptr %to
          store volatile i32 %new, ptr %to
          br label %spin
        spin: store volatile i32 7, ptr %to
          br label %spin
        }}"
    ))
}

#[test]
fn two_rounds_in_a_row_are_those_one_by_one() {
    do_the_same(
        swaps,
        |context, module, machine| alternate(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.matches("store").count() > before.matches("store").count(),
    );
}
