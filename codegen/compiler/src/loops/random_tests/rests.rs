//! Random loops of several rounds at a time, and what is left of them.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::{catch_up, follow, walk};

/// The stores of a round, at an index.
fn stores(u: &mut Unstructured<'_>, name: &str, index: &str, next: &str, all: &[(u32, i64)]) -> Result<String> {
    let mut text = String::new();
    for (at, (form, more)) in all.iter().enumerate() {
        let this = format!("{name}.{at}");
        let number = if u.ratio(1, 4)? { next } else { index };
        let number = if *form == 3 { index } else { number };
        _ = match form {
            0 => writeln!(text, "%a.{this} = add i64 {number}, {more}"),
            1 => writeln!(text, "%a.{this} = mul i64 {number}, %step"),
            2 => writeln!(text, "%m.{this} = mul i64 {number}, %step\n %a.{this} = add i64 %m.{this}, %more"),
            _ => writeln!(text, "%a.{this} = mul i64 {number}, {number}"),
        };
        let base = if *more > 1 { "%base" } else { "%to" };
        _ = writeln!(
            text,
            "%p.{this} = getelementptr i32, ptr {base}, i64 %a.{this}
            store volatile i32 {at}, ptr %p.{this}"
        );
        if *more == 1 {
            _ = writeln!(
                text,
                "%q.{this} = getelementptr i32, ptr %p.{this}, i64 %first
                store volatile i32 {at}, ptr %q.{this}"
            );
        }
    }
    Ok(text)
}

/// Two, or four, rounds at a time, and the rest.
fn rests(u: &mut Unstructured<'_>) -> Result<String> {
    let rounds = *u.choose(&[2_i64, 4])?;
    let count = u.int_in_range(1..=3_u32)?;
    let all = (0..count)
        .map(|_| Ok((if u.ratio(1, 9)? { 3 } else { u.int_in_range(0..=2)? }, u.int_in_range(0..=2)?)))
        .collect::<Result<Vec<(u32, i64)>>>()?;
    let step = *u.choose(&["zext i32 %short to i64", "add i64 %wide, 0"])?;
    let mut body = String::new();
    for round in 0..rounds {
        let (now, next) = (format!("%k.{round}"), format!("%k.{}", round + 1));
        _ = writeln!(body, "%k.{} = add i64 %k.0, {}", round + 1, round + 1);
        body += &stores(u, &format!("k{round}"), &now, &next, &all)?;
    }
    // The rest's counter is the number, or what it remembers of the next one.
    let lags = u.arbitrary()?;
    let counter = if lags {
        "%i = phi i64 [ %first.i, %before ], [ %next, %again ]
        %next = phi i64 [ %second.i, %before ], [ %after, %again ]"
    } else {
        "%i = phi i64 [ %first.i, %before ], [ %next, %again ]
        %next = add i64 %i, 1"
    };
    let after = if lags { "%after = add i64 %next, 1" } else { "" };
    let rest = stores(u, "i", "%i", "%next", &all)?;
    let (compare, targets) = *u.choose(&[("eq", "%end.1, label %loop"), ("ne", "%loop, label %end.1")])?;
    let sides = if u.arbitrary()? { format!("%k.{rounds}, %whole") } else { format!("%whole, %k.{rounds}") };
    // Where the rest begins in any case, and what is one more than that.
    let (zero, one) = *u.choose(&[("0", "1"), ("%wide", "%wide.1")])?;
    let base = *u.choose(&["%to, i64 3", "%to, i64 %more"])?;
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %step = {step}
          %wide.1 = add i64 %wide, 1
          %base = getelementptr i32, ptr {base}
          %left = and i64 %end, {}
          %whole = and i64 %end, {}
          %few = icmp eq i64 %whole, 0
          br i1 %few, label %few.1, label %loop
        few.1: br label %before
        loop: %k.0 = phi i64 [ 0, %entry ], [ %k.{rounds}, %loop ]
          {body}
          %done = icmp {compare} i64 {sides}
          br i1 %done, label {targets}
        end.1: %whole.1 = or disjoint i64 %whole, 1
          %none = icmp eq i64 %left, 0
          br i1 %none, label %out, label %before
        before: %first.i = phi i64 [ {zero}, %few.1 ], [ %whole, %end.1 ]
          %second.i = phi i64 [ {one}, %few.1 ], [ %whole.1, %end.1 ]
          br label %again
        again: %n = phi i64 [ 0, %before ], [ %n.1, %again ]
          {counter}
          {rest}
          {after}
          %n.1 = add i64 %n, 1
          %goes = icmp ult i64 %n.1, %left
          br i1 %goes, label %again, label %out
        out: ret void
        }}",
        rounds - 1,
        -rounds,
    ))
}

#[test]
fn the_rest_is_the_same_from_where_the_loop_stands() {
    do_the_same(
        rests,
        |context, module, machine| {
            catch_up(context, module).unwrap();
            follow(context, module, machine).unwrap();
            walk(context, module, machine).unwrap();
        },
        |before, after| before != after && after.contains("phi ptr"),
    );
}
