//! Random loops with several ends.

use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::end_once;

/// A loop that asks up to three counts one after the other, of which some are no counts or are looked at later, too; the first
/// of them may be asked at the end of a round, of the next one.
fn counts(u: &mut Unstructured<'_>) -> Result<String> {
    let (mut phis, mut asks, mut next) = (String::new(), String::new(), String::new());
    let number = ["%wide", "%more", "%first", "%end", "0", "5", "%base"];
    let count = u.int_in_range(2..=3_u32)?;
    for at in 0..count {
        let (begin, bound) = (*u.choose(&number)?, *u.choose(&number)?);
        let (phi, condition, more) = match u.int_in_range(0..=3)? {
            0 => ("i64", format!("icmp ne i64 %c.{at}, {bound}"), format!("add i64 %c.{at}, -1")),
            1 => ("i64", format!("icmp ult i64 %c.{at}, {bound}"), format!("add i64 %c.{at}, 1")),
            2 => {
                let way = format!("%way.{at} = select i1 %goes.{at}, i64 4, i64 0\n");
                let next = format!("getelementptr i8, ptr %c.{at}, i64 %way.{at}");
                ("ptr", format!("icmp ne ptr %c.{at}, %behind\n {way}"), next)
            }
            // Not by 1, or of what a round changes.
            _ => ("i64", format!("icmp ult i64 %c.{at}, {bound}"), format!("add i64 %c.{at}, 2")),
        };
        let begin = if phi == "ptr" { "%to" } else { begin };
        _ = writeln!(phis, "%c.{at} = phi {phi} [ {begin}, %entry ], [ %n.{at}, %inside ]");
        let to = if at + 1 == count { "inside".to_string() } else { format!("ask.{}", at + 1) };
        _ = writeln!(asks, "%goes.{at} = {condition}\n %n.{at} = {more}\n br i1 %goes.{at}, label %{to}, label %out");
        if at + 1 < count {
            _ = writeln!(asks, "{to}:");
        }
    }
    let (mut turns, mut leaves) = ("br label %loop".to_string(), "");
    if u.ratio(1, 2)? {
        let (begin, bound) = (*u.choose(&number)?, *u.choose(&number)?);
        let (asked, more) = match u.int_in_range(0..=3)? {
            0 => (format!("icmp ne i64 %n.last, {bound}"), "-1"),
            1 => (format!("icmp ult i64 %n.last, {bound}"), "1"),
            2 => (format!("icmp ne i64 %c.last, {bound}"), "1"),
            // Not by 1.
            _ => (format!("icmp ult i64 %n.last, {bound}"), "2"),
        };
        _ = writeln!(phis, "%c.last = phi i64 [ {begin}, %entry ], [ %n.last, %inside ]");
        turns = format!("%n.last = add i64 %c.last, {more}\n %goes = {asked}\n br i1 %goes, label %loop, label %out");
        leaves = *u.choose(&[", [ %round.next, %inside ]", ", [ %round.next, %inside ]", ", [ %round, %inside ]"])?;
    }
    // What a round does before it asks, and what of that is looked at behind the loop.
    let does = *u.choose(&["", "", "store volatile i32 88, ptr %to", "%early = load i32, ptr %to"])?;
    let sum = *u.choose(&["0", "0", "%sum", "%sum.next"])?;
    let seen = u.int_in_range(0..=count - 1)?;
    let told = if phis.contains(&format!("%c.{seen} = phi ptr")) { "%round".into() } else { format!("%c.{seen}") };
    _ = write!(next, "%seen = trunc i64 {told} to i32\n store volatile i32 %seen, ptr %to");
    Ok(format!(
        "declare i64 @llvm.umin.i64(i64, i64)
        declare i64 @llvm.usub.sat.i64(i64, i64)
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %base = zext i32 %short to i64
          %behind = getelementptr i32, ptr %to, i64 %base
          br label %loop
        loop: %round = phi i64 [ 0, %entry ], [ %round.next, %inside ]
          %sum = phi i64 [ 1, %entry ], [ %sum.next, %inside ]
          {phis}
          %sum.next = add i64 %sum, %round
          {does}
          {asks}
        inside: {next}
          %round.next = add i64 %round, 1
          {turns}
        out: %last = phi i64 [ %round, %loop ] {}{leaves}
          %both = add i64 %last, {sum}
          %told = trunc i64 %both to i32
          store volatile i32 %told, ptr %to
          ret void
        }}",
        (1..count).map(|at| format!(", [ %round, %ask.{at} ]")).collect::<String>()
    ))
}

#[test]
fn the_least_of_several_counts_ends_in_the_same_round() {
    do_the_same(
        counts,
        |context, module, _| end_once(context, module).unwrap(),
        |_, after| after.contains("br i1 true"),
    );
}

/// A loop whose end asks two or three counts at once, of numbers and of addresses that go up or down.
fn joined(u: &mut Unstructured<'_>) -> Result<String> {
    let (mut phis, mut asks, mut all) = (String::new(), String::new(), String::new());
    let number = ["%wide", "%more", "%first", "%end", "0", "5", "%base"];
    let leaves = u.ratio(1, 2)?;
    let count = u.int_in_range(2..=3_u32)?;
    for at in 0..count {
        let (begin, bound) = (*u.choose(&number)?, *u.choose(&number)?);
        let now = if u.ratio(1, 4)? { "c" } else { "n" };
        let (ty, begin, bound, more, by) = match u.int_in_range(0..=4)? {
            0 => ("i64", begin, bound, "add i64 %c", "-1"),
            1 => ("i64", begin, bound, "add i64 %c", "1"),
            2 => ("ptr", "%to", "%behind", "getelementptr i8, ptr %c", "i64 4"),
            3 => ("ptr", "%behind", "%to", "getelementptr i8, ptr %c", "i64 -4"),
            // Not by 1.
            _ => ("i64", begin, bound, "add i64 %c", "2"),
        };
        let is = if leaves { "eq" } else { "ne" };
        _ = writeln!(phis, "%c.{at} = phi {ty} [ {begin}, %entry ], [ %n.{at}, %loop ]");
        _ = writeln!(asks, "%n.{at} = {more}.{at}, {by}\n %is.{at} = icmp {is} {ty} %{now}.{at}, {bound}");
        all = match (at, leaves, u.ratio(1, 2)?) {
            (0, ..) => all,
            (1, true, false) => "or i1 %is.0, %is.1".into(),
            (1, true, true) => "select i1 %is.0, i1 true, i1 %is.1".into(),
            (1, false, false) => "and i1 %is.0, %is.1".into(),
            (1, false, true) => "select i1 %is.0, i1 %is.1, i1 false".into(),
            (_, true, _) => {
                _ = writeln!(asks, "%two = {all}");
                "or i1 %two, %is.2".into()
            }
            (_, false, _) => {
                _ = writeln!(asks, "%two = {all}");
                "and i1 %two, %is.2".into()
            }
        };
    }
    let (then, other) = if leaves { ("out", "loop") } else { ("loop", "out") };
    Ok(format!(
        "declare i64 @llvm.umin.i64(i64, i64)
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %base = zext i32 %short to i64
          %behind = getelementptr i32, ptr %to, i64 %base
          br label %loop
        loop: %round = phi i64 [ 0, %entry ], [ %round.next, %loop ]
          {phis}
          %seen = trunc i64 %round to i32
          store volatile i32 %seen, ptr %to
          %round.next = add i64 %round, 1
          {asks}
          %goes = {all}
          br i1 %goes, label %{then}, label %{other}
        out: %told = trunc i64 %round.next to i32
          store volatile i32 %told, ptr %to
          ret void
        }}"
    ))
}

#[test]
fn what_is_asked_at_once_ends_in_the_same_round() {
    do_the_same(
        joined,
        |context, module, _| end_once(context, module).unwrap(),
        |before, after| after.matches("phi i64").count() > before.matches("phi i64").count(),
    );
}
