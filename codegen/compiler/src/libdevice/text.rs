//! Writes the IR between a caller and a function of the library.
//!
//! A caller wants `<2 x half> (<2 x half>)` or `{ double, i32 } (double)`; the library has `float (float)` and
//! `double (double, ptr)`. The text is parsed and linked like a library, and always inlined.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::names::{Function, Width, ir};
use crate::llvm::{AnyType, BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType};

/// Attributes of every function that is written here.
const ATTRIBUTES: &str = "alwaysinline nounwind";

/// What LLVM calls by name and folds before it optimises.
const REFLECT: &str = "__nvvm_reflect";

/// Functions in IR, and what they call.
#[derive(Debug, Default)]
pub struct Ir {
    definitions: BTreeMap<String, String>,
    declarations: BTreeMap<String, String>,
}

impl Ir {
    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// Whether it has the body of that name.
    pub fn defines(&self, name: &str) -> bool {
        self.definitions.contains_key(name)
    }

    /// The module.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "@__ptx_use_fast_math = private unnamed_addr constant [21 x i8] c\"__CUDA_USE_FAST_MATH\\00\"\n",
        );
        let declared = self.declarations.iter().filter(|(name, _)| !self.defines(name)).map(|(_, line)| line);
        self.definitions.values().chain(declared).for_each(|part| text.push_str(part));
        text
    }

    /// `ty` as LLVM prints it: `float (float)`.
    fn declare(&mut self, name: &str, ty: &str) {
        let (result, params) = ty.split_once(' ').unwrap_or((ty, "()"));
        self.declarations.insert(name.into(), format!("declare {result} @{name}{params}\n"));
    }

    /// Chooses between libdevice's accurate function and its fast twin, by the mode of the function that it is inlined
    /// into: the reflection of that name is folded with the others.
    pub fn choose(&mut self, name: &str, function: &Function) {
        let (letters, result) = function.parts();
        let (result, c_name) = (ir(result, Width::Single), function.c_name(Width::Single));
        let params = letters.chars().enumerate().map(|(at, letter)| format!("{} %a{at}", ir(letter, Width::Single)));
        let params = params.collect::<Vec<_>>().join(", ");
        let mut branch = |label: &str, callee: String| {
            self.declare(&callee, &function.ir_type(Width::Single));
            match result {
                "void" => format!("{label}:\n  call void @{callee}({params})\n  ret void\n"),
                _ => format!("{label}:\n  %r.{label} = call {result} @{callee}({params})\n  ret {result} %r.{label}\n"),
            }
        };
        let branches = branch("fast", format!("__nv_fast_{c_name}")) + &branch("accurate", format!("__nv_{c_name}"));
        self.declare(REFLECT, "i32 (ptr)");
        let text = format!(
            "define {result} @{name}({params}) {ATTRIBUTES} {{\n  %mode = call i32 @{REFLECT}(ptr @__ptx_use_fast_math)\n  \
             %is_fast = icmp ne i32 %mode, 0\n  br i1 %is_fast, label %fast, label %accurate\n{branches}}}\n"
        );
        self.definitions.insert(name.into(), text);
    }

    /// C's functions that libdevice does not have, made of those it has.
    pub fn define_ours(&mut self, name: &str, function: &Function, width: Width) {
        let (x, suffix, end) = (width.ir(), width.suffix(), if width == Width::Single { "f" } else { "" });
        let text = match function.stem {
            // The sign of gamma(x): negative for x in (-1, 0), (-3, -2), and so on, and for -0.
            "lgamma_r" => {
                self.declare(&format!("__nv_lgamma{end}"), &format!("{x} ({x})"));
                self.declare(&format!("llvm.floor.{suffix}"), &format!("{x} ({x})"));
                format!(
                    "define {x} @{name}({x} %x, ptr %sign) {ATTRIBUTES} {{\n  \
                     %r = call {x} @__nv_lgamma{end}({x} %x)\n  \
                     %f = call {x} @llvm.floor.{suffix}({x} %x)\n  %h = fmul {x} %f, 5.0e-1\n  \
                     %g = call {x} @llvm.floor.{suffix}({x} %h)\n  %odd = fcmp one {x} %h, %g\n  \
                     %between = fcmp one {x} %f, %x\n  %below = fcmp olt {x} %x, 0.0\n  \
                     %o = and i1 %odd, %between\n  %n = and i1 %o, %below\n  \
                     %bits = bitcast {x} %x to i{bits}\n  %zero = fcmp oeq {x} %x, 0.0\n  \
                     %minus = icmp slt i{bits} %bits, 0\n  %z = and i1 %zero, %minus\n  \
                     %negative = or i1 %n, %z\n  %s = select i1 %negative, i32 -1, i32 1\n  \
                     store i32 %s, ptr %sign\n  ret {x} %r\n}}\n",
                    bits = &suffix[1..],
                )
            }
            // `scalbln`. No scale beyond these bounds makes a difference.
            _ => {
                self.declare(&format!("__nv_scalbn{end}"), &format!("{x} ({x}, i32)"));
                self.declare("llvm.smax.i64", "i64 (i64, i64)");
                self.declare("llvm.smin.i64", "i64 (i64, i64)");
                format!(
                    "define {x} @{name}({x} %x, i64 %n) {ATTRIBUTES} {{\n  \
                     %a = call i64 @llvm.smax.i64(i64 %n, i64 -100000)\n  \
                     %b = call i64 @llvm.smin.i64(i64 %a, i64 100000)\n  %c = trunc i64 %b to i32\n  \
                     %r = call {x} @__nv_scalbn{end}({x} %x, i32 %c)\n  ret {x} %r\n}}\n"
                )
            }
        };
        self.definitions.insert(name.into(), text);
    }

    /// A function named `name` of type `ty` that calls `callee`, which has the C signature of `function`, for every lane,
    /// and gives back as values what C hands over through pointers. False if `ty` is not of that form.
    pub fn adapt(&mut self, name: &str, ty: FunctionType<'_>, function: &Function, width: Width, callee: &str) -> bool {
        let Some(text) = adapter(name, ty, function, width, callee) else { return false };
        self.definitions.insert(name.into(), text);
        self.declare(callee, &function.ir_type(width));
        true
    }
}

/// The precision in which a float of some LLVM type is computed; none for those that GPUs do not have.
pub fn width_of(element: &str) -> Option<Width> {
    match element {
        "half" | "bfloat" | "float" => Some(Width::Single),
        "double" => Some(Width::Double),
        _ => None,
    }
}

/// The element of a scalar or vector type as text, and how many there are (0 for a scalar).
pub fn element(ty: BasicTypeEnum<'_>) -> (String, u32) {
    match ty {
        BasicTypeEnum::VectorType(vector) => (text(&vector.get_element_type()), vector.get_size()),
        scalar => (text(&scalar), 0),
    }
}

fn text<'ctx>(ty: &impl AnyType<'ctx>) -> String {
    ty.print_to_string().to_string()
}

/// See [`Ir::adapt`].
fn adapter(name: &str, ty: FunctionType<'_>, function: &Function, width: Width, callee: &str) -> Option<String> {
    let (letters, c_result) = function.parts();
    let inputs: Vec<char> = letters.chars().filter(|letter| *letter != 'p').collect();
    let params: Vec<BasicTypeEnum<'_>> = ty.get_param_types().into_iter().map(basic).collect::<Option<_>>()?;
    let result = ty.get_return_type()?;
    let results = match result {
        BasicTypeEnum::StructType(tuple) => tuple.get_field_types(),
        BasicTypeEnum::ArrayType(array) => vec![array.get_element_type(); array.len() as usize],
        one => vec![one],
    };
    // What C gives back: its result, and what it writes. Everything that is written is a float, but for three integers.
    let written = match function.stem {
        "frexp" | "remquo" | "lgamma_r" => 'i',
        _ => 'x',
    };
    let outs = letters.len() - inputs.len();
    let given: Vec<char> =
        std::iter::once(c_result).filter(|c| *c != 'v').chain(std::iter::repeat_n(written, outs)).collect();
    if params.len() != inputs.len() || results.len() != given.len() {
        return None;
    }
    let lanes = params.iter().map(|param| element(*param).1).max()?;
    let names: Vec<_> = params.iter().enumerate().map(|(at, ty)| format!("{} %a{at}", text(ty))).collect();
    let mut body = String::new();
    // The values of every result, a lane at a time.
    let mut values = vec![Vec::new(); results.len()];
    for lane in 0..lanes.max(1) {
        let mut arguments = Vec::new();
        for (at, (param, letter)) in params.iter().zip(&inputs).enumerate() {
            let (element, size) = element(*param);
            let mut value = format!("%a{at}");
            if size > 0 {
                let _ = writeln!(body, "  %e{at}.{lane} = extractelement {} {value}, i32 {lane}", text(param));
                value = format!("%e{at}.{lane}");
            }
            arguments.push(convert(&mut body, &element, &value, ir(*letter, width), &format!("c{at}.{lane}"))?);
        }
        let mut typed: Vec<_> =
            inputs.iter().zip(&arguments).map(|(letter, value)| format!("{} {value}", ir(*letter, width))).collect();
        for out in 0..outs {
            let _ = writeln!(body, "  %p{out}.{lane} = alloca {}", ir(written, width));
            typed.push(format!("ptr %p{out}.{lane}"));
        }
        let assigned = if c_result == 'v' { String::new() } else { format!("%r.{lane} = ") };
        let _ = writeln!(body, "  {assigned}call {} @{callee}({})", ir(c_result, width), typed.join(", "));
        let mut raw: Vec<String> = (c_result != 'v').then(|| format!("%r.{lane}")).into_iter().collect();
        for out in 0..outs {
            let _ = writeln!(body, "  %o{out}.{lane} = load {}, ptr %p{out}.{lane}", ir(written, width));
            raw.push(format!("%o{out}.{lane}"));
        }
        for (at, ((value, letter), ty)) in raw.iter().zip(&given).zip(&results).enumerate() {
            let wanted = element(*ty).0;
            values[at].push(convert(&mut body, ir(*letter, width), value, &wanted, &format!("w{at}.{lane}"))?);
        }
    }
    let mut whole = Vec::new();
    for (at, (ty, values)) in results.iter().zip(&values).enumerate() {
        let (element, size) = element(*ty);
        if size != lanes {
            return None;
        }
        let mut value = values[0].clone();
        if size > 0 {
            value = "poison".into();
            for (lane, one) in values.iter().enumerate() {
                let _ =
                    writeln!(body, "  %v{at}.{lane} = insertelement {} {value}, {element} {one}, i32 {lane}", text(ty));
                value = format!("%v{at}.{lane}");
            }
        }
        whole.push(value);
    }
    let returned = if matches!(result, BasicTypeEnum::StructType(_) | BasicTypeEnum::ArrayType(_)) {
        let mut tuple = "poison".to_string();
        for (at, (value, ty)) in whole.iter().zip(&results).enumerate() {
            let _ = writeln!(body, "  %t{at} = insertvalue {} {tuple}, {} {value}, {at}", text(&result), text(ty));
            tuple = format!("%t{at}");
        }
        tuple
    } else {
        whole.swap_remove(0)
    };
    let (result, params) = (text(&result), names.join(", "));
    Some(format!("define {result} @{name}({params}) {ATTRIBUTES} {{\n{body}  ret {result} {returned}\n}}\n"))
}

/// Writes the conversion between two scalar types, and returns its value; none if they are not of one kind.
fn convert(body: &mut String, from: &str, value: &str, to: &str, name: &str) -> Option<String> {
    let bits = |ty: &str| ty.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok());
    let operation = match (bits(from), bits(to)) {
        _ if from == to => return Some(value.into()),
        (Some(a), Some(b)) => {
            if a < b {
                "sext"
            } else {
                "trunc"
            }
        }
        (None, None) => match (from, to) {
            ("half" | "bfloat", "float") => "fpext",
            ("float", "half" | "bfloat") => "fptrunc",
            _ => return None,
        },
        _ => return None,
    };
    let _ = writeln!(body, "  %{name} = {operation} {from} {value} to {to}");
    Some(format!("%{name}"))
}

fn basic(ty: BasicMetadataTypeEnum<'_>) -> Option<BasicTypeEnum<'_>> {
    BasicTypeEnum::try_from(ty).ok().map(|ty| ty.as_basic_type_enum())
}
