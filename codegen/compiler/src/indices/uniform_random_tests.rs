//! Loops that share an array among the threads of a block, evenly or not.

use arbtest::arbitrary::{Result, Unstructured};

use super::count_uniform;
use crate::loops::SimpleForm;
use crate::loops::random_tests::do_the_same;

/// A loop by a constant from a number below a constant, up to about a constant.
fn shares(u: &mut Unstructured<'_>) -> Result<String> {
    let (bits, given) = *u.choose(&[(32, "trunc i64 %first to i32"), (64, "add i64 %first, 0")])?;
    let threads = *u.choose(&[4, 8, 16])?;
    let step = if u.ratio(1, 5)? { threads - 1 } else { threads };
    let elements = threads * u.int_in_range(1..=4)? + *u.choose(&[0, 0, 0, 1, -1])?;
    // As much less as what is compared is ahead.
    let (compared, ahead) = *u.choose(&[("%next", step), ("%i", 0), ("%ahead", 1)])?;
    let end = if compared == "%next" { elements } else { elements - step + ahead };
    let bound = if u.ratio(1, 4)? { "%about".into() } else { end.to_string() };
    let goes = *u.choose(&["ult", "ult", "ule", "ugt", "slt"])?;
    let (goes, targets) = if goes == "ugt" { ("uge", "%out, label %loop") } else { (goes, "%loop, label %out") };
    let leaves = *u.choose(&["false", "%is"])?;
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %given = {given}
          %own = and i{bits} %given, {}
          %bit = and i{bits} %given, 1
          %about = add i{bits} %bit, {}
          br label %loop
        loop: %i = phi i{bits} [ %own, %entry ], [ %next, %latch ]
          %low = trunc i{bits} %i to i8
          store volatile i8 %low, ptr %to
          %is = icmp eq i{bits} %i, 5
          br i1 {leaves}, label %early, label %latch
        latch: %next = add i{bits} %i, {step}
          %ahead = add i{bits} %i, 1
          %goes = icmp {goes} i{bits} {compared}, {bound}
          br i1 %goes, label {targets}
        early: store volatile i32 %short, ptr %to
          ret void
        out: %last = trunc i{bits} %next to i8
          store volatile i8 %last, ptr %to
          ret void
        }}",
        threads - 1,
        end.max(1),
    ))
}

#[test]
fn shares_that_are_alike_are_as_many_rounds() {
    do_the_same(
        shares,
        |context, module, machine| count_uniform(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.matches("phi i32").count() > before.matches("phi i32").count(),
    );
}
