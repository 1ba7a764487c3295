//! Between which numbers values lie: what arithmetic makes of them, and what branches tell.

use super::*;
use crate::llvm::{Context, FunctionValue, parse_ir};

/// Between which numbers `%x` lies where it is returned; `%len` is below 2^30, `%n` below 2^15.
fn range(body: &str) -> (i128, i128) {
    let text = format!(
        "declare i64 @llvm.usub.sat.i64(i64, i64)
        declare i64 @llvm.umin.i64(i64, i64)
        declare void @llvm.assume(i1)
        declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
        declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
        declare void @may_end()
        declare void @never() noreturn
        define i64 @f(i64 %len, i64 %n, i64 %any, i32 %i, i1 %c) {{
        {body}
        no: call void @never()
          unreachable
        }}"
    );
    let context = Context::create();
    let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
    let function: FunctionValue<'_> = module.get_function("f").unwrap();
    let param = |at| function.get_nth_param(at).unwrap().into_int_value();
    let given =
        QuickMap::from_iter([(param(0), Interval::new(0, (1 << 30) - 1)), (param(1), Interval::new(0, (1 << 15) - 1))]);
    let graph = Graph::of(function);
    let same = QuickMap::default();
    let ranges = Ranges::of_function(&graph, &given, &same);
    let end = llvm::instructions(function).find(|end| end.get_opcode() == Op::Return).unwrap();
    let found = ranges.of(llvm::int_operand(end, 0).unwrap(), &ranges.facts(end.get_parent().unwrap()));
    (found.low, found.high)
}

const ALL: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

#[test]
fn sums_and_products_are_exact_or_unknown() {
    for (body, expected) in [
        ("%x = add i64 %len, %n", (0, (1 << 30) + (1 << 15) - 2)),
        ("%x = sub i64 %n, %len", (1 - (1 << 30), (1 << 15) - 1)),
        ("%x = mul i64 %n, %n", (0, ((1 << 15) - 1) * ((1 << 15) - 1))),
        ("%x = shl i64 %n, 4", (0, ((1 << 15) - 1) << 4)),
        // They may wrap.
        ("%x = add i64 %any, 1", ALL),
        ("%x = mul i64 %any, %any", ALL),
        ("%y = add i32 %i, 1\n %x = zext i32 %y to i64", (0, (1 << 32) - 1)),
        ("%y = sub i32 0, %i\n %x = sext i32 %y to i64", (-(1 << 31), (1 << 31) - 1)),
        ("%x = lshr i64 %any, 40", (0, (1 << 24) - 1)),
        ("%y = sub i64 %n, %len\n %x = lshr i64 %y, 1", (0, (1 << 63) - 1)),
        ("%x = and i64 %any, 255", (0, 255)),
        ("%x = call i64 @llvm.usub.sat.i64(i64 %n, i64 2)", (0, (1 << 15) - 3)),
        ("%x = call i64 @llvm.usub.sat.i64(i64 %any, i64 2)", ALL),
        ("%x = call i64 @llvm.umin.i64(i64 %any, i64 %n)", ALL),
        ("%m = add i64 %len, -1\n %x = call i64 @llvm.umin.i64(i64 %m, i64 %n)", (0, (1 << 15) - 1)),
        ("%x = udiv i64 %len, %n", (0, (1 << 30) - 1)),
        ("%x = select i1 %c, i64 -1, i64 %n", (-1, (1 << 15) - 1)),
        // A number that means nothing is any number once it is frozen.
        ("%x = freeze i64 %len", ALL),
    ] {
        assert_eq!(range(&format!("{body}\n ret i64 %x")), expected, "{body}");
    }
}

#[test]
fn branches_tell() {
    let guarded = |condition: &str, to: &str| {
        range(&format!("%ok = {condition}\n br i1 %ok, {to}\n yes: %x = add i64 %any, 0\n ret i64 %x"))
    };
    let yes = "label %yes, label %no";
    assert_eq!(guarded("icmp ult i64 %any, %len", yes), (0, (1 << 30) - 2));
    assert_eq!(guarded("icmp uge i64 %any, %len", "label %no, label %yes"), (0, (1 << 30) - 2));
    assert_eq!(guarded("icmp ugt i64 %len, %any", yes), (0, (1 << 30) - 2));
    assert_eq!(guarded("icmp slt i64 %any, %len", yes), (i64::MIN.into(), (1 << 30) - 2));
    // Without a sign all negative numbers are larger.
    assert_eq!(guarded("icmp uge i64 %any, %len", yes), ALL);
    assert_eq!(guarded("icmp ult i64 %len, %any", yes), ALL);
    // Nothing is learnt of numbers that are wider than an interval's.
    let wide = "%wide = sext i64 %any to i128\n %ok = icmp ult i128 %wide, 5";
    assert_eq!(range(&format!("{wide}\n br i1 %ok, {yes}\n yes: %x = add i64 %any, 0\n ret i64 %x")), ALL);
    assert_eq!(guarded("icmp eq i64 %any, %n", yes), (0, (1 << 15) - 1));
    // No number has a bit that its union with another has not; to add a negative number is to subtract.
    let parts = "or i64 %any, %len\n %small = icmp ult i64 %ok, 512";
    let small =
        |instruction: &str| range(&format!("%ok = {parts}\n br i1 %small, {yes}\n yes: {instruction}\n ret i64 %x"));
    assert_eq!(small("%x = add i64 %any, 0"), (0, 511));
    assert_eq!(small("%y = trunc i64 %any to i32\n %z = or i32 %y, 0\n %x = zext i32 %z to i64"), (0, 511));
    let before = "%ok = icmp ugt i32 %i, 7";
    let less = |by: i32| {
        range(&format!(
            "{before}\n br i1 %ok, {yes}\n yes: %y = add i32 %i, {by}\n %x = zext i32 %y to i64\n ret i64 %x"
        ))
    };
    assert_eq!(less(-8), (0, (1 << 32) - 9));
    assert_eq!(less(-9), (0, (1 << 32) - 1));
    // No factor of what is above another number is 0.
    let above = "%area = mul i64 %n, %len\n %ok = icmp ult i64 %any, %area";
    let factor = |to: &str| range(&format!("{above}\n br i1 %ok, {to}\n yes: %x = add i64 %n, -1\n ret i64 %x"));
    assert_eq!(factor(yes), (0, (1 << 15) - 2));
    assert_eq!(factor("label %no, label %yes"), (-1, (1 << 15) - 2));
    // As a number with a sign, as in `(width as i32 - 1).clamp(0, …)`: it is not below 0, so the sum has not come round.
    let last = "icmp sgt i32 %y, -1\n %many = and i1 %c, %ok";
    let of_width = format!("%w = trunc i64 %n to i32\n %y = add i32 %w, -1\n %ok = {last}");
    let signed = |to: &str| {
        let text = format!("{of_width}\n br i1 %ok, {to}\n yes: %x = zext i32 %y to i64\n ret i64 %x");
        range(&text)
    };
    assert_eq!(signed(yes), (0, (1 << 15) - 2));
    assert_eq!(signed("label %no, label %yes"), ((1 << 31), (1 << 32) - 1));
    // What branches in turn both tell, and what one of two tells counts only if it fails.
    let both = "icmp ult i64 %any, %n\n %two = and i1 %ok, %c";
    let body = |to: &str, with: &str| {
        range(&format!("%ok = {with}\n br i1 %two, {to}\n yes: %x = add i64 %any, 0\n ret i64 %x"))
    };
    assert_eq!(body(yes, both), (0, (1 << 15) - 2));
    assert_eq!(body("label %no, label %yes", both), ALL);
    assert_eq!(body(yes, "icmp ult i64 %any, %n\n %two = or i1 %ok, %c"), ALL);
    assert_eq!(body(yes, "icmp ult i64 %any, %n\n %two = select i1 %ok, i1 %c, i1 false"), (0, (1 << 15) - 2));
}

#[test]
fn what_is_left_behind_a_start_is_not_negative() {
    let left = |compared: &str, to: &str| {
        range(&format!(
            "%left = sub i64 %len, %n
            %ok = icmp {compared}
            br i1 %ok, {to}
            yes: %x = add i64 %left, 0
            ret i64 %x"
        ))
    };
    let (low, high) = (1 - (1 << 15), (1 << 30) - 1);
    let (yes, not) = ("label %yes, label %no", "label %no, label %yes");
    assert_eq!(left("uge i64 %len, %n", yes), (0, high));
    assert_eq!(left("ult i64 %len, %n", not), (0, high));
    assert_eq!(left("ult i64 %n, %len", yes), (1, high));
    assert_eq!(left("slt i64 %n, %len", yes), (1, high));
    assert_eq!(left("uge i64 %n, %len", yes), (low, -low));
    // The other way round, another number, and one that may be negative.
    assert_eq!(left("ult i64 %n, %any", yes), (low, high));
    let other = "%left = sub i64 %len, %any\n %ok = icmp slt i64 %any, %len\n br i1 %ok, label %yes, label %no";
    assert_eq!(range(&format!("{other}\n yes: %x = add i64 %left, 0\n ret i64 %x")), ALL);
    // Of 32 bits, less with a sign may be what is more without one: 5 less -3 is 8.
    let half = |predicate: &str| {
        let compared = format!("%five = and i32 %i, 5\n %ok = icmp {predicate} i32 %j, %five");
        let left = format!("%j = xor i32 %i, 9\n {compared}\n %left = sub i32 %five, %j");
        range(&format!("{left}\n br i1 %ok, {yes}\n yes: %x = zext i32 %left to i64\n ret i64 %x"))
    };
    assert_eq!(half("slt"), (0, (1 << 32) - 1));
}

#[test]
fn what_llvm_is_told_where_a_block_begins_is_so() {
    let told = |before: &str| {
        range(&format!(
            "{before}
            %ok = icmp ult i64 %any, %len
            call void @llvm.assume(i1 %ok)
            %x = add i64 %any, 0
            ret i64 %x"
        ))
    };
    assert_eq!(told("%y = add i64 %n, 1"), (0, (1 << 30) - 2));
    assert_eq!(told("%y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()"), (0, (1 << 30) - 2));
    // Control may not come there.
    assert_eq!(told("call void @may_end()"), ALL);
    // The next number of one that is not the last.
    let next = "%ok = icmp ne i32 %i, -1\n call void @llvm.assume(i1 %ok)\n %y = add i32 %i, 1";
    assert_eq!(range(&format!("{next}\n %x = zext i32 %y to i64\n ret i64 %x")), (1, (1 << 32) - 1));
}

#[test]
fn special_registers_have_limits() {
    let register = |name: &str| {
        range(&format!("%y = call i32 @llvm.nvvm.read.ptx.sreg.{name}()\n %x = zext i32 %y to i64\n ret i64 %x"))
    };
    assert_eq!(register("ctaid.y"), (0, 65_534));
    assert_eq!(register("ntid.z"), (1, 64));
}

#[test]
fn a_counter_is_below_its_bound() {
    let counted = |first: &str, again: &str| {
        range(&format!(
            "br label %loop
            loop: %k = phi i64 [ {first}, %0 ], [ %next, %loop ]
              %next = add i64 %k, 1
              %again = {again}
              br i1 %again, label %loop, label %end
            end: %x = add i64 %k, 0
            ret i64 %x"
        ))
    };
    assert_eq!(counted("0", "icmp ult i64 %next, %len"), (0, (1 << 30) - 2));
    assert_eq!(counted("%any", "icmp ult i64 %next, %len"), ALL);
    assert_eq!(counted("0", "icmp ne i64 %next, %len"), ALL);
    assert_eq!(counted("0", "icmp ne i64 %next, %any"), ALL);
}

#[test]
fn a_quotient_times_its_divisor_is_no_more_than_the_dividend() {
    let product = |divisor: &str| {
        range(&format!(
            "%q = udiv i64 %len, %n
            %x = mul i64 %q, {divisor}
            ret i64 %x"
        ))
    };
    assert_eq!(product("%n"), (0, (1 << 30) - 1));
    assert_eq!(product("%any"), ALL);
    assert_eq!(product("%len").1, ((1 << 30) - 1) * ((1 << 30) - 1));
    // What is divided without a rest, and a quotient of at least so much.
    assert_eq!(range("%r = urem i64 %len, %n\n %x = sub i64 %len, %r\n ret i64 %x"), (0, (1 << 30) - 1));
    let least = "%a = and i64 %len, 255\n %b = add i64 %a, 1000\n %x = udiv i64 %b, 10\n ret i64 %x";
    assert_eq!(range(least), (100, 125));
}

#[test]
fn less_than_a_quotient_and_what_a_division_leaves_are_small() {
    let of = |body: &str| range(&format!("%q = udiv i64 %len, %n\n %p = mul i64 %n, %q\n {body}\n ret i64 %x"));
    let (len, n) = ((1 << 30) - 1, (1 << 15) - 1);
    assert_eq!(of("%x = sub i64 %len, %p"), (0, n - 1));
    assert_eq!(of("%x = sub i64 %any, %p"), ALL);
    assert_eq!(of("%x = sub i64 %n, %p"), (-len, n));
    // The row above.
    let above = "%up = call i64 @llvm.usub.sat.i64(i64 %q, i64 1)\n";
    assert_eq!(of(&format!("{above} %x = mul i64 %up, %n")), (0, len));
    assert_eq!(of("%up = add i64 %q, -1\n %x = mul i64 %up, %n").1, (len - 1) * n);
    assert_eq!(of("%up = add i64 %q, 1\n %x = mul i64 %up, %n").1, (len + 1) * n);
}

#[test]
fn what_is_always_so_is_decided() {
    let range = |low, high| Interval::new(low, high);
    assert!(range(0, 5).is_small() && !range(-1, 5).is_small() && range(-1, 5).is_narrow());
    assert!(!range(0, 1 << 31).is_narrow() && range(0, (1 << 32) - 1).is_unsigned());
    // 2^32 has the lower half of 0.
    assert!(range(0, (1 << 32) - 1).is_told_by_lower(range(0, 9)));
    assert!(!range(0, 1 << 32).is_told_by_lower(range(0, 9)));
    assert!(range(1, 1 << 32).is_told_by_lower(range(1, 9)));
    assert!(!range(0, (1 << 32) - 1).is_told_by_lower(range(-1, 9)));
}
