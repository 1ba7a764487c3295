//! Random loops before and after the stages that rewrite them: an interpreter must see the same stores, in the same order, and
//! the same loads.

mod apart;
mod areas;
mod arms;
mod chunks;
mod counted;
mod ends;
mod nests;
mod ranges;
mod rests;
mod searches;
mod stepped;
mod swaps;
mod twice;

use std::collections::HashMap;
use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::batches::{Slice, batch_function};
use super::gathers::gather_function;
use super::interpreter::{Event, Function, Value, agree};
use super::{SimpleForm, count, count_down, foresee, hasten, natural, pack, split, spread, walk, widen};
use crate::arch::Arch;
use crate::emit;
use crate::llvm::{AnyValue, Context, Module, TargetMachine, parse_ir};
use crate::request::OptLevel;

/// What a launch gives: mostly few rounds, and numbers around the limits.
const SMALL: [u64; 10] = [0, 1, 2, 3, 4, 5, 7, 9, 17, 40];
const WIDE: [u64; 7] = [(1 << 32) - 1, 1 << 32, (1 << 62) - 1, 1 << 63, (1 << 63) + 5, u64::MAX - 8, u64::MAX];

/// A loop of up to five addresses in a round, which are stored to in any order.
fn walks(u: &mut Unstructured<'_>) -> Result<String> {
    let count = u.int_in_range(2..=5_usize)?;
    let step = *u.choose(&["%narrow", "%wide", "%more"])?;
    let ty = *u.choose(&["i8", "i32"])?;
    let (mut head, mut latch) = (String::new(), String::new());
    let products = u.arbitrary()?;
    if products {
        // One phi, or another that is a round of one ahead.
        let ahead = u.arbitrary()?;
        if ahead {
            _ = writeln!(head, "%j = phi i64 [ 1, %entry ], [ %j.next, %latch ]");
            _ = writeln!(latch, "%j.next = add i64 %j, {count}");
        }
        for at in 0..count {
            let (of, more) = if ahead && at > 0 { ("%j", at - 1) } else { ("%k", at) };
            _ = writeln!(head, "%c.{at} = add i64 {of}, {more}\n %i.{at} = mul i64 %c.{at}, {step}");
        }
    } else {
        _ = writeln!(head, "%i.0 = phi i64 [ %first, %entry ], [ %i.{count}, %latch ]");
        for at in 1..count {
            _ = writeln!(head, "%i.{at} = add i64 %i.{}, {step}", at - 1);
        }
        _ = writeln!(latch, "%i.{count} = add i64 %i.{}, {step}", count - 1);
    }
    // Mostly to each address.
    let begin = u.int_in_range(0..=count - 1)?;
    for store in 0..u.int_in_range(count - 1..=count + 3)? {
        let at = if store < count { (begin + store) % count } else { u.int_in_range(0..=count - 1)? };
        let more = if u.arbitrary()? { 0 } else { u.int_in_range(0..=2)? };
        _ = writeln!(
            head,
            "%m.{store} = add i64 %i.{at}, {more}
            %p.{store} = getelementptr {ty}, ptr %to, i64 %m.{store}
            store volatile i32 {store}, ptr %p.{store}"
        );
    }
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %narrow = zext i32 %short to i64
          br label %loop
        loop: %k = phi i64 [ 0, %entry ], [ %k.next, %latch ]
          {head}
          br label %latch
        latch: %k.next = add i64 %k, {count}
          %of_doubles = bitcast i64 %k to double
          {latch}
          %go = icmp ult i64 %k.next, %end
          br i1 %go, label %loop, label %out
        out: ret void
        }}"
    ))
}

pub fn do_the_same(
    text: impl Fn(&mut Unstructured<'_>) -> Result<String>,
    stage: impl Fn(&'static Context, &Module<'static>, &TargetMachine),
    is_changed: impl Fn(&str, &str) -> bool,
) {
    let (mut changed, mut runs) = (0, 0);
    let context: &'static Context = Box::leak(Box::new(Context::create()));
    arbtest::arbtest(|u| {
        let text = text(u)?;
        let module = parse_ir(context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        let printed = || module.get_function("f").unwrap().print_to_string().to_string();
        let before = printed();
        stage(context, &module, &machine);
        module.verify().unwrap_or_else(|error| panic!("{error}: {text}"));
        let after = printed();
        if !is_changed(&before, &after) {
            return Ok(());
        }
        changed += 1;
        let (old, new) = (Function::parse(&before), Function::parse(&after));
        for _ in 0..40 {
            let mut number = || if u.ratio(2, 3)? { u.choose(&SMALL).copied() } else { u.choose(&WIDE).copied() };
            let short = Value::Number(number()? & u64::from(u32::MAX), 32);
            let mut number = || Ok(Value::Number(number()?, 64));
            let (wide, more, first, end) = (number()?, number()?, number()?, number()?);
            let to = Value::Address(1 << 20);
            let given = [("%to", to), ("%from", Value::Address(1 << 24)), ("%short", short), ("%wide", wide)];
            let given = given.into_iter().chain([("%more", more)]);
            let given: HashMap<_, _> = given.chain([("%first", first), ("%end", end)]).collect();
            let (is, was) = (new.run(&given), old.run_original(&given));
            assert!(!was.iter().any(|event| matches!(event, Event::Undefined(_))), "{was:?}: {before}");
            runs += 1;
            assert!(agree(&is, &was), "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
        }
        Ok(())
    })
    .size_min(600)
    .size_max(4000)
    .budget(crate::random::budget(4000));
    assert!(changed > 0 && runs > 0, "{changed} functions were changed, and run {runs} times");
}

#[test]
fn addresses_that_follow_each_other_are_the_same() {
    do_the_same(
        walks,
        |context, module, machine| walk(context, module, machine).unwrap(),
        |_, after| after.contains("asm"),
    );
}

/// A loop of few rounds, as far as its bounds tell, which loads and adds up.
fn windows(u: &mut Unstructured<'_>) -> Result<String> {
    let (behind, ahead) = (u.int_in_range(0..=3_u32)?, u.int_in_range(1..=4_u32)?);
    let high = *u.choose(&["call i64 @llvm.umin.i64(i64 %ahead, i64 %end)", "add i64 %ahead, 0", "and i64 %end, 7"])?;
    let low = *u.choose(&["call i64 @llvm.usub.sat.i64(i64 %first, i64 %behind)", "add i64 0, 0"])?;
    let low = low.replace("%behind", &behind.to_string());
    // Without the first, the number of rounds may be any.
    let runs = *u.choose(&["icmp ult i64 %low, %high", "icmp ne i64 %low, %high"])?;
    let goes = *u.choose(&["eq", "uge"])?;
    let more = *u.choose(&[
        "",
        "%masked = and i32 %v, 15
        %wide.index = zext i32 %masked to i64
        %q = getelementptr i32, ptr %to, i64 %wide.index
        %w = load i32, ptr %q",
    ])?;
    let of_other = if more.is_empty() { "%v" } else { "%w" };
    let operation = *u.choose(&["add", "xor", "mul", "sub"])?;
    let carried = *u.choose(&["%v", "%sum.next", "%before"])?;
    Ok(format!(
        "declare i64 @llvm.umin.i64(i64, i64)
        declare i64 @llvm.usub.sat.i64(i64, i64)
        define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %ahead = add i64 %first, {ahead}
          %high = {high}
          %low = {low}
          %rounds = sub i64 %high, %low
          %runs = {runs}
          br i1 %runs, label %loop, label %out
        loop: %k = phi i64 [ 0, %entry ], [ %k.next, %loop ]
          %sum = phi i32 [ %short, %entry ], [ %sum.next, %loop ]
          %before = phi i32 [ 7, %entry ], [ {carried}, %loop ]
          %i = add i64 %k, %low
          %p = getelementptr i32, ptr %to, i64 %i
          %v = load i32, ptr %p
          {more}
          %both = add i32 {of_other}, %before
          %sum.next = {operation} i32 %sum, %both
          %k.next = add i64 %k, 1
          %done = icmp {goes} i64 %k.next, %rounds
          br i1 %done, label %end.of.loop, label %loop
        end.of.loop:
          store volatile i32 %sum.next, ptr %to
          store volatile i32 %v, ptr %to
          store volatile i32 %before, ptr %to
          %count = trunc i64 %k.next to i32
          store volatile i32 %count, ptr %to
          br label %out
        out: ret void
        }}"
    ))
}

#[test]
fn few_rounds_are_the_same_side_by_side() {
    do_the_same(
        windows,
        |context, module, machine| {
            foresee(context, module, &SimpleForm::of(machine)).unwrap();
            spread(context, module, machine).unwrap();
        },
        |before, after| after.matches("load").count() > before.matches("load").count(),
    );
}

/// A loop that counts in 32 bits, whose indices may wrap around.
fn narrow_indices(u: &mut Unstructured<'_>) -> Result<String> {
    let start = *u.choose(&["0", "%short", "7"])?;
    let end = *u.choose(&["%narrow.end", "%narrow.first"])?;
    let goes = *u.choose(&["icmp eq i32 %k.next, %last", "icmp uge i32 %k.next, %last"])?;
    let mut body = String::new();
    for at in 0..u.int_in_range(1..=3_usize)? {
        let extend = *u.choose(&["zext", "sext"])?;
        let index = *u.choose(&[
            "add i32 %k, %short",
            "sub i32 %short, %k",
            "mul i32 %k, %narrow.first",
            "shl i32 %k, 3",
            "add i32 %k, 2147483000",
            "sub i32 %narrow.end, %narrow.first",
        ])?;
        _ = writeln!(
            body,
            "%i.{at} = {index}
            %w.{at} = {extend} i32 %i.{at} to i64
            %p.{at} = getelementptr i32, ptr %to, i64 %w.{at}
            store volatile i32 {at}, ptr %p.{at}"
        );
    }
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %narrow.first = trunc i64 %first to i32
          %narrow.end = trunc i64 %end to i32
          %last = add i32 {end}, 0
          br label %loop
        loop: %k = phi i32 [ {start}, %entry ], [ %k.next, %loop ]
          {body}
          %k.next = add i32 %k, 1
          %done = {goes}
          br i1 %done, label %out, label %loop
        out: ret void
        }}"
    ))
}

#[test]
fn indices_of_64_bits_are_those_of_32() {
    do_the_same(
        narrow_indices,
        |context, module, machine| widen(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.matches("store").count() > before.matches("store").count(),
    );
}

/// A loop of four loads or more, of which some say where others are, and arithmetic between them.
fn loads(u: &mut Unstructured<'_>) -> Result<String> {
    let mut body = String::new();
    let mut known = vec!["%sum".to_string(), "%short".into()];
    for at in 0..u.int_in_range(4..=7_usize)? {
        let of = u.choose(&known)?.clone();
        let index = *u.choose(&["%k", "%first", "%of.loaded"])?;
        _ = writeln!(
            body,
            "%masked.{at} = and i32 {of}, 31
            %of.loaded.{at} = zext i32 %masked.{at} to i64
            %i.{at} = add i64 {}, {at}
            %p.{at} = getelementptr i32, ptr %to, i64 %i.{at}
            %v.{at} = load i32, ptr %p.{at}",
            index.replace("%of.loaded", &format!("%of.loaded.{at}")),
        );
        known.push(format!("%v.{at}"));
        for more in 0..u.int_in_range(0..=2_usize)? {
            let (left, right) = (u.choose(&known)?.clone(), u.choose(&known)?.clone());
            let operation = *u.choose(&["add", "xor", "mul", "sub"])?;
            _ = writeln!(body, "%x.{at}.{more} = {operation} i32 {left}, {right}");
            known.push(format!("%x.{at}.{more}"));
        }
    }
    let next = u.choose(&known[2..])?.clone();
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: br label %loop
        loop: %k = phi i64 [ 0, %entry ], [ %k.next, %loop ]
          %sum = phi i32 [ %short, %entry ], [ {next}, %loop ]
          {body}
          %k.next = add i64 %k, 1
          %go = icmp ult i64 %k.next, %end
          br i1 %go, label %loop, label %out
        out: store volatile i32 {next}, ptr %to
          ret void
        }}"
    ))
}

#[test]
fn loads_before_arithmetic_are_the_same() {
    do_the_same(loads, |context, module, _| hasten(context, module), |before, after| before != after);
}

/// A loop of an index up to a number of 32 bits.
fn up_to_a_width(u: &mut Unstructured<'_>) -> Result<String> {
    let step = *u.choose(&["zext i32 %short to i64", "and i64 %more, 4294967295", "add i64 0, 1"])?;
    let width = *u.choose(&["and i64 %end, 4294967295", "lshr i64 %end, 32"])?;
    let start = *u.choose(&["lshr i64 %first, 1", "and i64 %first, 63", "and i64 %wide, 4294967295"])?;
    let goes = *u.choose(&[
        "%go = icmp ult i64 %next, %width\n br i1 %go, label %loop, label %out",
        "%go = icmp ugt i64 %width, %next\n br i1 %go, label %loop, label %out",
        "%ends = icmp uge i64 %next, %width\n br i1 %ends, label %out, label %loop",
        "%ends = icmp ule i64 %width, %next\n br i1 %ends, label %out, label %loop",
    ])?;
    Ok(format!(
        "define void @f(ptr %to, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %step = {step}
          %width = {width}
          %start = {start}
          br label %loop
        loop: %k = phi i64 [ %start, %entry ], [ %next, %loop ]
          %p = getelementptr i32, ptr %to, i64 %k
          store volatile i32 7, ptr %p
          %next = add nuw i64 %k, %step
          {goes}
        out: ret void
        }}"
    ))
}

#[test]
fn what_is_left_ends_in_the_same_round() {
    do_the_same(
        up_to_a_width,
        |context, module, _| count_down(context, module).unwrap(),
        |_, after| after.contains("phi i32"),
    );
}

/// A loop that stores one byte a round, or two, and may end in a panic or by what it loads.
fn rows_of_bytes(u: &mut Unstructured<'_>) -> Result<String> {
    let two = u.arbitrary()?;
    let done = match u.int_in_range(0..=2)? {
        0 => format!("icmp eq i64 %k.next, {}", 2 * u.int_in_range(1..=9)?),
        1 => "icmp uge i64 %k.next, %end".into(),
        _ => "icmp eq i64 %k.next, %end".into(),
    };
    let step = if two { 2 } else { 1 };
    let next = *u.choose(&["getelementptr i8, ptr %p, i64 STEP", "getelementptr i8, ptr %base, i64 %k.next"])?;
    let early = *u.choose(&["icmp eq i8 %y, 7", "icmp ult i8 %y, 9", "icmp uge i64 %k, %more"])?;
    let second = if two {
        "%ok = icmp ult i64 %k, %more
          br i1 %ok, label %second, label %panic
        second: %q = getelementptr i8, ptr %p, i64 1
          %z = add i8 %y, %before
          store i8 %z, ptr %q
          br label %latch"
    } else {
        "br label %latch"
    };
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        define void @f(ptr %to, ptr noalias readonly %from, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %base = getelementptr i8, ptr %to, i64 %first
          br label %loop
        loop: %k = phi i64 [ 0, %entry ], [ %k.next, %latch ]
          %p = phi ptr [ %base, %entry ], [ %p.next, %latch ]
          %before = phi i8 [ 3, %entry ], [ %x, %latch ]
          %older = phi i8 [ 5, %entry ], [ %before, %latch ]
          %below = icmp ult i64 %k, %wide
          br i1 %below, label %inside, label %panic
        inside: %at = getelementptr i8, ptr %from, i64 %k
          %x = load i8, ptr %at
          %y = xor i8 %x, %older
          store i8 %y, ptr %p
          %early = {early}
          br i1 %early, label %found, label %middle
        middle:
          {second}
        latch: %k.next = add i64 %k, {step}
          %p.next = {next}
          %done = {done}
          br i1 %done, label %end.of.loop, label %loop
        found: %w = zext i8 %y to i32
          store volatile i32 %w, ptr %to
          br label %end.of.loop
        end.of.loop: %last = phi i8 [ %before, %latch ], [ %older, %found ]
          %last.word = zext i8 %last to i32
          store volatile i32 %last.word, ptr %to
          ret void
        panic: call void @__rust_ptx_panic_with_1(i64 %k)
          unreachable
        }}",
        next = next.replace("STEP", &step.to_string()),
    ))
}

#[test]
fn bytes_are_stored_as_one_by_one() {
    do_the_same(
        rows_of_bytes,
        |context, module, machine| pack(context, module, &SimpleForm::of(machine)).unwrap(),
        |_, after| after.contains("store i32"),
    );
}

/// A loop that goes through a slice of `%wide` words, and checks what it loads there.
fn look_ups(u: &mut Unstructured<'_>) -> Result<String> {
    let mask = *u.choose(&[1, 3, 15, 63])?;
    let index = *u.choose(&["%k", "%ahead", "%far"])?;
    let step = *u.choose(&["icmp ult i64 %k.next, %end", "icmp ne i64 %k.next, %end"])?;
    // What is checked may be made of what the round before has loaded, or of all before.
    let place = match u.int_in_range(0..=2)? {
        0 => {
            format!("%pair = getelementptr [2 x i32], ptr %row, i64 {index}\n %p = getelementptr i8, ptr %pair, i64 4")
        }
        _ => format!("%p = getelementptr i32, ptr %row, i64 {index}"),
    };
    let low = *u.choose(&["add i32 %v, 0", "xor i32 %v, %before", "add i32 %v, %last", "xor i32 %last, 5"])?;
    let more = match u.int_in_range(0..=2)? {
        0 => {
            "%p.y = getelementptr i32, ptr %to, i64 %k
          %y = load i32, ptr %p.y
          %p.z = getelementptr i32, ptr %from, i64 %k
          %z = load i32, ptr %p.z
          %w = xor i32 %y, %z"
        }
        1 => "%w = add i32 %sum, 0",
        // What is seen of a round stays where it was, and before what the next one is seen to do.
        _ => "store i32 %v, ptr %q\n %w = add i32 %sum, 1\n store i32 %w, ptr %to",
    };
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        define void @f(ptr %to, ptr noalias readonly %from, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %row = getelementptr i32, ptr %from, i64 %first
          br label %loop
        loop: %k = phi i64 [ 0, %entry ], [ %k.next, %inside ]
          %sum = phi i32 [ %short, %entry ], [ %sum.next, %inside ]
          %before = phi i32 [ 7, %entry ], [ %v, %inside ]
          %last = phi i32 [ 3, %entry ], [ %last.next, %inside ]
          %ahead = add i64 %k, 2
          %down = mul i64 %k, %more
          %far = add i64 %down, 1
          {place}
          %v = load i32, ptr %p
          %made = {low}
          %low = and i32 %made, {mask}
          %i = zext nneg i32 %low to i64
          %ok = icmp ult i64 %i, %more
          br i1 %ok, label %inside, label %panic
        inside: %q = getelementptr i32, ptr %to, i64 %i
          %x = load i32, ptr %q
          {more}
          %all = add i32 %w, %before
          %is.odd = trunc i32 %v to i1
          %last.next = select i1 %is.odd, i32 %v, i32 %last
          %both = mul i32 %x, %all
          %sum.next = sub i32 %both, %sum
          %k.next = add i64 %k, 1
          %go = {step}
          br i1 %go, label %loop, label %out
        out: store volatile i32 %sum.next, ptr %to
          store volatile i32 %before, ptr %to
          %count = trunc i64 %k.next to i32
          store volatile i32 %count, ptr %to
          ret void
        panic: call void @__rust_ptx_panic_with_1(i64 %k)
          unreachable
        }}"
    ))
}

/// Runs rounds at once, where what is loaded lies in the slice `%from` of `%wide` words.
fn batch<'ctx>(context: &'ctx Context, module: &Module<'ctx>, machine: &TargetMachine) {
    natural::simplify(module, machine).unwrap();
    let function = module.get_function("f").unwrap();
    let param = |index| function.get_nth_param(index).unwrap();
    let (pointer, len) = (param(1).into_pointer_value(), param(3).into_int_value());
    let slice = Slice { function, pointer, len, size: 4 };
    batch_function(context, module, &SimpleForm::of(machine), function, &[slice]).unwrap();
}

fn loads_more(before: &str, after: &str) -> bool {
    after.matches("load").count() > before.matches("load").count()
}

#[test]
fn rounds_at_once_are_those_one_by_one() {
    do_the_same(look_ups, batch, loads_more);
}

/// A search through a slice of `%wide` words for something in another of `%more`; what it finds is seen.
fn searches(u: &mut Unstructured<'_>) -> Result<String> {
    let (phi, goes, there, at, next) = if u.arbitrary()? {
        let phi = "%p = phi ptr [ %begin, %entry ], [ %p.next, %look ]";
        let goes = *u.choose(&["icmp ne ptr %p, %last", "icmp ne ptr %last, %p"])?;
        (phi, goes, "true", "%p", "%p.next = getelementptr i8, ptr %p, i64 4")
    } else {
        let phi = "%k = phi i64 [ %first, %entry ], [ %k.next, %look ]";
        let goes = *u.choose(&["icmp ult i64 %k, %end", "icmp ugt i64 %end, %k", "icmp ne i64 %k, %end"])?;
        let there = "%is.there";
        (phi, goes, there, "%at", "%k.next = add i64 %k, 1")
    };
    let (check, there) = match there {
        "true" => ("", "br label %check"),
        _ => (
            "%is.there = icmp ult i64 %k, %wide
            %at = getelementptr i32, ptr %from, i64 %k",
            "br i1 %is.there, label %check, label %panic",
        ),
    };
    let mask = *u.choose(&[1, 3, 15, 63])?;
    let index = *u.choose(&[
        "%i = zext i32 %low to i64",
        "%j = zext i32 %low to i64
 %i = add i64 %j, 1",
    ])?;
    let finds = *u.choose(&["icmp eq i32 %y, 2", "icmp ult i32 %y, 3", "icmp eq i32 %y, %short"])?;
    let found = *u.choose(&["%low", "%y", "%short", "%count"])?;
    let none = *u.choose(&["%count", "%short", "5"])?;
    // Where nothing is found, a round may still panic.
    let fine = *u.choose(&["icmp ne i32 %low, 1", "icmp ne i32 %low, 0", "icmp ult i32 %y, 4"])?;
    let (from, behind) = match u.ratio(1, 3)? {
        true => ("%behind", format!("label %behind\nbehind: %fine = {fine}\n br i1 %fine, label %loop, label %panic")),
        false => ("%look", "label %loop".into()),
    };
    let (phi, next) = (phi.replace("%look", from), next.to_string());
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        define void @f(ptr %to, ptr noalias readonly %from, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %low.first = and i64 %first, 1023
          %begin = getelementptr inbounds i32, ptr %from, i64 %low.first
          %low.end = and i64 %end, 1023
          %last = getelementptr inbounds i32, ptr %from, i64 %low.end
          br label %loop
        loop: {phi}
          %count = phi i32 [ 3, %entry ], [ %count.next, {from} ]
          %count.next = add i32 %count, 2
          %goes = {goes}
          br i1 %goes, label %there, label %none
        there: {check}
          {there}
        check: %v = load i32, ptr {at}
          %low = and i32 %v, {mask}
          {index}
          %ok = icmp ult i64 %i, %more
          br i1 %ok, label %look, label %panic
        look: %q = getelementptr i32, ptr %to, i64 %i
          %x = load i32, ptr %q
          %y = and i32 %x, 7
          {next}
          %finds = {finds}
          br i1 %finds, label %found, {behind}
        found: store volatile i32 {found}, ptr %to
          br label %spin
        none: store volatile i32 {none}, ptr %from
          br label %spin
        spin: store volatile i32 7, ptr %to
          br label %spin
        panic: call void @__rust_ptx_panic_with_1(i64 7)
          unreachable
        }}"
    ))
}

// More is loaded than before, so that the function has no end at which loads are compared.
#[test]
fn searches_find_the_same() {
    do_the_same(
        searches,
        |context, module, machine| {
            natural::simplify(module, machine).unwrap();
            let function = module.get_function("f").unwrap();
            let slice = |pointer, len| {
                let param = |index| function.get_nth_param(index).unwrap();
                let (pointer, len) = (param(pointer).into_pointer_value(), param(len).into_int_value());
                Slice { function, pointer, len, size: 4 }
            };
            gather_function(context, &SimpleForm::of(machine), function, &[slice(0, 4), slice(1, 3)]).unwrap();
        },
        |before, after| after.matches("load").count() > before.matches("load").count(),
    );
}

/// What a loop of [`several_ends`] asks: how that is computed in a round, and what holds while the loop goes on.
const ASKED: [(&str, &str); 10] = [
    ("%i = add i64 %k, %first", "icmp ult i64 %i, %wide"),
    ("%i = mul i64 %k, %more", "icmp ule i64 %i, %wide"),
    ("", "icmp ne i64 %down, 0"),
    ("%i = add i64 %k, %first", "icmp ne i64 %wide, %i"),
    (
        "%q = getelementptr i32, ptr %far, i64 %more
        %q.i = ptrtoint ptr %q to i64
        %bytes = sub i64 %behind.i, %q.i
        %left = lshr i64 %bytes, 2",
        "icmp ult i64 %less, %left",
    ),
    ("", "icmp uge i64 %rest, %more"),
    ("", "icmp ugt i64 %rest, %first"),
    (
        "%gone = mul i64 %k, %more
        %other = sub i64 %wide, %gone
        %part = call i64 @llvm.umin.i64(i64 %more, i64 %other)",
        "icmp ugt i64 %part, %first",
    ),
    ("", "icmp ult i64 %best, %wide"),
    ("", "icmp ult i64 %best, 9"),
];

/// How such a loop may end otherwise.
const ENDS: [&str; 7] = [
    "icmp ult i64 %k.next, %end",
    "icmp ne i64 %k.next, %end",
    "icmp ne i64 %down.next, 0",
    "icmp ne ptr %p.next, %last",
    "icmp ne ptr %p, %last",
    "icmp ule i64 %more, %rest.next",
    "icmp ult i64 %j.next, %wide",
];

/// A loop with several ends, each of which is counted.
fn several_ends(u: &mut Unstructured<'_>) -> Result<String> {
    let mut blocks = String::new();
    let count = u.int_in_range(0..=2_usize)?;
    for at in 0..count {
        let (computed, asked) = u.choose(&ASKED)?;
        let text = format!("{computed}\n%ok = {asked}\n");
        // Each has names of its own.
        let mut text = text;
        for name in ["%i", "%q", "%q.i", "%bytes", "%left", "%gone", "%other", "%part", "%ok"] {
            for behind in [" ", ",", ")", "\n"] {
                text = text.replace(&format!("{name}{behind}"), &format!("{name}.{at}{behind}"));
            }
        }
        let out = if u.arbitrary()? { "panic".into() } else { format!("out.{at}") };
        _ = writeln!(blocks, "{text} br i1 %ok.{at}, label %in.{at}, label %{out}\n in.{at}:");
    }
    let first_end = u.choose(&ENDS)?;
    let (mut latch, mut go) = (format!("%go.0 = {first_end}\n"), "%go.0");
    let joined = count == 0 || u.arbitrary()?;
    if joined {
        _ = writeln!(latch, "%go.1 = {}\n%go = select i1 %go.0, i1 %go.1, i1 false", u.choose(&ENDS)?);
        go = "%go";
    }
    let turned = u.arbitrary()?;
    if turned {
        _ = writeln!(latch, "%done = xor i1 {go}, true");
    }
    let jump = if turned {
        "br i1 %done, label %out, label %loop".into()
    } else {
        format!("br i1 {go}, label %loop, label %out")
    };
    if u.ratio(1, 4)? {
        latch += "%wraps = icmp ult i64 %j.next, %j\n %wrapped = zext i1 %wraps to i32\n store volatile i32 %wrapped, ptr %to\n";
    }
    let ahead = *u.choose(&[0, 1, 3])?;
    let outs: String = (0..count)
        .map(|at| {
            format!(
                "out.{at}: store volatile i32 {at}, ptr %to
                ret void\n"
            )
        })
        .collect();
    Ok(format!(
        "declare void @__rust_ptx_panic_with_1(i64) noreturn
        declare i64 @llvm.umin.i64(i64, i64)
        define void @f(ptr %to, ptr noalias readonly %from, i32 %short, i64 %wide, i64 %more, i64 %first, i64 %end) {{
        entry: %start = getelementptr i32, ptr %from, i64 {ahead}
          %last = getelementptr i32, ptr %from, i64 %end
          %behind = getelementptr i32, ptr %from, i64 %wide
          %behind.i = ptrtoint ptr %behind to i64
          %less = add i64 %more, -1
          br label %loop
        loop: %k = phi i64 [ 0, %entry ], [ %k.next, %latch ]
          %j = phi i64 [ %first, %entry ], [ %j.next, %latch ]
          %down = phi i64 [ %end, %entry ], [ %down.next, %latch ]
          %rest = phi i64 [ %wide, %entry ], [ %rest.next, %latch ]
          %best = phi i64 [ %first, %entry ], [ %best.next, %latch ]
          %p = phi ptr [ %start, %entry ], [ %p.next, %latch ]
          %far = phi ptr [ %start, %entry ], [ %far.next, %latch ]
          {blocks}
          br label %latch
        latch: %k.short = trunc i64 %k to i32
          store i32 %k.short, ptr %to
          %there = getelementptr i32, ptr %to, i64 2
          store i32 %k.short, ptr %there
          %x = load i32, ptr %p
          %is_more = icmp ugt i32 %x, 1000000000
          %best.next = select i1 %is_more, i64 %k, i64 %best
          %k.next = add i64 %k, 1
          %j.next = add i64 %j, %more
          %down.next = add i64 %down, -1
          %rest.next = sub i64 %rest, %more
          %p.next = getelementptr i32, ptr %p, i64 1
          %far.next = getelementptr i32, ptr %far, i64 %more
          {latch}
          {jump}
        out: store volatile i32 %k.short, ptr %to
          ret void
        {outs}
        panic: call void @__rust_ptx_panic_with_1(i64 %k)
          unreachable
        }}"
    ))
}

#[test]
fn several_ends_are_met_in_the_same_round() {
    do_the_same(
        several_ends,
        |context, module, machine| split(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.matches("store").count() > before.matches("store").count(),
    );
}

#[test]
fn rounds_that_are_counted_are_as_many() {
    do_the_same(
        several_ends,
        |context, module, machine| count(context, module, &SimpleForm::of(machine)).unwrap(),
        |before, after| after.matches("phi").count() > before.matches("phi").count(),
    );
}
