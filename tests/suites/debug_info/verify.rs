//! A verifier of what cuda-gdb reads, over every example and all test kernels at level full, as `ptxas -g` left it:
//! references resolve, ranges nest, and every variable has a type, a location that cuda-gdb can evaluate, and the address
//! class that fits it.

use std::cmp::Reverse;

use libtest_mimic::Trial;
use ptx_codegen::request::DebugLevel;
use ptx_tests::trial;

use crate::build::{self, Built};
use ptx_tests::dwarf::{Dwarf, Entry, Place, Value};

/// How many scopes of a package may have a range that is none: ptxas moves and joins the blocks at whose end they end.
/// gdb ignores them. It happens in the largest packages only, where there are tens of thousands of scopes.
const LOST_SCOPES: usize = 2;

/// What the verifier says of them.
const LOST: &str = "its code ends before it begins";

/// How many scopes of such a package may begin in another one and end behind it: those that share a block, as the arms of
/// a `match` do that end in the same way. All are in `core` and `alloc`.
const SHARED_ENDS: usize = 10;

/// What the verifier says of them.
const OVERLAPS: &str = "it overlaps the scope before it";

/// By so many bytes a scope may reach into the next one: its end stands behind that one's first instruction where a jump
/// is between them. There gdb takes the later one, which is right.
const MOVED_END: u64 = 0x100;

/// A test for every package.
pub fn trials() -> Vec<Trial> {
    let verify = |folder: String| {
        trial(format!("debug information of {folder}"), move || {
            match build::package(&folder, "dev", DebugLevel::Full) {
                Ok(built) => {
                    let mut faults = faults(&built);
                    for (what, allowed) in [(LOST, LOST_SCOPES), (OVERLAPS, SHARED_ENDS)] {
                        if faults.iter().filter(|fault| fault.starts_with(what)).count() <= allowed && large(&folder) {
                            faults.retain(|fault| !fault.starts_with(what));
                        }
                    }
                    let shown: Vec<_> = faults.iter().take(20).cloned().collect();
                    assert!(faults.is_empty(), "{} faults in {folder}:\n{}", faults.len(), shown.join("\n"));
                    None
                }
                Err(reason) => Some(reason),
            }
        })
    };
    let mut trials: Vec<_> = build::folders().into_iter().map(verify).collect();
    trials.push(trial("a variable without a class is found", || {
        let Ok(built) = build::package(build::KERNELS, "dev", DebugLevel::Full) else {
            return Some("ptxas was not found".into());
        };
        let mut dwarf = Dwarf::read(&built.cubin);
        let variable = dwarf.entries.iter_mut().find(|entry| entry.get(gimli::DW_AT_address_class).is_some());
        let variable = variable.expect("the kernels have variables");
        variable.attributes.retain(|(name, _)| *name != gimli::DW_AT_address_class);
        assert_eq!(check(&dwarf).len(), 1);
        None
    }));
    trials
}

/// Whether the package is one of those with thousands of functions.
fn large(folder: &str) -> bool {
    ["tests/kernels/basics", "tests/kernels/syscalls", "examples/crates", "examples/algorithms"].contains(&folder)
}

/// Everything wrong with a build.
pub fn faults(built: &Built) -> Vec<String> {
    let mut faults = Vec::new();
    for unwanted in ["debug_gdb_scripts", ".debug_aranges", ".noreturn"] {
        if built.ptx.contains(unwanted) {
            faults.push(format!("the PTX contains `{unwanted}`"));
        }
    }
    if !built.ptx.lines().any(|line| line.starts_with(".target") && line.ends_with(", debug")) {
        faults.push("the PTX is not marked `debug`".into());
    }
    let dwarf = Dwarf::read(&built.cubin);
    let count = |tag| dwarf.entries.iter().filter(|entry| entry.tag == tag).count();
    if count(gimli::DW_TAG_subprogram) == 0 || count(gimli::DW_TAG_formal_parameter) == 0 {
        faults.push("there is nothing to check".into());
    }
    faults.extend(check(&dwarf));
    faults
}

/// What is wrong with the entries.
fn check(dwarf: &Dwarf) -> Vec<String> {
    let mut faults = Vec::new();
    for entry in &dwarf.entries {
        let mut fault = |text: String| faults.push(format!("{text}: {}", dwarf.path(entry)));
        for (name, value) in &entry.attributes {
            if matches!(value, Value::Reference(_)) {
                // Panics where there is no such entry.
                dwarf.referred(entry, *name);
            }
            if matches!(*name, gimli::DW_AT_alignment | gimli::DW_AT_noreturn | gimli::DW_AT_ranges) {
                fault(format!("{name} is not DWARF 2"));
            }
        }
        range(dwarf, entry).err().into_iter().for_each(&mut fault);
        overlaps(dwarf, entry).into_iter().for_each(&mut fault);
        match entry.tag {
            gimli::DW_TAG_base_type if entry.number(gimli::DW_AT_byte_size) == Some(0) => {
                fault("compute-sanitizer cannot read a base type without bytes".into());
            }
            gimli::DW_TAG_variant_part | gimli::DW_TAG_variant => fault("cuda-gdb cannot read variant parts".into()),
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter if has_code(dwarf, entry) => {
                variable(dwarf, entry).err().into_iter().for_each(&mut fault);
            }
            _ => {}
        }
    }
    faults
}

/// Ranges are ranges, and lie within those above them.
fn range(dwarf: &Dwarf, entry: &Entry) -> Result<(), String> {
    let Some((low, high)) = entry.code() else { return Ok(()) };
    if low > high {
        return Err(format!("{LOST}: {low:#x}..{high:#x}"));
    }
    if entry.tag == gimli::DW_TAG_subprogram {
        return if low < high { Ok(()) } else { Err("it has no code".into()) };
    }
    let mut above = entry.parent;
    while let Some(index) = above {
        let outer = &dwarf.entries[index];
        if let Some((begin, end)) = outer.code().filter(|(begin, end)| begin <= end) {
            let inside = begin <= low && high <= end;
            let outside = || format!("{low:#x}..{high:#x} is not within {begin:#x}..{end:#x} of {}", dwarf.path(outer));
            return if inside { Ok(()) } else { Err(outside()) };
        }
        above = outer.parent;
    }
    Err("it has code, and stands in no function".into())
}

/// Which of the scopes in this one overlap without one being within the other: gdb takes the later one, and does not find the
/// variables of the earlier one in the part that both have.
fn overlaps(dwarf: &Dwarf, entry: &Entry) -> Vec<String> {
    let scopes = [gimli::DW_TAG_lexical_block, gimli::DW_TAG_inlined_subroutine];
    let children = entry.children.iter().map(|child| &dwarf.entries[*child]);
    let ranges = children.filter(|child| scopes.contains(&child.tag)).filter_map(Entry::code);
    let mut ranges: Vec<(u64, u64)> = ranges.filter(|(low, high)| low < high).collect();
    ranges.sort_by_key(|(low, high)| (*low, Reverse(*high)));
    let pairs = ranges.iter().enumerate().flat_map(|(i, one)| ranges[i + 1..].iter().map(move |other| (one, other)));
    pairs
        .filter(|((_, end), (low, high))| low + MOVED_END < *end && end < high)
        .map(|(one, other)| format!("{OVERLAPS}: {:#x}..{:#x} and {:#x}..{:#x}", one.0, one.1, other.0, other.1))
        .collect()
}

/// Whether a variable belongs to code or is a static, not to a pattern, a declaration or a type.
fn has_code(dwarf: &Dwarf, entry: &Entry) -> bool {
    let mut above = entry.parent;
    while let Some(index) = above {
        let outer = &dwarf.entries[index];
        match outer.tag {
            gimli::DW_TAG_subprogram => return outer.code().is_some(),
            gimli::DW_TAG_inlined_subroutine => return true,
            gimli::DW_TAG_subroutine_type => return false,
            _ => above = outer.parent,
        }
    }
    true
}

/// Type, location and class of a variable (PTX Writer's Guide to Interoperability 12.8, §5.2).
fn variable(dwarf: &Dwarf, entry: &Entry) -> Result<(), String> {
    let ty = dwarf.ty(entry).ok_or("it has no type")?;
    let size = dwarf.size(ty).ok_or_else(|| format!("nobody knows the size of its type, {}", dwarf.path(ty)))?;
    dwarf.name(entry).ok_or("it has no name")?;
    let place = entry.place().ok_or("it has no location")?;
    let class = entry.number(gimli::DW_AT_address_class).ok_or("it has no address class")?;
    match (&place, class) {
        (Place::Address(_), 4 | 5 | 7 | 8) | (Place::Register, 2) => Ok(()),
        // The frame's base is its upper end: nothing of this function lies there or above.
        (Place::Frame(offset), 6) if offset + size.cast_signed() <= 0 => Ok(()),
        (Place::Frame(offset), 6) => Err(format!("{size} bytes at {offset} reach out of the frame")),
        (Place::Other(bytes), _) => Err(format!("cuda-gdb cannot evaluate its location, {bytes}")),
        _ => Err(format!("class {class} does not fit {place:?}")),
    }
}
