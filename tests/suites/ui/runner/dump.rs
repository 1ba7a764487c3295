//! A cubin's debug information and line table as text that stays the same from one ptxas to the next.
//!
//! ```text
//! subprogram add, line 8, code            DIE: tag, name, and what it has
//!   formal_parameter x: i32, line 8, class 6, frame
//!   lexical_block, code
//!     variable point: geometry::Point, line 9, class 6, frame
//! structure_type Point, size 8
//!   member x: f32, at 0
//! ```
//!
//! After a class of address stands where a variable is: at an `address` of that space, in the `frame`, in a `register`.
//! Places, offsets in the file and line numbers of units are left out.

use std::fmt::Write;

use gimli::LittleEndian;
use object::{Object, ObjectSection, SectionIndex};
use ptx_tests::dwarf::{self, Dwarf, Entry, Value};

/// The tree of `.debug_info`.
pub fn debug_info(cubin: &[u8]) -> String {
    let dwarf = Dwarf::read(cubin);
    let mut out = String::new();
    for entry in dwarf.entries.iter().filter(|entry| entry.parent.is_none()) {
        describe(&dwarf, entry, 0, &mut out);
    }
    out
}

fn describe(dwarf: &Dwarf, entry: &Entry, depth: usize, out: &mut String) {
    let tag = entry.tag.static_string().unwrap_or("DW_TAG_unknown").trim_start_matches("DW_TAG_");
    out.extend(std::iter::repeat_n("  ", depth));
    out.push_str(tag);
    if let Some(name) = dwarf.name(entry) {
        // Units are named by paths of one machine.
        let name = if entry.parent.is_none() { file_name(&name).to_string() } else { name };
        let _ = write!(out, " {name}");
    }
    if let Some(ty) = dwarf.ty(entry) {
        let _ = write!(out, ": {}", type_name(dwarf, ty));
    }
    let number = |name| match dwarf.inherited(entry, name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let facts = [
        ("line", number(gimli::DW_AT_decl_line)),
        ("size", entry.number(gimli::DW_AT_byte_size)),
        ("count", entry.number(gimli::DW_AT_count)),
        ("value", entry.number(gimli::DW_AT_const_value)),
        ("at", (entry.tag == gimli::DW_TAG_member).then(|| entry.member_offset())),
        ("class", entry.number(gimli::DW_AT_address_class)),
        ("called at line", entry.number(gimli::DW_AT_call_line)),
    ];
    for (what, number) in facts {
        let _ = number.map(|number| write!(out, ", {what} {number}"));
    }
    let _ = entry.place().map(|place| write!(out, ", {}", place.kind()));
    if entry.code().is_some() {
        out.push_str(", code");
    }
    out.push('\n');
    for child in &entry.children {
        describe(dwarf, &dwarf.entries[*child], depth + 1, out);
    }
}

/// As in `*[geometry::Point; 4]`.
fn type_name(dwarf: &Dwarf, ty: &Entry) -> String {
    let inner = || dwarf.ty(ty).map_or("()".into(), |inner| type_name(dwarf, inner));
    match ty.tag {
        gimli::DW_TAG_pointer_type => format!("*{}", inner()),
        gimli::DW_TAG_array_type => {
            let counts = ty.children.iter().filter_map(|child| dwarf.entries[*child].number(gimli::DW_AT_count));
            counts.fold(inner(), |element, count| format!("[{element}; {count}]"))
        }
        gimli::DW_TAG_subroutine_type => "fn".into(),
        _ => {
            let mut names: Vec<String> = dwarf.name(ty).into_iter().collect();
            let mut above = ty.parent.map(|parent| &dwarf.entries[parent]);
            while let Some(entry) = above.filter(|entry| entry.tag == gimli::DW_TAG_namespace) {
                names.extend(dwarf.name(entry));
                above = entry.parent.map(|parent| &dwarf.entries[parent]);
            }
            names.reverse();
            names.join("::")
        }
    }
}

/// The rows of `.debug_line`, for each section of code in the order of addresses: `FILE:LINE`, and from where to where.
pub fn lines(cubin: &[u8]) -> Result<String, String> {
    let file = object::File::parse(cubin).map_err(|error| format!("the cubin: {error}"))?;
    let table = dwarf::section(&file, ".debug_line").ok_or("the cubin has no .debug_line")?;
    let mut rows = rows(&table).map_err(|error| format!(".debug_line: {error}"))?;
    rows.sort();
    rows.dedup_by(|next, row| {
        let same = (&row.file, row.line, row.to) == (&next.file, next.line, next.from);
        if same {
            row.to = next.to;
        }
        same
    });
    let (mut out, mut section) = (String::new(), None);
    for row in rows {
        let (index, from) = (row.from / dwarf::SECTION, row.from % dwarf::SECTION);
        if section.replace(index) != Some(index) {
            let named = usize::try_from(index).ok().and_then(|index| file.section_by_index(SectionIndex(index)).ok());
            let name = named.as_ref().and_then(|section| section.name().ok()).unwrap_or("?");
            let _ = writeln!(out, "section {name}");
        }
        let _ = writeln!(out, "  {}:{} 0x{from:04x}..0x{:04x}", row.file, row.line, row.to % dwarf::SECTION);
    }
    Ok(out)
}

/// So much code of a line; neighbours of the same line are one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    from: u64,
    to: u64,
    file: String,
    line: u64,
}

fn rows(table: &[u8]) -> gimli::Result<Vec<Row>> {
    let (mut rows, mut offset) = (Vec::<Row>::new(), 0);
    while offset < table.len() {
        let program =
            gimli::DebugLine::new(table, LittleEndian).program(gimli::DebugLineOffset(offset), 8, None, None)?;
        offset += program.header().unit_length() + program.header().format().initial_length_size() as usize;
        let mut state = program.rows();
        let mut open: Option<Row> = None;
        while let Some((header, row)) = state.next_row()? {
            let name = row.file(header).map(|file| match file.path_name() {
                gimli::AttributeValue::String(name) => name.to_string_lossy().into_owned(),
                _ => "?".into(),
            });
            let name = file_name(&name.unwrap_or_else(|| "?".into())).to_string();
            let line = row.line().map_or(0, Into::into);
            let (at, end) = (row.address(), row.end_sequence());
            let same = |open: &Row| (&open.file, open.line) == (&name, line);
            if let Some(mut done) = open.take_if(|open| end || !same(open)) {
                done.to = at;
                rows.extend((done.to > done.from).then_some(done));
            }
            if open.is_none() && !end {
                open = Some(Row { from: at, to: at, file: name, line });
            }
        }
    }
    Ok(rows)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
