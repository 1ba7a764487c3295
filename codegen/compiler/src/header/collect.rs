//! Which types a header declares and which it defines, inner ones first.

use std::collections::BTreeSet;

use ptx_abi::cxx::{Builtin, Keyword};
use ptx_abi::owned::{OwnedArgument, OwnedBody, OwnedCxx, OwnedDefinition, OwnedField, OwnedName};

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::header::names::is_keyword;
use crate::header::spell::{Context, full_name};
use crate::interface::Described;

/// The types that some functions need.
#[derive(Default)]
pub struct Types<'a> {
    /// CUDA's own headers.
    pub headers: BTreeSet<&'a str>,
    /// Every named type that is not in them, in order of mention.
    pub mentioned: Vec<&'a OwnedName>,
    /// Those whose contents are known, each behind those that it holds.
    pub defined: Vec<&'a OwnedDefinition>,
    /// The enums among `mentioned`, and where.
    enums: Vec<(&'a OwnedName, Span)>,
    problems: Vec<Diagnostic>,
}

impl<'a> Types<'a> {
    /// Those that the functions' parameters and results mention.
    pub fn of(functions: &[&'a Described<'a>]) -> Result<Self> {
        let mut this = Self::default();
        for function in functions {
            let path = function.descriptor.namespace.split("::").filter(|part| !part.is_empty());
            path.chain([function.descriptor.name.as_str()]).for_each(|name| this.check_name(name, function));
            for param in function.descriptor.params.iter().chain(&function.descriptor.result) {
                this.mention(&param.cxx, function);
                this.define(&param.definition, function);
            }
        }
        // An enum is declared with its integer type, which only its definition says.
        let unknown = this.enums.iter().filter(|(name, _)| this.underlying(name).is_none());
        let unknown: Vec<_> = unknown.map(|(name, span)| unknown_enum(name, span)).collect();
        this.problems.extend(unknown);
        if this.problems.is_empty() { Ok(this) } else { Err(this.problems.into()) }
    }

    fn mention(&mut self, cxx: &'a OwnedCxx, function: &Described<'_>) {
        match cxx {
            OwnedCxx::Builtin(_) | OwnedCxx::Parameter(_) => {}
            OwnedCxx::Pointer(inner)
            | OwnedCxx::Reference(inner)
            | OwnedCxx::Const(inner)
            | OwnedCxx::Restrict(inner)
            | OwnedCxx::Volatile(inner)
            | OwnedCxx::Array { element: inner, .. } => self.mention(inner, function),
            OwnedCxx::Function { result, params } => {
                self.mention(result, function);
                params.iter().for_each(|param| self.mention(param, function));
            }
            OwnedCxx::Named(name) if !name.header.is_empty() => {
                self.headers.insert(&name.header);
            }
            OwnedCxx::Named(name) => {
                for argument in &name.arguments {
                    if let OwnedArgument::Type(ty) = argument {
                        self.mention(ty, function);
                    }
                }
                if !self.mentioned.contains(&name) {
                    let path = name.namespace.split("::").filter(|part| !part.is_empty());
                    path.chain([name.name.as_str()]).for_each(|part| self.check_name(part, function));
                    self.mentioned.push(name);
                    if name.keyword == Keyword::Enum {
                        self.enums.push((name, function.span()));
                    }
                }
            }
        }
    }

    fn define(&mut self, definition: &'a OwnedDefinition, function: &Described<'_>) {
        if definition.body == OwnedBody::Opaque {
            return;
        }
        self.mention(&definition.cxx, function);
        if let OwnedBody::Record { fields, .. } = &definition.body {
            for field in fields {
                self.mention(&field.cxx, function);
                self.define(&field.definition, function);
            }
        }
        match self.defined.iter().find(|known| known.cxx == definition.cxx) {
            None => self.defined.push(definition),
            Some(known) if *known == definition => {}
            Some(_) => self.problems.push(two_types(&definition.cxx, function)),
        }
    }

    /// The integer type of an enum that is defined.
    pub fn underlying(&self, name: &OwnedName) -> Option<Builtin> {
        self.defined.iter().find_map(|definition| match (&definition.cxx, &definition.body) {
            (OwnedCxx::Named(known), OwnedBody::Enum { underlying, .. }) if known == name => Some(*underlying),
            _ => None,
        })
    }

    /// Whether no other instance of the same template is mentioned before.
    pub fn is_first_instance(&self, name: &OwnedName) -> bool {
        let template = |other: &OwnedName| (other.namespace.clone(), other.name.clone());
        self.mentioned.iter().find(|other| template(other) == template(name)).is_some_and(|first| *first == name)
    }

    fn check_name(&mut self, name: &str, function: &Described<'_>) {
        if is_keyword(name) {
            self.problems.push(
                Diagnostic::error(Code::HeaderName, format!("`{name}` is a keyword of C++"))
                    .at(Some(function.span()), format!("the header declares this {} with it", function.noun()))
                    .help(
                        "give it another name in C++: `name = \"…\"` on a function, `#[ptx(name = \"…\")]` on a type",
                    ),
            );
        }
    }
}

/// The alignment that C++ gives the member; unknown of CUDA's own types.
pub fn natural_align(field: &OwnedField) -> Option<u64> {
    if field.bits.is_some() && field.name.is_empty() {
        return Some(1);
    }
    let mut cxx = &field.cxx;
    loop {
        cxx = match cxx {
            OwnedCxx::Array { element: inner, .. } | OwnedCxx::Const(inner) | OwnedCxx::Volatile(inner) => inner,
            OwnedCxx::Builtin(builtin) => return Some(builtin_align(*builtin)),
            OwnedCxx::Pointer(_) | OwnedCxx::Reference(_) | OwnedCxx::Restrict(_) => return Some(8),
            OwnedCxx::Named(_) if field.definition.body != OwnedBody::Opaque => return Some(field.definition.align),
            OwnedCxx::Named(_) | OwnedCxx::Function { .. } | OwnedCxx::Parameter(_) => return None,
        }
    }
}

fn builtin_align(builtin: Builtin) -> u64 {
    match builtin {
        Builtin::Void
        | Builtin::Bool
        | Builtin::Char
        | Builtin::SignedChar
        | Builtin::UnsignedChar
        | Builtin::Char8 => 1,
        Builtin::Short | Builtin::UnsignedShort | Builtin::Char16 => 2,
        Builtin::Int | Builtin::UnsignedInt | Builtin::Float | Builtin::WChar | Builtin::Char32 => 4,
        Builtin::Long
        | Builtin::UnsignedLong
        | Builtin::LongLong
        | Builtin::UnsignedLongLong
        | Builtin::Double
        | Builtin::NullPointer => 8,
        Builtin::Int128 | Builtin::UnsignedInt128 => 16,
    }
}

fn two_types(cxx: &OwnedCxx, function: &Described<'_>) -> Diagnostic {
    let name = crate::header::spell::declare(cxx, "", Context::Top);
    Diagnostic::error(Code::HeaderName, format!("two types are `{name}` in C++"))
        .at(Some(function.span()), "this function needs the second")
        .help("give one of them another name with `#[ptx(name = \"…\")]` or `#[ptx(namespace = \"…\")]`")
}

fn unknown_enum(name: &OwnedName, span: &Span) -> Diagnostic {
    let full = full_name(name, Context::Top);
    Diagnostic::error(Code::HeaderName, format!("the header cannot declare the enum `{full}`"))
        .at(Some(span.clone()), "it is mentioned here first")
        .note("only the type of a function pointer mentions it, and that does not say the enum's integer type")
        .help("let an exported function take the enum by value or by pointer")
}
