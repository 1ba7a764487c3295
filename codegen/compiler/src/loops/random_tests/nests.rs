//! Random loops within a loop, whose checks are asked before both.

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::{SimpleForm, split};

/// Where a row begins, of `%y`.
const ROWS: [&str; 6] = [
    "%row = mul i64 %y, %wide",
    "%row.0 = mul i64 %y, %more\n %row = add i64 %row.0, %wide",
    "%row.0 = sub i64 %end, %y\n %row = mul i64 %row.0, %more",
    "%row.0 = call i64 @llvm.umin.i64(i64 %y, i64 %more)\n %row = mul i64 %row.0, %wide",
    "%row.0 = trunc i64 %y to i32\n %row.1 = mul i32 %row.0, %short\n %row = sext i32 %row.1 to i64",
    "%row = add i64 %y, %y",
];

/// How many rounds a row has.
const LENGTHS: [&str; 4] = ["%more", "%narrow", "%y", "5"];

/// A loop of rows, each of which checks where it is.
fn rows(u: &mut Unstructured<'_>) -> Result<String> {
    let row = u.choose(&ROWS)?;
    let length = u.choose(&LENGTHS)?;
    let index = u.choose(&["add i64 %row, %k", "add i64 %k.away, %row", "add i64 %row, 3"])?;
    let (first, step) = (u.choose(&["0", "%first"])?, u.choose(&["1", "1", "-1"])?);
    let go = u.choose(&["icmp ult i64 %y.next, %end", "icmp ne i64 %y.next, %end", "icmp ne i64 %y, %end"])?;
    let inner_go = if u.arbitrary()? { "icmp ult i64 %k.next, %length" } else { "icmp ne i64 %k.next, %length" };
    let skips = if u.arbitrary()? { "br i1 %any, label %inner, label %rest" } else { "br label %inner" };
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        declare i64 @llvm.umin.i64(i64, i64)
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %narrow = zext i32 %short to i64
          %any = icmp ne i64 %more, 0
          br label %outer
        outer: %y = phi i64 [ {first}, %entry ], [ %y.next, %rest ]
          {row}
          %length = add i64 {length}, 0
          {skips}
        inner: %k = phi i64 [ 0, %outer ], [ %k.next, %inside ]
          %k.away = add i64 %k, %more
          %index = {index}
          %is = icmp ult i64 %index, 60
          br i1 %is, label %inside, label %panic
        inside: %low = trunc i64 %index to i32
          store volatile i32 %low, ptr %to
          %k.next = add i64 %k, 1
          %inner.go = {inner_go}
          br i1 %inner.go, label %inner, label %rest
        rest: %y.low = trunc i64 %y to i32
          store volatile i32 %y.low, ptr %to
          %y.next = add i64 %y, {step}
          %go = {go}
          br i1 %go, label %outer, label %out
        out: ret void
        panic: call void @__rust_ptx_panic_with_1(i64 %index)
          unreachable
        }}"
    ))
}

#[test]
fn rows_are_checked_before_all_as_one_by_one() {
    // Each kind of store stands in the slow and the fast row, and again in the copy of the nest.
    do_the_same(
        rows,
        |context, module, machine| split(context, module, &SimpleForm::of(machine)).unwrap(),
        |_, after| after.matches("store").count() >= 4,
    );
}
