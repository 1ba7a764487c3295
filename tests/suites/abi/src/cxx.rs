//! A case in CUDA C++.

use crate::model::{Arg, Body, Case, Def, Generic, Len, Linkage, Scalar, Ty};
use crate::pattern::{self, RESULT, ROLES, Role, SLICE};
use crate::rust::{BATCH, held};

/// What every generated file begins with.
pub const PRELUDE: &str = include_str!("prelude.cu.txt");

/// A type as C++ spells it, with the prelude's aliases instead of declarators.
pub fn ty(case: &Case, ty: &Ty) -> String {
    let inner = |ty: &Ty| self::ty(case, ty);
    match ty {
        Ty::Scalar(scalar) => scalar.cxx().into(),
        Ty::Foreign(foreign) => foreign.cxx.into(),
        Ty::Named { def, args } => {
            let arguments: Vec<String> =
                args.iter().zip(&case.defs[*def].generics).map(|pair| argument(case, pair)).collect();
            let list = if arguments.is_empty() { String::new() } else { format!("<{}>", arguments.join(", ")) };
            let namespace = case.defs[*def].namespace;
            let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}::") };
            format!("::{prefix}T{}_{def}{list}", case.id)
        }
        Ty::Param(index) => format!("G{index}"),
        Ty::Array(element, Len::Fixed(len)) => format!("arr<{}, {len}>", inner(element)),
        Ty::Array(element, Len::Param(index)) => format!("arr<{}, G{index}>", inner(element)),
        Ty::Pointer { to, is_const } => format!("ptr<{}{}>", if *is_const { "const " } else { "" }, inner(to)),
        Ty::Function { params, result } => {
            let params: Vec<String> = params.iter().map(inner).collect();
            let result = result.as_ref().map_or("void".into(), |ty| inner(ty));
            format!("fun<{result}({})>", params.join(", "))
        }
        Ty::Void => "void".into(),
        Ty::Reference { to, is_mut } => format!("ref<{}{}>", if *is_mut { "" } else { "const " }, inner(to)),
        Ty::Slice { of, is_mut } => format!("ptr<{}{}>", if *is_mut { "" } else { "const " }, inner(of)),
    }
}

fn argument(case: &Case, (arg, generic): (&Arg, &Generic)) -> String {
    match (arg, generic) {
        (Arg::Type(argument), _) => ty(case, argument),
        (Arg::Value(value), Generic::Value(scalar)) => literal(*scalar, *value),
        (Arg::Value(value), Generic::Type) => value.to_string(),
    }
}

/// A number of that type.
fn literal(scalar: Scalar, value: i128) -> String {
    // `-9223372036854775808` would be the negative of a number that is too large.
    let number = if value == i128::from(i64::MIN) {
        "(-9223372036854775807 - 1)".into()
    } else if value > i128::from(i64::MAX) {
        format!("{value:#x}")
    } else {
        value.to_string()
    };
    format!("{}({number})", alias(scalar))
}

/// A spelling without blanks, for `name(value)`.
fn alias(scalar: Scalar) -> String {
    format!("t_{}", scalar.rust())
}

/// The definitions of the case's types.
pub fn types(case: &Case) -> String {
    (0..case.defs.len()).map(|index| define(case, index)).collect()
}

fn define(case: &Case, index: usize) -> String {
    let Def { namespace, body, packed, align, generics } = &case.defs[index];
    let name = format!("T{}_{index}", case.id);
    let fields = |fields: &[Ty]| -> String {
        fields.iter().enumerate().map(|(index, field)| format!(" {} f{index};", ty(case, field))).collect()
    };
    // Rust's `align` may be less than the fields ask for; `alignas` may not.
    let is_more = match body {
        _ if !generics.is_empty() => true,
        Body::Enum(..) => false,
        _ => {
            let plain = Def { align: 0, ..case.defs[index].clone() };
            let mut other = case.clone();
            other.defs[index] = plain;
            other.record(index, &[]).0.align < *align
        }
    };
    let align = if *align > 0 && is_more { format!("alignas({align}) ") } else { String::new() };
    let generics: Vec<String> = generics
        .iter()
        .enumerate()
        .map(|(index, generic)| match generic {
            Generic::Type => format!("typename G{index}"),
            Generic::Value(scalar) => format!("{} G{index}", scalar.cxx()),
        })
        .collect();
    let template = if generics.is_empty() { String::new() } else { format!("template<{}> ", generics.join(", ")) };
    let mut text = match body {
        Body::Struct(list) => format!("{template}struct {align}{name} {{{} }};", fields(list)),
        Body::Union(list) => format!("{template}union {align}{name} {{{} }};", fields(list)),
        Body::Enum(repr, values) => {
            let variants: Vec<String> = values
                .iter()
                .enumerate()
                .map(|(index, value)| format!("V{index} = {}", literal(*repr, *value)))
                .collect();
            format!("enum class {name} : {} {{ {} }};", repr.cxx(), variants.join(", "))
        }
    };
    if !namespace.is_empty() {
        text = format!("namespace {namespace} {{ {text} }}");
    }
    if *packed > 0 { format!("#pragma pack(push, {packed})\n{text}\n#pragma pack(pop)\n") } else { text + "\n" }
}

/// Asserts that C++ has the layouts that Rust asserts too.
fn asserts(case: &Case) -> String {
    let mut text = String::new();
    for (number, held) in held(case).iter().enumerate() {
        let layout = case.layout(held);
        // C++ has no types without bytes.
        let size = if layout.size == 0 { layout.align } else { layout.size };
        let alias = format!("Q{}_{number}", case.id);
        text += &format!("using {alias} = {};\n", ty(case, held));
        text += &format!("static_assert(sizeof({alias}) == {size} && alignof({alias}) == {});\n", layout.align);
        if let Ty::Named { def, args } = held {
            for (index, (_, offset)) in case.record(*def, args).1.iter().enumerate() {
                text += &format!("static_assert(offsetof({alias}, f{index}) == {offset});\n");
            }
        }
    }
    text
}

fn params(case: &Case, is_kernel: bool) -> String {
    let mut list = Vec::new();
    for (index, param) in case.params.iter().enumerate() {
        list.push(match param {
            // CUDA C++ forbids kernels references.
            Ty::Reference { to, is_mut } if is_kernel => {
                format!("ptr<{}{}> p{index}", if *is_mut { "" } else { "const " }, ty(case, to))
            }
            other => format!("{} p{index}", ty(case, other)),
        });
        if let Ty::Slice { .. } = param {
            list.push(format!("unsigned long p{index}_len"));
        }
    }
    list.join(", ")
}

fn result(case: &Case) -> String {
    case.result.as_ref().map_or("void".into(), |result| ty(case, result))
}

/// Puts a declaration or definition where its name belongs.
fn scoped(case: &Case, text: &str) -> String {
    match case.linkage {
        Linkage::C => format!("extern \"C\" {{ {text} }}\n"),
        Linkage::Cxx("") => format!("{text}\n"),
        Linkage::Cxx(namespace) => format!("namespace {namespace} {{ {text} }}\n"),
    }
}

/// `::a::f17x`
fn qualified(case: &Case, letter: char) -> String {
    let id = case.id;
    match case.linkage {
        Linkage::C | Linkage::Cxx("") => format!("::{letter}{id}x"),
        Linkage::Cxx(namespace) => format!("::{namespace}::{letter}{id}x"),
    }
}

/// The case's part of the file: `slot` is the number of its first report.
pub fn part(case: &Case, slot: u32, kernels: bool) -> String {
    let id = case.id;
    let (result, list) = (result(case), params(case, false));
    let f = scoped(case, &format!("__device__ {result} f{id}x({list});"));
    let body = callee(case, slot + Role::CxxParam as u32);
    let g = scoped(case, &format!("__device__ __noinline__ {result} g{id}x({list}) {{\n{body}}}"));
    let k = scoped(case, &format!("__global__ void k{id}x({}) {{}}", params(case, true)));
    let k = if kernels { k } else { String::new() };
    let call = caller(case, slot + Role::RustResult as u32);
    format!(
        "// case {id}\n{}{}{f}{g}{k}__device__ __noinline__ void call{id}() {{\n{call}}}\n",
        types(case),
        asserts(case)
    )
}

/// The case without the bodies, to be read.
pub fn summary(case: &Case) -> String {
    let id = case.id;
    let (result, list) = (result(case), params(case, false));
    let functions = scoped(case, &format!("__device__ {result} f{id}x({list});"))
        + &scoped(case, &format!("__device__ {result} g{id}x({list});"))
        + &scoped(case, &format!("__global__ void k{id}x({});", params(case, true)));
    let indented = |text: String| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    indented(types(case)) + &indented(functions)
}

/// Checks every byte of the parameters, writes what it may write, returns a patterned result.
fn callee(case: &Case, slot: u32) -> String {
    let mut text = "        Report report = {0, 0};\n".to_string();
    for (index, param) in case.params.iter().enumerate() {
        let number = index as u32;
        let key = pattern::key(case, Role::CxxParam, number);
        let back = pattern::key(case, Role::CxxResult, number);
        let last = format!(", {number:#x}");
        let first = "&report, ";
        match param {
            Ty::Slice { of, is_mut } => {
                text += &format!("        abi_length(&report, p{index}_len, {SLICE}, {number:#x});\n");
                for element in 0..SLICE {
                    let place = format!("&p{index}[{element}]");
                    text += &pattern::calls(case, of, key.wrapping_add(element as u32), first, &place, &last);
                    if *is_mut {
                        text += &pattern::calls(case, of, back.wrapping_add(element as u32), "", &place, "");
                    }
                }
            }
            other => {
                let (ty, is_mut) = match other {
                    Ty::Reference { to, is_mut } => (&**to, *is_mut),
                    other => (other, false),
                };
                let place = format!("&p{index}");
                text += &pattern::calls(case, ty, key, first, &place, &last);
                if is_mut {
                    text += &pattern::calls(case, ty, back, "", &place, "");
                }
            }
        }
    }
    if let Some(result) = &case.result {
        text += &format!("        {} result;\n", ty(case, result));
        text += &pattern::calls(case, result, pattern::key(case, Role::CxxResult, RESULT), "", "&result", "");
    }
    text += &format!("        abi_report({slot}, report.checked, report.bad);\n");
    if case.result.is_some() {
        text += "        return result;\n";
    }
    text
}

/// Fills the arguments, calls Rust, checks the result and what Rust wrote.
fn caller(case: &Case, slot: u32) -> String {
    let mut text = "        Report report = {0, 0};\n".to_string();
    let (mut arguments, mut after) = (Vec::new(), String::new());
    for (index, param) in case.params.iter().enumerate() {
        let number = index as u32;
        let key = pattern::key(case, Role::RustParam, number);
        let back = pattern::key(case, Role::RustResult, number);
        let last = format!(", {number:#x}");
        let first = "&report, ";
        arguments.push(format!("v{index}"));
        if let Ty::Slice { of, is_mut } = param {
            arguments.push(format!("{SLICE}"));
            text += &format!("        {} v{index}[{SLICE}];\n", ty(case, of));
            for element in 0..SLICE {
                let place = format!("&v{index}[{element}]");
                text += &pattern::calls(case, of, key.wrapping_add(element as u32), "", &place, "");
                if *is_mut {
                    after += &pattern::calls(case, of, back.wrapping_add(element as u32), first, &place, &last);
                }
            }
            continue;
        }
        let (of, is_mut) = match param {
            Ty::Reference { to, is_mut } => (&**to, *is_mut),
            other => (other, false),
        };
        let place = format!("&v{index}");
        text += &format!("        {} v{index};\n", ty(case, of));
        text += &pattern::calls(case, of, key, "", &place, "");
        if is_mut {
            after += &pattern::calls(case, of, back, first, &place, &last);
        }
    }
    let call = format!("{}({})", qualified(case, 'f'), arguments.join(", "));
    match &case.result {
        None => text += &format!("        {call};\n"),
        Some(result) => {
            text += &format!("        {} result = {call};\n", ty(case, result));
            let key = pattern::key(case, Role::RustResult, RESULT);
            after += &pattern::calls(case, result, key, "&report, ", "&result", &format!(", {RESULT:#x}"));
        }
    }
    text + &after + &format!("        abi_report({slot}, report.checked, report.bad);\n")
}

/// The whole file.
pub fn file(cases: &[Case], kernels: bool) -> String {
    let aliases: String =
        Scalar::ALL.iter().map(|scalar| format!("using {} = {};\n", alias(*scalar), scalar.cxx())).collect();
    let mut text = format!("{PRELUDE}{aliases}");
    for (index, case) in cases.iter().enumerate() {
        text += &part(case, index as u32 * ROLES, kernels);
    }
    for (index, batch) in cases.chunks(BATCH).enumerate() {
        let calls: String = batch.iter().map(|case| format!("    call{}();\n", case.id)).collect();
        text += &format!("extern \"C\" __global__ void abi_cxx_{index}() {{\n{calls}}}\n");
    }
    text
}
