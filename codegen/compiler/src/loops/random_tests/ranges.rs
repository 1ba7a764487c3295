//! Random loops over ranges whose end belongs to them.

use arbtest::arbitrary::{Result, Unstructured};

use super::do_the_same;
use crate::loops::{end_inclusive, join};

/// A loop over `first..=end`, as the optimiser leaves what the standard library does; a round of an even number ends early.
fn ranges(u: &mut Unstructured<'_>) -> Result<String> {
    let sign = *u.choose(&["s", "u"])?;
    let ty = *u.choose(&["i32", "i64"])?;
    let number = |u: &mut Unstructured<'_>, name: &str| -> Result<String> {
        let small = u.int_in_range(-3..=3_i32)?;
        Ok(if u.arbitrary()? { small.to_string() } else { format!("%{name}") })
    };
    let (first, end) = (number(u, "a")?, number(u, "b")?);
    let not_last = u.choose(&["xor i1 %last, true".to_string(), format!("icmp {sign}lt {ty} %k, {end}")])?.clone();
    let last = u.choose(&[format!("icmp {sign}ge {ty} %k, {end}"), format!("icmp {sign}le {ty} {end}, %k")])?.clone();
    let next = u.choose(&[format!("add {ty} %k, %step"), format!("select i1 %last, {ty} %k, {ty} %more")])?.clone();
    let entry = match ty {
        "i32" => "%a = trunc i64 %first to i32 %b = trunc i64 %end to i32",
        _ => "%a = add i64 %first, 0 %b = add i64 %end, 0",
    };
    let round = format!(
        "%last = {last} %goes = {not_last} %step = zext i1 %goes to {ty} %more = add {ty} %k, 1 %next = {next}
         store volatile {ty} %k, ptr %to %odd = and {ty} %k, 1 %is_odd = icmp ne {ty} %odd, 0"
    );
    // What a round looks at beside the number, and what is told behind the loop.
    let looks = if u.ratio(1, 4)? { format!("store volatile {ty} %next, ptr %to") } else { String::new() };
    let round = format!("{round} {looks}");
    let mark = *u.choose(&["%sum", "%sum", "%sum.over", "%sum.k"])?;
    let marks = format!("%mark = zext i1 %over to {ty} %sum.over = sub {ty} %sum, %mark %sum.k = xor {ty} %sum, %k");
    let past = u.choose(&[format!("icmp {sign}gt {ty} %k, {end}"), format!("icmp {sign}lt {ty} {end}, %k")])?.clone();
    let body = format!("%sum.next = add {ty} %sum, %k store volatile {ty} %sum.next, ptr %to");
    let flag = *u.choose(&["select i1 %over, i1 true, i1 %past", "or i1 %over, %past"])?;
    let form = u.int_in_range(0..=3)?;
    let told = if form < 2 { format!("store volatile {ty} {mark}, ptr %to") } else { String::new() };
    let blocks = match form {
        0 => format!(
            "outer: %k.o = phi {ty} [ {first}, %entry ], [ %next, %body ]
               %over.o = phi i1 [ false, %entry ], [ %last, %body ] %sum = phi {ty} [ 0, %entry ], [ %sum.next, %body ]
               br label %loop
             loop: %k = phi {ty} [ %k.o, %outer ], [ %next, %round ] %over = phi i1 [ %over.o, %outer ], [ %last, %round ]
               {marks} %past = {past} %done = {flag} br i1 %done, label %out, label %round
             round: {round} br i1 %is_odd, label %body, label %loop
             body: {body} br label %outer"
        ),
        1 => format!(
            "br label %loop
             loop: %k = phi {ty} [ {first}, %entry ], [ %next, %round ], [ %next, %body ]
               %over = phi i1 [ false, %entry ], [ %last, %round ], [ %last, %body ]
               %sum = phi {ty} [ 0, %entry ], [ %sum, %round ], [ %sum.next, %body ]
               {marks} %past = {past} %done = {flag} br i1 %done, label %out, label %round
             round: {round} br i1 %is_odd, label %body, label %loop
             body: {body} br label %loop"
        ),
        2 => format!(
            "br label %loop
             loop: %k = phi {ty} [ {first}, %entry ], [ %more, %latch ] %sum = phi {ty} [ 0, %entry ], [ %sum.now, %latch ]
               %past = {past} br i1 %past, label %out, label %round
             round: {round} br i1 %is_odd, label %body, label %latch
             body: {body} br label %latch
             latch: %sum.now = phi {ty} [ %sum, %round ], [ %sum.next, %body ] br i1 %goes, label %loop, label %out"
        ),
        _ => format!(
            "br label %loop
             loop: %k = phi {ty} [ {first}, %entry ], [ %next, %latch ] %sum = phi {ty} [ 0, %entry ], [ %sum.now, %latch ]
               {} br i1 %is_odd, label %body, label %latch
             body: {body} br label %latch
             latch: %sum.now = phi {ty} [ %sum, %loop ], [ %sum.next, %body ]
               %past = icmp {sign}gt {ty} %next, {end} %done = select i1 %last, i1 true, i1 %past
               br i1 %done, label %out, label %loop",
            round.replacen(&last, u.choose(&[last.as_str(), &format!("icmp eq {ty} %k, {end}")])?, 1)
        ),
    };
    let blocks = blocks
        .strip_prefix("br label %loop")
        .map_or(format!("br label %outer {blocks}"), |rest| format!("br label %loop {rest}"));
    Ok(format!("define void @f(ptr %to, i64 %first, i64 %end) {{ entry: {entry} {blocks} out: {told} ret void }}"))
}

#[test]
fn ranges_whose_end_belongs_to_them_have_the_same_rounds() {
    do_the_same(
        ranges,
        |context, module, _| {
            join(context, module).unwrap();
            end_inclusive(context, module).unwrap();
        },
        |before, after| before != after,
    );
}
