//! Searches that end in several ways, and places of floats in an order.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::ordered::place_text;
use crate::loops::{order, reunite};

/// A search from an element on, with what is found first, and at last, and where it goes on at its end.
fn search_from(begin: &str, first: u32, last: u32, end: &str) -> String {
    format!(
        "loop: %k = phi i64 {begin}, [ %next, %more ]
          %p = getelementptr i8, ptr %from, i64 %k
          %b = load i8, ptr %p
          %x = zext i8 %b to i64
          %is = icmp ult i64 %x, {first}
          br i1 %is, label %way.0, label %goes
        goes: %is.more = icmp ugt i64 %x, {last}
          br i1 %is.more, label %way.1, label %more
        more: %next = add i64 %k, 1
          %go = icmp ult i64 %next, %wide
          br i1 %go, label %loop, label %{end}"
    )
}

/// A loop that is left by three ways, or by two, one of them from two blocks, and what is done on each.
fn search(u: &mut Unstructured<'_>) -> Result<String> {
    let values = ["%k", "%x", "%next", "7"];
    let three = u.arbitrary()?;
    let mut work = [String::new(), String::new(), String::new()];
    for (way, text) in work.iter_mut().enumerate() {
        // Also a loop.
        if u.ratio(1, 4)? {
            _ = writeln!(
                text,
                "br label %inner.{way}
                inner.{way}: %i.{way} = phi i64 [ 0, %way.{way} ], [ %i.next.{way}, %inner.{way} ]
                  store volatile i64 %i.{way}, ptr %to
                  %i.next.{way} = add i64 %i.{way}, 1
                  %i.go.{way} = icmp ult i64 %i.next.{way}, 3
                  br i1 %i.go.{way}, label %inner.{way}, label %end"
            );
            continue;
        }
        for at in 0..u.int_in_range(0..=6)? {
            _ = writeln!(text, "%s.{way}.{at} = add i64 %found.{way}, {at} store volatile i64 %s.{way}.{at}, ptr %to");
        }
        let fall = way == 0 && u.ratio(1, 3)?;
        _ = writeln!(text, "br label %{}", if fall { "fall" } else { "end" });
    }
    let work = work.map(|text| text.replace(" store", "\n store"));
    let mut value = || Ok(*u.choose(&values)?);
    let found = [value()?, value()?, value()?];
    let (last, of_last) = if three { ("way.2", "") } else { ("way.1", ", [ %next, %more ]") };
    let two =
        if three { format!("way.2: %found.2 = phi i64 [ {}, %more ]\n{}", found[2], work[2]) } else { String::new() };
    let first = if found[0] == "%next" { "%k" } else { found[0] };
    let second = if found[1] == "%next" { "%x" } else { found[1] };
    let looks = search_from("[ %first, %entry ]", 9, u.int_in_range(1..=200)?, last);
    Ok(format!(
        "define void @f(ptr %from, ptr %to, i32 %short, i64 %wide, i64 %more.of, i64 %first, i64 %end.of) {{
        entry: br label %loop
        {looks}
        way.0: %found.0 = phi i64 [ {first}, %loop ]
          {}
        way.1: %found.1 = phi i64 [ {second}, %goes ]{of_last}
          {}
        {two}
        fall: store volatile i64 -1, ptr %to
          br label %end
        end: ret void
        }}",
        work[0], work[1]
    ))
}

/// Searches in a loop that goes on after some of their ends, and is left after others.
fn searches(u: &mut Unstructured<'_>) -> Result<String> {
    let (mut ways, mut values) = (String::new(), Vec::new());
    // Both at least once.
    let third = *u.choose(&["again", "out"])?;
    let mut ends = vec!["again", "out", third];
    ends.rotate_left(u.int_in_range(0..=2)?);
    for (way, to) in ends.into_iter().enumerate() {
        // It is stored on the way, and once more behind the loops.
        let value = *u.choose(&["%k", "%x", "%round"])?;
        let count = u.int_in_range(0..=6)?;
        let stores: String = (0..count)
            .map(|at| format!("%s.{way}.{at} = add i64 {value}, {at}\n store volatile i64 %s.{way}.{at}, ptr %to\n"))
            .collect();
        _ = writeln!(ways, "way.{way}: {stores} br label %{to}");
        values.push((way, to, value));
    }
    let phi = |name: &str, wanted: &str| {
        let told: Vec<_> = values
            .iter()
            .filter(|(_, to, _)| *to == wanted)
            .map(|(way, _, value)| format!("[ {value}, %way.{way} ]"))
            .collect();
        format!("%{name} = phi i64 {}", told.join(", "))
    };
    let looks = search_from("[ %begin, %outer ]", 40, u.int_in_range(1..=200)?, "way.2");
    Ok(format!(
        "define void @f(ptr %from, ptr %to, i32 %short, i64 %wide, i64 %more.of, i64 %first, i64 %end) {{
        entry: br label %outer
        outer: %round = phi i64 [ 0, %entry ], [ %round.next, %again ]
          %begin = phi i64 [ %first, %entry ], [ %last, %again ]
          br label %loop
        {looks}
        {ways}
        again: {}
          %round.next = add i64 %round, 1
          %round.go = icmp ult i64 %round.next, 5
          br i1 %round.go, label %outer, label %end.of
        out: {}
          store volatile i64 %left, ptr %to
          br label %end.of
        end.of: ret void
        }}",
        phi("last", "again"),
        phi("left", "out"),
    ))
}

#[test]
fn threads_that_meet_in_a_loop_do_the_same() {
    do_the_same(
        searches,
        |context, module, machine| reunite(context, module, machine).unwrap(),
        |_, after| after.contains("phi i1"),
    );
}

#[test]
fn threads_that_meet_do_the_same() {
    do_the_same(
        search,
        |context, module, machine| reunite(context, module, machine).unwrap(),
        |_, after| after.contains("phi i1"),
    );
}

/// The least or largest of some floats, some at a time.
fn least(u: &mut Unstructured<'_>) -> Result<String> {
    let count = u.int_in_range(1..=3)?;
    let mut body = String::new();
    let mut best = "%best".to_string();
    for at in 0..count {
        let is = u.choose(&["sgt", "slt", "sle"])?;
        let sides = [format!("float %x{at}"), format!("float {best}")];
        let order = if u.arbitrary()? { [0, 1] } else { [1, 0] };
        _ = writeln!(
            body,
            "%i{at} = add i64 %k, {at}
            %p{at} = getelementptr float, ptr %from, i64 %i{at}
            %x{at} = load float, ptr %p{at}
            {}{}%is{at} = icmp {is} i32 %old{at}, %new{at}
            %best{at} = select i1 %is{at}, {}, {}
            store volatile i32 %new{at}, ptr %to",
            place_text(&format!("old{at}"), &best),
            place_text(&format!("new{at}"), &format!("%x{at}")),
            sides[order[0]],
            sides[order[1]],
        );
        best = format!("%best{at}");
    }
    let asked = if u.arbitrary()? { format!("store volatile float {best}, ptr %to") } else { String::new() };
    Ok(format!(
        "define void @f(ptr %from, ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %begin = load float, ptr %from
          br label %loop
        loop: %best = phi float [ %begin, %entry ], [ {best}, %loop ]
          %k = phi i64 [ 0, %entry ], [ %next, %loop ]
          {body}
          %next = add i64 %k, {count}
          %go = icmp ult i64 %next, %wide
          br i1 %go, label %loop, label %out
        out: {asked}
          %last = bitcast float {best} to i32
          store volatile i32 %last, ptr %to
          ret void
        }}"
    ))
}

#[test]
fn the_least_is_the_same_by_a_place_that_is_carried() {
    do_the_same(
        least,
        |context, module, machine| order(context, module, machine).unwrap(),
        |before, after| before != after,
    );
}
