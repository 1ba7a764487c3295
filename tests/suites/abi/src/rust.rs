//! A case in Rust.

use crate::model::{Arg, Body, Case, Def, Generic, Len, Linkage, Ty};
use crate::pattern::{self, RESULT, ROLES, Role, SLICE};

/// What every generated crate begins with.
pub const PRELUDE: &str = include_str!("prelude.rs.txt");

/// A type as Rust spells it.
pub fn ty(case: &Case, ty: &Ty) -> String {
    let inner = |ty: &Ty| self::ty(case, ty);
    match ty {
        Ty::Scalar(scalar) => scalar.rust().into(),
        Ty::Foreign(foreign) => foreign.rust.into(),
        Ty::Named { def, args } => {
            let arguments: Vec<String> =
                args.iter().zip(&case.defs[*def].generics).map(|pair| argument(case, pair)).collect();
            let list = if arguments.is_empty() { String::new() } else { format!("<{}>", arguments.join(", ")) };
            format!("T{}_{def}{list}", case.id)
        }
        Ty::Param(index) => format!("G{index}"),
        Ty::Array(element, Len::Fixed(len)) => format!("[{}; {len}]", inner(element)),
        Ty::Array(element, Len::Param(index)) => format!("[{}; G{index}]", inner(element)),
        Ty::Pointer { to, is_const } => format!("*{} {}", if *is_const { "const" } else { "mut" }, inner(to)),
        Ty::Function { params, result } => {
            let params: Vec<String> = params.iter().map(inner).collect();
            let result = result.as_ref().map_or(String::new(), |ty| format!(" -> {}", inner(ty)));
            format!("extern \"C\" fn({}){result}", params.join(", "))
        }
        Ty::Void => "core::ffi::c_void".into(),
        Ty::Reference { to, is_mut } => format!("&{}{}", if *is_mut { "mut " } else { "" }, inner(to)),
        Ty::Slice { of, is_mut } => format!("&{}[{}]", if *is_mut { "mut " } else { "" }, inner(of)),
    }
}

fn argument(case: &Case, (arg, generic): (&Arg, &Generic)) -> String {
    match (arg, generic) {
        (Arg::Type(argument), _) => ty(case, argument),
        (Arg::Value(value), Generic::Value(crate::model::Scalar::Bool)) => format!("{}", *value != 0),
        (Arg::Value(value), Generic::Value(crate::model::Scalar::Char)) => format!("'\\u{{{value:x}}}'"),
        (Arg::Value(value), _) if *value < 0 => format!("{{ {value} }}"),
        (Arg::Value(value), _) => value.to_string(),
    }
}

/// The definitions of the case's types.
pub fn types(case: &Case) -> String {
    (0..case.defs.len()).map(|index| define(case, index)).collect()
}

fn define(case: &Case, index: usize) -> String {
    let Def { namespace, body, packed, align, generics } = &case.defs[index];
    let mut text = "    #[derive(Clone, Copy, ptx::AbiType)]\n".to_string();
    let packing = match (packed, align) {
        (0, 0) => String::new(),
        (0, align) => format!(", align({align})"),
        (packed, _) => format!(", packed({packed})"),
    };
    text += &match body {
        Body::Enum(repr, _) => format!("    #[repr({})]\n", repr.rust()),
        _ => format!("    #[repr(C{packing})]\n"),
    };
    if !namespace.is_empty() {
        text += &format!("    #[ptx(namespace = \"{namespace}\")]\n");
    }
    let generics: Vec<String> = generics
        .iter()
        .enumerate()
        .map(|(index, generic)| match generic {
            Generic::Type => format!("G{index}"),
            Generic::Value(scalar) => format!("const G{index}: {}", scalar.rust()),
        })
        .collect();
    let generics = if generics.is_empty() { String::new() } else { format!("<{}>", generics.join(", ")) };
    let name = format!("T{}_{index}{generics}", case.id);
    let fields = |fields: &[Ty]| -> String {
        fields
            .iter()
            .enumerate()
            .map(|(index, field)| format!("        pub f{index}: {},\n", ty(case, field)))
            .collect()
    };
    text += &match body {
        Body::Struct(list) => format!("    pub struct {name} {{\n{}    }}\n", fields(list)),
        Body::Union(list) => format!("    pub union {name} {{\n{}    }}\n", fields(list)),
        Body::Enum(_, values) => {
            let variants: String =
                values.iter().enumerate().map(|(index, value)| format!("        V{index} = {value},\n")).collect();
            format!("    pub enum {name} {{\n{variants}    }}\n")
        }
    };
    text
}

/// Every type that the case holds by value, or points a reference or slice to.
pub fn held(case: &Case) -> Vec<Ty> {
    let mut list: Vec<Ty> = Vec::new();
    for param in case.params.iter().chain(&case.result) {
        let ty = match param {
            Ty::Reference { to, .. } => to,
            Ty::Slice { of, .. } => of,
            other => other,
        };
        hold(case, ty, &mut list);
    }
    list
}

fn hold(case: &Case, ty: &Ty, list: &mut Vec<Ty>) {
    match ty {
        Ty::Array(element, _) => hold(case, element, list),
        Ty::Named { def, args } if !list.contains(ty) => {
            list.push(ty.clone());
            case.record(*def, args).1.iter().for_each(|(field, _)| hold(case, field, list));
        }
        Ty::Foreign(_) if !list.contains(ty) => list.push(ty.clone()),
        _ => {}
    }
}

/// Asserts that Rust has the layouts that [`Case::layout`] computes; C++ asserts the same numbers.
fn asserts(case: &Case) -> String {
    let mut text = "    const _: () = {\n".to_string();
    for held in held(case) {
        let layout = case.layout(&held);
        text += &format!("        layout::<{}>({}, {});\n", ty(case, &held), layout.size, layout.align);
        if let Ty::Named { def, args } = &held {
            for (index, (_, offset)) in case.record(*def, args).1.iter().enumerate() {
                text +=
                    &format!("        assert!(core::mem::offset_of!({}, f{index}) == {offset});\n", ty(case, &held));
            }
        }
    }
    text + "    };\n"
}

/// `name(p0: u8, ..) -> R`
pub fn signature(case: &Case, letter: char) -> String {
    let params: Vec<String> =
        case.params.iter().enumerate().map(|(index, param)| format!("p{index}: {}", ty(case, param))).collect();
    let result = case.result.as_ref().map_or(String::new(), |result| format!(" -> {}", ty(case, result)));
    format!("{letter}{}x({}){result}", case.id, params.join(", "))
}

/// A kernel has no result, and no parameter that only one thread may have.
pub fn kernel_signature(case: &Case) -> String {
    let params: Vec<String> = case
        .params
        .iter()
        .enumerate()
        .map(|(index, param)| match param {
            Ty::Reference { to, is_mut: true } => format!("p{index}: *mut {}", ty(case, to)),
            Ty::Slice { of, is_mut: true } => format!("p{index}: ptx::DisjointSlice<{}>", ty(case, of)),
            other => format!("p{index}: {}", ty(case, other)),
        })
        .collect();
    format!("k{}x({})", case.id, params.join(", "))
}

/// What stands in the attributes.
fn linkage(case: &Case) -> String {
    match case.linkage {
        Linkage::C => "\"C\"".into(),
        Linkage::Cxx("") => "\"C++\"".into(),
        Linkage::Cxx(namespace) => format!("\"C++\", namespace = \"{namespace}\""),
    }
}

/// The module of one case: `slot` is the number of its first report.
pub fn module(case: &Case, slot: u32, kernels: bool) -> String {
    let id = case.id;
    let linkage = linkage(case);
    let kernel = format!("    #[ptx::kernel(export = {linkage})]\n    pub fn {} {{}}\n\n", kernel_signature(case));
    let kernel = if kernels { kernel } else { String::new() };
    format!(
        "pub mod c{id} {{\n    use super::*;\n{}{}\n    #[ptx::device(export = {linkage})]\n    pub fn {} {{\n{}    }}\n\n    \
         #[ptx::device(import = {linkage})]\n    unsafe extern \"C\" {{\n        pub fn {};\n    }}\n\n{kernel}    \
         #[inline(never)]\n    pub unsafe fn call() {{ unsafe {{\n{}    }} }}\n}}\n",
        types(case),
        asserts(case),
        signature(case, 'f'),
        callee(case, slot + Role::RustParam as u32),
        signature(case, 'g'),
        caller(case, slot + Role::CxxResult as u32),
    )
}

/// The case without the bodies, to be read.
pub fn summary(case: &Case) -> String {
    let (linkage, types) = (linkage(case), types(case));
    format!(
        "{types}    #[ptx::device(export = {linkage})] fn {};\n    #[ptx::device(import = {linkage})] fn {};\n    \
         #[ptx::kernel(export = {linkage})] fn {};\n",
        signature(case, 'f'),
        signature(case, 'g'),
        kernel_signature(case)
    )
}

/// Checks every byte of the parameters, writes what it may write, returns a patterned result.
fn callee(case: &Case, slot: u32) -> String {
    let mut text = "        let mut report = Report::new();\n        unsafe {\n".to_string();
    for (index, param) in case.params.iter().enumerate() {
        let number = index as u32;
        let key = pattern::key(case, Role::RustParam, number);
        let last = format!(", {number:#x}");
        let first = "&mut report, ";
        match param {
            Ty::Reference { to, is_mut } => {
                text += &pattern::calls(case, to, key, first, &format!("(&raw const *p{index}).cast()"), &last);
                if *is_mut {
                    let key = pattern::key(case, Role::RustResult, number);
                    text += &pattern::calls(case, to, key, "", &format!("(&raw mut *p{index}).cast()"), "");
                }
            }
            Ty::Slice { of, is_mut } => {
                text += &format!("        report.length(p{index}.len(), {SLICE}, {number:#x});\n");
                for element in 0..SLICE {
                    let key = key.wrapping_add(element as u32);
                    text += &pattern::calls(
                        case,
                        of,
                        key,
                        first,
                        &format!("p{index}.as_ptr().add({element}).cast()"),
                        &last,
                    );
                    if *is_mut {
                        let key = pattern::key(case, Role::RustResult, number).wrapping_add(element as u32);
                        let place = format!("p{index}.as_mut_ptr().add({element}).cast()");
                        text += &pattern::calls(case, of, key, "", &place, "");
                    }
                }
            }
            other => text += &pattern::calls(case, other, key, first, &format!("(&raw const p{index}).cast()"), &last),
        }
    }
    if let Some(result) = &case.result {
        text += &format!("        let mut result = MaybeUninit::<{}>::zeroed();\n", ty(case, result));
        let key = pattern::key(case, Role::RustResult, RESULT);
        text += &pattern::calls(case, result, key, "", "result.as_mut_ptr().cast()", "");
    }
    text += &format!("        abi_report({slot}, report.checked, report.bad);\n");
    if case.result.is_some() {
        text += "        result.assume_init()\n";
    }
    text + "        }\n"
}

/// Fills the arguments, calls C++, checks the result and what C++ wrote.
fn caller(case: &Case, slot: u32) -> String {
    let mut text = "        let mut report = Report::new();\n".to_string();
    let mut arguments = Vec::new();
    let mut after = String::new();
    for (index, param) in case.params.iter().enumerate() {
        let number = index as u32;
        let key = pattern::key(case, Role::CxxParam, number);
        let back = pattern::key(case, Role::CxxResult, number);
        let last = format!(", {number:#x}");
        match param {
            Ty::Reference { to, is_mut } => {
                let place = format!("v{index}.as_mut_ptr().cast()");
                text += &format!("        let mut v{index} = MaybeUninit::<{}>::zeroed();\n", ty(case, to));
                text += &pattern::calls(case, to, key, "", &place, "");
                arguments.push(format!("&{}*v{index}.as_mut_ptr()", if *is_mut { "mut " } else { "" }));
                if *is_mut {
                    after += &pattern::calls(case, to, back, "&mut report, ", &place, &last);
                }
            }
            Ty::Slice { of, is_mut } => {
                text += &format!("        let mut v{index} = MaybeUninit::<[{}; {SLICE}]>::zeroed();\n", ty(case, of));
                for element in 0..SLICE {
                    let place = format!("(&raw mut (*v{index}.as_mut_ptr())[{element}]).cast()");
                    text += &pattern::calls(case, of, key.wrapping_add(element as u32), "", &place, "");
                    if *is_mut {
                        let back = back.wrapping_add(element as u32);
                        after += &pattern::calls(case, of, back, "&mut report, ", &place, &last);
                    }
                }
                arguments.push(format!("&{}*v{index}.as_mut_ptr()", if *is_mut { "mut " } else { "" }));
            }
            other => {
                text += &format!("        let mut v{index} = MaybeUninit::<{}>::zeroed();\n", ty(case, other));
                text += &pattern::calls(case, other, key, "", &format!("v{index}.as_mut_ptr().cast()"), "");
                arguments.push(format!("v{index}.assume_init()"));
            }
        }
    }
    let call = format!("g{}x({})", case.id, arguments.join(", "));
    match &case.result {
        None => text += &format!("        {call};\n"),
        Some(result) => {
            text += &format!("        let result: {} = {call};\n", ty(case, result));
            let key = pattern::key(case, Role::CxxResult, RESULT);
            let last = format!(", {RESULT:#x}");
            after += &pattern::calls(case, result, key, "&mut report, ", "(&raw const result).cast()", &last);
        }
    }
    text + &after + &format!("        abi_report({slot}, report.checked, report.bad);\n")
}

/// How many cases one kernel calls, so that no kernel has hundreds of calls.
pub const BATCH: usize = 20;

/// The whole crate.
pub fn krate(cases: &[Case], kernels: bool) -> String {
    let mut text = PRELUDE.to_string();
    for (index, case) in cases.iter().enumerate() {
        text += &module(case, index as u32 * ROLES, kernels);
    }
    for (index, batch) in cases.chunks(BATCH).enumerate() {
        let calls: String = batch.iter().map(|case| format!("        c{}::call();\n", case.id)).collect();
        text += &format!("#[ptx::kernel]\npub fn abi_rust_{index}() {{\n    unsafe {{\n{calls}    }}\n}}\n");
    }
    text
}
