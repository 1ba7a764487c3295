//! Random loops by a step only known at run time, before and after their addresses follow each other: an interpreter must see
//! the same stores, in the same order.

use std::collections::HashMap;
use std::fmt::Write as _;

use arbtest::arbitrary::{Result, Unstructured};

use super::interpreter::{Event, Function, Value, agree};
use super::walk;
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

fn do_the_same(
    text: impl Fn(&mut Unstructured<'_>) -> Result<String>,
    stage: impl Fn(&'static Context, &Module<'static>, &TargetMachine),
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
        if !after.contains("asm") {
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
            let given = [("%to", to), ("%short", short), ("%wide", wide), ("%more", more)];
            let given: HashMap<_, _> = given.into_iter().chain([("%first", first), ("%end", end)]).collect();
            let (is, was) = (new.run(&given), old.run(&given));
            assert!(!was.iter().any(|event| matches!(event, Event::Undefined(_))), "{was:?}: {before}");
            runs += 1;
            assert!(agree(&is, &was), "{given:?}: {is:?}, not {was:?}:\n{before}\n{after}");
        }
        Ok(())
    })
    .size_min(600)
    .size_max(4000)
    .budget_ms(4000);
    assert!(changed > 0 && runs > 0, "{changed} functions were changed, and run {runs} times");
}

#[test]
fn addresses_that_follow_each_other_are_the_same() {
    do_the_same(walks, |context, module, machine| walk(context, module, machine).unwrap());
}
