//! Gives every described function its ABI: writes entry points, exported functions, and calls of imported ones.
//!
//! Before, what `#[kernel] fn k(a: f32, x: &[f32], s: S)`, `#[device(export)] fn f(a: i8, s: S) -> S` and an imported
//! `fn g(a: i8, s: S) -> S` left:
//! ```text
//! define internal void @k.shim(ptr %a, ptr %x, ptr %s)
//! define internal void @f.shim(ptr %result, ptr %a, ptr %s)
//! declare void @g.shim(ptr %result, ptr %a, ptr %s)
//! ```
//! After, with the shims inlined later:
//! ```text
//! define ptx_kernel void @k(float %a, ptr noalias readonly %x, i64 %x.len, ptr byval([32 x i8]) align 32 %s) {
//!   %a.slot = alloca float            ; a scalar's slot, which SROA dissolves
//!   %x.slot = alloca { ptr, i64 }
//!   call void @k.shim(ptr %a.slot, ptr %x.slot, ptr %s)
//! define alignstack(32) { [4 x i64] } @f(i32 %a, ptr byval([32 x i8]) align 32 %s) {
//!   %a.slot = alloca i8               ; %a truncated
//!   %result.slot = alloca [32 x i8]
//!   call void @f.shim(ptr %result.slot, ptr %a.slot, ptr %s)
//!   ret the result.slot's bytes
//! define internal void @g.shim(ptr %result, ptr %a, ptr %s) {
//!   %r = call { [4 x i64] } @g(i32 signext of *%a, ptr byval([32 x i8]) align 32 %s)
//!   store %r to %result
//! ```
//! `byval` puts an aggregate into parameter space; a kernel reads it in place. A result that is a struct becomes a byte array
//! of the `alignstack`'s alignment, moved in units of its fields. The calling convention makes an `.entry`. Kernel metadata in
//! `nvvm.annotations` is not written: LLVM miscompiles it from version 20 on.

use ptx_abi::{Access, Class, Kind, LaunchBounds, Type};

use super::classify::PtxParam;
use super::table::{FunctionAbi, ParamAbi, Table};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::interface::{Described, Interface};
use crate::llvm::{
    self, AnyType, Attribute, AttributeLoc, BasicMetadataTypeEnum, BasicMetadataValueEnum, BasicType, BasicTypeEnum,
    BasicValue, BasicValueEnum, Builder, BuilderError, Context, FunctionType, FunctionValue, Linkage, Module,
    PointerValue,
};

/// Writes the functions into the module.
pub fn lower<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    interface: &Interface<'ctx>,
    table: &Table,
) -> Result<()> {
    let kernels = interface.kernels.iter().zip(&table.kernels);
    let exports = interface.exports.iter().zip(&table.exports);
    // Exports first: an import may be of one.
    let imports = interface.imports.iter().zip(&table.imports);
    for (described, abi) in kernels.chain(exports).chain(imports) {
        Lowering { context, module, described, abi }.run().map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot build {} `{}`: {error}", described.noun(), abi.name))
                .at(Some(abi.span.clone()), "it stands here")
        })?;
    }
    Ok(())
}

struct Lowering<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    described: &'a Described<'ctx>,
    abi: &'a FunctionAbi,
}

impl<'ctx> Lowering<'_, 'ctx> {
    fn run(&self) -> Result<(), String> {
        let shim = self.described.shim;
        if self.abi.kind == Kind::Import {
            // Nobody calls it where all calls were optimised away.
            if llvm::uses(&shim).is_empty() {
                // SAFETY: nothing uses it; of an import, the shim is looked at here alone.
                unsafe { llvm::delete_function(shim) };
                return Ok(());
            }
            let callee = self.callee()?;
            self.fill_import(callee).map_err(|error| error.to_string())?;
        } else {
            let function = self.definition()?;
            self.fill(function).map_err(|error| error.to_string())?;
            self.move_debug_info(function);
            self.give_address(function);
        }
        shim.set_linkage(Linkage::Internal);
        shim.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("noinline"));
        shim.add_attribute(AttributeLoc::Function, self.flag("alwaysinline", 0));
        Ok(())
    }

    /// The function's type in LLVM.
    fn function_type(&self) -> FunctionType<'ctx> {
        let types: Vec<BasicMetadataTypeEnum<'ctx>> =
            self.abi.params.iter().flat_map(|p| &p.ptx).map(|ptx| self.param_type(*ptx).into()).collect();
        match &self.abi.result {
            Some(result) => self.result_type(result.ptx[0]).fn_type(&types, false),
            None => self.context.void_type().fn_type(&types, false),
        }
    }

    /// The new function of the symbol. Declarations of it that rustc lowered give way.
    fn definition(&self) -> Result<FunctionValue<'ctx>, String> {
        let old = self.module.get_function(&self.abi.name);
        if let Some(old) = old {
            if old.count_basic_blocks() > 0 {
                return Err("another function has this name; rename one of them".into());
            }
            if old.get_type() != self.function_type() {
                return Err("it is also declared in an `extern` block that gives it another signature; \
                            use `#[device(import)]` on that block"
                    .into());
            }
            old.as_global_value().set_name("");
        }
        let function = self.module.add_function(&self.abi.name, self.function_type(), None);
        if self.abi.kind == Kind::Kernel {
            function.set_call_conventions(llvm::PTX_KERNEL);
        }
        function.set_linkage(Linkage::External);
        self.add_attributes(function);
        if let Some(old) = old {
            old.replace_all_uses_with(function);
            // SAFETY: the new one is used in its place, and this is its only handle.
            unsafe { llvm::delete_function(old) };
        }
        Ok(function)
    }

    /// The imported function: an export of this module, or a declaration.
    fn callee(&self) -> Result<FunctionValue<'ctx>, String> {
        if let Some(known) = self.module.get_function(&self.abi.name) {
            if known.get_type() != self.function_type() {
                return Err("it is also declared or defined without `#[device]`, with another signature".into());
            }
            if known.count_basic_blocks() == 0 {
                self.add_attributes(known);
            }
            return Ok(known);
        }
        let function = self.module.add_function(&self.abi.name, self.function_type(), None);
        self.add_attributes(function);
        Ok(function)
    }

    /// The call of the shim.
    fn fill(&self, function: FunctionValue<'ctx>) -> Result<(), BuilderError> {
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, "entry"));
        let mut values = function.get_param_iter();
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        let result = match &self.abi.result {
            Some(result) => {
                let slot = self.slot(&builder, "result", self.memory_type(result), result.source.ty.align)?;
                arguments.push(slot.into());
                Some((result, slot))
            }
            None => None,
        };
        for param in &self.abi.params {
            let name = &param.source.name;
            let parts: Vec<_> = values.by_ref().take(param.ptx.len()).collect();
            for (index, part) in parts.iter().enumerate() {
                part.set_name(&if index == 0 { name.clone() } else { format!("{name}.len") });
            }
            if param.source.ty.class == Class::Aggregate {
                arguments.push(parts[0].into());
                continue;
            }
            let slot = self.slot(&builder, name, self.memory_type(param), param.source.ty.align)?;
            for (part, (field, ty)) in parts.into_iter().zip(self.fields(&builder, param, slot)?) {
                builder.build_store(field, self.truncate(&builder, part, ty)?)?;
            }
            arguments.push(slot.into());
        }
        builder.build_call(self.described.shim, &arguments, "")?;
        match result {
            Some((result, slot)) => {
                let value = self.load(&builder, result, slot)?;
                builder.build_return(Some(&value))?;
            }
            None => drop(builder.build_return(None)?),
        }
        Ok(())
    }

    /// The shim's body: the call of the imported function.
    fn fill_import(&self, callee: FunctionValue<'ctx>) -> Result<(), BuilderError> {
        let builder = self.context.create_builder();
        let shim = self.described.shim;
        builder.position_at_end(self.context.append_basic_block(shim, "entry"));
        let mut pointers = shim.get_param_iter().map(BasicValueEnum::into_pointer_value);
        let result = self.abi.result.as_ref().zip(self.abi.result.as_ref().and_then(|_| pointers.next()));
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
        for (param, pointer) in self.abi.params.iter().zip(pointers) {
            if param.source.ty.class != Class::Aggregate {
                for ((field, ty), ptx) in self.fields(&builder, param, pointer)?.into_iter().zip(&param.ptx) {
                    let value = builder.build_load(ty, field, "")?;
                    arguments.push(self.extend(&builder, value, *ptx)?.into());
                }
            } else if param.source.ty.size == 0 {
                // In Rust there are no bytes at the pointer, in C++ there are.
                let bytes = self.param_bytes(param.ptx[0]);
                let slot = self.slot(&builder, "empty", bytes, param.source.ty.align)?;
                builder.build_store(slot, bytes.const_zero())?;
                arguments.push(slot.into());
            } else {
                arguments.push(pointer.into());
            }
        }
        let call = builder.build_call(callee, &arguments, "")?;
        let mut index = 0;
        for param in &self.abi.params {
            if let PtxParam::Bytes { .. } = param.ptx[0] {
                self.byval(param.ptx[0]).into_iter().for_each(|a| call.add_attribute(AttributeLoc::Param(index), a));
            }
            index += u32::try_from(param.ptx.len()).unwrap_or_default();
        }
        if let (Some((result, pointer)), Some(value)) = (result, call.try_as_basic_value().basic()) {
            if let PtxParam::Bytes { align, .. } = result.ptx[0] {
                call.add_attribute(AttributeLoc::Return, self.flag("alignstack", align));
            }
            if result.source.ty.size > 0 {
                let value = self.truncate(&builder, value, self.memory_type(result))?;
                let store = builder.build_store(pointer, value)?;
                // A power of two, as the table saw.
                let _ = store.set_alignment(u32::try_from(result.source.ty.align).unwrap_or(1));
            }
        }
        builder.build_return(None)?;
        Ok(())
    }

    /// The places of a scalar's or slice's parts in memory, and the parts' types there.
    fn fields(
        &self,
        builder: &Builder<'ctx>,
        param: &ParamAbi,
        pointer: PointerValue<'ctx>,
    ) -> Result<Vec<(PointerValue<'ctx>, BasicTypeEnum<'ctx>)>, BuilderError> {
        match self.memory_type(param) {
            BasicTypeEnum::StructType(slice) => {
                let fields = slice.get_field_types().into_iter().zip(0..);
                fields.map(|(ty, index)| Ok((builder.build_struct_gep(slice, pointer, index, "")?, ty))).collect()
            }
            single => Ok(vec![(pointer, single)]),
        }
    }

    /// The result as the ABI returns it.
    fn load(
        &self,
        builder: &Builder<'ctx>,
        result: &ParamAbi,
        slot: PointerValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        let ty = self.memory_type(result);
        if result.source.ty.size == 0 {
            return Ok(ty.const_zero());
        }
        let value = builder.build_load(ty, slot, "")?;
        if let Some(load) = value.as_instruction_value() {
            // A power of two, as the table saw.
            let _ = load.set_alignment(u32::try_from(result.source.ty.align).unwrap_or(1));
        }
        self.extend(builder, value, result.ptx[0])
    }

    /// Guide §2.3, note A: values shorter than 32 bits are extended by their sign.
    fn extend(
        &self,
        builder: &Builder<'ctx>,
        value: BasicValueEnum<'ctx>,
        ptx: PtxParam,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        match (value, self.param_type(ptx), ptx) {
            (BasicValueEnum::IntValue(int), BasicTypeEnum::IntType(wide), PtxParam::Int { signed, .. })
                if int.get_type() != wide =>
            {
                Ok(if signed {
                    builder.build_int_s_extend(int, wide, "")?.into()
                } else {
                    builder.build_int_z_extend(int, wide, "")?.into()
                })
            }
            _ => Ok(value),
        }
    }

    /// The other way round.
    fn truncate(
        &self,
        builder: &Builder<'ctx>,
        value: BasicValueEnum<'ctx>,
        to: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>, BuilderError> {
        match (value, to) {
            (BasicValueEnum::IntValue(int), BasicTypeEnum::IntType(narrow)) if int.get_type() != narrow => {
                Ok(builder.build_int_truncate(int, narrow, "")?.into())
            }
            _ => Ok(value),
        }
    }

    fn slot(
        &self,
        builder: &Builder<'ctx>,
        name: &str,
        ty: BasicTypeEnum<'ctx>,
        align: u64,
    ) -> Result<PointerValue<'ctx>, BuilderError> {
        let slot = builder.build_alloca(ty, &format!("{name}.slot"))?;
        if let Some(instruction) = slot.as_instruction() {
            // An alloca takes any power of two, and the table refused all else.
            let _ = instruction.set_alignment(u32::try_from(align).unwrap_or(1));
        }
        Ok(slot)
    }

    /// A parameter or result in memory, as Rust has it.
    fn memory_type(&self, param: &ParamAbi) -> BasicTypeEnum<'ctx> {
        match (param.source.ty.class, param.ptx[0]) {
            (Class::Slice, _) => {
                let fields: Vec<BasicTypeEnum<'ctx>> = param.ptx.iter().map(|ptx| self.param_type(*ptx)).collect();
                self.context.struct_type(&fields, false).into()
            }
            (_, PtxParam::Int { .. }) => self.int_type(param.source.ty.size),
            (_, bytes @ PtxParam::Bytes { .. }) => self.result_type(bytes),
            (_, scalar) => self.param_type(scalar),
        }
    }

    fn int_type(&self, bytes: u64) -> BasicTypeEnum<'ctx> {
        match bytes {
            1 => self.context.i8_type().into(),
            2 => self.context.i16_type().into(),
            4 => self.context.i32_type().into(),
            _ => self.context.i64_type().into(),
        }
    }

    /// A parameter as LLVM takes it.
    fn param_type(&self, ptx: PtxParam) -> BasicTypeEnum<'ctx> {
        match ptx {
            PtxParam::Int { .. } => self.int_type(ptx.size()),
            PtxParam::Float { bits: 32 } => self.context.f32_type().into(),
            PtxParam::Float { .. } => self.context.f64_type().into(),
            PtxParam::Pointer | PtxParam::Bytes { .. } => self.context.ptr_type(llvm::AddressSpace::default()).into(),
        }
    }

    /// A result as LLVM takes it. Of an aggregate: a struct, which makes a byte array in PTX, of the widest integers that its
    /// alignment allows, in which it will be moved.
    fn result_type(&self, ptx: PtxParam) -> BasicTypeEnum<'ctx> {
        match ptx {
            PtxParam::Bytes { size, align } => {
                let unit = align.min(8);
                let count = u32::try_from(size / unit).unwrap_or(u32::MAX);
                self.context.struct_type(&[self.int_type(unit).array_type(count).into()], false).into()
            }
            scalar => self.param_type(scalar),
        }
    }

    fn param_bytes(&self, ptx: PtxParam) -> BasicTypeEnum<'ctx> {
        self.context.i8_type().array_type(u32::try_from(ptx.size()).unwrap_or(u32::MAX)).into()
    }

    fn add_attributes(&self, function: FunctionValue<'ctx>) {
        function.add_attribute(AttributeLoc::Function, self.flag("nounwind", 0));
        function.add_attribute(AttributeLoc::Function, self.flag("convergent", 0));
        let bounds = self.described.descriptor.bounds;
        let LaunchBounds { max_threads, min_blocks, max_registers, max_cluster, cluster: [x, y, z], .. } = bounds;
        let add = |name, value: &str| {
            function.add_attribute(AttributeLoc::Function, self.context.create_string_attribute(name, value));
        };
        for (name, value) in [
            ("nvvm.maxntid", max_threads),
            ("nvvm.minctasm", min_blocks),
            ("nvvm.maxnreg", max_registers),
            ("nvvm.maxclusterrank", max_cluster),
        ] {
            if value > 0 {
                add(name, &value.to_string());
            }
        }
        if x > 0 {
            add("nvvm.cluster_dim", &format!("{x},{y},{z}"));
        }
        if let Some(PtxParam::Bytes { align, .. }) = self.abi.result.as_ref().map(|result| result.ptx[0]) {
            function.add_attribute(AttributeLoc::Return, self.flag("alignstack", align));
        }
        let mut index = 0;
        for param in &self.abi.params {
            for attribute in self.param_attributes(&param.source.ty, param.ptx[0]) {
                function.add_attribute(AttributeLoc::Param(index), attribute);
            }
            index += u32::try_from(param.ptx.len()).unwrap_or_default();
        }
    }

    fn byval(&self, ptx: PtxParam) -> [Attribute; 2] {
        let byval = Attribute::get_named_enum_kind_id("byval");
        [
            self.context.create_type_attribute(byval, self.param_bytes(ptx).as_any_type_enum()),
            self.flag("align", ptx.align()),
        ]
    }

    fn param_attributes(&self, ty: &Type, first: PtxParam) -> Vec<Attribute> {
        if let PtxParam::Bytes { .. } = first {
            let mut attributes = self.byval(first).to_vec();
            attributes.push(self.flag("noalias", 0));
            return attributes;
        }
        let Some(pointee) = ty.pointee else { return Vec::new() };
        let mut attributes = Vec::new();
        if pointee.access != Access::Raw && self.abi.kind != Kind::Import {
            // Rust's guarantee for references: well aligned, and unless shared, reached by no other parameter.
            attributes.extend([
                self.flag("noalias", 0),
                self.flag("nonnull", 0),
                self.flag("align", pointee.align.max(1)),
                self.flag("noundef", 0),
            ]);
            if pointee.access == Access::Shared {
                // With `noalias` it lets LLVM read through `ld.global.nc`.
                attributes.push(self.flag("readonly", 0));
            }
        }
        attributes
    }

    fn flag(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// Who launches the kernel on the device has its address by a name of the macros'.
    fn give_address(&self, function: FunctionValue<'ctx>) {
        let Some(declared) = self.module.get_function(&format!("{}{}", ptx_abi::ENTRY_PREFIX, self.abi.name)) else {
            return;
        };
        declared.replace_all_uses_with(function);
        // SAFETY: the kernel is used in its place, and this is its only handle.
        unsafe { llvm::delete_function(declared) };
    }

    /// The function takes over the shim's debug information: the shim's body ends up in it, and lines stay right.
    fn move_debug_info(&self, function: FunctionValue<'ctx>) {
        if let Some(subprogram) = self.described.shim.get_subprogram() {
            llvm::clear_subprogram(self.described.shim);
            function.set_subprogram(subprogram);
        }
    }
}
