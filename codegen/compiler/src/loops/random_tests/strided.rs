//! Random loops by a constant step.

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::count_simply;

/// A loop by a step, which begins anywhere and goes on up to a bound.
fn by_steps(u: &mut Unstructured<'_>) -> Result<String> {
    let (first, bound) = (u.choose(&["%low", "%narrow"])?, u.choose(&["%high", "%narrow", "%low", "40"])?);
    let step = 1 << u.int_in_range(1..=8)?;
    let (asks, then, other) = *u.choose(&[
        ("ult i64 %next, {bound}", "loop", "out"),
        ("uge i64 %next, {bound}", "out", "loop"),
        ("ugt i64 {bound}, %next", "loop", "out"),
        ("ule i64 {bound}, %next", "out", "loop"),
    ])?;
    let asks = asks.replace("{bound}", bound);
    Ok(format!(
        "declare i64 @llvm.usub.sat.i64(i64, i64)
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %low = lshr i64 %first, 1
          %high = lshr i64 %end, 1
          %narrow = zext i32 %short to i64
          br label %loop
        loop: %i = phi i64 [ {first}, %entry ], [ %next, %loop ]
          store volatile i64 %i, ptr %to
          %next = add nuw i64 %i, {step}
          %goes = icmp {asks}
          br i1 %goes, label %{then}, label %{other}
        out: store volatile i64 %next, ptr %to
          ret void
        }}"
    ))
}

#[test]
fn steps_that_are_counted_are_as_many() {
    do_the_same(
        by_steps,
        |context, module, _| count_simply(context, module).unwrap(),
        |_, after| after.contains("call i64 @llvm.usub.sat.i64"),
    );
}
