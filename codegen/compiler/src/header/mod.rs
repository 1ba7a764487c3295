//! The C++ header: types with their layouts checked, then declarations of exported functions and kernels.
//!
//! ```text
//! #[device(export)] fn f(a: Pair) -> u32    struct Pair { float x; unsigned int y; };
//!                                           static_assert(sizeof(Pair) == 8 && alignof(Pair) == 4, "…");
//!                                           static_assert(offsetof(Pair, x) == 0, "…"); …
//!                                           extern "C" __device__ unsigned int f(Pair a);
//! ```

mod collect;
mod names;
mod spell;

use std::fmt::Write as _;

use ptx_abi::decode::{OwnedDescriptor, OwnedParam};
use ptx_abi::owned::{OwnedBody, OwnedCxx, OwnedDefinition, OwnedField, OwnedName, OwnedVariant};
use ptx_abi::{Class, Kind, Mangling};

use crate::artifact::Artifact;
use crate::diagnostic::Result;
use crate::interface::{Described, Interface};
use crate::request::{Emit, Options};
use collect::Types;
use names::{Names, file_macro};
use spell::{Context, declare, full_name, in_namespace, template_parameters, type_name};

/// The header, where it was asked for.
pub fn artifact(options: &Options, interface: &Interface<'_>) -> Result<Option<Artifact>> {
    if !options.emit.contains(&Emit::Header) {
        return Ok(None);
    }
    let bytes = write(&options.name, interface)?.into_bytes();
    Ok(Some(Artifact { kind: Emit::Header, arch: None, part: None, bytes }))
}

/// The header of everything that the crate `name` exports.
fn write(name: &str, interface: &Interface<'_>) -> Result<String> {
    let functions: Vec<&Described<'_>> = interface.exports.iter().chain(&interface.kernels).collect();
    let types = Types::of(&functions)?;
    let guard = file_macro(name);
    let mut header = Header { text: String::new(), guard: guard.clone(), aliases: 0 };
    header.line(&format!(
        "// C++ declarations of the device code of `{name}`, by rust-ptx {}. `cargo ptx header` writes them.",
        env!("CARGO_PKG_VERSION")
    ));
    header.line(&format!("#ifndef {guard}\n#define {guard}\n"));
    header.line("#include <cstddef>");
    types.headers.iter().for_each(|file| header.line(&format!("#include <{file}>")));
    header.line("");
    types.mentioned.iter().for_each(|name| header.declaration(name, &types));
    types.defined.iter().for_each(|definition| header.definition(definition));
    // Host code without nvcc knows neither word.
    header.line("\n#ifdef __CUDACC__\n");
    functions.iter().for_each(|function| header.function(&function.descriptor));
    header.line("\n#endif // __CUDACC__\n");
    header.line(&format!("#endif // {guard}"));
    Ok(header.text)
}

struct Header {
    text: String,
    guard: String,
    /// Names given to template instances, whose commas `offsetof` would take for its own.
    aliases: usize,
}

impl Header {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("strings take everything");
    }

    /// `struct S;`, or the template of which it is an instance.
    fn declaration(&mut self, name: &OwnedName, types: &Types<'_>) {
        let plain = &name.name;
        let text = if name.arguments.is_empty() {
            let underlying = types.underlying(name).map(|ty| format!(" : {}", ty.spelling())).unwrap_or_default();
            format!("{} {plain}{underlying};", spell::keyword(name.keyword))
        } else {
            if !types.is_first_instance(name) {
                return;
            }
            format!("template<{}> {} {plain};", template_parameters(&name.arguments), spell::keyword(name.keyword))
        };
        self.line(&in_namespace(&name.namespace, &text));
    }

    fn definition(&mut self, definition: &OwnedDefinition) {
        let OwnedCxx::Named(name) = &definition.cxx else { return };
        let context = Context::of(&name.namespace);
        let text = match &definition.body {
            OwnedBody::Opaque => return,
            OwnedBody::Enum { underlying, variants } => {
                format!("enum class {} : {} {{\n{}}};", name.name, underlying.spelling(), enumerators(variants))
            }
            OwnedBody::Record { fields, packed } => record(definition, name, fields, *packed, context),
        };
        self.line("");
        self.line(&in_namespace(&name.namespace, &text));
        self.assertions(definition, name);
    }

    /// Size, alignment and offsets. A bit-field has no address: its place shows in the others' and in the size.
    fn assertions(&mut self, definition: &OwnedDefinition, name: &OwnedName) {
        let full = full_name(name, Context::Top);
        let mut short = full.clone();
        if !name.arguments.is_empty() {
            short = format!("{}_TYPE_{}", self.guard, self.aliases);
            self.aliases += 1;
            self.line(&format!("using {short} = {full};"));
        }
        let OwnedDefinition { size, align, .. } = definition;
        self.line(&format!(
            "static_assert(sizeof({short}) == {size} && alignof({short}) == {align}, \"layout of {full}\");"
        ));
        let OwnedBody::Record { fields, .. } = &definition.body else { return };
        let mut names = Names::of_members(&name.name);
        for field in fields {
            let member = names.member(&field.name);
            if field.bits.is_none() {
                let offset = field.offset;
                self.line(&format!(
                    "static_assert(offsetof({short}, {member}) == {offset}, \"layout of {full}::{member}\");"
                ));
            }
        }
    }

    fn function(&mut self, descriptor: &OwnedDescriptor) {
        let is_c = descriptor.mangling == Mangling::C;
        let namespace = if is_c { "" } else { &descriptor.namespace };
        let context = Context::of(namespace);
        let mut names = Names::of_parameters();
        let types = descriptor.cxx_params();
        let mut types = types.iter();
        let mut params = Vec::new();
        for OwnedParam { name, ty, cxx, .. } in &descriptor.params {
            if let OwnedCxx::Array { .. } = cxx {
                // Of kernels only: device functions do not take them.
                self.line(&format!(
                    "// {}::{} has no declaration: C++ passes no array by value.",
                    descriptor.module_path, descriptor.name
                ));
                return;
            }
            let name = names.parameter(name);
            let cxx = types.next().expect("one for each parameter");
            params.push(declare(cxx, &name, context));
            if ty.class == Class::Slice {
                types.next();
                params.push(format!("size_t {}", names.parameter(&format!("{name}_len"))));
            }
        }
        let void = OwnedCxx::Builtin(ptx_abi::cxx::Builtin::Void);
        let result = descriptor.result.as_ref().map_or(&void, |result| &result.cxx);
        let language = if is_c { "extern \"C\" " } else { "" };
        let place = if descriptor.kind == Kind::Kernel { "__global__" } else { "__device__" };
        let declarator = declare(result, &format!("{}({})", descriptor.name, params.join(", ")), context);
        self.line(&format!("// {}::{}", descriptor.module_path, descriptor.name));
        self.line(&in_namespace(namespace, &format!("{language}{place} {declarator};")));
    }
}

fn enumerators(variants: &[OwnedVariant]) -> String {
    let mut names = Names::of_members("");
    variants.iter().map(|v| format!("    {} = {},\n", names.member(&v.name), spell::integer(v.value))).collect()
}

fn record(
    definition: &OwnedDefinition,
    name: &OwnedName,
    fields: &[OwnedField],
    packed: u64,
    context: Context,
) -> String {
    let template = if name.arguments.is_empty() { "" } else { "template<> " };
    let (own_name, keyword) = (type_name(name, context), spell::keyword(name.keyword));
    let natural = fields.iter().try_fold(1, |align, field| Some(collect::natural_align(field)?.max(align)));
    let is_natural = packed != 0 || natural == Some(definition.align);
    let align = if is_natural { String::new() } else { format!("alignas({}) ", definition.align) };
    let mut names = Names::of_members(&name.name);
    let members: String = fields
        .iter()
        .map(|field| {
            let member = names.member(&field.name);
            let width = field.bits.map(|bits| format!(" : {}", bits.width)).unwrap_or_default();
            format!("    {}{width};\n", declare(&field.cxx, &member, context))
        })
        .collect();
    let text = format!("{template}{keyword} {align}{own_name} {{\n{members}}};");
    if packed == 0 { text } else { format!("#pragma pack(push, {packed})\n{text}\n#pragma pack(pop)") }
}
