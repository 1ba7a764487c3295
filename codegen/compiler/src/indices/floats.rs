//! Between which numbers a float lies, and what it is turned into: an index that was computed as a float.
//!
//! ```text
//! %last = uitofp i64 %width.less to float                                        ; 0 to 32767
//! %most = select i1 (fcmp ogt float %x, float %last), float %last, float %x      ; 32767 at most, or no number
//! %down = call float @llvm.floor.f32(float %most)                                ; the same
//! %left = call i64 @llvm.fptoui.sat.i64.f32(float %down)                         ; 0 to 32767
//! ```
//!
//! **Why it is right.** Both ends are whole numbers that the type has, or infinite. Rounding keeps the order of numbers and
//! leaves those of the type as they are, so what lies between two ends before it is rounded does after it, too: by `add` and its
//! like, to a whole number, or into another type, whose ends are moved outward first. Operations that may be computed
//! otherwise, as with `reassoc`, and quotients, which are approximated, are any number. Of what may be NaN the ends hold if
//! it is a number; a comparison with it tells nothing, and it is turned into 0.

use super::ranges::{Facts, Interval, Ranges};
use crate::llvm::{
    self, AnyTypeEnum, BasicValue, Builder, BuilderError, Context, FloatPredicate as Is, FloatValue,
    InstructionOpcode as Op, InstructionValue, IntValue, Intrinsic, Module, Use,
};

/// Where a double's exponent begins.
const EXPONENT: u32 = f64::MANTISSA_DIGITS - 1;

/// How many users of a float are looked at for what it is turned into.
const MOST_USERS: usize = 16;

/// A conversion into an integer that ends where the integer's type does (`llvm.fptoui.sat`, `llvm.fptosi.sat`).
#[derive(Clone, Copy)]
pub struct Cast<'ctx> {
    pub signed: bool,
    pub float: FloatValue<'ctx>,
    bits: u32,
}

impl<'ctx> Cast<'ctx> {
    pub fn of(call: InstructionValue<'ctx>) -> Option<Self> {
        let callee = llvm::called_function(call)?;
        let signed = match callee.get_name().to_bytes() {
            name if name.starts_with(b"llvm.fptosi.sat.") => true,
            name if name.starts_with(b"llvm.fptoui.sat.") => false,
            _ => return None,
        };
        let AnyTypeEnum::IntType(ty) = call.get_type() else { return None };
        let bits = Some(ty.get_bit_width()).filter(|bits| *bits <= 64)?;
        Some(Self { signed, float: llvm::float_operand(call, 0)?, bits })
    }

    /// The same into 32 bits.
    pub fn build_narrow(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        builder: &Builder<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let name = if self.signed { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
        let types = [context.i32_type().into(), self.float.get_type().into()];
        let function = Intrinsic::find(name).and_then(|intrinsic| intrinsic.get_declaration(module, &types));
        let call = builder.build_call(function.expect("LLVM has its intrinsics"), &[self.float.into()], "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
    }

    /// What it makes of such floats, as the number has a sign or not; none, if an interval of its type has no room for that.
    fn interval(self, reals: Reals) -> Option<Interval> {
        let of_type = if self.signed { Interval::with_sign(self.bits) } else { Interval::new(0, (1 << self.bits) - 1) };
        // `as` stops at the ends of its type.
        let (low, high) = ((reals.low as i128).max(of_type.low), (reals.high as i128).min(of_type.high));
        let ends = Interval::new(low.min(of_type.high), high.max(of_type.low));
        let all = if reals.is_number { ends } else { ends.join(Interval::new(0, 0)) };
        all.is_inside(Interval::of_bits(self.bits)).then_some(all)
    }
}

/// Floats from one to another, both included, and what is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reals {
    low: f64,
    high: f64,
    is_number: bool,
}

impl Reals {
    const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, is_number: false };

    /// Those of a type whose mantissa has so many bits, at least these.
    fn of(low: f64, high: f64, is_number: bool, mantissa: i32) -> Self {
        let reals = Self { low: -above(-low, mantissa), high: above(high, mantissa), is_number };
        if low.is_nan() || high.is_nan() { Self::ANY } else { reals }
    }

    fn join(self, other: Self) -> Self {
        let is_number = self.is_number && other.is_number;
        Self { low: self.low.min(other.low), high: self.high.max(other.high), is_number }
    }

    fn is_finite(self) -> bool {
        self.is_number && self.low.is_finite() && self.high.is_finite()
    }

    fn sum(self, other: Self, mantissa: i32) -> Self {
        let is_number = self.is_finite() && other.is_finite();
        Self::of(self.low + other.low, self.high + other.high, is_number, mantissa)
    }

    fn minus(self) -> Self {
        Self { low: -self.high, high: -self.low, is_number: self.is_number }
    }

    fn product(self, other: Self, mantissa: i32) -> Self {
        // 0 times infinity is no number, and neither is what is made of it.
        let ends = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        if ends.iter().any(|end| end.is_nan()) {
            return Self::ANY;
        }
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self::of(low, high, self.is_finite() && other.is_finite(), mantissa)
    }

    /// The lesser of two, or the one that is a number.
    fn min(self, other: Self) -> Self {
        let high = match (self.is_number, other.is_number) {
            (true, true) => self.high.min(other.high),
            (true, false) => self.high,
            (false, true) => other.high,
            (false, false) => self.high.max(other.high),
        };
        Self { low: self.low.min(other.low), high, is_number: self.is_number || other.is_number }
    }

    /// The lesser of two, or no number where one is none.
    fn minimum(self, other: Self) -> Self {
        let is_number = self.is_number && other.is_number;
        Self { low: self.low.min(other.low), high: self.high.min(other.high), is_number }
    }

    /// Those that compare so with others, or are no numbers.
    fn told(self, is: Told, other: Self) -> Self {
        let is_number = self.is_number || is.is_number;
        match is.order {
            _ if !other.is_number && !is.is_number => self,
            Order::Below => Self { high: self.high.min(other.high), is_number, ..self },
            Order::Above => Self { low: self.low.max(other.low), is_number, ..self },
        }
    }
}

/// The least power of two that is not below a whole number, or that number where a mantissa of so many bits has room for it.
fn above(number: f64, mantissa: i32) -> f64 {
    let number = number.ceil();
    if number.abs() <= 2.0_f64.powi(mantissa) || number.is_infinite() {
        return number;
    }
    // What was computed with more bits than there are may have been rounded down.
    let number =
        if number.abs() < 2.0_f64.powi(f64::MANTISSA_DIGITS.cast_signed()) { number } else { number.next_up() };
    let below = f64::from_bits(number.abs().to_bits() >> EXPONENT << EXPONENT);
    let is_infinite = |power: f64| mantissa < f64::MANTISSA_DIGITS.cast_signed() && power > f64::from(f32::MAX);
    match number {
        ..0.0 if is_infinite(below) => f64::from(f32::MIN),
        ..0.0 => -below,
        _ if below < number && is_infinite(2.0 * below) => f64::INFINITY,
        _ if below < number => 2.0 * below,
        _ => below,
    }
}

/// How a float compares with another one.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Below,
    Above,
}

/// What a comparison that held or not tells of its left side.
#[derive(Clone, Copy)]
struct Told {
    order: Order,
    /// Whether both sides are numbers.
    is_number: bool,
}

impl Told {
    /// Of equal numbers the one end, which is what counts.
    fn by(predicate: Is, holds: bool) -> Option<Self> {
        let (order, is_number) = match (predicate, holds) {
            (Is::OLT | Is::OLE | Is::OEQ, true) | (Is::UGT | Is::UGE, false) => (Order::Below, true),
            (Is::ULT | Is::ULE, true) | (Is::OGT | Is::OGE, false) => (Order::Below, false),
            (Is::OGT | Is::OGE, true) | (Is::ULT | Is::ULE, false) => (Order::Above, true),
            (Is::UGT | Is::UGE, true) | (Is::OLT | Is::OLE, false) => (Order::Above, false),
            _ => return None,
        };
        Some(Self { order, is_number })
    }

    /// The same of the right side.
    fn turned(self) -> Self {
        let order = if self.order == Order::Below { Order::Above } else { Order::Below };
        Self { order, ..self }
    }
}

impl<'ctx> Ranges<'_, 'ctx> {
    /// Between which numbers an integer lies that a float is turned into.
    pub(super) fn cast(&self, call: InstructionValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> Option<Interval> {
        let cast = Cast::of(call)?;
        cast.interval(self.reals(cast.float, facts, steps))
    }

    /// What a comparison of floats that holds, or does not, tells of integers that these are turned into.
    pub(super) fn learn_of_casts(
        &self,
        comparison: InstructionValue<'ctx>,
        holds: bool,
        facts: &mut Facts<'ctx>,
        steps: u32,
    ) {
        let told = comparison.get_fcmp_predicate().and_then(|predicate| Told::by(predicate, holds));
        let sides = llvm::float_operand(comparison, 0).zip(llvm::float_operand(comparison, 1));
        let (Some(told), Some((left, right))) = (told, sides) else { return };
        for (value, other, told) in [(left, right, told), (right, left, told.turned())] {
            let casts = casts_of(value);
            if casts.is_empty() {
                continue;
            }
            let limit = self.reals(other, facts, steps);
            for (result, cast) in casts {
                if let Some(interval) = cast.interval(Reals::ANY.told(told, limit)) {
                    facts.push((result, interval));
                }
            }
        }
    }

    fn reals(&self, value: FloatValue<'ctx>, facts: &Facts<'ctx>, steps: u32) -> Reals {
        if let Some((constant, _)) = value.get_constant() {
            return if constant.is_nan() { Reals::ANY } else { Reals::of(constant, constant, true, mantissa(value)) };
        }
        let from = value.as_instruction_value().filter(|_| steps > 0);
        from.and_then(|from| self.computed(from, mantissa(value), facts, steps - 1)).unwrap_or(Reals::ANY)
    }

    fn computed(&self, from: InstructionValue<'ctx>, mantissa: i32, facts: &Facts<'ctx>, steps: u32) -> Option<Reals> {
        let float = |index| llvm::float_operand(from, index).map(|value| self.reals(value, facts, steps));
        Some(match from.get_opcode() {
            Op::UIToFP | Op::SIToFP => {
                let value = llvm::int_operand(from, 0)?;
                let signed = from.get_opcode() == Op::SIToFP;
                let range = self.look(value, facts, steps).read(signed, value.get_type().get_bit_width().min(64));
                Reals::of(range.low as f64, range.high as f64, true, mantissa)
            }
            Op::FPExt => float(0)?,
            Op::FPTrunc => {
                let wide = float(0)?;
                Reals::of(wide.low, wide.high, wide.is_number, mantissa)
            }
            Op::FNeg => float(0)?.minus(),
            Op::FAdd if llvm::is_rounded(from) => float(0)?.sum(float(1)?, mantissa),
            Op::FSub if llvm::is_rounded(from) => float(0)?.sum(float(1)?.minus(), mantissa),
            Op::FMul if llvm::is_rounded(from) => float(0)?.product(float(1)?, mantissa),
            Op::Select => {
                let arm = |index, holds| self.arm(from, index, holds, facts, steps);
                arm(1, true)?.join(arm(2, false)?)
            }
            Op::Call => {
                let name = llvm::called_function(from)?.get_name().to_string_lossy().into_owned();
                match name.strip_prefix("llvm.")?.rsplit_once('.')?.0 {
                    "floor" | "ceil" | "trunc" | "rint" | "nearbyint" | "round" | "roundeven" => float(0)?,
                    "minnum" | "minimumnum" => float(0)?.min(float(1)?),
                    "maxnum" | "maximumnum" => float(0)?.minus().min(float(1)?.minus()).minus(),
                    "minimum" => float(0)?.minimum(float(1)?),
                    "maximum" => float(0)?.minus().minimum(float(1)?.minus()).minus(),
                    "fma" | "fmuladd" if llvm::is_rounded(from) => {
                        float(0)?.product(float(1)?, mantissa).sum(float(2)?, mantissa)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// What one of two numbers is that a comparison chose.
    fn arm(
        &self,
        choice: InstructionValue<'ctx>,
        index: u32,
        holds: bool,
        facts: &Facts<'ctx>,
        steps: u32,
    ) -> Option<Reals> {
        let value = llvm::float_operand(choice, index)?;
        let reals = self.reals(value, facts, steps);
        let comparison = llvm::int_operand(choice, 0).and_then(|condition| condition.as_instruction_value());
        let comparison = comparison.filter(|from| from.get_opcode() == Op::FCmp);
        let sides = comparison.and_then(|from| llvm::float_operand(from, 0).zip(llvm::float_operand(from, 1)));
        let told = comparison.and_then(|from| from.get_fcmp_predicate()).and_then(|is| Told::by(is, holds));
        Some(match (sides, told) {
            (Some((left, right)), Some(told)) if value == left => reals.told(told, self.reals(right, facts, steps)),
            (Some((left, right)), Some(told)) if value == right => {
                reals.told(told.turned(), self.reals(left, facts, steps))
            }
            _ => reals,
        })
    }
}

/// How many bits the mantissa has of a number of single or double precision.
fn mantissa(value: FloatValue<'_>) -> i32 {
    if value.get_type().get_bit_width() == 32 { 24 } else { 53 }
}

/// The integers that a float, or that float as a whole number, is turned into.
fn casts_of<'ctx>(value: FloatValue<'ctx>) -> Vec<(IntValue<'ctx>, Cast<'ctx>)> {
    if value.is_const() {
        return Vec::new();
    }
    let users = |value: FloatValue<'ctx>| {
        llvm::uses(&value).into_iter().take(MOST_USERS).filter_map(|user| match user {
            Use::Instruction(user) => Some(user),
            Use::Global(_) => None,
        })
    };
    let is_whole = |user: &InstructionValue<'ctx>| {
        const NAMES: [&[u8]; 3] = [b"llvm.floor.", b"llvm.trunc.", b"llvm.ceil."];
        llvm::called_function(*user)
            .is_some_and(|callee| NAMES.iter().any(|name| callee.get_name().to_bytes().starts_with(name)))
    };
    let whole = users(value).filter(is_whole).filter_map(llvm::float_result).flat_map(users);
    let all = users(value).chain(whole);
    all.filter_map(|user| Cast::of(user).map(|cast| (llvm::result(user).into_int_value(), cast))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::QuickMap;
    use crate::llvm::parse_ir;
    use crate::loops::Graph;

    const ALL: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

    /// Between which numbers `%i` lies where it is returned; `%n` is below 2^15, `%len` below 2^30.
    fn range(body: &str) -> (i128, i128) {
        let text = format!(
            "declare i64 @llvm.fptoui.sat.i64.f32(float)
            declare i64 @llvm.fptosi.sat.i64.f32(float)
            declare i32 @llvm.fptosi.sat.i32.f64(double)
            declare float @llvm.floor.f32(float)
            declare float @llvm.minnum.f32(float, float)
            declare float @llvm.minimum.f32(float, float)
            declare float @llvm.fma.f32(float, float, float)
            define i64 @f(i64 %n, i64 %len, float %x, float %y) {{
              %w = uitofp i64 %n to float
              {body}
              ret i64 %i
            no: ret i64 0
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let param = |at, bits: u32| {
            (function.get_nth_param(at).unwrap().into_int_value(), Interval::new(0, (1_i128 << bits) - 1))
        };
        let given = QuickMap::from_iter([param(0, 15), param(1, 30)]);
        let (graph, same) = (Graph::of(function), QuickMap::default());
        let ranges = Ranges::of_function(&graph, &given, &same);
        let end = llvm::instructions(function).find(|end| end.get_opcode() == Op::Return).unwrap();
        let found = ranges.in_block(llvm::int_operand(end, 0).unwrap(), end.get_parent().unwrap());
        (found.low, found.high)
    }

    const CAST: &str = "%i = call i64 @llvm.fptoui.sat.i64.f32(float %f)";
    const CAST_SIGNED: &str = "%i = call i64 @llvm.fptosi.sat.i64.f32(float %f)";

    #[test]
    fn what_is_computed_lies_between_ends() {
        for (text, expected) in [
            ("%f = fadd float %w, 0.5", (0, 32_768)),
            ("%f = fsub contract float %w, 0.5", (-1, 32_767)),
            ("%f = fmul float %w, -2.0", (-65_534, 0)),
            ("%f = fneg float %w", (-32_767, 0)),
            ("%f = call float @llvm.fma.f32(float %w, float %w, float 1.0)", (1, 1 << 31)),
            // 2^30 - 1 is no float.
            ("%f = uitofp i64 %len to float", (0, 1 << 30)),
            ("%d = uitofp i64 %len to double\n %f = fptrunc double %d to float", (0, 1 << 30)),
            ("%m = add i64 %n, -1\n %f = sitofp i64 %m to float", (-1, 32_766)),
            ("%f = call float @llvm.minnum.f32(float %x, float %w)", (ALL.0, 32_767)),
            ("%f = fdiv float %w, 2.0", ALL),
            ("%f = fadd reassoc float %w, 0.5", ALL),
            ("%f = fadd float %x, 0.5", ALL),
        ] {
            assert_eq!(range(&format!("{text}\n {CAST_SIGNED}")), expected, "{text}");
        }
        assert_eq!(range(&format!("%m = add i64 %n, -1\n %f = uitofp i64 %m to float\n {CAST}")), ALL);
        assert_eq!(range(&format!("%f = fsub float %w, 0.5\n {CAST}")), (0, 32_767));
    }

    #[test]
    fn a_comparison_tells_where_numbers_are_compared() {
        let chosen = |is: &str, limit: &str, [then, other]: [&str; 2], cast: &str| {
            range(&format!(
                "%l = call float @llvm.minimum.f32(float %y, float 255.0)
                %c = fcmp {is} float %x, {limit}
                %g = select i1 %c, float {then}, float {other}
                %f = call float @llvm.floor.f32(float %g)
                {cast}"
            ))
        };
        assert_eq!(chosen("ogt", "%w", ["%w", "%x"], CAST), (0, 32_767));
        assert_eq!(chosen("ule", "%w", ["%x", "%w"], CAST), (0, 32_767));
        assert_eq!(chosen("ogt", "%w", ["%w", "%x"], CAST_SIGNED), (ALL.0, 32_767));
        assert_eq!(chosen("olt", "0.0", ["0.0", "%x"], CAST_SIGNED), (0, ALL.1));
        // The other one is chosen.
        assert_eq!(chosen("ogt", "%w", ["%x", "%w"], CAST), ALL);
        // No number is 7 or above, and becomes 0.
        assert_eq!(chosen("ult", "7.0", ["7.0", "%x"], CAST_SIGNED), (7, ALL.1));
        assert_eq!(chosen("olt", "7.0", ["7.0", "%x"], CAST_SIGNED), (0, ALL.1));
        // What is compared with may be no number; then everything is chosen.
        assert_eq!(chosen("ogt", "%l", ["%l", "%x"], CAST), ALL);
        assert_eq!(chosen("ole", "%l", ["%x", "%l"], CAST), (0, 255));
    }

    #[test]
    fn branches_tell_of_casts() {
        let told = |condition: &str, to: &str, cast: &str| {
            range(&format!("%c = {condition}\n br i1 %c, {to}\n yes: %f = fadd float %x, 0.0\n {cast}"))
        };
        let direct = CAST.replace("%f", "%x");
        let floor = "%g = call float @llvm.floor.f32(float %x)\n %i = call i64 @llvm.fptosi.sat.i64.f32(float %g)";
        let yes = "label %yes, label %no";
        assert_eq!(told("fcmp olt float %x, %w", yes, &direct), (0, 32_767));
        assert_eq!(told("fcmp oge float %x, %w", "label %no, label %yes", &direct), (0, 32_767));
        assert_eq!(told("fcmp ogt float %w, %x", yes, floor), (ALL.0, 32_767));
        assert_eq!(told("fcmp ogt float %x, 3.5", yes, floor), (3, ALL.1));
        // It may be no number.
        assert_eq!(told("fcmp ole float %x, 3.5", "label %no, label %yes", floor), (0, ALL.1));
        assert_eq!(told("fcmp olt float %x, %y", yes, &direct), ALL);
        assert_eq!(told("fcmp oge float %x, %w", yes, &direct), ALL);
    }

    #[test]
    fn ends_hold_whatever_is_computed() {
        arbtest::arbtest(|u| {
            let mut number = || -> arbtest::arbitrary::Result<f32> {
                let whole = *u.choose(&[0.0, 1.0, 255.0, 16_777_216.0, 16_777_218.0, 1e9, 3e30, -1.0, -7.0, -1e10])?;
                let number = if u.ratio(1, 2)? { whole } else { f32::from_bits(u.arbitrary()?) };
                Ok(if number.is_nan() { 0.0 } else { number })
            };
            let of = |a: f32, b: f32| Reals::of(a.min(b).into(), a.max(b).into(), true, 24);
            let (a, b, c, d) = (number()?, number()?, number()?, number()?);
            let (left, right) = (of(a, b), of(c, d));
            let holds = |reals: Reals, value: f32| {
                let value = f64::from(value);
                reals.low <= value && value <= reals.high || value.is_nan() && !reals.is_number
            };
            for (one, other) in [(a, c), (a, d), (b, c), (b, d)] {
                assert!(holds(left.sum(right, 24), one + other), "{one} + {other}: {:?}", left.sum(right, 24));
                assert!(holds(left.product(right, 24), one * other), "{one} * {other}: {:?}", left.product(right, 24));
                assert!(holds(left.minus(), -one), "-{one}");
                assert!(holds(left.min(right), one.min(other)), "{one}, {other}");
            }
            Ok(())
        })
        .budget(crate::random::budget(300));
    }
}
