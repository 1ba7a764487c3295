//! Random loops of which the first rounds are written out before them.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::{SimpleForm, take_in};

/// A sum over every so many elements, with its first two elements before the loop, or something like them.
fn rounds(u: &mut Unstructured<'_>) -> Result<String> {
    let step = *u.choose(&["8", "12", "8", "16"])?;
    let more = |u: &mut Unstructured<'_>, of: i64| Ok(if u.ratio(1, 12)? { of + 4 } else { of });
    let begin = *u.choose(&["%from", "%inside", "%phi"])?;
    let by: i64 = step.parse().unwrap();
    let (one, two) = (more(u, 4)?, more(u, by + 4)?);
    let bound = |u: &mut Unstructured<'_>| Ok(*u.choose(&[by, by, by - 3, by - 3, by - 2, by + 1, by - 4])?);
    let (bound_one, bound_two, bound_loop) = (bound(u)?, bound(u)?, bound(u)?);
    let is_lagging = u.arbitrary()?;
    // What a round adds up, of what it has loaded.
    let operation = *u.choose(&["add", "xor", "sub"])?;
    let adds = |u: &mut Unstructured<'_>, sum: &str, x: &str, at: usize| {
        let (sum, x) = if operation != "sub" && u.ratio(1, 3)? { (x, sum) } else { (sum, x) };
        let operation = if u.ratio(1, 14)? { "mul" } else { operation };
        Ok(format!("%s.{at} = {operation} i32 {sum}, {x}"))
    };
    let (first, second, third) =
        (adds(u, "%short", "%x.0", 0)?, adds(u, "%s.0", "%x.1", 1)?, adds(u, "%sum", "%x.2", 2)?);
    // LLVM adds the first number to nothing.
    let is_bare = operation != "sub" && u.ratio(1, 4)?;
    let first = if is_bare { String::new() } else { first };
    let counts = u.arbitrary()?;
    let mut blocks = String::new();
    let (count, out) = if counts {
        (
            ["%c.0 = add i64 %wide, 1", "%c.1 = add i64 %wide, 2", "%c.2 = add i64 %c, 1"],
            *u.choose(&["%c.0 %c.1 %c.2", "%c.0 %c.1 %c.2", "%wide %c.0 %c", "%c.0 %c.0 %c.2"])?,
        )
    } else {
        (["", "", ""], "7 7 7")
    };
    let out: Vec<_> = out.split(' ').collect();
    let sums = *u.choose(&["%s.0 %s.1 %s.2", "%s.0 %s.1 %s.2", "%short %s.0 %sum", "%s.0 %s.1 %sum"])?;
    let sums: Vec<_> = sums.split(' ').collect();
    let phi_of_count = if counts { "%c = phi i64 [ %c.1, %second ], [ %c.2, %loop ]" } else { "" };
    let lag = if is_lagging { "%lag = phi ptr [ %q.0, %second ], [ %q, %loop ]" } else { "" };
    let at = if is_lagging { ("%lag", 2 * by - 4) } else { ("%q", by - 4) };
    let read = more(u, at.1)?;
    _ = write!(
        blocks,
        "round: %x.0 = load i32, ptr {begin}
          {first}
          {}
          %q.0 = getelementptr i8, ptr {begin}, i64 {one}
          %i.0 = ptrtoint ptr %q.0 to i64
          %left.0 = sub i64 %end.i, %i.0
          %is.0 = icmp ult i64 %left.0, {bound_one}
          br i1 %is.0, label %out, label %second
        second: %p.1 = getelementptr i8, ptr {begin}, i64 {by}
          %x.1 = load i32, ptr %p.1
          {second}
          {}
          %q.1 = getelementptr i8, ptr {begin}, i64 {two}
          %i.1 = ptrtoint ptr %q.1 to i64
          %left.1 = sub i64 %end.i, %i.1
          %is.1 = icmp ult i64 %left.1, {bound_two}
          br i1 %is.1, label %out, label %loop
        loop: %q = phi ptr [ %q.1, %second ], [ %q.2, %loop ]
          %sum = phi i32 [ %s.1, %second ], [ %s.2, %loop ]
          {phi_of_count}
          {lag}
          %p.2 = getelementptr i8, ptr {}, i64 {read}
          %x.2 = load i32, ptr %p.2
          {third}
          {}
          %q.2 = getelementptr i8, ptr %q, i64 {by}
          %i.2 = ptrtoint ptr %q.2 to i64
          %left.2 = sub i64 %end.i, %i.2
          %is.2 = icmp ult i64 %left.2, {bound_loop}
          br i1 %is.2, label %out, label %loop",
        count[0], count[1], at.0, count[2]
    );
    let phi =
        |values: &[&str]| format!("[ {}, %round ], [ {}, %second ], [ {}, %loop ]", values[0], values[1], values[2]);
    let text = format!(
        "define void @f(ptr %to, ptr %from, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %low = and i64 %more, 31
          %inside = getelementptr i32, ptr %from, i64 %low
          %length = and i64 %end, 63
          %bytes = shl i64 %length, 2
          %behind = getelementptr i8, ptr %inside, i64 %bytes
          %end.i = ptrtoint ptr %behind to i64
          %is = icmp ult i64 %first, 5
          br i1 %is, label %near, label %far
        near: br label %begin
        far: br label %begin
        begin: %phi = phi ptr [ %inside, %near ], [ %from, %far ]
          br label %round
        {blocks}
        out: %all = phi i32 {}
          %counted = phi i64 {}
          store volatile i32 %all, ptr %to
          store volatile i64 %counted, ptr %to
          ret void
        }}",
        phi(&sums),
        phi(&out)
    );
    Ok(if is_bare { text.replace("%s.0", "%x.0") } else { text })
}

#[test]
fn rounds_taken_into_a_loop_do_the_same() {
    do_the_same(
        rounds,
        |context, module, machine| take_in(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.matches("load").count() < before.matches("load").count(),
    );
}
