//! Writes what a plan says.

use std::collections::HashMap;

use crate::llvm::{
    self, BasicValue, BasicValueEnum, Builder, BuilderError, Context, InstructionOpcode as Op, InstructionValue,
    IntValue, Intrinsic, Module,
};

use super::floats::Cast;
use super::plan::{Form, New, Plan, computing, operation};

/// Writes the values of 32 bits, each once.
pub struct Rewrite<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    plan: &'a Plan<'ctx>,
    /// Before it stands what parameters need.
    end: InstructionValue<'ctx>,
    lower: HashMap<IntValue<'ctx>, IntValue<'ctx>>,
    compared: HashMap<InstructionValue<'ctx>, IntValue<'ctx>>,
    /// Phis that are to be told what comes from where.
    open: Vec<(InstructionValue<'ctx>, InstructionValue<'ctx>)>,
}

impl<'a, 'ctx> Rewrite<'a, 'ctx> {
    pub fn new(
        context: &'ctx Context,
        module: &'a Module<'ctx>,
        plan: &'a Plan<'ctx>,
        end: InstructionValue<'ctx>,
    ) -> Self {
        let (builder, lower, compared) = (context.create_builder(), HashMap::new(), HashMap::new());
        Self { context, module, builder, plan, end, lower, compared, open: Vec::new() }
    }

    pub fn write(mut self) -> Result<(), BuilderError> {
        let plan = self.plan;
        for change in &plan.changes {
            let new: IntValue<'ctx> = match change.new {
                New::Extended(value) => {
                    let lower = self.lower(value)?;
                    self.builder.position_before(&change.user);
                    self.builder.build_int_s_extend(lower, self.context.i64_type(), "")?
                }
                New::Compared(comparison) => self.compared(comparison)?,
                New::Converted(value) => {
                    let lower = self.lower(value)?;
                    self.builder.position_before(&change.user);
                    if let BasicValueEnum::FloatValue(float) = llvm::result(change.user) {
                        let new = self.builder.build_signed_int_to_float(lower, float.get_type(), "")?;
                        llvm::replace_uses(change.user, new.into());
                    }
                    continue;
                }
                New::Decided(holds) => self.context.bool_type().const_int(u64::from(holds), false),
            };
            assert!(change.user.set_operand(change.index, new), "the user has that operand");
        }
        while let Some((phi, made)) = self.open.pop() {
            for (value, from) in llvm::incoming(phi) {
                let BasicValueEnum::IntValue(value) = value else { continue };
                let lower = self.lower(value)?;
                llvm::add_incoming(made, lower.into(), from);
            }
        }
        Ok(())
    }

    fn compared(&mut self, comparison: InstructionValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        if let Some(known) = self.compared.get(&comparison) {
            return Ok(*known);
        }
        let (left, right) = (llvm::int_operand(comparison, 0), llvm::int_operand(comparison, 1));
        let (left, right) = (left.expect("it compares integers"), right.expect("it compares integers"));
        let predicate = comparison.get_icmp_predicate().expect("it compares integers");
        let (left, right) = (self.lower(left)?, self.lower(right)?);
        self.builder.position_before(&comparison);
        let new = self.builder.build_int_compare(predicate, left, right, "")?;
        self.compared.insert(comparison, new);
        Ok(new)
    }

    /// The lower half of a value of 64 bits.
    fn lower(&mut self, value: IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let narrow = self.context.i32_type();
        if value.is_constant_int() {
            let number = value.get_zero_extended_constant().unwrap_or_default();
            return Ok(narrow.const_int(number & u64::from(u32::MAX), false));
        }
        if let Some(known) = self.lower.get(&value) {
            return Ok(*known);
        }
        let from = value.as_instruction_value();
        let form = from.and_then(|from| self.plan.forms.get(&from)).copied().unwrap_or(Form::Cut);
        let new = match from {
            Some(from) if form != Form::Cut => self.compute(from, form)?,
            Some(from) => {
                self.behind(from);
                self.builder.build_int_truncate(value, narrow, "")?
            }
            None => {
                self.builder.position_before(&self.end);
                self.builder.build_int_truncate(value, narrow, "")?
            }
        };
        self.lower.insert(value, new);
        Ok(new)
    }

    /// Has the builder stand where a value is known.
    fn behind(&self, from: InstructionValue<'ctx>) {
        let mut next = from.get_next_instruction();
        while let Some(phi) = next.filter(|next| next.get_opcode() == Op::Phi) {
            next = phi.get_next_instruction();
        }
        self.builder.position_before(&next.expect("a value is not the last in its block"));
    }

    fn compute(&mut self, from: InstructionValue<'ctx>, form: Form) -> Result<IntValue<'ctx>, BuilderError> {
        let narrow = self.context.i32_type();
        let part = |index| llvm::int_operand(computing(from), index).expect("the plan saw integers");
        match from.get_opcode() {
            Op::Phi => {
                self.builder.position_before(&from);
                let made = self.builder.build_phi(narrow, "")?;
                let made = made.as_instruction();
                self.open.push((from, made));
                return Ok(llvm::result(made).into_int_value());
            }
            Op::ZExt | Op::SExt => {
                let inner = part(0);
                self.behind(from);
                return match (inner.get_type().get_bit_width(), from.get_opcode()) {
                    (32, _) => Ok(inner),
                    (33.., _) => self.builder.build_int_truncate(inner, narrow, ""),
                    (_, Op::ZExt) => self.builder.build_int_z_extend(inner, narrow, ""),
                    _ => self.builder.build_int_s_extend(inner, narrow, ""),
                };
            }
            Op::Freeze => {
                let inner = self.lower(part(0))?;
                self.behind(from);
                let made = llvm::build_freeze(&self.builder, inner);
                let whole = self.builder.build_int_s_extend(made, self.context.i64_type(), "")?;
                llvm::replace_uses(from, whole.into());
                return Ok(made);
            }
            Op::Select => {
                let (then, other) = (self.lower(part(1))?, self.lower(part(2))?);
                self.behind(from);
                return Ok(self.builder.build_select(part(0), then, other, "")?.into_int_value());
            }
            Op::Call => {
                if let Some(cast) = Cast::of(from) {
                    self.behind(from);
                    return cast.build_narrow(self.context, self.module, &self.builder);
                }
            }
            _ => {}
        }
        let (left, right) = (self.lower(part(0))?, self.lower(part(1))?);
        self.behind(from);
        let builder = &self.builder;
        match (operation(from), form) {
            (Op::Add, Form::Lower { no_wrap: true, .. }) => builder.build_int_nsw_add(left, right, ""),
            (Op::Sub, Form::Lower { no_wrap: true, .. }) => builder.build_int_nsw_sub(left, right, ""),
            (Op::Mul, Form::Lower { no_wrap: true, no_unsigned_wrap }) => {
                let product = builder.build_int_nsw_mul(left, right, "")?;
                // LLVM computes a product of constants at once.
                if let Some(made) = product.as_instruction_value().filter(|_| no_unsigned_wrap) {
                    llvm::set_no_unsigned_wrap(made);
                }
                Ok(product)
            }
            (Op::Add, _) => builder.build_int_add(left, right, ""),
            (Op::Sub, _) => builder.build_int_sub(left, right, ""),
            (Op::Mul, _) => builder.build_int_mul(left, right, ""),
            (Op::And, _) => builder.build_and(left, right, ""),
            (Op::Or, _) => builder.build_or(left, right, ""),
            (Op::Xor, _) => builder.build_xor(left, right, ""),
            (Op::Shl, _) => builder.build_left_shift(left, right, ""),
            (Op::LShr, _) => builder.build_right_shift(left, right, false, ""),
            (Op::UDiv, _) => builder.build_int_unsigned_div(left, right, ""),
            (Op::URem, _) => builder.build_int_unsigned_rem(left, right, ""),
            _ => self.call(from, left, right),
        }
    }

    /// A minimum, a maximum or a difference that ends at 0.
    fn call(
        &self,
        from: InstructionValue<'ctx>,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let callee = llvm::called_function(from).expect("the plan saw a call");
        let name = callee.get_name().to_string_lossy().into_owned();
        let intrinsic = Intrinsic::find(name.trim_end_matches(".i64")).expect("LLVM has its intrinsics");
        let function = intrinsic.get_declaration(self.module, &[self.context.i32_type().into()]);
        let function = function.expect("LLVM has its intrinsics");
        let call = self.builder.build_call(function, &[left.into(), right.into()], "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_int_value())
    }
}
