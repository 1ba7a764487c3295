//! Kernels written in Rust and in CUDA C++, line by line: each variable has the name, the type, the line, the address class and
//! the kind of location that `nvcc -g -G` gives it, but for the deviations listed here.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_codegen::options::DebugLevel;
use ptx_tests::trial;

use crate::build;
use ptx_tests::dwarf::{Dwarf, Entry, Value};

/// What both have: functions of twin.rs and twin.cu.
const FUNCTIONS: [&str; 5] = ["add", "scalars", "aggregates", "widths", "statics"];

/// Statics, and the class that both must have.
const STATICS: [(&str, i64); 2] = [("TABLE", 4), ("TILE", 8)];

/// Address class and kind of location.
type Kind = (i64, &'static str);

/// (ours, nvcc's): differences that stay, and why.
const DEVIATIONS: [(Kind, Kind, &str); 3] = [
    (
        (6, "frame"),
        (2, "register"),
        "a local variable has a place in memory as long as it lives; nvcc's registers are lost after their last use",
    ),
    (
        (7, "address"),
        (2, "register"),
        "a kernel's parameter is shown where the launch put it; nvcc loads some into registers at the beginning",
    ),
    (
        (7, "address"),
        (6, "frame"),
        "a kernel's structure is shown where the launch put it; nvcc copies it to the stack, where it may be changed",
    ),
];

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    ty: String,
    line: i64,
    class: i64,
    place: &'static str,
}

type Variables = BTreeMap<String, Variable>;

/// A test for every function and static, and one for the deviations.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = FUNCTIONS
        .into_iter()
        .map(|name| {
            trial(format!("variables of {name} are nvcc's"), move || {
                with_both(|ours, theirs| compare(name, ours, theirs))
            })
        })
        .collect();
    trials.extend(STATICS.map(|(name, class)| {
        trial(format!("the static {name} is nvcc's"), move || {
            with_both(|ours, theirs| {
                for dwarf in [ours, theirs] {
                    let variable = described(dwarf, find_static(dwarf, name));
                    assert_eq!((variable.class, variable.place), (class, "address"), "{variable:?}");
                }
                let (ours, theirs) =
                    (described(ours, find_static(ours, name)), described(theirs, find_static(theirs, name)));
                assert_eq!(ours.line, theirs.line);
                assert_eq!(bytes_of(&ours.ty), bytes_of(&theirs.ty), "{} and {}", ours.ty, theirs.ty);
            });
            None
        })
    }));
    trials.push(trial("every deviation from nvcc still exists", || {
        let Some((ours, theirs)) = both() else { return missing() };
        let pairs: Vec<_> = FUNCTIONS.iter().flat_map(|name| pairs(name, ours, theirs)).collect();
        for (our, their, reason) in DEVIATIONS {
            let found = pairs.iter().any(|(_, a, b)| (a.class, a.place) == our && (b.class, b.place) == their);
            assert!(found, "no longer so: {reason}");
        }
        assert!(pairs.len() >= 34, "only {} variables were compared", pairs.len());
        None
    }));
    trials
}

fn missing() -> Option<String> {
    Some("ptxas or nvcc was not found".into())
}

fn both() -> Option<&'static (Dwarf, Dwarf)> {
    static BOTH: OnceLock<Option<(Dwarf, Dwarf)>> = OnceLock::new();
    let make = || {
        let ours = build::package(build::KERNELS, "dev", DebugLevel::Full).ok()?;
        Some((Dwarf::read(&ours.cubin), Dwarf::read(&build::twin()?)))
    };
    BOTH.get_or_init(make).as_ref()
}

fn with_both(check: impl FnOnce(&Dwarf, &Dwarf)) -> Option<String> {
    let Some((ours, theirs)) = both() else { return missing() };
    check(ours, theirs);
    None
}

/// Variables of both by name: (name, ours, nvcc's). All of nvcc's must be there, and no others.
fn pairs(function: &str, ours: &Dwarf, theirs: &Dwarf) -> Vec<(String, Variable, Variable)> {
    let (our, their) = (of_function(ours, function), of_function(theirs, function));
    assert!(our.keys().eq(their.keys()), "ours: {:?}\nnvcc's: {:?}", our.keys(), their.keys());
    our.into_iter().zip(their).map(|((name, our), (_, their))| (name, our, their)).collect()
}

fn compare(function: &str, ours: &Dwarf, theirs: &Dwarf) {
    let mut wrong = Vec::new();
    for (name, our, their) in pairs(function, ours, theirs) {
        let known = DEVIATIONS.iter().any(|(a, b, _)| (our.class, our.place) == *a && (their.class, their.place) == *b);
        let same = (our.class, our.place) == (their.class, their.place);
        if (&our.ty, our.line) != (&their.ty, their.line) || !(same || known) {
            wrong.push(format!("{name}\n  ours:   {our:?}\n  nvcc's: {their:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Variables of a function; of a kernel, its parameters from the entry and the rest from the function that it calls.
fn of_function(dwarf: &Dwarf, name: &str) -> Variables {
    let mut variables = Variables::new();
    let inner = dwarf.function_named(name);
    let entry = dwarf.function(name);
    for function in inner.into_iter().chain(entry) {
        for entry in dwarf.variables(function) {
            variables.insert(dwarf.name(entry).expect("the verifier saw it"), described(dwarf, entry));
        }
    }
    // nvcc lists a shared static also where it is used.
    variables.retain(|name, _| !STATICS.iter().any(|(known, _)| name == known));
    assert!(!variables.is_empty(), "there is no function {name}");
    variables
}

fn find_static<'a>(dwarf: &'a Dwarf, name: &str) -> &'a Entry {
    let found = dwarf.entries.iter().find(|entry| {
        entry.tag == gimli::DW_TAG_variable && entry.place().is_some() && dwarf.name(entry).as_deref() == Some(name)
    });
    found.unwrap_or_else(|| panic!("there is no static {name}"))
}

fn described(dwarf: &Dwarf, entry: &Entry) -> Variable {
    let number = |name| match dwarf.inherited(entry, name) {
        Some(Value::Number(number)) => *number,
        other => panic!("{name} of {} is {other:?}", dwarf.path(entry)),
    };
    Variable {
        ty: shape(dwarf, dwarf.ty(entry).expect("a variable has a type")),
        line: number(gimli::DW_AT_decl_line),
        class: number(gimli::DW_AT_address_class),
        place: entry.place().expect("a variable has a location").kind(),
    }
}

/// A type without names that differ between the languages.
pub fn shape(dwarf: &Dwarf, ty: &Entry) -> String {
    let size = dwarf.size(ty).unwrap_or_default();
    let inner = || dwarf.ty(ty).map_or("nothing".into(), |inner| shape(dwarf, inner));
    let children = || ty.children.iter().map(|child| &dwarf.entries[*child]);
    match ty.tag {
        gimli::DW_TAG_base_type => {
            match ty.number(gimli::DW_AT_encoding).and_then(|code| u8::try_from(code).ok()).map(gimli::DwAte) {
                Some(gimli::DW_ATE_float) => format!("f{}", size * 8),
                Some(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char) => format!("i{}", size * 8),
                // C++'s bool is one of 8 bits to nvcc, and so are its characters.
                Some(gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_boolean) => {
                    format!("u{}", size * 8)
                }
                Some(gimli::DW_ATE_UTF) => "char".into(),
                other => format!("{other:?} of {size}"),
            }
        }
        gimli::DW_TAG_pointer_type => format!("*{}", inner()),
        gimli::DW_TAG_array_type => format!("[{}; {size} bytes]", inner()),
        gimli::DW_TAG_typedef | gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => inner(),
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            let members = children().filter(|child| child.tag == gimli::DW_TAG_member).map(|member| {
                let name = dwarf.name(member).unwrap_or_default();
                let ty = dwarf.ty(member).map_or("?".into(), |ty| shape(dwarf, ty));
                format!("{name}@{}: {ty}", member.member_offset())
            });
            format!("{{{}; {size} bytes}}", members.collect::<Vec<_>>().join(", "))
        }
        gimli::DW_TAG_enumeration_type => {
            let values = children().map(|value| {
                format!(
                    "{}={}",
                    dwarf.name(value).unwrap_or_default(),
                    value.number(gimli::DW_AT_const_value).unwrap_or(-1)
                )
            });
            format!("enum of {size} bytes {{{}}}", values.collect::<Vec<_>>().join(", "))
        }
        other => format!("{other} of {size}"),
    }
}

/// The number of bytes at the end of a shape.
fn bytes_of(shape: &str) -> Option<u64> {
    let number = shape.rsplit("; ").next()?.split(' ').next()?;
    number.parse().ok()
}
