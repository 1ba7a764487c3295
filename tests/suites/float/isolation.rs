//! Modes stay where they belong: kernels of different modes in one module, which share a function, in either order.

use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_tests::test;

use crate::compile::Crate;
use crate::generate::PREAMBLE;
use crate::instructions::{self, Instructions, Kernels};

/// One function of the user's that may be inlined, and one that may not.
const SHARED: &str = "
fn step(a: f32, b: f32) -> f32 { a * b + 1.5 }
#[inline(never)]
fn far(a: f32, n: u32) -> f32 {
    if n == 0 { a } else { far(step(a, a) / 3.0, n - 1) * far(a, n / 2) }
}
";

/// The attribute and the name of every kernel.
const KERNELS: [(&str, &str); 4] = [
    ("", "plain"),
    ("#[ptx::float(ftz = true)]", "flushing"),
    ("#[ptx::float(fmad = false)]", "unfused"),
    ("#[ptx::float(use_fast_math)]", "fast"),
];

/// One test for each way in which modes could reach another function.
pub fn trials() -> Vec<Trial> {
    vec![
        test("each kernel has its own instructions", own_instructions),
        test("each kernel has its own functions of libdevice", own_libdevice),
        test("what is shared is there once for each set of modes", shared_functions),
        test("the order of kernels makes no difference", order),
        test("the modes of the build are those of no kernel that names its own", build),
    ]
}

/// The kernels in this order, in the opposite one, and in another build.
fn compiled() -> &'static [Kernels; 3] {
    static COMPILED: OnceLock<Result<[Kernels; 3], String>> = OnceLock::new();
    let kernel = |(attribute, name): (&str, &str)| {
        format!(
            "{attribute}\n#[kernel]\npub unsafe fn {name}(out: *mut f32, a: f32, b: f32, n: u32) {{\n    \
             unsafe {{ *out = step(a, b) / b + far(a, n); }}\n}}\n\
             {attribute}\n#[kernel]\npub unsafe fn {name}_sine(out: *mut f32, a: f32) {{\n    unsafe {{ *out = a.sin(); }}\n}}\n"
        )
    };
    let compile = || {
        let source = |kernels: String| format!("{PREAMBLE}{SHARED}{kernels}");
        let forth = Crate::new("isolation", &source(KERNELS.into_iter().map(kernel).collect()))?;
        let back = Crate::new("isolation-back", &source(KERNELS.into_iter().rev().map(kernel).collect()))?;
        let of = |krate: &Crate, name: &str, options: &[&str]| {
            Ok::<_, String>(instructions::of_ptx(&krate.link(name, options)?))
        };
        Ok([of(&forth, "default", &[])?, of(&back, "default", &[])?, of(&forth, "unfused", &["--fmad=false"])?])
    };
    COMPILED.get_or_init(compile).as_ref().unwrap_or_else(|error| panic!("{error}"))
}

/// The instructions of single precision that depend on modes.
fn arithmetic(instructions: &Instructions) -> Vec<&str> {
    let depends = |name: &&str| {
        name.ends_with(".f32")
            && ["add", "sub", "mul", "fma", "div", "rcp"].contains(&name.split('.').next().unwrap_or(""))
    };
    instructions.keys().map(String::as_str).filter(depends).collect()
}

fn own_instructions() {
    let kernels = &compiled()[0];
    let of = |name: &str| arithmetic(&kernels[name]);
    assert_eq!(of("plain"), ["add.f32", "div.rn.f32", "fma.rn.f32"]);
    assert_eq!(of("flushing"), ["add.ftz.f32", "div.rn.ftz.f32", "fma.rn.ftz.f32"]);
    assert_eq!(of("unfused"), ["add.rn.f32", "div.rn.f32", "mul.rn.f32"]);
    assert_eq!(of("fast"), ["add.ftz.f32", "div.approx.ftz.f32", "fma.rn.ftz.f32"]);
}

fn own_libdevice() {
    let of = |name: &str| arithmetic(&compiled()[0][name]);
    let (plain, flushing) = (of("plain_sine"), of("flushing_sine"));
    assert!(!plain.is_empty() && plain.iter().all(|name| !name.contains(".ftz")), "{plain:?}");
    assert!(!flushing.is_empty() && flushing.iter().all(|name| name.contains(".ftz")), "{flushing:?}");
    assert!(of("unfused_sine").contains(&"mul.rn.f32") && !of("unfused_sine").contains(&"mul.f32"));
    let fast: Vec<_> = compiled()[0]["fast_sine"].keys().collect();
    assert_eq!(fast, ["sin.approx.ftz.f32"]);
}

fn shared_functions() {
    let shared = compiled()[0].iter().filter(|(name, _)| name.contains("3far"));
    let mut found: Vec<_> = shared.map(|(_, code)| arithmetic(code)).collect();
    found.sort();
    let expected = [
        ["add.rn.f32", "div.rn.f32", "mul.rn.f32"],
        ["div.approx.ftz.f32", "fma.rn.ftz.f32", "mul.ftz.f32"],
        ["div.rn.f32", "fma.rn.f32", "mul.f32"],
        ["div.rn.ftz.f32", "fma.rn.ftz.f32", "mul.ftz.f32"],
    ];
    assert_eq!(found, expected);
}

fn order() {
    let [forth, back, _] = compiled();
    for (_, name) in KERNELS {
        let sine = format!("{name}_sine");
        assert_eq!((&forth[name], &forth[&sine]), (&back[name], &back[&sine]), "{name}");
    }
}

fn build() {
    let [default, _, unfused] = compiled();
    assert_eq!(arithmetic(&unfused["plain"]), arithmetic(&default["unfused"]));
    assert_eq!(arithmetic(&unfused["unfused"]), arithmetic(&default["unfused"]));
    // A mode that a kernel does not name is the build's; `use_fast_math` names them all.
    assert_eq!(arithmetic(&unfused["flushing"]), ["add.rn.ftz.f32", "div.rn.ftz.f32", "mul.rn.ftz.f32"]);
    assert_eq!(arithmetic(&unfused["fast"]), arithmetic(&default["fast"]));
}
