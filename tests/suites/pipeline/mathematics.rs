//! The maths library: what is linked, what it is specialised to, and what serves without libdevice.

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_abi::float::{MARKER, Overrides};
use ptx_codegen::ptx_text::{self, Kind};
use ptx_project::options::Settings;
use ptx_project::tools;
use ptx_tests::{Scratch, trial};

use crate::packages::{build, one};

/// The GPU for which it is compiled.
const ARCH: &str = "sm_80";

/// All but those of the fallback need libdevice, and are skipped without it.
pub fn trials() -> Vec<Trial> {
    vec![
        trial("every function is compiled from libdevice", || with_libdevice(every_function)),
        trial("num-traits and glam call libdevice, not libm", || with_libdevice(no_libm)),
        trial("rustc compiles nothing of libm into its callers", || with_libdevice(nothing_inlined)),
        trial("only what is called is linked", || with_libdevice(lazily)),
        trial("libdevice follows the build's modes", || with_libdevice(modes_of_the_build)),
        trial("libdevice follows the function's modes", || with_libdevice(modes_of_functions)),
        trial("divisions in libdevice are no user's", || with_libdevice(divisions)),
        trial("libdevice follows the arch", || with_libdevice(arch)),
        trial("names of C and of the crate libm are one function", || with_libdevice(names)),
        trial("without libdevice the crate libm serves", fallback),
        trial("without libdevice what libm lacks is refused", fallback_lacks),
    ]
}

/// Or the reason why not.
fn with_libdevice(body: impl FnOnce()) -> Option<String> {
    if tools::find().libdevice.is_none() {
        return Some("libdevice was not found".into());
    }
    body();
    None
}

/// The PTX of `tests/kernels/math`.
fn package() -> &'static str {
    static PTX: OnceLock<String> = OnceLock::new();
    PTX.get_or_init(|| fs::read_to_string(one("tests/kernels/math", ARCH).ptx(ARCH)).expect("just written"))
}

fn every_function() {
    let ptx = package();
    // 84 functions in two precisions, and the kernels of num-traits and glam.
    assert_eq!(ptx.matches(".visible .entry").count(), 2 * 84 + 5);
    assert!(!ptx.contains("__nv_") && !ptx.contains("__ptx_math"), "a function of libdevice was left");
}

fn no_libm() {
    let left = bodies(package()).into_iter().filter(|path| path.starts_with("libm::")).collect::<Vec<_>>();
    assert!(left.is_empty(), "{left:?}");
}

/// Of functions that call no others, such as `logf`, rustc makes copies where they are called, unless it is told not to.
fn nothing_inlined() {
    let instructions = |kernel: &str| -> Vec<String> {
        let found = ptx_text::definitions(package()).find(|definition| definition.function.name == kernel);
        let body = found.unwrap_or_else(|| panic!("no {kernel}")).body;
        let mut opcodes: Vec<_> = body.lines().filter_map(|line| line.split_whitespace().next()).collect();
        opcodes.retain(|opcode| !opcode.starts_with("$L"));
        opcodes.iter().map(ToString::to_string).filter(|opcode| opcode.contains(".f")).collect()
    };
    assert_eq!(instructions("short_by_num_traits"), instructions("short_by_ptx"));
}

/// The paths of all functions and kernels in PTX.
fn bodies(ptx: &str) -> BTreeSet<String> {
    let names = ptx_text::lines(ptx).filter_map(|line| match line.kind {
        Kind::Function(function) => Some(function.name),
        _ => None,
    });
    names.map(|name| format!("{:#}", rustc_demangle::demangle(name))).collect()
}

/// The PTX of a module in textual IR; its kernel is `k`.
fn ptx(ir: &str, args: &[&str]) -> String {
    let scratch = Scratch::default();
    let file = scratch.write("k.ll", format!("target triple = \"nvptx64-nvidia-cuda\"\n{ir}"));
    let mut all = vec![file.display().to_string()];
    if !args.iter().any(|arg| arg.starts_with("-O")) {
        all.push("-O3".into());
    }
    all.extend(args.iter().map(ToString::to_string));
    scratch.link(all).accepted();
    fs::read_to_string(scratch.output()).expect("just written")
}

/// A kernel that puts `@name(x)` in x's place.
fn caller(kernel: &str, name: &str, first: &str) -> String {
    format!(
        "define ptx_kernel void @{kernel}(ptr %p) {{\n{first}\n%x = load float, ptr %p\n%y = call float @{name}(float %x)\n\
         store float %y, ptr %p\nret void\n}}\n"
    )
}

fn lazily() {
    let text = ptx(&(caller("k", "rsqrtf", "") + "declare float @rsqrtf(float)\n"), &[]);
    assert!(text.contains("rsqrt.approx.f32"), "{text}");
    assert_eq!(text.matches(".func").count(), 0, "{text}");
    assert!(!text.contains("\n.global"), "a table that nothing reads: {text}");
    let text = ptx(&(caller("k", "sinf", "") + "declare float @sinf(float)\n"), &[]);
    // The first number of the table `__cudart_i2opi_f`, whose loop is unrolled, and not the table of another function.
    assert!(text.contains("1011060801") && !text.contains("__cudart_sin_cos_coeffs"), "{text}");
}

fn modes_of_the_build() {
    let ir = caller("k", "logf", "") + "declare float @logf(float)\n";
    let [plain, ftz, fast] = [&[][..], &["--ftz=true"], &["--use-fast-math=true"]].map(|args| ptx(&ir, args));
    assert!(plain.contains("fma.rn.f32") && !plain.contains(".ftz"), "{plain}");
    assert!(ftz.contains("fma.rn.ftz.f32") && !ftz.contains("fma.rn.f32"), "{ftz}");
    assert!(fast.contains("lg2.approx.ftz.f32") && !fast.contains("fma.rn"), "{fast}");
}

fn modes_of_functions() {
    let modes = |overrides: Overrides| format!("call void @{MARKER}(i32 {})", overrides.encode());
    let kernels = [
        ("k", String::new()),
        ("flushing", modes(Overrides { ftz: Some(true), ..Overrides::default() })),
        ("fast", modes(Overrides { use_fast_math: Some(true), ..Overrides::default() })),
    ];
    let text: String = kernels.iter().map(|(kernel, first)| caller(kernel, "logf", first)).collect();
    let text = ptx(
        &format!("{text}declare float @logf(float)\ndeclare void @{MARKER}(i32)\n"),
        &["--export-symbol=flushing", "--export-symbol=fast"],
    );
    let body = |name: &str| {
        let rest = text.split(&format!(".entry {name}(")).nth(1).unwrap_or_else(|| panic!("no {name} in {text}"));
        rest.split("\n}").next().unwrap_or_default().to_string()
    };
    let (plain, flushing, fast) = (body("k"), body("flushing"), body("fast"));
    assert!(plain.contains("fma.rn.f32") && !plain.contains(".ftz"), "{plain}");
    assert!(flushing.contains("fma.rn.ftz.f32") && !flushing.contains("fma.rn.f32"), "{flushing}");
    assert!(fast.contains("lg2.approx.ftz.f32") && !fast.contains("fma.rn"), "{fast}");
}

/// nvcc's `--use_fast_math` makes `__fdividef` of the divisions that a user writes alone.
fn divisions() {
    let text = ptx(&(caller("k", "y1f", "") + "declare float @y1f(float)\n"), &["--use-fast-math=true"]);
    assert!(text.contains("div.full.ftz.f32") && !text.contains("div.approx"), "{text}");
}

/// `tanh.approx` came with sm_75.
fn arch() {
    let ir = caller("k", "tanhf", "") + "declare float @tanhf(float)\n";
    for level in ["-O0", "-O3"] {
        let old = ptx(&ir, &["--use-fast-math=true", "--arch=sm_70", level]);
        let new = ptx(&ir, &["--use-fast-math=true", "--arch=sm_75", level]);
        assert!(!old.contains("tanh.approx") && new.contains("tanh.approx"), "{old}\n{new}");
    }
}

fn names() {
    let bodies =
        ["expf", "__ptx_math_expf", "llvm.exp.f32", "_ZN4libm4math4expf4expf17h0123456789abcdefE"].map(|name| {
            let end = if name.starts_with("_ZN") {
                format!("define internal float @{name}(float %x) {{\nret float %x\n}}\n")
            } else {
                format!("declare float @{name}(float)\n")
            };
            ptx(&(caller("k", name, "") + &end), &[])
        });
    assert!(bodies[0].contains("ex2.approx"), "{}", bodies[0]);
    for body in &bodies[1..] {
        assert_eq!(*body, bodies[0]);
    }
}

fn fallback() -> Option<String> {
    let settings = Settings { libdevice: Some("off".into()), ..settings() };
    let out =
        build("tests/kernels/math", "math-without-libdevice", settings, &["without-libdevice"]).expect("it compiles");
    let mut entries = fs::read_dir(out).expect("the build made it").flatten().map(|entry| entry.path());
    let file = entries.find(|path| path.extension().is_some_and(|end| end == "ptx")).expect("PTX");
    let text = fs::read_to_string(file).expect("just written");
    assert_eq!(text.matches(".visible .entry").count(), 2 * (84 - 7) + 5);
    assert!(
        !text.contains("__nv_") && !text.contains("__ptx_math") && !text.contains("__internal_"),
        "libdevice is in it"
    );
    assert!(bodies(&text).contains("libm::math::tgamma::tgamma"), "{:?}", bodies(&text));
    None
}

fn fallback_lacks() -> Option<String> {
    let settings = Settings { libdevice: Some("off".into()), ..settings() };
    let failure = build("tests/kernels/math", "math-without-libdevice", settings, &[]).expect_err("libm has no erfinv");
    for name in ["erfcx", "erfinv", "erfcinvf", "normcdff", "normcdfinv", "cyl_bessel_i0", "cyl_bessel_i1f"] {
        assert!(failure.contains(&format!("nothing computes the mathematical function `{name}`")), "{name}: {failure}");
    }
    assert!(failure.contains("tests/kernels/math/src/lib.rs") && failure.contains("cargo ptx setup"), "{failure}");
    None
}

fn settings() -> Settings {
    Settings { arch: vec![ARCH.into()], ptxas: Some("off".into()), ..Settings::default() }
}
