//! Types that C++ has not: how they stand in the debug information, and that no byte is left out.

use libtest_mimic::Trial;
use ptx_codegen::debuginfo::DISCRIMINANT;
use ptx_codegen::options::DebugLevel;
use ptx_tests::trial;

use crate::build;
use crate::twin::shape;
use ptx_tests::dwarf::Dwarf;

/// (function, variable, what its type must be).
const TYPES: [(&str, &str, &str); 20] = [
    (
        "enums",
        "circle",
        "{{variant}@0: enum of 4 bytes {Circle=0, Rect=1, Empty=2}, Circle@0: {__0@4: f32; 12 bytes}, Rect@0: {w@4: f32, h@8: f32; 12 bytes}, Empty@0: {; 12 bytes}; 12 bytes}",
    ),
    (
        "enums",
        "some",
        "{{variant}@0: enum of 8 bytes {None=0}, None@0: {; 8 bytes}, Some@0: {__0@0: *f32; 8 bytes}; 8 bytes}",
    ),
    (
        "enums",
        "none",
        "{{variant}@0: enum of 8 bytes {None=0}, None@0: {; 8 bytes}, Some@0: {__0@0: *f32; 8 bytes}; 8 bytes}",
    ),
    (
        "enums",
        "byte",
        "{{variant}@0: enum of 1 bytes {None=0, Some=1}, None@0: {; 2 bytes}, Some@0: {__0@1: u8; 2 bytes}; 2 bytes}",
    ),
    (
        "enums",
        "flag",
        "{{variant}@0: enum of 1 bytes {None=2}, None@0: {; 1 bytes}, Some@0: {__0@0: u8; 1 bytes}; 1 bytes}",
    ),
    (
        "enums",
        "result",
        "{{variant}@0: enum of 1 bytes {Ok=0, Err=1}, Ok@0: {__0@4: u32; 8 bytes}, Err@0: {__0@1: i8; 8 bytes}; 8 bytes}",
    ),
    ("enums", "input", "{data_ptr@0: *f32, length@8: u64; 16 bytes}"),
    ("enums", "scale", "f32"),
    ("views", "tail", "{data_ptr@0: *f32, length@8: u64; 16 bytes}"),
    ("views", "text", "{data_ptr@0: *u8, length@8: u64; 16 bytes}"),
    ("views", "letter", "char"),
    ("views", "tuple", ""),
    ("views", "wrapped", ""),
    ("views", "nested", ""),
    ("views", "array", "[[u16; 4 bytes]; 8 bytes]"),
    ("views", "wide", "u128"),
    ("closures", "base", "i32"),
    ("closures", "by_reference", "{_ref__base@0: *i32; 8 bytes}"),
    ("closures", "by_value", "{base@0: i32; 4 bytes}"),
    ("factorial", "n", "u32"),
];

/// A test for every type, and one that the frames of closures show what they captured.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = TYPES
        .into_iter()
        .map(|(function, variable, expected)| {
            trial(format!("type of {variable} in {function}"), move || {
                with_ours(|dwarf| {
                    let found = named(dwarf, function, variable);
                    if !expected.is_empty() {
                        assert_eq!(found, expected);
                    }
                    // Rust may order members as it likes; none is missing.
                    let parts: &[&str] = match variable {
                        "tuple" => &["__0@", "__1@", "__2@", ": u8", ": f32", "; 12 bytes}"],
                        "wrapped" => &["inner@", "count@", "__1@", "; 16 bytes}"],
                        "nested" => &["inner@", "count@", DISCRIMINANT, "None=0, Some=1", "; 12 bytes}"],
                        _ => &[],
                    };
                    parts.iter().for_each(|part| assert!(found.contains(part), "no `{part}` in {found}"));
                })
            })
        })
        .collect();
    trials.push(trial("captured variables have a place in the closure", || {
        with_ours(|dwarf| {
            let mut captured: Vec<String> = Vec::new();
            for function in &dwarf.entries {
                let closure = dwarf.name(function).is_some_and(|name| name.starts_with("{closure#"));
                if function.tag == gimli::DW_TAG_subprogram && function.code().is_some() && closure {
                    let variables = dwarf.variables(function).into_iter().filter(|entry| entry.place().is_some());
                    captured.extend(variables.filter_map(|entry| dwarf.name(entry)));
                }
            }
            assert_eq!(captured.iter().filter(|name| *name == "base").count(), 2, "{captured:?}");
        })
    }));
    trials
}

fn with_ours(check: impl FnOnce(&Dwarf)) -> Option<String> {
    match build::package(build::KERNELS, "dev", DebugLevel::Full) {
        Ok(built) => {
            check(&Dwarf::read(&built.cubin));
            None
        }
        Err(reason) => Some(reason),
    }
}

fn named(dwarf: &Dwarf, function: &str, variable: &str) -> String {
    let entry = dwarf.function_named(function).unwrap_or_else(|| panic!("there is no function {function}"));
    let variables = dwarf.variables(entry);
    let found = variables.iter().find(|entry| dwarf.name(entry).as_deref() == Some(variable));
    let found = found.unwrap_or_else(|| panic!("{function} has no variable {variable}"));
    shape(dwarf, dwarf.ty(found).expect("a variable has a type"))
}
