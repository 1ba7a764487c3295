//! Loops two of whose blocks ask whether there is another round.

use arbtest::arbitrary::{Result, Unstructured};

use super::super::ask_once;
use super::do_the_same;

/// A loop that goes one of two ways in each round, both of which ask alike and leave it for blocks of their own.
fn twice(u: &mut Unstructured<'_>) -> Result<String> {
    let asked = *u.choose(&["icmp ult i64 %next, %end", "icmp ne i64 %next, %low", "icmp slt i64 %next, %low"])?;
    let is = *u.choose(&["icmp ult i32 %seen, %short", "trunc i32 %seen to i1", "trunc i64 %k to i1"])?;
    let (one, other) = (u.int_in_range(0..=9)?, u.int_in_range(0..=9)?);
    // What a way has computed is known behind it, by a phi or without.
    let told = *u.choose(&["%x", "%y", "%seen", "%state", "7"])?;
    let x = if told == "%y" { "%seen" } else { told };
    let y = if told == "%x" { "%seen" } else { told };
    let directly = *u.choose(&["", "", "store volatile i32 %x, ptr %to"])?;
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %low = and i64 %end, 31
          br label %loop
        loop: %k = phi i64 [ %first, %entry ], [ %next, %one ], [ %next, %other ]
          %state = phi i32 [ %short, %entry ], [ %x, %one ], [ {other}, %other ]
          %round = trunc i64 %k to i32
          %seen = add i32 %state, %round
          %next = add i64 %k, 1
          %is = {is}
          br i1 %is, label %one, label %other
        one: %x = add i32 %seen, {one}
          store volatile i32 %x, ptr %to
          %is.one = {asked}
          br i1 %is.one, label %loop, label %one.out
        other: %y = mul i32 %state, 3
          store volatile i32 {other}, ptr %to
          %is.other = {asked}
          br i1 %is.other, label %loop, label %other.out
        one.out: %a = phi i32 [ {x}, %one ]
          store volatile i32 %a, ptr %to
          {directly}
          br label %spin
        other.out: %b = phi i32 [ {y}, %other ]
          %c = mul i32 %b, 5
          store volatile i32 %c, ptr %to
          br label %spin
        spin: store volatile i32 7, ptr %to
          br label %spin
        }}"
    ))
}

#[test]
fn loops_that_ask_once_end_as_those_that_ask_twice() {
    do_the_same(
        twice,
        |context, module, machine| ask_once(context, module, machine).unwrap(),
        |_, after| after.contains("poison"),
    );
}
