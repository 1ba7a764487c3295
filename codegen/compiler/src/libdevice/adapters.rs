//! Builds the functions between a caller and a function of the library, which are always inlined.
//!
//! A caller wants `<2 x half> (<2 x half>)` or `{ double, i32 } (double)`; the library has `float (float)` and
//! `double (double, ptr)`:
//!
//! ```text
//! define internal <2 x half> @…(<2 x half> %0) alwaysinline {
//!   %2 = extractelement <2 x half> %0, i32 0
//!   %3 = fpext half %2 to float
//!   %4 = call float @__nv_sinf(float %3)
//!   %5 = fptrunc float %4 to half            and so for lane 1
//!   %10 = insertelement <2 x half> poison, half %5, i32 0
//! ```

use std::collections::BTreeMap;

use super::names::{Function, Width};
use crate::llvm::{
    self, AddressSpace, AggregateValueEnum, Attribute, AttributeLoc, BasicMetadataTypeEnum, BasicMetadataValueEnum,
    BasicType, BasicTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError, Context, FloatPredicate, FunctionType,
    FunctionValue, IntPredicate, Intrinsic, Linkage, Module, PointerValue,
};

/// What LLVM calls by name, and `reflect` answers.
const REFLECT: &str = "__nvvm_reflect";

/// What it is asked here.
const QUESTION: &[u8] = b"__CUDA_USE_FAST_MATH";

/// Functions that are to be built, by name.
#[derive(Default)]
pub struct Adapters<'ctx> {
    bodies: BTreeMap<String, Body<'ctx>>,
}

/// What one of them does.
enum Body<'ctx> {
    /// Chooses between libdevice's accurate function and its fast twin, by the mode of the function that it is inlined
    /// into: `reflect` answers this question with the others.
    Choice(&'static Function),
    /// One of C's functions that libdevice does not have, made of those it has.
    Ours(&'static Function, Width),
    /// Calls a function of another type.
    Adapter(Plan<'ctx>),
}

impl<'ctx> Adapters<'ctx> {
    /// Chooses between libdevice's two functions.
    pub fn choose(&mut self, name: &str, function: &'static Function) {
        self.bodies.insert(name.into(), Body::Choice(function));
    }

    /// One of C's functions that libdevice does not have.
    pub fn define_ours(&mut self, name: &str, function: &'static Function, width: Width) {
        self.bodies.insert(name.into(), Body::Ours(function, width));
    }

    /// A function of type `ty` that calls `callee`, which has the C signature of `function`, for every lane, and gives
    /// back as values what C hands over through pointers. False if `ty` is not of that form.
    pub fn adapt(
        &mut self,
        context: &'ctx Context,
        name: &str,
        ty: FunctionType<'ctx>,
        (function, width): (&Function, Width),
        callee: String,
    ) -> bool {
        let plan = Plan::new(context, ty, function, width, callee);
        plan.map(|plan| self.bodies.insert(name.into(), Body::Adapter(plan))).is_some()
    }

    /// Builds all of them in a module, in the place of what is declared there.
    pub fn build(&self, context: &'ctx Context, module: &Module<'ctx>) -> Result<(), BuilderError> {
        let mut writer = Writer { context, module, builder: context.create_builder(), question: None };
        self.bodies.iter().try_for_each(|(name, body)| match body {
            Body::Choice(function) => writer.choice(name, function),
            Body::Ours(function, width) => writer.ours(name, function, *width),
            Body::Adapter(plan) => writer.adapter(name, plan),
        })
    }
}

/// LLVM's type for a letter of a shape; none for `v`.
fn type_of(context: &Context, letter: char, width: Width) -> Option<BasicTypeEnum<'_>> {
    match letter {
        'x' if width == Width::Single => Some(context.f32_type().into()),
        'x' => Some(context.f64_type().into()),
        'i' => Some(context.i32_type().into()),
        'l' => Some(context.i64_type().into()),
        'p' => Some(context.ptr_type(AddressSpace::default()).into()),
        _ => None,
    }
}

/// The type of C's function.
pub fn signature<'ctx>(context: &'ctx Context, function: &Function, width: Width) -> FunctionType<'ctx> {
    let (letters, result) = function.parts();
    let params: Vec<_> = letters.chars().filter_map(|letter| type_of(context, letter, width)).collect();
    type_from(context, &params, type_of(context, result, width))
}

fn type_from<'ctx>(
    context: &'ctx Context,
    params: &[BasicTypeEnum<'ctx>],
    result: Option<BasicTypeEnum<'ctx>>,
) -> FunctionType<'ctx> {
    let params: Vec<BasicMetadataTypeEnum<'ctx>> = params.iter().map(|param| (*param).into()).collect();
    match result {
        Some(result) => result.fn_type(&params, false),
        None => context.void_type().fn_type(&params, false),
    }
}

/// The precision in which floats of a type, or vectors of them, are computed; none for those that GPUs do not have.
pub fn width_of(ty: BasicTypeEnum<'_>) -> Option<Width> {
    let BasicTypeEnum::FloatType(ty) = element(ty) else { return None };
    match ty.get_bit_width() {
        16 | 32 => Some(Width::Single),
        64 => Some(Width::Double),
        _ => None,
    }
}

/// The type of a vector's elements, or the type itself.
fn element(ty: BasicTypeEnum<'_>) -> BasicTypeEnum<'_> {
    match ty {
        BasicTypeEnum::VectorType(vector) => vector.get_element_type(),
        scalar => scalar,
    }
}

/// How many elements a vector has; 0 for a scalar.
fn lanes(ty: BasicTypeEnum<'_>) -> u32 {
    match ty {
        BasicTypeEnum::VectorType(vector) => vector.get_size(),
        _ => 0,
    }
}

/// Whether [`Writer::convert`] makes the one of the other.
fn is_convertible(from: BasicTypeEnum<'_>, to: BasicTypeEnum<'_>) -> bool {
    match (from, to) {
        _ if from == to => true,
        (BasicTypeEnum::IntType(_), BasicTypeEnum::IntType(_)) => true,
        (BasicTypeEnum::FloatType(from), BasicTypeEnum::FloatType(to)) => {
            matches!((from.get_bit_width(), to.get_bit_width()), (16, 32) | (32, 16))
        }
        _ => false,
    }
}

/// How calls of a C function make up a function of another type.
struct Plan<'ctx> {
    /// The C function's name, and the type of the other.
    callee: String,
    ty: FunctionType<'ctx>,
    /// Of the C function: what is passed by value, what it returns, and what it writes through pointers.
    inputs: Vec<BasicTypeEnum<'ctx>>,
    returned: Option<BasicTypeEnum<'ctx>>,
    written: Vec<BasicTypeEnum<'ctx>>,
    /// Of the other one: the parts of its result, and the number of lanes, 0 for scalars.
    results: Vec<BasicTypeEnum<'ctx>>,
    lanes: u32,
}

impl<'ctx> Plan<'ctx> {
    /// None if the types are not of that form.
    fn new(
        context: &'ctx Context,
        ty: FunctionType<'ctx>,
        function: &Function,
        width: Width,
        callee: String,
    ) -> Option<Self> {
        let (letters, result) = function.parts();
        let by_value = letters.chars().filter(|letter| *letter != 'p');
        let inputs = by_value.map(|letter| type_of(context, letter, width)).collect::<Option<Vec<_>>>()?;
        let returned = type_of(context, result, width);
        // Everything that is written is a float, but for three integers.
        let letter = if matches!(function.stem, "frexp" | "remquo" | "lgamma_r") { 'i' } else { 'x' };
        let written = vec![type_of(context, letter, width)?; letters.len() - inputs.len()];

        let params = ty.get_param_types().into_iter().map(|param| BasicTypeEnum::try_from(param).ok());
        let params = params.collect::<Option<Vec<_>>>()?;
        let results = match ty.get_return_type()? {
            BasicTypeEnum::StructType(tuple) => tuple.get_field_types(),
            BasicTypeEnum::ArrayType(array) => vec![array.get_element_type(); array.len() as usize],
            one => vec![one],
        };
        let count = params.iter().map(|param| lanes(*param)).max()?;
        let given: Vec<_> = returned.into_iter().chain(written.iter().copied()).collect();
        let fits = params.len() == inputs.len()
            && results.len() == given.len()
            // A scalar counts for all lanes.
            && params.iter().all(|param| [0, count].contains(&lanes(*param)))
            && results.iter().all(|result| lanes(*result) == count)
            && params.iter().zip(&inputs).all(|(param, input)| is_convertible(element(*param), *input))
            && given.iter().zip(&results).all(|(given, result)| is_convertible(*given, element(*result)));
        fits.then_some(Self { callee, ty, inputs, returned, written, results, lanes: count })
    }

    /// The type of the C function.
    fn callee_type(&self, context: &'ctx Context) -> FunctionType<'ctx> {
        let pointers = self.written.iter().map(|_| context.ptr_type(AddressSpace::default()).into());
        let params: Vec<_> = self.inputs.iter().copied().chain(pointers).collect();
        type_from(context, &params, self.returned)
    }
}

/// Builds bodies.
struct Writer<'ctx, 'a> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    question: Option<PointerValue<'ctx>>,
}

impl<'ctx> Writer<'ctx, '_> {
    /// See [`Body::Choice`].
    fn choice(&mut self, name: &str, function: &Function) -> Result<(), BuilderError> {
        let ty = signature(self.context, function, Width::Single);
        let made = self.define(name, ty);
        let question = self.question();
        let int = self.context.i32_type();
        let asked = type_from(self.context, &[question.get_type().into()], Some(int.into()));
        let mode = self.value(REFLECT, asked, &[question.into()])?.into_int_value();
        let is_fast = self.builder.build_int_compare(IntPredicate::NE, mode, int.const_zero(), "")?;
        let [fast, accurate] = ["fast", "accurate"].map(|label| self.context.append_basic_block(made, label));
        self.builder.build_conditional_branch(is_fast, fast, accurate)?;
        for (block, prefix) in [(fast, "__nv_fast_"), (accurate, "__nv_")] {
            self.builder.position_at_end(block);
            let callee = format!("{prefix}{}", function.c_name(Width::Single));
            let result = self.call(&callee, ty, &made.get_params())?;
            self.builder.build_return(result.as_ref().map(|result| result as &dyn BasicValue<'ctx>))?;
        }
        Ok(())
    }

    /// See [`Body::Ours`].
    fn ours(&self, name: &str, function: &Function, width: Width) -> Result<(), BuilderError> {
        let made = self.define(name, signature(self.context, function, width));
        let [x, second] = made.get_params()[..] else { unreachable!("both of them have two parameters") };
        let result = match function.stem {
            "lgamma_r" => self.lgamma_r(x, second.into_pointer_value(), width)?,
            _ => self.scalbln(x, second, width)?,
        };
        self.builder.build_return(Some(&result))?;
        Ok(())
    }

    /// Stores the sign of gamma(x): negative for x in (-1, 0), (-3, -2), and so on, and for -0.
    fn lgamma_r(
        &self,
        x: BasicValueEnum<'ctx>,
        sign: PointerValue<'ctx>,
        width: Width,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let builder = &self.builder;
        let compare = |predicate, a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>| {
            builder.build_float_compare(predicate, a.into_float_value(), b.into_float_value(), "")
        };
        let ty = type_from(self.context, &[x.get_type()], Some(x.get_type()));
        let result = self.value(if width == Width::Single { "__nv_lgammaf" } else { "__nv_lgamma" }, ty, &[x])?;
        let float = x.get_type().into_float_type();
        let floor = self.intrinsic("llvm.floor", &[x])?;
        let half = builder.build_float_mul(floor.into_float_value(), float.const_float(0.5), "")?.into();
        let odd = compare(FloatPredicate::ONE, half, self.intrinsic("llvm.floor", &[half])?)?;
        let between = compare(FloatPredicate::ONE, floor, x)?;
        let below = compare(FloatPredicate::OLT, x, float.const_zero().into())?;
        let negative = builder.build_and(builder.build_and(odd, between, "")?, below, "")?;
        let int = if width == Width::Single { self.context.i32_type() } else { self.context.i64_type() };
        let bits = builder.build_bit_cast(x, int, "")?.into_int_value();
        let zero = compare(FloatPredicate::OEQ, x, float.const_zero().into())?;
        let minus = builder.build_int_compare(IntPredicate::SLT, bits, int.const_zero(), "")?;
        let negative = builder.build_or(negative, builder.build_and(zero, minus, "")?, "")?;
        let int = self.context.i32_type();
        let chosen = builder.build_select(negative, int.const_all_ones(), int.const_int(1, false), "")?;
        builder.build_store(sign, chosen)?;
        Ok(result)
    }

    /// No scale beyond these bounds makes a difference.
    fn scalbln(
        &self,
        x: BasicValueEnum<'ctx>,
        scale: BasicValueEnum<'ctx>,
        width: Width,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let (long, int) = (self.context.i64_type(), self.context.i32_type());
        let bound = long.const_int(100_000, false);
        let scale = self.intrinsic("llvm.smax", &[scale, bound.const_neg().into()])?;
        let scale = self.intrinsic("llvm.smin", &[scale, bound.into()])?;
        let scale = self.builder.build_int_truncate(scale.into_int_value(), int, "")?;
        let ty = type_from(self.context, &[x.get_type(), int.into()], Some(x.get_type()));
        self.value(if width == Width::Single { "__nv_scalbnf" } else { "__nv_scalbn" }, ty, &[x, scale.into()])
    }

    /// See [`Body::Adapter`].
    fn adapter(&self, name: &str, plan: &Plan<'ctx>) -> Result<(), BuilderError> {
        let params = self.define(name, plan.ty).get_params();
        // The values of every result, a lane at a time.
        let mut values = vec![Vec::new(); plan.results.len()];
        for lane in 0..plan.lanes.max(1) {
            let given = self.call_lane(plan, &params, lane)?;
            for ((values, value), result) in values.iter_mut().zip(given).zip(&plan.results) {
                values.push(self.convert(value, element(*result))?);
            }
        }
        let wholes = plan.results.iter().zip(&values).map(|(ty, values)| self.whole(*ty, values));
        let wholes = wholes.collect::<Result<Vec<_>, _>>()?;
        let mut tuple: AggregateValueEnum<'ctx> = match plan.ty.get_return_type() {
            Some(BasicTypeEnum::StructType(ty)) => ty.get_poison().into(),
            Some(BasicTypeEnum::ArrayType(ty)) => ty.get_poison().into(),
            _ => {
                self.builder.build_return(Some(&wholes[0]))?;
                return Ok(());
            }
        };
        for (at, value) in (0..).zip(wholes) {
            tuple = self.builder.build_insert_value(tuple, value, at, "")?;
        }
        self.builder.build_return(Some(&tuple))?;
        Ok(())
    }

    /// What C gives back for a lane: its result, and what it writes.
    fn call_lane(
        &self,
        plan: &Plan<'ctx>,
        params: &[BasicValueEnum<'ctx>],
        lane: u32,
    ) -> Result<Vec<BasicValueEnum<'ctx>>, BuilderError> {
        let builder = &self.builder;
        let mut arguments = Vec::new();
        for (param, input) in params.iter().zip(&plan.inputs) {
            let at = self.context.i32_type().const_int(lane.into(), false);
            let value = match *param {
                BasicValueEnum::VectorValue(vector) => builder.build_extract_element(vector, at, "")?,
                scalar => scalar,
            };
            arguments.push(self.convert(value, *input)?);
        }
        let places = plan.written.iter().map(|ty| builder.build_alloca(*ty, "")).collect::<Result<Vec<_>, _>>()?;
        arguments.extend(places.iter().map(|place| BasicValueEnum::from(*place)));
        let mut given = Vec::from_iter(self.call(&plan.callee, plan.callee_type(self.context), &arguments)?);
        for (place, ty) in places.iter().zip(&plan.written) {
            given.push(builder.build_load(*ty, *place, "")?);
        }
        Ok(given)
    }

    /// A vector of the values, or the only one.
    fn whole(
        &self,
        ty: BasicTypeEnum<'ctx>,
        values: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let BasicTypeEnum::VectorType(ty) = ty else { return Ok(values[0]) };
        let mut vector = ty.get_poison();
        for (lane, value) in (0..).zip(values) {
            let at = self.context.i32_type().const_int(lane, false);
            vector = self.builder.build_insert_element(vector, *value, at, "")?;
        }
        Ok(vector.into())
    }

    /// A value of another type of the same kind; see [`is_convertible`].
    fn convert(
        &self,
        value: BasicValueEnum<'ctx>,
        to: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let builder = &self.builder;
        Ok(match (value, to) {
            _ if value.get_type() == to => value,
            (BasicValueEnum::IntValue(value), BasicTypeEnum::IntType(to)) => {
                if value.get_type().get_bit_width() < to.get_bit_width() {
                    builder.build_int_s_extend(value, to, "")?.into()
                } else {
                    builder.build_int_truncate(value, to, "")?.into()
                }
            }
            (value, BasicTypeEnum::FloatType(to)) if to.get_bit_width() == 32 => {
                builder.build_float_ext(value.into_float_value(), to, "")?.into()
            }
            (value, to) => builder.build_float_trunc(value.into_float_value(), to.into_float_type(), "")?.into(),
        })
    }

    /// A function without a body in the place of what is declared under its name, and the builder in its first block.
    fn define(&self, name: &str, ty: FunctionType<'ctx>) -> FunctionValue<'ctx> {
        let declared = self.module.get_function(name);
        let function = self.module.add_function(name, ty, Some(Linkage::Internal));
        if let Some(declared) = declared {
            declared.replace_all_uses_with(function);
            // SAFETY: the new one is used in its place, and this is its only handle.
            unsafe { llvm::delete_function(declared) };
            function.as_global_value().set_name(name);
        }
        for attribute in ["alwaysinline", "nounwind"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
        self.builder.position_at_end(self.context.append_basic_block(function, ""));
        function
    }

    /// The text that [`REFLECT`] is asked, once a module.
    fn question(&mut self) -> PointerValue<'ctx> {
        let (context, module) = (self.context, self.module);
        *self.question.get_or_insert_with(|| {
            let text = context.const_string(QUESTION, true);
            let global = module.add_global(text.get_type(), None, "__ptx_use_fast_math");
            global.set_linkage(Linkage::Private);
            global.set_unnamed_addr(true);
            global.set_constant(true);
            global.set_initializer(&text);
            global.as_pointer_value()
        })
    }

    /// A call of a function by its name, as of type `ty`, whatever it is declared as.
    fn call(
        &self,
        callee: &str,
        ty: FunctionType<'ctx>,
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>, BuilderError> {
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = arguments.iter().map(|value| (*value).into()).collect();
        let callee = self.module.get_function(callee).unwrap_or_else(|| self.module.add_function(callee, ty, None));
        let callee = callee.as_global_value().as_pointer_value();
        Ok(self.builder.build_indirect_call(ty, callee, &arguments, "")?.try_as_basic_value().basic())
    }

    /// The result of such a call.
    fn value(
        &self,
        callee: &str,
        ty: FunctionType<'ctx>,
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        Ok(self.call(callee, ty, arguments)?.expect("the type has a result"))
    }

    /// The result of an intrinsic whose operands and result are of one type.
    fn intrinsic(&self, name: &str, arguments: &[BasicValueEnum<'ctx>]) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let ty = arguments[0].get_type();
        let callee = Intrinsic::find(name).and_then(|intrinsic| intrinsic.get_declaration(self.module, &[ty]));
        let callee = callee.expect("LLVM has it for every scalar");
        self.value(&callee.get_name().to_string_lossy(), callee.get_type(), arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::{self, By};
    use super::*;
    use crate::llvm::parse_ir;

    /// The module after `intrinsic`, declared as `ty`, was adapted to the C function that it is; `None` if it cannot be.
    fn adapted(intrinsic: &str, declaration: &str, width: Width) -> Option<String> {
        let context = Context::create();
        let module = parse_ir(&context, declaration.as_bytes(), "m").expect("the text is LLVM IR");
        let ty = module.get_first_function().expect("it is declared").get_type();
        let function = names::of_intrinsic(intrinsic).expect("it is an intrinsic");
        let mut adapters = Adapters::default();
        if !adapters.adapt(&context, "adapter", ty, (function, width), "callee".into()) {
            return None;
        }
        adapters.build(&context, &module).expect("they can be built");
        module.verify().expect("the module is sound");
        Some(module.print_to_string().to_string())
    }

    #[test]
    fn every_lane_is_a_call() {
        let text = adapted("llvm.sin.v2f16", "declare <2 x half> @llvm.sin.v2f16(<2 x half>)", Width::Single).unwrap();
        assert_eq!(text.matches("call float @callee(float").count(), 2, "{text}");
        assert_eq!(text.matches("fpext half").count(), 2, "{text}");
        assert!(text.contains("ret <2 x half>") && text.contains("internal <2 x half> @adapter"), "{text}");
    }

    #[test]
    fn what_c_writes_is_a_result() {
        let text = adapted("llvm.frexp.f64.i16", "declare { double, i16 } @llvm.frexp.f64.i16(double)", Width::Double)
            .unwrap();
        assert!(text.contains("call double @callee(double") && text.contains("alloca i32"), "{text}");
        assert!(text.contains("trunc i32") && text.contains("ret { double, i16 }"), "{text}");
        let text =
            adapted("llvm.sincos.f32", "declare { float, float } @llvm.sincos.f32(float)", Width::Single).unwrap();
        assert!(text.contains("call void @callee(float") && text.matches("alloca float").count() == 2, "{text}");
    }

    #[test]
    fn a_scalar_counts_for_every_lane() {
        let declaration = "declare <2 x float> @llvm.powi.v2f32.i32(<2 x float>, i32)";
        let text = adapted("llvm.powi.v2f32.i32", declaration, Width::Single).unwrap();
        assert_eq!(text.matches("call float @callee(float").count(), 2, "{text}");
    }

    #[test]
    fn what_is_not_of_that_form_is_left() {
        assert_eq!(adapted("llvm.sin.f32", "declare float @sin(float, float)", Width::Single), None);
        assert_eq!(adapted("llvm.sin.f32", "declare float @sin(i32)", Width::Single), None);
        assert_eq!(adapted("llvm.sin.f32", "declare <2 x float> @sin(float)", Width::Single), None);
    }

    #[test]
    fn our_own_functions_are_sound() {
        let context = Context::create();
        let module = context.create_module("m");
        let mut adapters = Adapters::default();
        for stem in ["lgamma_r", "scalbln", "sincos"] {
            let function = names::FUNCTIONS.iter().find(|function| function.stem == stem).unwrap();
            for width in [Width::Single, Width::Double] {
                match function.by {
                    By::Ours => adapters.define_ours(&function.c_name(width), function, width),
                    _ => adapters.choose(&function.c_name(Width::Single), function),
                }
            }
        }
        adapters.build(&context, &module).expect("they can be built");
        module.verify().expect("the module is sound");
        let text = module.print_to_string().to_string();
        for callee in
            ["__nv_lgammaf", "__nv_lgamma", "__nv_scalbnf", "__nv_scalbn", "__nv_fast_sincosf", "__nv_sincosf"]
        {
            assert!(text.contains(&format!("@{callee}(")), "{callee}: {text}");
        }
        assert!(text.contains("c\"__CUDA_USE_FAST_MATH\\00\""), "{text}");
    }
}
