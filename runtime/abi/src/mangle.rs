//! Symbol names of the Itanium C++ ABI, as nvcc writes them (guide, chapter 7; Itanium C++ ABI 5.1, "Name mangling").

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::cxx::Builtin;
use crate::decode::{OwnedDescriptor, OwnedParam};
use crate::descriptor::{Class, Descriptor, Kind, Mangling};
use crate::owned::{OwnedArgument, OwnedCxx, OwnedName};

impl OwnedDescriptor {
    /// The symbol in the PTX.
    pub fn symbol(&self) -> String {
        if self.mangling == Mangling::C {
            return self.name.clone();
        }
        let params = self.params.iter().map(|param| (param.cxx.clone(), param.ty.class)).collect::<Vec<_>>();
        let result = self.result.as_ref().map(|result| &result.cxx);
        symbol(self.kind, &self.namespace, &self.name, self.template.as_deref(), &params, result)
    }

    /// The parameters as C++ has them.
    pub fn cxx_params(&self) -> Vec<OwnedCxx> {
        let typed = |param: &OwnedParam| (param.cxx.clone(), param.ty.class);
        cxx_params(self.kind, &self.params.iter().map(typed).collect::<Vec<_>>())
    }
}

impl Descriptor<'_> {
    /// The symbol in the PTX.
    pub fn symbol(&self) -> String {
        if self.mangling == Mangling::C {
            return self.name.to_string();
        }
        let params = self.params.iter().map(|param| (OwnedCxx::from(&param.cxx), param.ty.class)).collect::<Vec<_>>();
        let result = self.result.as_ref().map(|result| OwnedCxx::from(&result.cxx));
        let template = self.template.map(|list| list.iter().map(OwnedArgument::from).collect::<Vec<_>>());
        symbol(self.kind, self.namespace, self.name, template.as_deref(), &params, result.as_ref())
    }
}

fn symbol(
    kind: Kind,
    namespace: &str,
    name: &str,
    template: Option<&[OwnedArgument]>,
    params: &[(OwnedCxx, Class)],
    result: Option<&OwnedCxx>,
) -> String {
    function(namespace, name, template, &cxx_params(kind, params), result.unwrap_or(&OwnedCxx::Builtin(Builtin::Void)))
}

/// A slice is a pointer and a `size_t`. A kernel has pointers for references, which CUDA C++ forbids in kernels.
fn cxx_params(kind: Kind, params: &[(OwnedCxx, Class)]) -> Vec<OwnedCxx> {
    let mut list = Vec::new();
    for (cxx, class) in params {
        list.push(match cxx {
            OwnedCxx::Reference(inner) if kind == Kind::Kernel => OwnedCxx::Pointer(inner.clone()),
            other => other.clone(),
        });
        if *class == Class::Slice {
            list.push(OwnedCxx::Builtin(Builtin::UnsignedLong));
        }
    }
    list
}

/// The mangled name of a function.
///
/// Only an instance of a template has its result in its name; `template` then holds the arguments.
pub fn function(
    namespace: &str,
    name: &str,
    template: Option<&[OwnedArgument]>,
    params: &[OwnedCxx],
    result: &OwnedCxx,
) -> String {
    let mut mangler = Mangler { text: "_Z".into(), seen: Vec::new() };
    mangler.nested(namespace, name, template, false);
    if template.is_some() {
        mangler.ty(&canonical(result));
    }
    mangler.parameters(&params.iter().map(canonical).collect::<Vec<_>>());
    mangler.text
}

struct Mangler {
    text: String,
    /// What has been written and can be referred to, by its own full spelling.
    seen: Vec<String>,
}

impl Mangler {
    /// A function's or type's name: `3foo`, `N1a1b3fooE`, `St3foo`, `3fooIiE`.
    fn nested(&mut self, namespace: &str, name: &str, arguments: Option<&[OwnedArgument]>, is_type: bool) {
        let path: Vec<&str> = namespace.split("::").filter(|part| !part.is_empty()).collect();
        let is_std = path == ["std"];
        let is_nested = !path.is_empty() && !is_std;
        let template = plain(&path, name);
        let full = arguments.map_or(template.clone(), |arguments| format!("{template}{}", spell(arguments)));
        if is_type && self.substitute(&full) {
            return;
        }
        if is_nested {
            self.text.push('N');
        }
        // The longest prefix that has been seen, then what is left of the name.
        let has_template_seen = arguments.is_some() && self.substitute(&template);
        if !has_template_seen {
            if is_std {
                self.text.push_str("St");
            } else {
                self.prefix(&path);
            }
            self.source_name(name);
            if arguments.is_some() {
                self.remember(template);
            }
        }
        if let Some(arguments) = arguments {
            self.arguments(arguments);
        }
        if is_nested {
            self.text.push('E');
        }
        if is_type {
            self.remember(full);
        }
    }

    fn prefix(&mut self, path: &[&str]) {
        let Some((last, outer)) = path.split_last() else { return };
        if path == ["std"] {
            self.text.push_str("St");
            return;
        }
        let full = plain(outer, last);
        if !self.substitute(&full) {
            self.prefix(outer);
            self.source_name(last);
            self.remember(full);
        }
    }

    fn source_name(&mut self, name: &str) {
        self.text.push_str(&format!("{}{name}", name.len()));
    }

    fn arguments(&mut self, arguments: &[OwnedArgument]) {
        self.text.push('I');
        for argument in arguments {
            match argument {
                OwnedArgument::Type(ty) => self.ty(ty),
                OwnedArgument::Value { ty, value } => self.text.push_str(&literal(*ty, *value)),
            }
        }
        self.text.push('E');
    }

    /// The types of a function's parameters. Qualifiers of a parameter itself are no part of the function's type.
    fn parameters(&mut self, params: &[OwnedCxx]) {
        for param in params {
            let param = unqualified(param);
            self.ty(decay(param).as_ref().unwrap_or(param));
        }
        if params.is_empty() {
            self.text.push('v');
        }
    }

    fn ty(&mut self, ty: &OwnedCxx) {
        if let OwnedCxx::Builtin(builtin) = ty {
            self.text.push_str(builtin.code());
            return;
        }
        if let OwnedCxx::Named(OwnedName { namespace, name, arguments, .. }) = ty {
            let arguments = (!arguments.is_empty()).then_some(arguments.as_slice());
            self.nested(namespace, name, arguments, true);
            return;
        }
        let full = identity(ty);
        if self.substitute(&full) {
            return;
        }
        match ty {
            OwnedCxx::Builtin(_) | OwnedCxx::Named(_) => {}
            OwnedCxx::Pointer(inner) => {
                self.text.push('P');
                self.ty(inner);
            }
            OwnedCxx::Reference(inner) => {
                self.text.push('R');
                self.ty(inner);
            }
            OwnedCxx::Const(_) | OwnedCxx::Restrict(_) | OwnedCxx::Volatile(_) => {
                let (letters, inner) = qualifiers(ty);
                self.text.push_str(&letters);
                self.ty(inner);
            }
            OwnedCxx::Array { element, len } => {
                self.text.push_str(&format!("A{len}_"));
                self.ty(element);
            }
            OwnedCxx::Function { result, params } => {
                self.text.push('F');
                self.ty(result);
                self.parameters(params);
                self.text.push('E');
            }
            OwnedCxx::Parameter(0) => self.text.push_str("T_"),
            OwnedCxx::Parameter(index) => self.text.push_str(&format!("T{}_", base36(*index as usize - 1))),
        }
        self.remember(full);
    }

    /// Writes a reference to what has been written before.
    fn substitute(&mut self, full: &str) -> bool {
        let Some(index) = self.seen.iter().position(|seen| seen == full) else { return false };
        match index.checked_sub(1) {
            None => self.text.push_str("S_"),
            Some(index) => self.text.push_str(&format!("S{}_", base36(index))),
        }
        true
    }

    fn remember(&mut self, full: String) {
        self.seen.push(full);
    }
}

fn plain(path: &[&str], name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{}::{name}", path.join("::")) }
}

/// A text that is equal for equal types only.
fn identity(ty: &OwnedCxx) -> String {
    match ty {
        OwnedCxx::Builtin(builtin) => builtin.spelling().into(),
        OwnedCxx::Named(OwnedName { namespace, name, arguments, .. }) => {
            let path: Vec<&str> = namespace.split("::").filter(|part| !part.is_empty()).collect();
            let name = plain(&path, name);
            if arguments.is_empty() { name } else { format!("{name}{}", spell(arguments)) }
        }
        OwnedCxx::Pointer(inner) => format!("P({})", identity(inner)),
        OwnedCxx::Reference(inner) => format!("R({})", identity(inner)),
        OwnedCxx::Const(_) | OwnedCxx::Restrict(_) | OwnedCxx::Volatile(_) => {
            let (letters, inner) = qualifiers(ty);
            format!("{letters}({})", identity(inner))
        }
        OwnedCxx::Array { element, len } => format!("A{len}({})", identity(element)),
        OwnedCxx::Function { result, params } => {
            let params: Vec<String> = params.iter().map(identity).collect();
            format!("F({})({})", identity(result), params.join(","))
        }
        OwnedCxx::Parameter(index) => format!("T{index}"),
    }
}

fn spell(arguments: &[OwnedArgument]) -> String {
    let one = |argument: &OwnedArgument| match argument {
        OwnedArgument::Type(ty) => identity(ty),
        OwnedArgument::Value { ty, value } => literal(*ty, *value),
    };
    format!("<{}>", arguments.iter().map(one).collect::<Vec<_>>().join(","))
}

fn literal(ty: Builtin, value: i128) -> String {
    let sign = if value < 0 { "n" } else { "" };
    format!("L{}{sign}{}E", ty.code(), value.unsigned_abs())
}

/// All qualifiers of a type, in the ABI's order, and what they qualify.
fn qualifiers(ty: &OwnedCxx) -> (String, &OwnedCxx) {
    let (mut restrict, mut volatile, mut constant) = (false, false, false);
    let mut inner = ty;
    loop {
        inner = match inner {
            OwnedCxx::Restrict(next) => {
                restrict = true;
                next
            }
            OwnedCxx::Volatile(next) => {
                volatile = true;
                next
            }
            OwnedCxx::Const(next) => {
                constant = true;
                next
            }
            other => {
                let letters = [(restrict, 'r'), (volatile, 'V'), (constant, 'K')];
                return (letters.iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect(), other);
            }
        };
    }
}

fn unqualified(ty: &OwnedCxx) -> &OwnedCxx {
    qualifiers(ty).1
}

/// An array or function parameter is a pointer.
fn decay(ty: &OwnedCxx) -> Option<OwnedCxx> {
    match ty {
        OwnedCxx::Array { element, .. } => Some(OwnedCxx::Pointer(element.clone())),
        OwnedCxx::Function { .. } => Some(OwnedCxx::Pointer(ty.clone().into())),
        _ => None,
    }
}

/// `const` of an array is that of its elements.
fn canonical(ty: &OwnedCxx) -> OwnedCxx {
    let boxed = |inner: &OwnedCxx| canonical(inner).into();
    match ty {
        OwnedCxx::Const(inner) => match canonical(inner) {
            OwnedCxx::Array { element, len } => {
                OwnedCxx::Array { element: canonical(&OwnedCxx::Const(element)).into(), len }
            }
            inner @ (OwnedCxx::Const(_) | OwnedCxx::Reference(_) | OwnedCxx::Function { .. }) => inner,
            inner => OwnedCxx::Const(inner.into()),
        },
        OwnedCxx::Named(name) => {
            let one = |argument: &OwnedArgument| match argument {
                OwnedArgument::Type(ty) => OwnedArgument::Type(canonical(ty)),
                value => value.clone(),
            };
            OwnedCxx::Named(OwnedName { arguments: name.arguments.iter().map(one).collect(), ..name.clone() })
        }
        OwnedCxx::Pointer(inner) => OwnedCxx::Pointer(boxed(inner)),
        OwnedCxx::Reference(inner) => OwnedCxx::Reference(boxed(inner)),
        OwnedCxx::Restrict(inner) => OwnedCxx::Restrict(boxed(inner)),
        OwnedCxx::Volatile(inner) => OwnedCxx::Volatile(boxed(inner)),
        OwnedCxx::Array { element, len } => OwnedCxx::Array { element: boxed(element), len: *len },
        OwnedCxx::Function { result, params } => {
            OwnedCxx::Function { result: boxed(result), params: params.iter().map(canonical).collect() }
        }
        OwnedCxx::Builtin(_) | OwnedCxx::Parameter(_) => ty.clone(),
    }
}

fn base36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0').to_ascii_uppercase());
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cxx::{Cxx, Keyword, Name};
    use crate::types::CxxType;

    const fn named(namespace: &'static str, name: &'static str) -> Cxx<'static> {
        Cxx::Named(Name { keyword: Keyword::Struct, namespace, name, arguments: &[], header: "" })
    }

    fn owned<const N: usize>(params: [Cxx<'static>; N]) -> Vec<OwnedCxx> {
        params.iter().map(OwnedCxx::from).collect()
    }

    fn plain_function<const N: usize>(name: &str, params: [Cxx<'static>; N]) -> String {
        function("", name, None, &owned(params), &OwnedCxx::Builtin(Builtin::Void))
    }

    // The expected names are nvcc 13.0.88's for the same C++ declarations. `cargo xtask test abi` compares many more.

    #[test]
    fn builtin_types() {
        assert_eq!(plain_function("foo", [i32::CXX, i32::CXX]), "_Z3fooii");
        assert_eq!(plain_function("test", [<*mut i32>::CXX]), "_Z4testPi");
        assert_eq!(plain_function("none", []), "_Z4nonev");
        assert_eq!(plain_function("i128", [i128::CXX, u128::CXX]), "_Z4i128no");
    }

    #[test]
    fn namespaces_and_substitutions() {
        const S: Cxx<'static> = named("a::b", "S");
        const ARRAY: Cxx<'static> = Cxx::Named(Name {
            keyword: Keyword::Struct,
            namespace: "a::b",
            name: "Arr",
            arguments: &[
                crate::cxx::Argument::Type(&f32::CXX),
                crate::cxx::Argument::Value { ty: Builtin::UnsignedInt, value: 4 },
            ],
            header: "",
        });
        const OTHER: Cxx<'static> = Cxx::Named(Name {
            keyword: Keyword::Struct,
            namespace: "a::b",
            name: "Arr",
            arguments: &[
                crate::cxx::Argument::Type(&S),
                crate::cxx::Argument::Value { ty: Builtin::UnsignedInt, value: 2 },
            ],
            header: "",
        });
        let params = owned([
            S,
            Cxx::Pointer(&S),
            Cxx::Pointer(&Cxx::Const(&S)),
            Cxx::Reference(&S),
            Cxx::Reference(&Cxx::Const(&S)),
            named("a::b", "Kind"),
            named("a::b", "K2"),
            ARRAY,
            Cxx::Pointer(&OTHER),
        ]);
        assert_eq!(
            function("a::b", "f", None, &params, &OwnedCxx::from(&S)),
            "_ZN1a1b1fENS0_1SEPS1_PKS1_RS1_RS3_NS0_4KindENS0_2K2ENS0_3ArrIfLj4EEEPNS9_IS1_Lj2EEE"
        );
    }

    #[test]
    fn function_pointers_arrays_and_qualifiers() {
        const S: Cxx<'static> = named("a::b", "S");
        const INT: Cxx<'static> = i32::CXX;
        const POINTER: Cxx<'static> = Cxx::Pointer(&INT);
        let name = plain_function(
            "fp",
            [
                Cxx::Pointer(&Cxx::Function { result: &INT, params: &[INT, S] }),
                Cxx::Pointer(&Cxx::Function { result: &<()>::CXX, params: &[] }),
                Cxx::Pointer(&Cxx::Array { element: &f32::CXX, len: 4 }),
                Cxx::Restrict(&POINTER),
                Cxx::Pointer(&Cxx::Restrict(&POINTER)),
                Cxx::Pointer(&Cxx::Const(&POINTER)),
                Cxx::Pointer(&Cxx::Volatile(&INT)),
                <*mut core::ffi::c_void>::CXX,
                <*const core::ffi::c_void>::CXX,
            ],
        );
        assert_eq!(name, "_Z2fpPFiiN1a1b1SEEPFvvEPA4_fPiPrS8_PKS8_PViPvPKv");
        assert_eq!(plain_function("rows", [<*const [f32; 4]>::CXX]), "_Z4rowsPA4_Kf");
    }

    #[test]
    fn templates() {
        let arguments = [
            OwnedArgument::Type(OwnedCxx::Builtin(Builtin::Float)),
            OwnedArgument::Value { ty: Builtin::Int, value: 4 },
        ];
        let params = owned([Cxx::Parameter(0), Cxx::Pointer(&Cxx::Parameter(0))]);
        assert_eq!(function("", "tf", Some(&arguments), &params, &OwnedCxx::Parameter(0)), "_Z2tfIfLi4EET_S0_PS0_");
        const LIT: Cxx<'static> = Cxx::Named(Name {
            keyword: Keyword::Struct,
            namespace: "",
            name: "Lit",
            arguments: &[
                crate::cxx::Argument::Value { ty: Builtin::Bool, value: 1 },
                crate::cxx::Argument::Value { ty: Builtin::Long, value: -5 },
                crate::cxx::Argument::Value { ty: Builtin::Char, value: 97 },
            ],
            header: "",
        });
        assert_eq!(plain_function("lit", [LIT, Cxx::Builtin(Builtin::NullPointer)]), "_Z3lit3LitILb1ELln5ELc97EEDn");
        assert_eq!(plain_function("sfoo", [named("std", "Foo")]), "_Z4sfooSt3Foo");
    }

    #[test]
    fn numbers_in_base_36() {
        assert_eq!((base36(0), base36(9), base36(10), base36(36)), ("0".into(), "9".into(), "A".into(), "10".into()));
    }
}
