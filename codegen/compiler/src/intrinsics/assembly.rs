//! Inline PTX of `ptx::asm!`, whose text is in the name of the function that the macro calls.
//!
//! Before: `declare void @"__ptx_asm:v:=r:r,r:add.s32 $0, $1, $2;"(i32, i32, ptr)`. After: an always-inlined function
//! with that inline PTX, which stores each result where its pointer says. `v` is for volatile, `p` for pure. The device
//! library says what its own instructions need: `v/80/7.4` is for sm_80 and PTX ISA 7.4.

use crate::arch::PtxVersion;
use crate::llvm::{
    self, Attribute, AttributeLoc, BasicMetadataTypeEnum, BasicMetadataValueEnum, BasicType, BasicTypeEnum,
    BuilderError, Context, FunctionValue,
};

/// What begins the names, behind the prefix of all intrinsics.
const BEGIN: &str = "asm:";

/// What a name says.
#[derive(Debug, PartialEq, Eq)]
pub struct Assembly<'a> {
    /// Without effects: equal ones are computed once, unused ones never.
    is_pure: bool,
    /// The lowest arch and PTX ISA version, where the name says them.
    pub since: Option<(u32, PtxVersion)>,
    /// The results' constraints, as `=r`.
    outputs: Vec<&'a str>,
    /// The operands' constraints: a class of registers, or the number of the result in whose register it is.
    inputs: Vec<&'a str>,
    /// As LLVM takes it.
    text: &'a str,
}

/// What the name of an intrinsic says, if it is that of inline PTX.
pub fn parse(name: &str) -> Option<Assembly<'_>> {
    let rest = name.strip_prefix(ptx_abi::INTRINSIC_PREFIX)?.strip_prefix(BEGIN)?;
    let mut parts = rest.splitn(4, ':');
    let mut list = || Some(parts.next()?.split(',').filter(|constraint| !constraint.is_empty()).collect::<Vec<_>>());
    let (kind, outputs, inputs) = (list()?, list()?, list()?);
    let text = parts.next()?;
    let mut kind = kind.first()?.split('/');
    let is_pure = kind.next()? == "p";
    let since = kind.next().zip(kind.next()).and_then(|(sm, version)| {
        let (major, minor) = version.split_once('.')?;
        Some((sm.parse().ok()?, PtxVersion { major: major.parse().ok()?, minor: minor.parse().ok()? }))
    });
    Some(Assembly { is_pure, since, outputs, inputs, text })
}

impl Assembly<'_> {
    /// The instruction, for messages: the first that declares no register.
    pub fn instruction(&self) -> &str {
        let mut statements = self.text.trim_start_matches('{').split(';').map(str::trim);
        let first = statements.find(|statement| !statement.starts_with(".reg"));
        first.and_then(|statement| statement.split_whitespace().next()).unwrap_or_default()
    }

    /// Gives the function its body; false if its signature is not what the name says.
    pub fn write<'ctx>(&self, context: &'ctx Context, function: FunctionValue<'ctx>) -> Result<bool, BuilderError> {
        let types = function.get_type().get_param_types();
        if types.len() != self.inputs.len() + self.outputs.len() || function.get_type().get_return_type().is_some() {
            return Ok(false);
        }
        let (inputs, pointers) = types.split_at(self.inputs.len());
        let Some(results) = self.outputs.iter().map(|output| register(context, output)).collect::<Option<Vec<_>>>()
        else {
            return Ok(false);
        };
        let fits = |(constraint, ty): (&&str, &BasicMetadataTypeEnum<'ctx>)| {
            let tied = constraint.parse::<usize>().ok().map(|number| results.get(number).copied());
            match (tied.unwrap_or_else(|| register(context, constraint)), ty) {
                (Some(BasicTypeEnum::IntType(int)), BasicMetadataTypeEnum::PointerType(_)) => int.get_bit_width() == 64,
                (Some(wanted), ty) => BasicMetadataTypeEnum::from(wanted) == *ty,
                (None, _) => false,
            }
        };
        if !self.inputs.iter().zip(inputs).all(fits) || !pointers.iter().all(|ty| ty.is_pointer_type()) {
            return Ok(false);
        }
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        let ty = match results.as_slice() {
            [] => context.void_type().fn_type(inputs, false),
            [one] => one.fn_type(inputs, false),
            several => context.struct_type(several, false).fn_type(inputs, false),
        };
        let memory = (!self.is_pure).then_some("~{memory}");
        let constraints: Vec<&str> = self.outputs.iter().chain(&self.inputs).copied().chain(memory).collect();
        let assembly =
            context.create_inline_asm(ty, self.text.into(), constraints.join(","), !self.is_pure, false, None, false);
        let mut arguments: Vec<_> = function.get_param_iter().collect();
        let pointers = arguments.split_off(self.inputs.len());
        let arguments: Vec<_> = arguments.into_iter().map(BasicMetadataValueEnum::from).collect();
        let call = builder.build_indirect_call(ty, assembly, &arguments, "")?;
        let mark = |attribute| {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            call.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
        };
        if self.is_pure {
            llvm::promise_pure(context, call);
        } else {
            // It may be an operation of a warp: which threads come to it together must stay as it is.
            ["convergent", "nounwind"].into_iter().for_each(mark);
            let convergent = Attribute::get_named_enum_kind_id("convergent");
            function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(convergent, 0));
        }
        if let Some(value) = call.try_as_basic_value().basic() {
            for (index, pointer) in (0..).zip(&pointers) {
                let result = if pointers.len() == 1 {
                    value
                } else {
                    builder.build_extract_value(value.into_struct_value(), index, "")?
                };
                builder.build_store(pointer.into_pointer_value(), result)?;
            }
        }
        builder.build_return(None)?;
        Ok(true)
    }
}

/// The type of a register of that class.
fn register<'ctx>(context: &'ctx Context, constraint: &str) -> Option<BasicTypeEnum<'ctx>> {
    Some(match constraint.trim_start_matches('=') {
        "h" => context.i16_type().into(),
        "r" => context.i32_type().into(),
        "l" => context.i64_type().into(),
        "f" => context.f32_type().into(),
        "d" => context.f64_type().into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let name = "__ptx_asm:p:=r,=l:0,f:{.reg .b32 a; mov $$L:b, {$0, $1};}";
        let expected = Assembly {
            is_pure: true,
            since: None,
            outputs: vec!["=r", "=l"],
            inputs: vec!["0", "f"],
            text: "{.reg .b32 a; mov $$L:b, {$0, $1};}",
        };
        assert_eq!(parse(name), Some(expected));
        let nothing = parse("__ptx_asm:v:::trap;").unwrap();
        assert_eq!((nothing.is_pure, nothing.outputs.len(), nothing.inputs.len()), (false, 0, 0));
        assert_eq!(parse("__ptx_asm:v"), None);
        let since = parse("__ptx_asm:v/80/7.4::l:discard.global.L2 [$0], 128;").unwrap();
        assert_eq!(since.since, Some((80, PtxVersion { major: 7, minor: 4 })));
        assert_eq!((since.is_pure, since.instruction()), (false, "discard.global.L2"));
        let declares = parse("__ptx_asm:v:=r:r:{.reg .pred p; vote.all p, p; selp.b32 $0, 1, 0, p;}").unwrap();
        assert_eq!(declares.instruction(), "vote.all");
        assert_eq!(nothing.instruction(), "trap");
        assert_eq!(parse("__ptx_tid_x"), None);
    }
}
