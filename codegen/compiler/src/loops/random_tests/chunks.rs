//! Random loops over the chunks of a slice.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::{SimpleForm, chunk};

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
    let next = *u.choose(&["sub i64 %rest, %here", "call i64 @llvm.usub.sat.i64(i64 %rest, i64 %more)"])?;
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
          %here = call i64 @llvm.umin.i64(i64 %more, i64 %rest)
          %times = mul i64 %b, 31
          %new = xor i64 %times, %here
          %is.short = icmp ult i64 %here, %first
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
