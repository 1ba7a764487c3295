//! The functions that atomic operations become calls of, one for each operation, type, order, scope and address space.
//!
//! They are inlined right away; functions, because an operation may need several blocks, and inlining is LLVM's way to
//! split one. Of the most general shape, an 8-bit addition at an unknown address, this is made:
//!
//! ```text
//! entry:  is the address in local memory? local : strong
//! local:  load, add, store: the thread's own memory, where PTX has no atomics and nobody else can look
//! strong: fence.sc (seq_cst only), load the 32-bit word around it
//! loop:   atom.<order>.<scope>.cas.b32 until it finds what was loaded
//! ```

use super::mapping::{Method, Order, Scope, Space, Type, instruction, method};
use crate::llvm::{
    self, AddressSpace, AtomicOrdering, Atomicity, Attribute, AttributeLoc, BasicMetadataTypeEnum,
    BasicMetadataValueEnum, BasicType, BasicTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError, Context,
    FunctionValue, IntPredicate, IntType, IntValue, Intrinsic, Linkage, Module, PointerValue, Rmw,
};

/// What a function of this kind does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `T (ptr)`
    Load,
    /// `void (ptr, T)`
    Store,
    /// `T (ptr, T)`: the old value.
    Rmw(Rmw),
    /// `{T, i1} (ptr, T expected, T new)`: the old value and whether it was as expected.
    CompareExchange,
}

/// All that tells two such functions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// What it does.
    pub operation: Operation,
    /// To what.
    pub ty: Type,
    /// In what order.
    pub order: Order,
    /// Seen by whom.
    pub scope: Scope,
    /// Where.
    pub space: Space,
}

/// The LLVM type of a value that is passed.
pub fn llvm_type(context: &Context, ty: Type) -> BasicTypeEnum<'_> {
    match ty {
        Type::Bits(bits) => int_type(context, bits).into(),
        Type::F16 => context.f16_type().into(),
        Type::Bf16 => context.bf16_type().into(),
        Type::F32 => context.f32_type().into(),
        Type::F64 => context.f64_type().into(),
        Type::F16x2 => context.f16_type().vec_type(2).into(),
        Type::Bf16x2 => context.bf16_type().vec_type(2).into(),
    }
}

fn int_type(context: &Context, bits: u32) -> IntType<'_> {
    let bits = std::num::NonZeroU32::new(bits).expect("types have bits");
    context.custom_width_int_type(bits).expect("LLVM has integers of that width")
}

/// The function for `key`, made if it is the first such.
pub fn function<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    key: Key,
) -> Result<FunctionValue<'ctx>, BuilderError> {
    // Dots: no Rust symbol looks like this.
    let name = format!("ptx.{key:?}").replace(|c: char| !c.is_ascii_alphanumeric(), ".");
    if let Some(function) = module.get_function(&name) {
        return Ok(function);
    }
    let pointer: BasicMetadataTypeEnum<'_> = context.ptr_type(AddressSpace::from(key.space.llvm())).into();
    let value = llvm_type(context, key.ty);
    let ty = match key.operation {
        Operation::Load => value.fn_type(&[pointer], false),
        Operation::Store => context.void_type().fn_type(&[pointer, value.into()], false),
        Operation::Rmw(_) => value.fn_type(&[pointer, value.into()], false),
        Operation::CompareExchange => {
            let result = context.struct_type(&[value, context.bool_type().into()], false);
            result.fn_type(&[pointer, value.into(), value.into()], false)
        }
    };
    let function = module.add_function(&name, ty, Some(Linkage::Internal));
    for attribute in ["alwaysinline", "nounwind"] {
        let kind = Attribute::get_named_enum_kind_id(attribute);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    let body = Body { context, module, builder: context.create_builder(), function, key };
    body.write()?;
    Ok(function)
}

struct Body<'ctx, 'a> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    key: Key,
}

/// The 32-bit word around a narrow value.
struct Word<'ctx> {
    pointer: PointerValue<'ctx>,
    /// Where the value begins in it, in bits.
    shift: IntValue<'ctx>,
    /// Ones in the value's bits.
    mask: IntValue<'ctx>,
    /// The other bits.
    rest: IntValue<'ctx>,
}

impl<'ctx> Body<'ctx, '_> {
    fn write(&self) -> Result<(), BuilderError> {
        let pointer = self.function.get_first_param().expect("the first is the pointer").into_pointer_value();
        self.builder.position_at_end(self.context.append_basic_block(self.function, ""));
        match self.key.space {
            Space::Local => self.plain(pointer),
            Space::Global | Space::Shared => self.strong(pointer),
            Space::Generic => {
                let [local, strong] =
                    ["local", "strong"].map(|name| self.context.append_basic_block(self.function, name));
                let is_local =
                    Intrinsic::find("llvm.nvvm.isspacep.local").and_then(|i| i.get_declaration(self.module, &[]));
                let is_local = is_local.expect("LLVM has isspacep for this target");
                let is_local = self.builder.build_call(is_local, &[pointer.into()], "")?.try_as_basic_value();
                let is_local = is_local.basic().expect("isspacep has a result").into_int_value();
                self.builder.build_conditional_branch(is_local, local, strong)?;
                self.builder.position_at_end(local);
                let space = AddressSpace::from(Space::Local.llvm());
                self.plain(self.builder.build_address_space_cast(pointer, self.context.ptr_type(space), "")?)?;
                self.builder.position_at_end(strong);
                self.strong(pointer)
            }
        }
    }

    /// A parameter after the pointer.
    fn param(&self, index: u32) -> BasicValueEnum<'ctx> {
        self.function.get_nth_param(index).expect("the operation has that many operands")
    }

    fn int(&self, bits: u32) -> IntType<'ctx> {
        int_type(self.context, bits)
    }

    fn llvm_type(&self) -> BasicTypeEnum<'ctx> {
        llvm_type(self.context, self.key.ty)
    }

    /// Ordinary accesses.
    fn plain(&self, pointer: PointerValue<'ctx>) -> Result<(), BuilderError> {
        let builder = &self.builder;
        match self.key.operation {
            Operation::Load => {
                let value = builder.build_load(self.llvm_type(), pointer, "")?;
                builder.build_return(Some(&value))?;
            }
            Operation::Store => {
                builder.build_store(pointer, self.param(1))?;
                builder.build_return(None)?;
            }
            Operation::Rmw(operation) => {
                let old = builder.build_load(self.llvm_type(), pointer, "")?;
                builder.build_store(pointer, self.apply(operation, old, self.param(1))?)?;
                builder.build_return(Some(&old))?;
            }
            Operation::CompareExchange => {
                let old = builder.build_load(self.llvm_type(), pointer, "")?.into_int_value();
                let expected = self.param(1).into_int_value();
                let same = builder.build_int_compare(IntPredicate::EQ, old, expected, "")?;
                let new = builder.build_select(same, self.param(2), old.into(), "")?;
                builder.build_store(pointer, new)?;
                self.return_pair(old, same)?;
            }
        }
        Ok(())
    }

    /// Accesses that others see.
    fn strong(&self, pointer: PointerValue<'ctx>) -> Result<(), BuilderError> {
        let scope = llvm::scope_id(self.context, self.key.scope.llvm());
        if self.key.order.fence {
            llvm::build_fence(&self.builder, Atomicity { ordering: AtomicOrdering::SequentiallyConsistent, scope });
        }
        let bits = self.key.ty.bits();
        match self.key.operation {
            Operation::Load => {
                let value = self.load(pointer, self.llvm_type(), self.key.order)?;
                self.builder.build_return(Some(&value))?;
            }
            Operation::Store => self.store(pointer, self.param(1))?,
            Operation::Rmw(operation) => match method(operation, self.key.ty) {
                Method::Instruction(what) => {
                    let old = self.atom(what, pointer, self.param(1))?;
                    self.builder.build_return(Some(&old))?;
                }
                Method::Negated(what) => {
                    let operand = self.negate(self.param(1))?;
                    let old = self.atom(what, pointer, operand)?;
                    self.builder.build_return(Some(&old))?;
                }
                Method::Word(what) => {
                    let word = self.word(pointer)?;
                    let mut operand = self.widen(&word, self.param(1))?;
                    if operation == Rmw::And {
                        operand = self.builder.build_or(operand, word.rest, "")?;
                    }
                    let old = self.atom(what, word.pointer, operand.into())?.into_int_value();
                    self.builder.build_return(Some(&self.narrow(&word, old)?))?;
                }
                Method::Loop if bits < 32 => self.rmw_loop_on_word(operation, pointer)?,
                Method::Loop => self.rmw_loop(operation, pointer)?,
            },
            Operation::CompareExchange if bits < 32 => self.compare_exchange_on_word(pointer)?,
            Operation::CompareExchange => {
                let expected = self.param(1).into_int_value();
                let old = self.cas(pointer, expected, self.param(2).into_int_value())?;
                let same = self.builder.build_int_compare(IntPredicate::EQ, old, expected, "")?;
                self.return_pair(old, same)?;
            }
        }
        Ok(())
    }

    fn return_pair(&self, old: IntValue<'ctx>, same: IntValue<'ctx>) -> Result<(), BuilderError> {
        let pair = self.context.struct_type(&[old.get_type().into(), same.get_type().into()], false).get_undef();
        let pair = self.builder.build_insert_value(pair, old, 0, "")?;
        let pair = self.builder.build_insert_value(pair, same, 1, "")?;
        self.builder.build_return(Some(&pair.as_basic_value_enum()))?;
        Ok(())
    }

    /// LLVM's load is right, but for 128 bits.
    fn load(
        &self,
        pointer: PointerValue<'ctx>,
        ty: BasicTypeEnum<'ctx>,
        order: Order,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        if self.key.ty.bits() == 128 {
            let text = instruction("ld", order, self.key.scope, self.key.space, "b128");
            return self.asm(Some(ty), &format!("{text} $0, [$1];"), &[pointer.into()]);
        }
        let ordering = if order.acquire { AtomicOrdering::Acquire } else { AtomicOrdering::Monotonic };
        let scope = llvm::scope_id(self.context, self.key.scope.llvm());
        let bytes = llvm::type_align(ty).0;
        let align = u32::try_from(bytes).expect("at most 8 bytes");
        llvm::build_atomic_load(&self.builder, ty, align, pointer, Atomicity { ordering, scope })
    }

    fn store(&self, pointer: PointerValue<'ctx>, value: BasicValueEnum<'ctx>) -> Result<(), BuilderError> {
        if self.key.ty.bits() == 128 {
            let text = instruction("st", self.key.order, self.key.scope, self.key.space, "b128");
            self.asm(None, &format!("{text} [$0], $1;"), &[pointer.into(), value])?;
        } else {
            let ordering = if self.key.order.release { AtomicOrdering::Release } else { AtomicOrdering::Monotonic };
            let scope = llvm::scope_id(self.context, self.key.scope.llvm());
            let align = self.key.ty.bits() / 8;
            llvm::build_atomic_store(&self.builder, value, align, pointer, Atomicity { ordering, scope })?;
        }
        self.builder.build_return(None)?;
        Ok(())
    }

    /// `atom.….<what>`; the result is the old value, of the operand's type.
    fn atom(
        &self,
        what: &str,
        pointer: PointerValue<'ctx>,
        operand: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let ty = operand.get_type();
        // Registers for operations on bits and halves are integers'.
        let carrier = match self.key.ty {
            _ if what.contains("exch.b") => self.int(self.key.ty.bits()).into(),
            Type::F16 | Type::Bf16 => self.int(16).into(),
            Type::F16x2 | Type::Bf16x2 => self.int(32).into(),
            _ => ty,
        };
        let operand = self.builder.build_bit_cast(operand, carrier, "")?;
        let text = instruction("atom", self.key.order, self.key.scope, self.key.space, what);
        let old = self.asm(Some(carrier), &format!("{text} $0, [$1], $2;"), &[pointer.into(), operand])?;
        self.builder.build_bit_cast(old, ty, "")
    }

    /// `atom.….cas`; the result is what was found.
    fn cas(
        &self,
        pointer: PointerValue<'ctx>,
        expected: IntValue<'ctx>,
        new: IntValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let ty = expected.get_type();
        let what = format!("cas.b{}", ty.get_bit_width());
        let text = instruction("atom", self.key.order, self.key.scope, self.key.space, &what);
        let operands = [pointer.into(), expected.into(), new.into()];
        Ok(self.asm(Some(ty.into()), &format!("{text} $0, [$1], $2, $3;"), &operands)?.into_int_value())
    }

    /// Inline PTX; without a result, the value that comes back means nothing.
    fn asm(
        &self,
        result: Option<BasicTypeEnum<'ctx>>,
        text: &str,
        operands: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let register = |ty: BasicTypeEnum<'ctx>| match ty {
            BasicTypeEnum::FloatType(ty) if ty == self.context.f32_type() => "f",
            BasicTypeEnum::FloatType(_) => "d",
            BasicTypeEnum::IntType(ty) => match ty.get_bit_width() {
                16 => "h",
                32 => "r",
                64 => "l",
                _ => "q",
            },
            _ => "l",
        };
        let mut constraints: Vec<String> = result.into_iter().map(|ty| format!("={}", register(ty))).collect();
        constraints.extend(operands.iter().map(|operand| register(operand.get_type()).to_string()));
        constraints.push("~{memory}".into());
        let params: Vec<BasicMetadataTypeEnum<'ctx>> = operands.iter().map(|o| o.get_type().into()).collect();
        let ty = match result {
            Some(result) => result.fn_type(&params, false),
            None => self.context.void_type().fn_type(&params, false),
        };
        let callee = self.context.create_inline_asm(ty, text.into(), constraints.join(","), true, false, None, false);
        let operands: Vec<BasicMetadataValueEnum<'ctx>> = operands.iter().map(|o| (*o).into()).collect();
        let call = self.builder.build_indirect_call(ty, callee, &operands, "")?;
        Ok(call.try_as_basic_value().basic().unwrap_or_else(|| self.context.bool_type().get_undef().into()))
    }

    fn rmw_loop(&self, operation: Rmw, pointer: PointerValue<'ctx>) -> Result<(), BuilderError> {
        let bits = self.int(self.key.ty.bits());
        let relaxed = Order { fence: false, acquire: false, release: false };
        let first = self.load(pointer, bits.into(), relaxed)?.into_int_value();
        let old = self.repeat(first, pointer, |old| {
            let value = self.builder.build_bit_cast(old, self.llvm_type(), "")?;
            let new = self.apply(operation, value, self.param(1))?;
            Ok(self.builder.build_bit_cast(new, bits, "")?.into_int_value())
        })?;
        let old = self.builder.build_bit_cast(old, self.llvm_type(), "")?;
        self.builder.build_return(Some(&old))?;
        Ok(())
    }

    fn rmw_loop_on_word(&self, operation: Rmw, pointer: PointerValue<'ctx>) -> Result<(), BuilderError> {
        let word = self.word(pointer)?;
        let relaxed = Order { fence: false, acquire: false, release: false };
        let first = self.load(word.pointer, self.int(32).into(), relaxed)?.into_int_value();
        let old = self.repeat(first, word.pointer, |old| {
            let new = self.apply(operation, self.narrow(&word, old)?, self.param(1))?;
            let others = self.builder.build_and(old, word.rest, "")?;
            self.builder.build_or(others, self.widen(&word, new)?, "")
        })?;
        self.builder.build_return(Some(&self.narrow(&word, old)?))?;
        Ok(())
    }

    /// Compare-exchanges `old` for `new(old)` until it was there, beginning with `first`; the result is `old`.
    fn repeat(
        &self,
        first: IntValue<'ctx>,
        pointer: PointerValue<'ctx>,
        new: impl Fn(IntValue<'ctx>) -> Result<IntValue<'ctx>, BuilderError>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let before = self.builder.get_insert_block().expect("the builder stands in a block");
        let [again, done] = ["again", "done"].map(|name| self.context.append_basic_block(self.function, name));
        self.builder.build_unconditional_branch(again)?;
        self.builder.position_at_end(again);
        let phi = self.builder.build_phi(first.get_type(), "")?;
        let old = phi.as_basic_value().into_int_value();
        let found = self.cas(pointer, old, new(old)?)?;
        phi.add_incoming(&[(&first, before), (&found, again)]);
        let same = self.builder.build_int_compare(IntPredicate::EQ, found, old, "")?;
        self.builder.build_conditional_branch(same, done, again)?;
        self.builder.position_at_end(done);
        Ok(old)
    }

    /// At least one compare-exchange, so that one that fails is ordered too; another if only the bits around differ.
    fn compare_exchange_on_word(&self, pointer: PointerValue<'ctx>) -> Result<(), BuilderError> {
        let builder = &self.builder;
        let word = self.word(pointer)?;
        let expected = self.widen(&word, self.param(1))?;
        let new = self.widen(&word, self.param(2))?;
        let relaxed = Order { fence: false, acquire: false, release: false };
        let first = self.load(word.pointer, self.int(32).into(), relaxed)?.into_int_value();
        let before = builder.get_insert_block().expect("the builder stands in a block");
        let [again, other, done] =
            ["again", "other", "done"].map(|name| self.context.append_basic_block(self.function, name));
        builder.build_unconditional_branch(again)?;
        builder.position_at_end(again);
        let phi = builder.build_phi(first.get_type(), "")?;
        let others = builder.build_and(phi.as_basic_value().into_int_value(), word.rest, "")?;
        let whole = builder.build_or(others, expected, "")?;
        let found = self.cas(word.pointer, whole, builder.build_or(others, new, "")?)?;
        phi.add_incoming(&[(&first, before), (&found, other)]);
        let same = builder.build_int_compare(IntPredicate::EQ, found, whole, "")?;
        builder.build_conditional_branch(same, done, other)?;
        builder.position_at_end(other);
        let ours = builder.build_and(found, word.mask, "")?;
        let retry = builder.build_int_compare(IntPredicate::EQ, ours, expected, "")?;
        builder.build_conditional_branch(retry, again, done)?;
        builder.position_at_end(done);
        self.return_pair(self.narrow(&word, found)?.into_int_value(), same)
    }

    fn word(&self, pointer: PointerValue<'ctx>) -> Result<Word<'ctx>, BuilderError> {
        let builder = &self.builder;
        let (long, short) = (self.int(64), self.int(32));
        let address = builder.build_ptr_to_int(pointer, long, "")?;
        let aligned = builder.build_and(address, long.const_int(!3, false), "")?;
        let aligned = builder.build_int_to_ptr(aligned, pointer.get_type(), "")?;
        let byte = builder.build_and(builder.build_int_truncate(address, short, "")?, short.const_int(3, false), "")?;
        let shift = builder.build_left_shift(byte, short.const_int(3, false), "")?;
        let ones = short.const_int((1 << self.key.ty.bits()) - 1, false);
        let mask = builder.build_left_shift(ones, shift, "")?;
        Ok(Word { pointer: aligned, shift, mask, rest: builder.build_not(mask, "")? })
    }

    /// The value in its place in the word.
    fn widen(&self, word: &Word<'ctx>, value: BasicValueEnum<'ctx>) -> Result<IntValue<'ctx>, BuilderError> {
        let bits = self.builder.build_bit_cast(value, self.int(self.key.ty.bits()), "")?.into_int_value();
        let wide = self.builder.build_int_z_extend(bits, self.int(32), "")?;
        self.builder.build_left_shift(wide, word.shift, "")
    }

    /// The value out of the word.
    fn narrow(&self, word: &Word<'ctx>, whole: IntValue<'ctx>) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let down = self.builder.build_right_shift(whole, word.shift, false, "")?;
        let bits = self.builder.build_int_truncate(down, self.int(self.key.ty.bits()), "")?;
        self.builder.build_bit_cast(bits, self.llvm_type(), "")
    }

    fn negate(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        Ok(match value {
            BasicValueEnum::FloatValue(value) => self.builder.build_float_neg(value, "")?.into(),
            BasicValueEnum::VectorValue(value) => self.builder.build_float_neg(value, "")?.into(),
            value => self.builder.build_int_neg(value.into_int_value(), "")?.into(),
        })
    }

    /// The new value, by ordinary instructions.
    fn apply(
        &self,
        operation: Rmw,
        old: BasicValueEnum<'ctx>,
        operand: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let builder = &self.builder;
        match operation {
            Rmw::Xchg => return Ok(operand),
            Rmw::FAdd | Rmw::FSub => {
                return Ok(match (old, operand) {
                    (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) if operation == Rmw::FAdd => {
                        builder.build_float_add(a, b, "")?.into()
                    }
                    (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                        builder.build_float_sub(a, b, "")?.into()
                    }
                    (a, b) if operation == Rmw::FAdd => {
                        builder.build_float_add(a.into_float_value(), b.into_float_value(), "")?.into()
                    }
                    (a, b) => builder.build_float_sub(a.into_float_value(), b.into_float_value(), "")?.into(),
                });
            }
            Rmw::FMax => return self.intrinsic("llvm.maxnum", old, operand),
            Rmw::FMin => return self.intrinsic("llvm.minnum", old, operand),
            Rmw::FMaximum => return self.intrinsic("llvm.maximum", old, operand),
            Rmw::FMinimum => return self.intrinsic("llvm.minimum", old, operand),
            _ => {}
        }
        let (a, b) = (old.into_int_value(), operand.into_int_value());
        let one = a.get_type().const_int(1, false);
        let zero = a.get_type().const_zero();
        let choose = |predicate, yes: IntValue<'ctx>, no: IntValue<'ctx>| {
            let condition = builder.build_int_compare(predicate, a, b, "")?;
            builder.build_select(condition, yes, no, "")
        };
        Ok(match operation {
            Rmw::Add => builder.build_int_add(a, b, "")?.into(),
            Rmw::Sub => builder.build_int_sub(a, b, "")?.into(),
            Rmw::And => builder.build_and(a, b, "")?.into(),
            Rmw::Nand => builder.build_not(builder.build_and(a, b, "")?, "")?.into(),
            Rmw::Or => builder.build_or(a, b, "")?.into(),
            Rmw::Xor => builder.build_xor(a, b, "")?.into(),
            Rmw::Max => choose(IntPredicate::SGT, a, b)?,
            Rmw::Min => choose(IntPredicate::SLT, a, b)?,
            Rmw::UMax => choose(IntPredicate::UGT, a, b)?,
            Rmw::UMin => choose(IntPredicate::ULT, a, b)?,
            Rmw::UIncWrap => choose(IntPredicate::UGE, zero, builder.build_int_add(a, one, "")?)?,
            Rmw::UDecWrap => {
                let wraps = choose(IntPredicate::UGT, b, builder.build_int_sub(a, one, "")?)?;
                let at_zero = builder.build_int_compare(IntPredicate::EQ, a, zero, "")?;
                builder.build_select(at_zero, b.into(), wraps, "")?
            }
            Rmw::USubCond => choose(IntPredicate::UGE, builder.build_int_sub(a, b, "")?, a)?,
            Rmw::USubSat => choose(IntPredicate::UGE, builder.build_int_sub(a, b, "")?, zero)?,
            Rmw::Xchg | Rmw::FAdd | Rmw::FSub | Rmw::FMax | Rmw::FMin | Rmw::FMaximum | Rmw::FMinimum => {
                unreachable!("returned above")
            }
        })
    }

    fn intrinsic(
        &self,
        name: &str,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let callee = Intrinsic::find(name).and_then(|i| i.get_declaration(self.module, &[a.get_type()]));
        let call = self.builder.build_call(callee.expect("LLVM has it for every float"), &[a.into(), b.into()], "")?;
        Ok(call.try_as_basic_value().basic().expect("it has a result"))
    }
}
