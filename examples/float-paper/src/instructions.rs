//! §3.3 and §3.4 in PTX: which instructions the compiler made of a kernel under its modes.

use crate::gpu::OPTIMISED;
use crate::table::Section;

/// Kernels and all that they do with floating-point numbers.
const EXPECTED: [(&str, &[&str]); 17] = [
    ("figure_1", &["fma.rn.f32"]),
    ("figure_1_apart", &["mul.rn.f32", "add.rn.f32"]),
    ("figure_1_named", &["fma.rn.f32"]),
    ("figure_1_never", &["mul.rn.f32", "add.rn.f32"]),
    ("dot_serial", &["mul.rn.f32", "add.rn.f32"]),
    ("dot_fma", &["fma.rn.f32"]),
    ("dot_fma_named", &["fma.rn.f32"]),
    ("dot_parallel", &["mul.rn.f32", "add.rn.f32"]),
    // Without `.rn`, because it might be fused with an addition.
    ("product", &["mul.f32"]),
    ("product_ftz", &["mul.ftz.f32"]),
    ("product_double", &["mul.f64"]),
    ("quotient", &["div.rn.f32"]),
    ("quotient_double", &["div.rn.f64"]),
    ("quotients", &["div.rn.f32"]),
    ("quotients_fast", &["div.full.f32"]),
    ("square_roots", &["sqrt.rn.f32"]),
    ("square_roots_fast", &["sqrt.approx.f32"]),
];

/// Looks into the PTX for every arch.
pub fn table(image: &ptx::Image) -> Section {
    let section =
        Section::new("3.3 Controlling Fused Multiply-add, 3.4 Compiler Flags: in PTX", Vec::new()).optimised();
    if !OPTIMISED {
        return section;
    }
    EXPECTED.iter().fold(section, |section, (kernel, expected)| {
        let found: Vec<Vec<String>> = image.objects().iter().map(|object| arithmetic(object.ptx, kernel)).collect();
        let holds = !found.is_empty() && found.iter().all(|found| found == expected);
        let text = found.first().map_or_else(|| "no PTX".to_owned(), |found| found.join(", "));
        section.note(format!("{kernel:18} {text}"), holds)
    })
}

/// The different floating-point instructions of a kernel, in the order of their first use.
fn arithmetic(ptx: &str, kernel: &str) -> Vec<String> {
    let body = ptx.split(".entry ").find_map(|entry| entry.strip_prefix(kernel)?.strip_prefix('('));
    let body = body.and_then(|entry| entry.split_once("\n}")).map_or("", |(body, _)| body);
    let operations = ["add.", "sub.", "mul.", "fma.", "div.", "rcp.", "sqrt."];
    let mut found = Vec::new();
    for line in body.lines() {
        let opcode = line.split_whitespace().next().unwrap_or_default();
        let is_float = opcode.ends_with(".f32") || opcode.ends_with(".f64");
        if is_float
            && operations.iter().any(|operation| opcode.starts_with(operation))
            && !found.contains(&opcode.to_owned())
        {
            found.push(opcode.to_owned());
        }
    }
    found
}
