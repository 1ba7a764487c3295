//! Gives every described kernel its entry point.
//!
//! Before, what `#[kernel] fn k(a: f32, x: &[f32], s: S)` left:
//! ```text
//! define internal void @shim(ptr %a, ptr %x, ptr %s)
//! ```
//! After, with the shim inlined later:
//! ```text
//! define ptx_kernel void @k(float %a, ptr noalias readonly %x, i64 %x.len, ptr byval([32 x i8]) align 32 %s) {
//!   %a.slot = alloca float            ; a scalar's slot, which SROA dissolves
//!   %x.slot = alloca { ptr, i64 }
//!   call void @shim(ptr %a.slot, ptr %x.slot, ptr %s)
//! ```
//! `byval` puts an aggregate into parameter space, read in place; the calling convention makes an `.entry`. Kernel
//! metadata in `nvvm.annotations` is not written: LLVM miscompiles it from version 20 on.

use ptx_abi::{Access, Class, LaunchBounds, Type};

use super::classify::PtxParam;
use super::table::{KernelAbi, ParamAbi, Table};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::interface::{Interface, Kernel};
use crate::llvm::{
    self, Attribute, AttributeLoc, BasicMetadataTypeEnum, BasicMetadataValueEnum, BasicTypeEnum, Builder, Context,
    FunctionValue, Linkage, Module,
};

/// Writes the entry points into the module.
pub fn lower<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    interface: &Interface<'ctx>,
    table: &Table,
) -> Result<()> {
    for (kernel, abi) in interface.kernels.iter().zip(&table.kernels) {
        Lowering { context, module, kernel, abi }.run().map_err(|error| {
            Diagnostic::error(Code::LlvmFailed, format!("cannot build the entry point of `{}`: {error}", abi.name))
                .at(Some(abi.span.clone()), "kernel defined here")
        })?;
    }
    Ok(())
}

struct Lowering<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    kernel: &'a Kernel<'ctx>,
    abi: &'a KernelAbi,
}

impl<'ctx> Lowering<'_, 'ctx> {
    fn run(&self) -> Result<(), String> {
        if self.module.get_function(&self.abi.name).is_some_and(|other| other.count_basic_blocks() > 0) {
            return Err("another function has this name; rename one of them".into());
        }
        let types: Vec<BasicMetadataTypeEnum<'ctx>> =
            self.abi.params.iter().flat_map(|p| &p.ptx).map(|ptx| self.llvm_type(*ptx).into()).collect();
        let entry = self.module.add_function(&self.abi.name, self.context.void_type().fn_type(&types, false), None);
        entry.set_call_conventions(llvm::PTX_KERNEL);
        entry.set_linkage(Linkage::External);
        self.add_attributes(entry);
        self.fill(entry).map_err(|error| error.to_string())?;
        let shim = self.kernel.shim;
        shim.set_linkage(Linkage::Internal);
        shim.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("noinline"));
        shim.add_attribute(AttributeLoc::Function, self.flag("alwaysinline", 0));
        self.move_debug_info(entry);
        Ok(())
    }

    /// The call of the shim.
    fn fill(&self, entry: FunctionValue<'ctx>) -> Result<(), llvm::BuilderError> {
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(entry, "entry"));
        let mut values = entry.get_param_iter();
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
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
            let slot = self.slot(&builder, param)?;
            for (index, part) in parts.iter().enumerate() {
                let index = u32::try_from(index).unwrap_or_default();
                let field = match parts.len() {
                    1 => slot,
                    _ => builder.build_struct_gep(self.slot_type(param), slot, index, "")?,
                };
                builder.build_store(field, *part)?;
            }
            arguments.push(slot.into());
        }
        builder.build_call(self.kernel.shim, &arguments, "")?;
        builder.build_return(None)?;
        Ok(())
    }

    fn slot(&self, builder: &Builder<'ctx>, param: &ParamAbi) -> Result<llvm::PointerValue<'ctx>, llvm::BuilderError> {
        let slot = builder.build_alloca(self.slot_type(param), &format!("{}.slot", param.source.name))?;
        if let Some(instruction) = slot.as_instruction() {
            // An alloca takes any power of two, and the table refused all else.
            let _ = instruction.set_alignment(u32::try_from(param.source.ty.align).unwrap_or(1));
        }
        Ok(slot)
    }

    fn slot_type(&self, param: &ParamAbi) -> BasicTypeEnum<'ctx> {
        let fields: Vec<BasicTypeEnum<'ctx>> = param.ptx.iter().map(|ptx| self.llvm_type(*ptx)).collect();
        match fields[..] {
            [single] => single,
            _ => self.context.struct_type(&fields, false).into(),
        }
    }

    fn llvm_type(&self, ptx: PtxParam) -> BasicTypeEnum<'ctx> {
        match ptx {
            PtxParam::Int { bits, .. } => match bits {
                8 => self.context.i8_type().into(),
                16 => self.context.i16_type().into(),
                32 => self.context.i32_type().into(),
                _ => self.context.i64_type().into(),
            },
            PtxParam::Float { bits: 32 } => self.context.f32_type().into(),
            PtxParam::Float { .. } => self.context.f64_type().into(),
            PtxParam::Pointer | PtxParam::Bytes { .. } => self.context.ptr_type(llvm::AddressSpace::default()).into(),
        }
    }

    fn add_attributes(&self, entry: FunctionValue<'ctx>) {
        entry.add_attribute(AttributeLoc::Function, self.flag("nounwind", 0));
        entry.add_attribute(AttributeLoc::Function, self.flag("convergent", 0));
        let LaunchBounds { max_threads, min_blocks, max_registers } = self.kernel.descriptor.bounds;
        for (name, value) in
            [("nvvm.maxntid", max_threads), ("nvvm.minctasm", min_blocks), ("nvvm.maxnreg", max_registers)]
        {
            if value > 0 {
                let attribute = self.context.create_string_attribute(name, &value.to_string());
                entry.add_attribute(AttributeLoc::Function, attribute);
            }
        }
        let mut index = 0;
        for param in &self.abi.params {
            for attribute in self.param_attributes(&param.source.ty, param.ptx[0]) {
                entry.add_attribute(AttributeLoc::Param(index), attribute);
            }
            index += u32::try_from(param.ptx.len()).unwrap_or_default();
        }
    }

    fn param_attributes(&self, ty: &Type, first: PtxParam) -> Vec<Attribute> {
        if let PtxParam::Bytes { size, align } = first {
            let bytes = self.context.i8_type().array_type(u32::try_from(size).unwrap_or(u32::MAX));
            let byval = Attribute::get_named_enum_kind_id("byval");
            return vec![
                self.context.create_type_attribute(byval, bytes.into()),
                self.flag("align", align),
                self.flag("noalias", 0),
            ];
        }
        let Some(pointee) = ty.pointee else { return Vec::new() };
        let mut attributes = Vec::new();
        if pointee.access != Access::Raw {
            // Rust's guarantee for references: well aligned, and unless shared, reached by no other parameter.
            attributes.extend([
                self.flag("noalias", 0),
                self.flag("nonnull", 0),
                self.flag("align", pointee.align.max(1)),
                self.flag("noundef", 0),
            ]);
        }
        if pointee.access == Access::Shared {
            // With `noalias` it lets LLVM read through `ld.global.nc`.
            attributes.push(self.flag("readonly", 0));
        }
        attributes
    }

    fn flag(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// The entry point takes over the shim's debug information: the shim's body ends up in it, and lines stay right.
    fn move_debug_info(&self, entry: FunctionValue<'ctx>) {
        if let Some(subprogram) = self.kernel.shim.get_subprogram() {
            llvm::clear_subprogram(self.kernel.shim);
            entry.set_subprogram(subprogram);
        }
    }
}
