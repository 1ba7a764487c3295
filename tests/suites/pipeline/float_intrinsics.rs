//! No floating-point operation that rustc or `core` can write stops LLVM with "Cannot select", on any GPU, with and without
//! optimisation; ptxas takes what comes out.

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::{Linked, Sample, Scratch, trial};

const ARCHS: [&str; 6] = ["sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"];

/// LLVM's intrinsics (LLVM Language Reference, "Standard C/C++ Library Intrinsics" and what follows). `T` is the type of
/// float, `t` its name in the intrinsic's.
const INTRINSICS: &[(&str, &str, &[&str])] = &[
    ("sin.t", "T", &["T"]),
    ("cos.t", "T", &["T"]),
    ("tan.t", "T", &["T"]),
    ("asin.t", "T", &["T"]),
    ("acos.t", "T", &["T"]),
    ("atan.t", "T", &["T"]),
    ("atan2.t", "T", &["T", "T"]),
    ("sinh.t", "T", &["T"]),
    ("cosh.t", "T", &["T"]),
    ("tanh.t", "T", &["T"]),
    ("exp.t", "T", &["T"]),
    ("exp2.t", "T", &["T"]),
    ("exp10.t", "T", &["T"]),
    ("log.t", "T", &["T"]),
    ("log2.t", "T", &["T"]),
    ("log10.t", "T", &["T"]),
    ("pow.t", "T", &["T", "T"]),
    ("powi.t.i32", "T", &["T", "i32"]),
    ("sincos.t", "{ T, T }", &["T"]),
    ("sincospi.t", "{ T, T }", &["T"]),
    ("modf.t", "{ T, T }", &["T"]),
    ("sqrt.t", "T", &["T"]),
    ("fabs.t", "T", &["T"]),
    ("copysign.t", "T", &["T", "T"]),
    ("fma.t", "T", &["T", "T", "T"]),
    ("fmuladd.t", "T", &["T", "T", "T"]),
    ("minnum.t", "T", &["T", "T"]),
    ("maxnum.t", "T", &["T", "T"]),
    ("minimum.t", "T", &["T", "T"]),
    ("maximum.t", "T", &["T", "T"]),
    ("minimumnum.t", "T", &["T", "T"]),
    ("maximumnum.t", "T", &["T", "T"]),
    ("floor.t", "T", &["T"]),
    ("ceil.t", "T", &["T"]),
    ("trunc.t", "T", &["T"]),
    ("rint.t", "T", &["T"]),
    ("nearbyint.t", "T", &["T"]),
    ("round.t", "T", &["T"]),
    ("roundeven.t", "T", &["T"]),
    ("canonicalize.t", "T", &["T"]),
];

/// Those whose other types are scalars.
const SCALAR_INTRINSICS: &[(&str, &str, &[&str])] = &[
    ("ldexp.t.i32", "T", &["T", "i32"]),
    ("frexp.t.i32", "{ T, i32 }", &["T"]),
    ("lround.i64.t", "i64", &["T"]),
    ("lround.i32.t", "i32", &["T"]),
    ("llround.i64.t", "i64", &["T"]),
    ("lrint.i64.t", "i64", &["T"]),
    ("lrint.i32.t", "i32", &["T"]),
    ("llrint.i64.t", "i64", &["T"]),
    ("fptosi.sat.i8.t", "i8", &["T"]),
    ("fptosi.sat.i32.t", "i32", &["T"]),
    ("fptosi.sat.i64.t", "i64", &["T"]),
    ("fptoui.sat.i16.t", "i16", &["T"]),
    ("fptoui.sat.i32.t", "i32", &["T"]),
    ("fptoui.sat.i64.t", "i64", &["T"]),
    ("is.fpclass.t", "i1", &["T", "i32 immarg 3"]),
    ("is.fpclass.t", "i1", &["T", "i32 immarg 504"]),
];

/// Of vectors alone.
const REDUCTIONS: &[(&str, &[&str])] = &[
    ("fadd", &["E", "T"]),
    ("fmul", &["E", "T"]),
    ("fmin", &["T"]),
    ("fmax", &["T"]),
    ("fminimum", &["T"]),
    ("fmaximum", &["T"]),
];

/// Instructions rather than calls; `T` stands for the type.
const INSTRUCTIONS: &[&str] = &[
    "fadd T %a0, %a1",
    "fsub T %a0, %a1",
    "fmul T %a0, %a1",
    "fdiv T %a0, %a1",
    "frem T %a0, %a1",
    "fneg T %a0",
    "fadd reassoc nsz arcp contract afn T %a0, %a1",
    "fdiv reassoc nsz arcp contract afn T %a0, %a1",
];

/// LLVM's type, its name in intrinsics, its elements.
const TYPES: &[(&str, &str, &str)] = &[
    ("half", "f16", "half"),
    ("bfloat", "bf16", "bfloat"),
    ("float", "f32", "float"),
    ("double", "f64", "double"),
    ("<2 x half>", "v2f16", "half"),
    ("<2 x bfloat>", "v2bf16", "bfloat"),
    ("<3 x float>", "v3f32", "float"),
    ("<4 x float>", "v4f32", "float"),
    ("<2 x double>", "v2f64", "double"),
    ("<8 x half>", "v8f16", "half"),
];

/// A test for every type and level, and one for conversions.
pub fn trials() -> Vec<Trial> {
    let sample = Sample::asked();
    let archs = sample.of("GPUs for floats", ARCHS, 2).join(",");
    let pairs = ["0", "3"].into_iter().flat_map(|level| TYPES.iter().map(move |ty| (level, ty)));
    let mut trials = Vec::new();
    for (level, &(ty, name, element)) in sample.of("types and levels of floats", pairs, 4) {
        let archs = archs.clone();
        trials.push(trial(format!("operations on {name} at O{level}"), move || {
            compile(&module(ty, name, element), level, &archs)
        }));
    }
    for level in ["0", "3"] {
        let archs = archs.clone();
        trials
            .push(trial(format!("conversions of floats at O{level}"), move || compile(&conversions(), level, &archs)));
    }
    trials.push(trial("floats of 128 bits are refused, with the line", quadruple));
    trials
}

/// A kernel for every operation.
fn module(ty: &str, name: &str, element: &str) -> String {
    let is_vector = ty != element;
    let mut kernels = Kernels::default();
    let scalars = if is_vector { &[][..] } else { SCALAR_INTRINSICS };
    for (intrinsic, result, params) in INTRINSICS.iter().chain(scalars) {
        let intrinsic =
            intrinsic.split('.').map(|part| if part == "t" { name } else { part }).collect::<Vec<_>>().join(".");
        let params: Vec<_> = params.iter().map(|param| param.replace('T', ty)).collect();
        kernels.call(&intrinsic, &result.replace('T', ty), &params);
    }
    for (reduction, params) in REDUCTIONS.iter().filter(|_| is_vector) {
        let params: Vec<_> = params.iter().map(|param| param.replace('T', ty).replace('E', element)).collect();
        kernels.call(&format!("vector.reduce.{reduction}.{name}"), element, &params);
    }
    for instruction in INSTRUCTIONS {
        kernels.instruction(&instruction.replace('T', ty), ty);
    }
    kernels.finish()
}

/// From every scalar type to every other.
fn conversions() -> String {
    let floats = [("half", 16), ("bfloat", 16), ("float", 32), ("double", 64)];
    let mut kernels = Kernels::default();
    for (from, from_bits) in floats {
        for (to, to_bits) in floats {
            if from_bits != to_bits {
                let operation = if from_bits < to_bits { "fpext" } else { "fptrunc" };
                kernels.convert(&format!("{operation} {from} %a0 to {to}"), from, to);
            }
        }
        for integer in ["i1", "i8", "i16", "i32", "i64"] {
            for operation in ["fptosi", "fptoui"] {
                kernels.convert(&format!("{operation} {from} %a0 to {integer}"), from, integer);
            }
            for operation in ["sitofp", "uitofp"] {
                kernels.convert(&format!("{operation} {integer} %a0 to {from}"), integer, from);
            }
        }
    }
    kernels.finish()
}

#[derive(Default)]
struct Kernels {
    text: String,
    declarations: std::collections::BTreeSet<String>,
    count: u32,
}

impl Kernels {
    fn call(&mut self, intrinsic: &str, result: &str, params: &[String]) {
        let types: Vec<_> = params.iter().map(|param| param.split(" immarg ").next().unwrap_or(param)).collect();
        self.declarations.insert(format!("declare {result} @llvm.{intrinsic}({})\n", types.join(", ")));
        let arguments: Vec<_> = params
            .iter()
            .enumerate()
            .map(|(at, param)| match param.split_once(" immarg ") {
                Some((ty, value)) => format!("{ty} {value}"),
                None => format!("{param} %a{at}"),
            })
            .collect();
        let inputs: Vec<_> =
            params.iter().map(|param| (!param.contains(" immarg ")).then_some(param.as_str())).collect();
        self.kernel(&inputs, &format!("call {result} @llvm.{intrinsic}({})", arguments.join(", ")), result);
    }

    fn instruction(&mut self, text: &str, ty: &str) {
        self.kernel(&[Some(ty), Some(ty)], text, ty);
    }

    fn convert(&mut self, text: &str, from: &str, to: &str) {
        self.kernel(&[Some(from)], text, to);
    }

    /// Loads the inputs, computes, stores the result.
    fn kernel(&mut self, inputs: &[Option<&str>], compute: &str, result: &str) {
        let loads: Vec<_> = inputs
            .iter()
            .enumerate()
            .filter_map(|(at, ty)| {
                let ty = (*ty)?;
                Some(format!(
                    "  %p{at} = getelementptr i8, ptr %p, i64 {}\n  %a{at} = load {ty}, ptr %p{at}, align 32\n",
                    at * 64
                ))
            })
            .collect();
        self.text.push_str(&format!(
            "; {compute}\ndefine ptx_kernel void @k{}(ptr %p) {{\n{}  %r = {compute}\n  store {result} %r, ptr %p, align 32\n  ret void\n}}\n",
            self.count,
            loads.concat()
        ));
        self.count += 1;
    }

    fn finish(self) -> String {
        let declarations: String = self.declarations.into_iter().collect();
        format!("target triple = \"nvptx64-nvidia-cuda\"\n{}{declarations}", self.text)
    }
}

/// All kernels for several GPUs; ptxas is run by the linker.
fn compile(module: &str, level: &str, archs: &str) -> Option<String> {
    let scratch = Scratch::default();
    let file = scratch.write("k.ll", module);
    let out = scratch.path().join("out");
    let mut command = scratch.linker();
    let kernels = module.matches("define ptx_kernel").count();
    assert!(kernels >= 30, "{kernels}");
    command.args((0..kernels).map(|kernel| format!("--export-symbol=k{kernel}")));
    command.arg(file).arg(format!("-O{level}")).arg(format!("--arch={archs}")).arg("--out-dir").arg(out);
    Linked::of(&mut command).accepted();
    tools::find().ptxas().is_none().then(|| "compiled, but ptxas was not found".into())
}

fn quadruple() -> Option<String> {
    let scratch = Scratch::default();
    let body = "%a = load fp128, ptr %p\n%b = call fp128 @llvm.sin.f128(fp128 %a)\nstore fp128 %b, ptr %p\nret void";
    let text = format!(
        "target triple = \"nvptx64-nvidia-cuda\"\ndefine ptx_kernel void @k(ptr %p) {{\n{body}\n}}\ndeclare fp128 @llvm.sin.f128(fp128)\n"
    );
    let linked = scratch.link([scratch.write("k.ll", text)]);
    scratch.refused(&linked, &["PTX0037", "floats of more than 64 bits", "in `k`", "f64"]);
    None
}
