//! Loops some of whose rounds do more.

use arbtest::arbitrary::{Result, Unstructured};

use super::{batch, do_the_same, loads_more};

/// A loop that looks up what it loads, of which some rounds do more, perhaps behind a check of their own.
fn arms(u: &mut Unstructured<'_>) -> Result<String> {
    let mask = *u.choose(&[1, 3, 15, 63])?;
    let from = *u.choose(&["%from", "%to"])?;
    let is_clear = *u.choose(&["icmp eq i32 %bits, 0", "icmp ne i32 %bits, 1", "icmp ult i32 %low, 2"])?;
    let ways = *u.choose(&["label %arm, label %join", "label %join, label %arm"])?;
    let (arm, check) = if u.arbitrary()? {
        let len = *u.choose(&["%wide", "%more", "%first"])?;
        let check = format!(
            "%fits = icmp ult i64 %i, {len}
          br i1 %fits, label %work, label %panic
        work:"
        );
        ("%work", check)
    } else {
        ("%arm", String::new())
    };
    let work = match u.int_in_range(0..=2)? {
        0 => "store i32 %v, ptr %t\n %a = add i32 %sum, 1",
        1 => "%y = load i32, ptr %t\n %a = add i32 %sum, %y",
        _ => "%y = load i32, ptr %t\n store i32 %sum, ptr %t\n %a = mul i32 %x, %y",
    };
    let passed = *u.choose(&["%sum", "%x", "7"])?;
    let behind = *u.choose(&["", "store i32 %joined, ptr %to\n"])?;
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        define void @f(ptr %to, ptr noalias readonly %from, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %row = getelementptr i32, ptr %from, i64 %first
          br label %loop
        loop: %k = phi i64 [ 0, %entry ], [ %k.next, %join ]
          %sum = phi i32 [ %short, %entry ], [ %sum.next, %join ]
          %p = getelementptr i32, ptr %row, i64 %k
          %v = load i32, ptr %p
          %low = and i32 %v, {mask}
          %i = zext nneg i32 %low to i64
          %ok = icmp ult i64 %i, %more
          br i1 %ok, label %inside, label %panic
        inside: %q = getelementptr i32, ptr {from}, i64 %i
          %x = load i32, ptr %q
          %bits = and i32 %x, 3
          %is.clear = {is_clear}
          br i1 %is.clear, {ways}
        arm: {check}
          %t = getelementptr i32, ptr %to, i64 %i
          {work}
          br label %join
        join: %joined = phi i32 [ %a, {arm} ], [ {passed}, %inside ]
          {behind}
          %sum.next = xor i32 %joined, %v
          %k.next = add i64 %k, 1
          %go = icmp ult i64 %k.next, %end
          br i1 %go, label %loop, label %out
        out: store volatile i32 %sum.next, ptr %to
          store volatile i32 %joined, ptr %to
          br label %spin
        spin: store volatile i32 7, ptr %to
          br label %spin
        panic: call void @__rust_ptx_panic_with_1(i64 %k)
          unreachable
        }}"
    ))
}

// What is loaded early is loaded again where an arm's check fails that is not reached, so that the function has no end at
// which loads are compared.
#[test]
fn rounds_with_branches_at_once_are_those_one_by_one() {
    do_the_same(arms, batch, loads_more);
}
