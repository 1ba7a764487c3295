//! Random kernels of neighbours and rows before and after their checks go: an interpreter must see the same.

use std::collections::HashMap;
use std::fmt::Write as _;

use arbtest::arbitrary::{self, Unstructured};

use super::*;
use crate::loops::interpreter::{Event, Function, Value, agree};

fn name(text: &mut String, next: &mut usize, instruction: &str) -> String {
    *next += 1;
    _ = writeln!(text, "%v{next} = {instruction}");
    format!("%v{next}")
}

/// Indices of neighbours, which one branch or several check, with promises that are kept or not.
fn neighbours(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let (mut text, mut next) = (String::new(), 0);
    let (promises, is_inside) = (u.ratio(1, 3)?, u.ratio(2, 3)?);
    let flags = |u: &mut Unstructured<'_>| match promises && u.ratio(1, 4)? {
        true => Ok(*u.choose(&["nsw", "nuw", "nuw nsw"])?),
        false => Ok(""),
    };
    let mut tests = Vec::new();
    let mut values: [Vec<String>; 2] = [vec!["%x".into()], vec!["%y".into()]];
    for (axis, extent) in [(0, "%width"), (1, "%height")] {
        let position = values[axis][0].clone();
        if u.ratio(if is_inside { 15 } else { 1 }, 16)? {
            tests.push(name(&mut text, &mut next, &format!("icmp ult i32 {position}, {extent}")));
        }
        let more = name(&mut text, &mut next, &format!("add {} i32 {position}, 1", flags(u)?));
        let less = name(&mut text, &mut next, &format!("add {} i32 {position}, -1", flags(u)?));
        match u.int_in_range(0..=5)? {
            0 => tests.push(name(&mut text, &mut next, &format!("icmp ne i32 {position}, 0"))),
            1 => tests.push(name(&mut text, &mut next, &format!("icmp ne i32 {more}, {extent}"))),
            2 => tests.push(name(&mut text, &mut next, &format!("icmp ult i32 {more}, {extent}"))),
            3 => tests.push(name(&mut text, &mut next, &format!("icmp slt i32 {position}, {extent}"))),
            _ => {}
        }
        let at_edge = name(&mut text, &mut next, &format!("icmp eq i32 {position}, 0"));
        let last = name(&mut text, &mut next, &format!("select i1 {at_edge}, i32 {extent}, i32 {position}"));
        let before = name(&mut text, &mut next, &format!("add {} i32 {last}, -1", flags(u)?));
        let at_end = name(&mut text, &mut next, &format!("icmp eq i32 {more}, {extent}"));
        let after = name(&mut text, &mut next, &format!("select i1 {at_end}, i32 0, i32 {more}"));
        values[axis].extend([more, less, before, after]);
        let end = name(&mut text, &mut next, &format!("add {} i32 {extent}, -1", flags(u)?));
        for _ in 0..u.int_in_range(0..=3)? {
            let one = u.choose(&values[axis])?.clone();
            let other = *u.choose(&[&end, &end, extent, "0", "1", "2"])?;
            let chosen = match u.choose(&["umin", "smin", "umax", "smax", "usub.sat", "urem", "clamp"])? {
                &"urem" => format!("urem i32 {one}, {extent}"),
                &"clamp" => {
                    let least = name(&mut text, &mut next, &format!("call i32 @llvm.smin.i32(i32 {one}, i32 {end})"));
                    format!("call i32 @llvm.smax.i32(i32 {least}, i32 {})", u.choose(&["0", "1", "-1"])?)
                }
                call => format!("call i32 @llvm.{call}.i32(i32 {one}, i32 {other})"),
            };
            let chosen = name(&mut text, &mut next, &chosen);
            values[axis].push(chosen);
        }
    }
    let some = u.int_in_range(0..=tests.len())?;
    for test in tests.drain(..some) {
        let (yes, no) = if u.ratio(1, 4)? { ("no", "yes") } else { ("no", "no") };
        _ = writeln!(text, "br i1 {test}, label %b{next}, label %{}\nb{next}:", if u.arbitrary()? { yes } else { no });
        next += 1;
    }
    for _ in 0..u.int_in_range(1..=3)? {
        for _ in 0..u.int_in_range(2..=7)? {
            let (column, line) = (u.choose(&values[0])?.clone(), u.choose(&values[1])?.clone());
            let row = name(&mut text, &mut next, &format!("mul {} i32 {line}, %width", flags(u)?));
            let mut index = name(&mut text, &mut next, &format!("add {} i32 {row}, {column}", flags(u)?));
            if u.ratio(1, 3)? {
                let more = *u.choose(&["1", "-1", "2", "%width", "%height"])?;
                let operation = u.choose(&["add", "sub"])?;
                index = name(&mut text, &mut next, &format!("{operation} {} i32 {index}, {more}", flags(u)?));
            }
            let mut check = name(&mut text, &mut next, &format!("icmp ult i32 {index}, %len"));
            // Asked only where a neighbour is there.
            if u.ratio(1, 4)? {
                let (one, extent) = (u.int_in_range(0..=1)?, ["%width", "%height"]);
                let (first, other) = (u.choose(&values[one])?, [extent[one], "0"][u.int_in_range(0..=1)?]);
                let is = u.choose(&["ult", "ne", "ugt"])?;
                let guard = name(&mut text, &mut next, &format!("icmp {is} i32 {first}, {other}"));
                let frozen = [guard, check].map(|value| name(&mut text, &mut next, &format!("freeze i1 {value}")));
                let denied = name(&mut text, &mut next, &format!("xor i1 {}, true", frozen[0]));
                check = name(&mut text, &mut next, &format!("or i1 {}, {denied}", frozen[1]));
            }
            tests.push(check);
            if u.ratio(1, 4)? {
                let axis = u.int_in_range(0..=1)?;
                let (one, other) = (u.choose(&values[axis])?.clone(), u.choose(&values[axis])?.clone());
                let order = u.choose(&["ule", "uge", "ult"])?;
                tests.push(name(&mut text, &mut next, &format!("icmp {order} i32 {one}, {other}")));
            }
        }
        let mut joined = vec![tests[0].clone()];
        for test in &tests[1..] {
            let all = &joined[joined.len() - 1];
            let both = if u.ratio(1, 3)? {
                format!("and i1 {all}, {test}")
            } else {
                format!("select i1 {all}, i1 {test}, i1 false")
            };
            joined.push(name(&mut text, &mut next, &both));
        }
        let all = &joined[joined.len() - 1];
        // A panic may ask again for some of them.
        let inner = u.choose(&joined)?;
        match u.ratio(1, 3)? {
            true => {
                _ = writeln!(
                    text,
                    "br i1 {all}, label %b{next}, label %w{next}\nw{next}: br i1 {inner}, label %no, label %yes"
                )
            }
            false => _ = writeln!(text, "br i1 {all}, label %b{next}, label %no"),
        }
        _ = writeln!(text, "b{next}:\nstore volatile i32 7, ptr %from");
        next += 1;
        tests.clear();
    }
    Ok(kernel(&format!("{text}br label %yes")))
}

/// A loop over rows, each a part of a slice, of which one branch or two ask what must hold or what must not.
fn windows(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    let (mut text, mut next) = (String::new(), 0);
    let flags = |u: &mut Unstructured<'_>| Ok(if u.ratio(1, 3)? { "nuw nsw" } else { "" });
    text += "%x.in = icmp ult i32 %x, %width\n%y.in = icmp ult i32 %y, %height\n%in = and i1 %x.in, %y.in\n";
    _ = writeln!(text, "br i1 {}, label %mine, label %end\nmine:", u.choose(&["%in", "%in", "%in", "%x.in", "true"])?);
    let mut ends = [["0", "%x", "%width"], ["0", "%y", "%height"]].map(|all| all.map(str::to_string).to_vec());
    for (axis, at) in ["%x", "%y"].into_iter().enumerate() {
        let less = format!("call i32 @llvm.usub.sat.i32(i32 {at}, i32 {})", u.int_in_range(0..=2)?);
        let more = format!("add {} i32 {at}, {}", flags(u)?, u.int_in_range(0..=3)?);
        let (less, more) = (name(&mut text, &mut next, &less), name(&mut text, &mut next, &more));
        let least = format!("call i32 @llvm.umin.i32(i32 {more}, i32 {})", u.choose(&["%width", "%height"])?);
        let least = name(&mut text, &mut next, &least);
        ends[axis].extend([less, more, least.clone(), least]);
    }
    let end = |u: &mut Unstructured<'_>, axis: usize| u.choose(&ends[axis]).cloned();
    let ([left, right], [top, bottom]) = ([end(u, 0)?, end(u, 0)?], [end(u, 1)?, end(u, 1)?]);
    let step = u.choose(&["1", "1", "1", "2"])?;
    _ = writeln!(text, "br label %round\nround: %at = phi i32 [ {top}, %mine ], [ %next, %more ]");
    _ = writeln!(text, "%next = add {} i32 %at, {step}", flags(u)?);
    let at = u.choose(&["%at", "%at", "%next"])?;
    _ = writeln!(text, "%row = mul {} i32 {at}, {}", flags(u)?, u.choose(&["%width", "%width", "%height"])?);
    _ = writeln!(text, "%rest = sub {} i32 %len, %row", flags(u)?);
    let small = name(&mut text, &mut next, &format!("add {} i32 %row, {right}", flags(u)?));
    let checks =
        [["%row", "%len"].map(str::to_string), [small, "%len".into()], [right.clone(), "%rest".into()], [left, right]];
    let must_hold = u.arbitrary()?;
    let mut joined: Option<String> = None;
    for _ in 0..u.int_in_range(1..=3)? {
        let [small, large] = u.choose(&checks)?;
        let is = u.choose(if must_hold { &["ule", "ult"] } else { &["ugt", "uge"] })?;
        let one = name(&mut text, &mut next, &format!("icmp {is} i32 {small}, {large}"));
        joined = Some(match (joined, must_hold, u.arbitrary()?) {
            (None, ..) => one,
            (Some(all), true, true) => name(&mut text, &mut next, &format!("and i1 {all}, {one}")),
            (Some(all), true, false) => name(&mut text, &mut next, &format!("select i1 {all}, i1 {one}, i1 false")),
            (Some(all), false, true) => name(&mut text, &mut next, &format!("or i1 {all}, {one}")),
            (Some(all), false, false) => name(&mut text, &mut next, &format!("select i1 {all}, i1 true, i1 {one}")),
        });
    }
    let all = joined.expect("there is one at least");
    let (then, other) = if must_hold { ("more", "panic") } else { ("panic", "more") };
    _ = writeln!(text, "br i1 {all}, label %{then}, label %{other}\nmore: store volatile i32 7, ptr %from");
    let again = match u.choose(&["ult", "ult", "ugt", "ule", "ne", "at"])? {
        &"ugt" => format!("icmp ugt i32 {bottom}, %next"),
        &"at" => format!("icmp ult i32 %at, {bottom}"),
        is => format!("icmp {is} i32 %next, {bottom}"),
    };
    let again = name(&mut text, &mut next, &again);
    _ = writeln!(text, "br i1 {again}, label %round, label %yes\npanic: call void @__rust_ptx_panic_with_1(i64 8)");
    Ok(format!("declare void @__rust_ptx_panic_with_1(i64)\n{}", kernel(&format!("{text}unreachable"))))
}

#[test]
fn random_neighbours_do_the_same() {
    do_the_same(neighbours);
}

#[test]
fn random_rows_do_the_same() {
    do_the_same(windows);
}

/// Runs random kernels before and after.
fn do_the_same(random: fn(&mut Unstructured<'_>) -> arbitrary::Result<String>) {
    const POSITIONS: [u32; 14] =
        [0, 1, 2, 3, 4, 5, 32_766, 32_767, 65_536, (1 << 29) - 1, 1 << 30, 1 << 31, u32::MAX - 1, u32::MAX];
    const EXTENTS: [u64; 12] = [0, 1, 2, 3, 4, 5, 32_767, 32_768, 65_537, 1 << 27, 1 << 29, u32::MAX as u64];
    let lengths: Vec<u64> = (0..30).chain([32_767, 65_536, (1 << 30) - 1, 1 << 30, 1 << 40, u64::MAX]).collect();
    let (mut changed, mut runs, mut inside) = (0, 0, 0);
    arbtest::arbtest(|u| {
        let text = random(u)?;
        let (before, after) = both(&if u.ratio(1, 2)? { of_product(&text) } else { text });
        if before == after {
            return Ok(());
        }
        changed += 1;
        let (old, new) = (Function::parse(&before), Function::parse(&after));
        for _ in 0..150 {
            let mut given = HashMap::from([("%from", Value::Address(1 << 20)), ("%any", Value::Number(0, 32))]);
            given.insert("%from.len", Value::Number(*u.choose(&lengths)?, 64));
            given.insert("%view", Value::Number(*u.choose(&EXTENTS)? << 32 | *u.choose(&EXTENTS)?, 64));
            for name in ["%x", "%y"] {
                given.insert(name, Value::Number(u64::from(*u.choose(&POSITIONS)?), 32));
            }
            let (is, was) = (new.run(&given), old.run_original(&given));
            if was.iter().any(|event| matches!(event, Event::Undefined(_))) {
                continue;
            }
            runs += 1;
            inside += usize::from(was.contains(&Event::Store(1 << 20, 7)));
            // Where a slice does not cover a view, the other copy is run, which does the same.
            let is_other_copy = is.first() == Some(&Event::Store(1 << 20, 3));
            assert!(agree(&is, &was) || is_other_copy, "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
        }
        Ok(())
    })
    .size_min(600)
    .size_max(12_000)
    .budget(crate::random::budget(4000));
    assert!(changed > 0 && runs > 0 && inside > 0, "{changed} functions were changed, and run {runs} times");
}
