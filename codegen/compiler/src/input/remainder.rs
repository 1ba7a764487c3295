//! Computes a float's remainder by a division where the quotient is small; the builtin, which works on the bits, has the rest.
//!
//! ```text
//! before: %r = call float @fmodf(float %a, float %b)
//! after:  %r = call float @__rust_ptx_quick_fmodf(float %a, float %b)
//!
//! define internal float @__rust_ptx_quick_fmodf(float %a, float %b) alwaysinline {
//!   %x = fabs %a, %y = fabs %b, %quotient = fmul %x, %more       ; %more: a little above 1 / %y
//!   br i1 (%quotient < 2^19 && 2^-100 <= %y < 2^100), label %quick, label %exact
//! quick:
//!   %whole = trunc %quotient
//!   %left = fma (-%whole), %y, %x
//!   %rest = %left < 0 ? add.rn %left, %y : %left
//!   ret %whole == 0 ? %a : copysign %rest, %a
//! exact:
//!   ret call float @fmodf(float %a, float %b)
//! ```
//!
//! A place in a box with periodic borders, an angle, a colour's sector: most quotients are small, and the builtin divides
//! integers, behind a call.
//!
//! **Why it is exact.** `%quotient` is not smaller than the true one and less than 1 larger. In `f32` it is multiplied by
//! 1 + 2^-20: `rcp.approx` is right to 2^-23, and two products are rounded, which makes 2^-22 at most; up to 2^19, 2^-20 and
//! that are .625. In `f64` it is a division rounded to the nearest, and below 2^50 nearest to a quotient is nothing below an
//! integer that the quotient reaches. So `%whole` is the whole quotient or 1 more, and `%x - %whole * %y` lies from `-%y` to
//! below `%y`. It is a multiple of `%y`'s last bit, as `%x` is wherever that is at least `%y`, so it has no more bits than
//! a float, and neither has what is left after `%y` was added: `fma` and sum are exact. If `%x` is less and `%whole` is 1,
//! the difference is exact because the two are close (Sterbenz), and with `%y` it is `%x` again. Limits of `%y` see to it
//! that nothing here is subnormal, which `ftz` would flush; a small `%a` is handed through as it is. No quotient is 0 there
//! that should be 1, because none is too small. What is infinite or NaN fails the tests.

use crate::llvm::{
    Attribute, AttributeLoc, BasicMetadataValueEnum, BuilderError, Context, FloatPredicate, FloatType, FloatValue,
    FunctionValue, IntPredicate, IntType, Intrinsic, Linkage, Module,
};

/// What differs between the two precisions.
struct Precision<'ctx> {
    float: FloatType<'ctx>,
    bits: IntType<'ctx>,
    /// Bits of a mantissa.
    mantissa: u32,
    /// Quotients below this power of two are computed here.
    most: i32,
    /// The divisor's powers of two.
    least: i32,
    largest: i32,
}

/// The function that computes what the builtin does, which it calls.
pub fn quick<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    builtin: FunctionValue<'ctx>,
) -> Result<FunctionValue<'ctx>, BuilderError> {
    let name = format!("__rust_ptx_quick_{}", builtin.get_name().to_string_lossy());
    if let Some(function) = module.get_function(&name) {
        return Ok(function);
    }
    let is_single = builtin.get_type().get_return_type() == Some(context.f32_type().into());
    let precision = if is_single {
        Precision {
            float: context.f32_type(),
            bits: context.i32_type(),
            mantissa: 23,
            most: 19,
            least: -100,
            largest: 100,
        }
    } else {
        Precision {
            float: context.f64_type(),
            bits: context.i64_type(),
            mantissa: 52,
            most: 50,
            least: -900,
            largest: 900,
        }
    };
    let function = module.add_function(&name, builtin.get_type(), Some(Linkage::Internal));
    for attribute in ["alwaysinline", "nounwind"] {
        let kind = Attribute::get_named_enum_kind_id(attribute);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    write(context, module, function, builtin, &precision)?;
    Ok(function)
}

fn write<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    builtin: FunctionValue<'ctx>,
    precision: &Precision<'ctx>,
) -> Result<(), BuilderError> {
    let (float, bits) = (precision.float, precision.bits);
    let builder = context.create_builder();
    let [first, quick, exact] = ["", "quick", "exact"].map(|name| context.append_basic_block(function, name));
    let parameters = [0, 1].map(|index| function.get_nth_param(index).map(|value| value.into_float_value()));
    let [Some(a), Some(b)] = parameters else { return Ok(()) };
    let call = |name: &str, arguments: &[FloatValue<'ctx>]| -> Result<FloatValue<'ctx>, BuilderError> {
        let types: &[_] = if name.starts_with("llvm.nvvm") { &[] } else { &[float.into()] };
        let found = Intrinsic::find(name).and_then(|found| found.get_declaration(module, types));
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = arguments.iter().map(|value| (*value).into()).collect();
        let call = builder.build_call(found.expect("this LLVM has these intrinsics"), &arguments, "")?;
        Ok(call.try_as_basic_value().basic().expect("they give a number").into_float_value())
    };
    let power = |exponent: i32| 2_f64.powi(exponent);

    builder.position_at_end(first);
    let (x, y) = (call("llvm.fabs", &[a])?, call("llvm.fabs", &[b])?);
    let is_single = bits.get_bit_width() == 32;
    let quotient = if is_single {
        let reciprocal = call("llvm.nvvm.rcp.approx.ftz.f", &[y])?;
        let more = builder.build_float_mul(reciprocal, float.const_float(1.0 + power(-20)), "more")?;
        builder.build_float_mul(x, more, "quotient")?
    } else {
        builder.build_float_div(x, y, "quotient")?
    };
    let is_small =
        builder.build_float_compare(FloatPredicate::OLT, quotient, float.const_float(power(precision.most)), "")?;
    // As integers: the limits are powers of two, and what is infinite or NaN is above them. They are the upper half's.
    let upper = context.i32_type();
    let mantissa = precision.mantissa % 32;
    let bias = (1 << (30 - mantissa)) - 1;
    let as_bits = |exponent: i32| u64::from((exponent + bias).unsigned_abs()) << mantissa;
    let (least, largest) = (as_bits(precision.least), as_bits(precision.largest));
    let mut of_b = builder.build_bit_cast(b, bits, "")?.into_int_value();
    if !is_single {
        let shifted = builder.build_right_shift(of_b, bits.const_int(32, false), false, "")?;
        of_b = builder.build_int_truncate(shifted, upper, "")?;
    }
    let of_y = builder.build_and(of_b, upper.const_int(i32::MAX as u64, false), "")?;
    let above = builder.build_int_sub(of_y, upper.const_int(least, false), "")?;
    let fits = builder.build_int_compare(IntPredicate::ULT, above, upper.const_int(largest - least, false), "")?;
    let both = builder.build_and(fits, is_small, "")?;
    builder.build_conditional_branch(both, quick, exact)?;

    builder.position_at_end(quick);
    let whole = call("llvm.trunc", &[quotient])?;
    let left = call("llvm.fma", &[builder.build_float_neg(whole, "")?, y, x])?;
    let zero = float.const_zero();
    let is_below = builder.build_float_compare(FloatPredicate::OLT, left, zero, "")?;
    // Not LLVM's sum: where `%y` is a product, ptxas might fuse that.
    let added = call(if is_single { "llvm.nvvm.add.rn.f" } else { "llvm.nvvm.add.rn.d" }, &[left, y])?;
    let rest = builder.build_select(is_below, added, left, "")?.into_float_value();
    let signed = call("llvm.copysign", &[rest, a])?;
    let is_none = builder.build_float_compare(FloatPredicate::OEQ, whole, zero, "")?;
    let result = builder.build_select(is_none, a, signed, "")?;
    builder.build_return(Some(&result))?;

    builder.position_at_end(exact);
    let call = builder.build_call(builtin, &[a.into(), b.into()], "")?;
    let result = call.try_as_basic_value().basic();
    builder.build_return(result.as_ref().map(|value| value as _))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{self, parse_ir};

    /// What LLVM makes of the function for constants, as bits; none where the builtin is called. `bits` is the width of a float.
    /// LLVM does not know the GPU's reciprocal, for which a quotient stands here.
    fn folded(bits: u32, pairs: &[(u64, u64)]) -> Vec<Option<u64>> {
        let context = Context::create();
        let (ty, name) = if bits == 32 { ("float", "fmodf") } else { ("double", "fmod") };
        let module = parse_ir(&context, format!("declare {ty} @{name}({ty}, {ty})").as_bytes(), "module").unwrap();
        quick(&context, &module, module.get_function(name).unwrap()).unwrap();
        module.verify().unwrap();
        let ir = module.print_to_string().to_string();
        let known = |line: &str| {
            if let Some((before, of)) = line.split_once("call float @llvm.nvvm.rcp.approx.ftz.f(float ") {
                return format!("{before}fdiv float 1.0, {}\n", of.trim_end_matches(')'));
            }
            match line.split_once(&format!("call {ty} @llvm.nvvm.add.rn.")) {
                Some((before, of)) => {
                    let (_, operands) = of.split_once('(').unwrap_or_default();
                    format!("{before}fadd {}\n", operands.trim_end_matches(')').replace(&format!(", {ty}"), ","))
                }
                None => format!("{line}\n"),
            }
        };
        let ir: String = ir.lines().map(known).collect();
        let calls = pairs.iter().enumerate().map(|(at, (a, b))| {
            format!(
                "define i{bits} @t{at}() {{
                %a = bitcast i{bits} {a} to {ty}
                %b = bitcast i{bits} {b} to {ty}
                %r = call {ty} @__rust_ptx_quick_{name}({ty} %a, {ty} %b)
                %bits = bitcast {ty} %r to i{bits}
                ret i{bits} %bits
                }}\n"
            )
        });
        let ir = format!("{ir}\n{}", calls.collect::<String>());
        let module = parse_ir(&context, ir.as_bytes(), "folded").unwrap_or_else(|error| panic!("{error:?}\n{ir}"));
        llvm::run_passes_for_any(
            &module,
            "always-inline,function(instcombine<no-verify-fixpoint>,simplifycfg,instcombine<no-verify-fixpoint>)",
        )
        .unwrap();
        let result = |at: usize| {
            let function = module.get_function(&format!("t{at}"))?;
            match function.get_last_basic_block()?.get_terminator()?.get_operand(0)?.value()? {
                llvm::BasicValueEnum::IntValue(value) => {
                    Some(value.get_zero_extended_constant()? & (u64::MAX >> (64 - bits)))
                }
                _ => None,
            }
        };
        (0..pairs.len()).map(result).collect()
    }

    /// That the results that are not the builtin's are the host's, as bits; most are.
    fn folds_to(bits: u32, pairs: &[(u64, u64)], host: impl Fn(u64, u64) -> u64) {
        let results = folded(bits, pairs);
        let quick: Vec<_> = pairs.iter().zip(&results).filter_map(|(pair, result)| Some((*pair, (*result)?))).collect();
        assert!(quick.len() > pairs.len() / 2, "{}", quick.len());
        for ((a, b), result) in quick {
            assert_eq!(result, host(a, b), "{a:#x} % {b:#x}");
        }
    }

    #[test]
    fn what_is_written_is_exact() {
        let mut numbers = random();
        let mut next = || numbers.next().unwrap();
        let mut pairs =
            vec![(0x40e0_0000, 0x4000_0000), (0x8000_0000, 0x3f80_0000), (1, 0x3f80_0000), (0x7f80_0000, 0x3f80_0000)];
        pairs.extend((0..200).map(|_| {
            let b = f32::from_bits(next() as u32);
            let a = b * (next() >> (44 + next() % 20)) as f32;
            (u64::from(a.to_bits().wrapping_add(next() as u32 % 3)), u64::from(b.to_bits()))
        }));
        folds_to(32, &pairs, |a, b| u64::from((f32::from_bits(a as u32) % f32::from_bits(b as u32)).to_bits()));
        let pairs: Vec<_> = (0..200)
            .map(|_| {
                let b = f64::from_bits(next());
                let a = b * (next() >> (14 + next() % 50)) as f64;
                (a.to_bits().wrapping_add(next() % 3), b.to_bits())
            })
            .collect();
        folds_to(64, &pairs, |a, b| (f64::from_bits(a) % f64::from_bits(b)).to_bits());
    }

    /// What is written, in the order and with the limits that are written.
    fn remainder(a: f32, b: f32, reciprocal: f32) -> Option<f32> {
        let (x, y) = (a.abs(), b.abs());
        let quotient = x * (reciprocal * (1.0 + 2_f32.powi(-20)));
        if !(quotient < 2_f32.powi(19) && (2_f32.powi(-100)..2_f32.powi(100)).contains(&y)) {
            return None;
        }
        let whole = quotient.trunc();
        let left = (-whole).mul_add(y, x);
        let rest = if left < 0.0 { left + y } else { left };
        Some(if whole == 0.0 { a } else { rest.copysign(a) })
    }

    fn double(a: f64, b: f64) -> Option<f64> {
        let (x, y) = (a.abs(), b.abs());
        let quotient = x / y;
        if !(quotient < 2_f64.powi(50) && (2_f64.powi(-900)..2_f64.powi(900)).contains(&y)) {
            return None;
        }
        let whole = quotient.trunc();
        let left = (-whole).mul_add(y, x);
        let rest = if left < 0.0 { left + y } else { left };
        Some(if whole == 0.0 { a } else { rest.copysign(a) })
    }

    fn random() -> impl Iterator<Item = u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
    }

    /// Also if the GPU's reciprocal is wrong in its last bit. Near a multiple of the divisor the quotient decides.
    #[test]
    fn small_quotients_are_exact() {
        let mut numbers = random();
        let mut next = || numbers.next().unwrap();
        let mut quick = 0;
        for _ in 0..400_000 {
            let b = f32::from_bits(next() as u32);
            let times = (next() >> (44 + next() % 20)) as f32;
            let near = f32::from_bits((b * times).to_bits().wrapping_add((next() % 5) as u32).wrapping_sub(2));
            let any = b * times * (next() as f32 / u64::MAX as f32);
            for a in [near, any, f32::from_bits(next() as u32)] {
                let reciprocal = 1.0 / b.abs();
                for reciprocal in [reciprocal.next_down(), reciprocal, reciprocal.next_up()] {
                    if let Some(ours) = remainder(a, b, reciprocal) {
                        assert_eq!(ours.to_bits(), (a % b).to_bits(), "{a:e} % {b:e}: {ours:e}");
                        quick += 1;
                    }
                }
            }
        }
        assert!(quick > 1_000_000, "{quick}");
    }

    #[test]
    fn small_quotients_of_doubles_are_exact() {
        let mut numbers = random();
        let mut next = || numbers.next().unwrap();
        let mut quick = 0;
        for _ in 0..400_000 {
            let b = f64::from_bits(next());
            let times = (next() >> (13 + next() % 50)) as f64;
            let near = f64::from_bits((b * times).to_bits().wrapping_add(next() % 5).wrapping_sub(2));
            for a in [near, b * times * (next() as f64 / u64::MAX as f64), f64::from_bits(next())] {
                if let Some(ours) = double(a, b) {
                    assert_eq!(ours.to_bits(), (a % b).to_bits(), "{a:e} % {b:e}: {ours:e}");
                    quick += 1;
                }
            }
        }
        assert!(quick > 400_000, "{quick}");
    }
}
