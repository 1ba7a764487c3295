//! The tree of debug information entries: read with gimli, changed in place, written as PTX again.
//!
//! DWARF 2 as LLVM writes it for PTX: addresses are symbols that ptxas resolves, strings stand in place, and every unit
//! shares one table of abbreviations.

use std::collections::HashMap;
use std::ops::Range;

use gimli::{
    AttributeValue, DebugAbbrev, DebugInfo, DwAt, DwForm, DwTag, EndianSlice, Expression, LittleEndian,
    UnitSectionOffset, leb128,
};

use super::sections::{Section, Writer};

/// The number of an entry in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub usize);

/// All units of a module.
#[derive(Debug, Default)]
pub struct Tree {
    /// The entries that are units.
    pub units: Vec<Id>,
    entries: Vec<Entry>,
}

/// A debugging information entry (DIE): a function, a variable, a type.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is.
    pub tag: DwTag,
    /// What is known of it, in order.
    pub attributes: Vec<(DwAt, Value)>,
    /// What belongs to it.
    pub children: Vec<Id>,
    /// To what it belongs; none for units.
    pub parent: Option<Id>,
}

/// Bytes with symbols of 8 bytes among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// The bytes; of a symbol, what is added to it.
    pub bytes: Vec<u8>,
    /// The symbols by offset.
    pub symbols: Vec<(usize, String)>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `DW_FORM_addr`.
    Address(Block),
    /// Numbers of fixed or variable size, with their form; a symbol in place of the number for offsets into sections.
    Number(DwForm, u64, Option<String>),
    /// `DW_FORM_sdata`.
    Signed(i64),
    /// `DW_FORM_string`, without the NUL.
    String(Vec<u8>),
    /// A reference to an entry.
    Entry(Id),
    /// `DW_FORM_block1` or longer.
    Block(Block),
}

impl Value {
    /// A number of one byte.
    pub fn data1(number: u8) -> Self {
        Self::Number(gimli::DW_FORM_data1, number.into(), None)
    }

    /// A string that stands in the entry itself: `DW_FORM_string`.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::String(text.into())
    }

    /// The number that it is.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(_, number, None) => Some(*number),
            Self::Signed(number) => Some(number.cast_unsigned()),
            _ => None,
        }
    }
}

impl Entry {
    /// A new entry.
    pub fn new(tag: DwTag, attributes: Vec<(DwAt, Value)>) -> Self {
        Self { tag, attributes, children: Vec::new(), parent: None }
    }

    /// The attribute's value.
    pub fn get(&self, name: DwAt) -> Option<&Value> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Sets the attribute.
    pub fn set(&mut self, name: DwAt, value: Value) {
        match self.attributes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name, value)),
        }
    }

    /// The name, or another text.
    pub fn text(&self, name: DwAt) -> Option<String> {
        match self.get(name)? {
            Value::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// The entry that an attribute refers to.
    pub fn reference(&self, name: DwAt) -> Option<Id> {
        match self.get(name)? {
            Value::Entry(id) => Some(*id),
            _ => None,
        }
    }

    /// The number that an attribute has.
    pub fn number(&self, name: DwAt) -> Option<u64> {
        self.get(name)?.number()
    }

    /// The address that an attribute has, where it is a symbol.
    pub fn symbol(&self, name: DwAt) -> Option<&str> {
        match self.get(name)? {
            Value::Address(block) => block.symbols.first().map(|(_, symbol)| symbol.as_str()),
            _ => None,
        }
    }

    /// The expression that an attribute has.
    pub fn block(&self, name: DwAt) -> Option<&Block> {
        match self.get(name)? {
            Value::Block(block) => Some(block),
            _ => None,
        }
    }
}

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

impl Tree {
    /// Reads the sections `.debug_info` and `.debug_abbrev`.
    pub fn read(info: &Section, abbreviations: &Section) -> Result<Self, gimli::Error> {
        let mut tree = Self::default();
        let mut offsets = HashMap::new();
        let table = DebugAbbrev::new(&abbreviations.bytes, LittleEndian);
        let mut units = DebugInfo::new(&info.bytes, LittleEndian).units();
        while let Some(unit) = units.next()? {
            let UnitSectionOffset(start) = unit.offset();
            let abbreviations = unit.abbreviations(&table)?;
            let mut raw = unit.entries_raw(&abbreviations, None)?;
            let mut open: Vec<Id> = Vec::new();
            while !raw.is_empty() {
                let offset = start + raw.next_offset().0;
                let Some(abbreviation) = raw.read_abbreviation()? else {
                    open.pop();
                    continue;
                };
                let mut entry = Entry::new(abbreviation.tag(), Vec::new());
                for spec in abbreviation.attributes() {
                    let from = start + raw.next_offset().0;
                    let value = raw.read_attribute(*spec)?.raw_value();
                    let to = start + raw.next_offset().0;
                    entry.attributes.push((spec.name(), Value::read(info, spec.form(), value, from..to, start)?));
                }
                let id = tree.add(open.last().copied(), entry);
                offsets.insert(offset, id);
                if open.is_empty() {
                    tree.units.push(id);
                }
                if abbreviation.has_children() {
                    open.push(id);
                }
            }
        }
        for entry in &mut tree.entries {
            for (_, value) in &mut entry.attributes {
                if let Value::Entry(Id(offset)) = value {
                    *value = Value::Entry(*offsets.get(offset).ok_or(gimli::Error::OffsetOutOfBounds(*offset as u64))?);
                }
            }
        }
        Ok(tree)
    }

    /// Puts everything into the first unit.
    ///
    /// References between units are of the form `DW_FORM_ref_addr`, over which compute-sanitizer, and the driver's half of
    /// cuda-gdb at an exception, crash; nvcc writes one unit.
    pub fn join_units(&mut self) {
        let units = std::mem::take(&mut self.units);
        let Some((&first, others)) = units.split_first() else { return };
        for &unit in others {
            let children = std::mem::take(&mut self.entry_mut(unit).children);
            for child in &children {
                self.entry_mut(*child).parent = Some(first);
            }
            self.entry_mut(first).children.extend(children);
        }
        self.units = vec![first];
    }

    /// Adds an entry at the end of its parent's.
    pub fn add(&mut self, parent: Option<Id>, mut entry: Entry) -> Id {
        let id = Id(self.entries.len());
        entry.parent = parent;
        self.entries.push(entry);
        if let Some(parent) = parent {
            self.entries[parent.0].children.push(id);
        }
        id
    }

    /// The entry of that number, which must be this tree's.
    pub fn entry(&self, id: Id) -> &Entry {
        &self.entries[id.0]
    }

    /// The same, to change it.
    pub fn entry_mut(&mut self, id: Id) -> &mut Entry {
        &mut self.entries[id.0]
    }

    /// Every entry that belongs to a unit, parents first.
    pub fn all(&self) -> Vec<Id> {
        let mut found = Vec::new();
        let mut pending: Vec<Id> = self.units.iter().rev().copied().collect();
        while let Some(id) = pending.pop() {
            found.push(id);
            pending.extend(self.entry(id).children.iter().rev());
        }
        found
    }

    /// Takes the entries out for which `drop` says so, with all that belongs to them. What others refer to stays.
    pub fn remove(&mut self, drop: impl Fn(&Self, Id) -> bool) {
        let all = self.all();
        let mut referred = vec![false; self.entries.len()];
        for id in &all {
            for (_, value) in &self.entry(*id).attributes {
                if let Value::Entry(id) = value {
                    referred[id.0] = true;
                }
            }
        }
        let dropped: Vec<Id> = all.into_iter().filter(|id| !referred[id.0] && drop(self, *id)).collect();
        for id in dropped {
            if let Some(parent) = self.entry(id).parent {
                self.entry_mut(parent).children.retain(|child| *child != id);
            }
        }
    }

    /// The text of both sections, `.debug_abbrev` and `.debug_info`.
    pub fn write(&self) -> Written {
        Layout::new(self).write()
    }
}

/// Sections as text, and where each entry came to stand.
#[derive(Debug)]
pub struct Written {
    /// `.debug_abbrev`.
    pub abbreviations: String,
    /// `.debug_info`.
    pub info: String,
    /// For each unit: its offset, its size, and the entry that it is.
    pub units: Vec<(usize, usize, Id)>,
    /// Offsets in `.debug_info`.
    pub offsets: HashMap<Id, usize>,
}

impl Value {
    /// The value of an attribute that stands in `range`, in the unit that begins at `unit`.
    fn read(
        info: &Section,
        form: DwForm,
        value: AttributeValue<Bytes<'_>>,
        range: Range<usize>,
        unit: usize,
    ) -> Result<Self, gimli::Error> {
        let block = |range: Range<usize>| Block {
            bytes: info.bytes[range.clone()].to_vec(),
            symbols: info
                .symbols
                .range(range.clone())
                .map(|(offset, symbol)| (offset - range.start, symbol.clone()))
                .collect(),
        };
        let number = |number| Self::Number(form, number, info.symbols.get(&range.start).cloned());
        Ok(match value {
            AttributeValue::Addr(_) => Self::Address(block(range)),
            AttributeValue::Data1(value) => number(value.into()),
            AttributeValue::Data2(value) => number(value.into()),
            AttributeValue::Data4(value) => number(value.into()),
            AttributeValue::Data8(value) | AttributeValue::Udata(value) => number(value),
            AttributeValue::SecOffset(value) => number(value as u64),
            AttributeValue::Flag(value) => number(value.into()),
            AttributeValue::Sdata(value) => Self::Signed(value),
            AttributeValue::String(text) => Self::String(text.to_vec()),
            // Offsets until all entries are known.
            AttributeValue::UnitRef(offset) => Self::Entry(Id(unit + offset.0)),
            AttributeValue::DebugInfoRef(offset) => Self::Entry(Id(offset.0)),
            AttributeValue::Block(bytes) | AttributeValue::Exprloc(Expression(bytes)) => {
                Self::Block(block(range.end - bytes.len()..range.end))
            }
            _ => return Err(gimli::Error::UnknownForm(form)),
        })
    }

    /// The form in which it is written, within a unit or from another one.
    fn form(&self, same_unit: bool) -> DwForm {
        match self {
            Self::Address(_) => gimli::DW_FORM_addr,
            Self::Number(form, ..) => *form,
            Self::Signed(_) => gimli::DW_FORM_sdata,
            Self::String(_) => gimli::DW_FORM_string,
            Self::Entry(_) if same_unit => gimli::DW_FORM_ref4,
            Self::Entry(_) => gimli::DW_FORM_ref_addr,
            Self::Block(block) if block.bytes.len() < 0x100 => gimli::DW_FORM_block1,
            Self::Block(_) => gimli::DW_FORM_block2,
        }
    }

    fn size(&self, form: DwForm) -> usize {
        match (self, form) {
            (Self::Number(_, number, _), gimli::DW_FORM_udata) => uleb(*number).len(),
            (Self::Signed(number), _) => sleb(*number).len(),
            (Self::String(text), _) => text.len() + 1,
            (Self::Block(block), gimli::DW_FORM_block1) => block.bytes.len() + 1,
            (Self::Block(block), _) => block.bytes.len() + 2,
            (_, gimli::DW_FORM_data1 | gimli::DW_FORM_flag) => 1,
            (_, gimli::DW_FORM_data2) => 2,
            (_, gimli::DW_FORM_data4 | gimli::DW_FORM_sec_offset | gimli::DW_FORM_ref4) => 4,
            // Addresses; in DWARF 2 `ref_addr` is as wide as they are.
            _ => 8,
        }
    }
}

impl Block {
    fn write(&self, out: &mut Writer) {
        let mut at = 0;
        for (offset, symbol) in &self.symbols {
            out.bytes(&self.bytes[at..*offset]);
            let added = self.bytes[*offset..offset + 8].try_into().map_or(0, u64::from_le_bytes);
            out.symbol(symbol, added, 8);
            at = offset + 8;
        }
        out.bytes(&self.bytes[at..]);
    }
}

/// Where everything goes.
struct Layout<'a> {
    tree: &'a Tree,
    /// The unit of each entry.
    owner: HashMap<Id, Id>,
    /// Tag, whether it has children, names and forms: the abbreviations in order of their code, from 1.
    abbreviations: Vec<Shape>,
    code: HashMap<Id, usize>,
    offsets: HashMap<Id, usize>,
    units: Vec<(usize, usize, Id)>,
}

/// What an abbreviation says.
type Shape = (DwTag, bool, Vec<(DwAt, DwForm)>);

/// Bytes before a unit's first entry: length, version, abbreviations, size of addresses.
const HEADER: usize = 11;

impl<'a> Layout<'a> {
    fn new(tree: &'a Tree) -> Self {
        let mut layout = Self {
            tree,
            owner: HashMap::new(),
            abbreviations: Vec::new(),
            code: HashMap::new(),
            offsets: HashMap::new(),
            units: Vec::new(),
        };
        let mut unit = Id(0);
        for id in tree.all() {
            if tree.entry(id).parent.is_none() {
                unit = id;
            }
            layout.owner.insert(id, unit);
        }
        let mut known: HashMap<Shape, usize> = HashMap::new();
        for id in tree.all() {
            let entry = tree.entry(id);
            let attributes = entry.attributes.iter().map(|(name, value)| (*name, layout.form(id, value))).collect();
            let shape = (entry.tag, !entry.children.is_empty(), attributes);
            let code = *known.entry(shape.clone()).or_insert_with(|| {
                layout.abbreviations.push(shape);
                layout.abbreviations.len()
            });
            layout.code.insert(id, code);
        }
        let mut at = 0;
        for &unit in &tree.units {
            let start = at;
            at = layout.place(unit, start + HEADER);
            layout.units.push((start, at - start, unit));
        }
        layout
    }

    fn form(&self, id: Id, value: &Value) -> DwForm {
        let same = match value {
            Value::Entry(target) => self.owner.get(target) == self.owner.get(&id),
            _ => true,
        };
        value.form(same)
    }

    /// Places an entry and all that belongs to it; the offset after them.
    fn place(&mut self, id: Id, at: usize) -> usize {
        let tree = self.tree;
        self.offsets.insert(id, at);
        let entry = tree.entry(id);
        let mut at = at + uleb(self.code[&id] as u64).len();
        at += entry.attributes.iter().map(|(_, value)| value.size(self.form(id, value))).sum::<usize>();
        for child in &entry.children {
            at = self.place(*child, at);
        }
        at + usize::from(!entry.children.is_empty())
    }

    fn write(self) -> Written {
        let mut table = Writer::new(".debug_abbrev");
        for (index, (tag, children, attributes)) in self.abbreviations.iter().enumerate() {
            table.bytes(&uleb(index as u64 + 1));
            table.bytes(&uleb(tag.0.into()));
            table.bytes(&[u8::from(*children)]);
            for (name, form) in attributes {
                table.bytes(&uleb(name.0.into()));
                table.bytes(&uleb(form.0.into()));
            }
            table.bytes(&[0, 0]);
        }
        table.bytes(&[0]);
        let mut out = Writer::new(".debug_info");
        for &(start, size, unit) in &self.units {
            debug_assert_eq!(out.len, start, "offsets and what is written agree");
            out.bytes(&u32::try_from(size - 4).unwrap_or(u32::MAX).to_le_bytes());
            out.bytes(&[2, 0]);
            out.symbol(".debug_abbrev", 0, 4);
            out.bytes(&[8]);
            self.write_entry(&mut out, unit, start);
        }
        Written { abbreviations: table.finish(), info: out.finish(), units: self.units, offsets: self.offsets }
    }

    fn write_entry(&self, out: &mut Writer, id: Id, unit: usize) {
        let entry = self.tree.entry(id);
        out.bytes(&uleb(self.code[&id] as u64));
        for (_, value) in &entry.attributes {
            let form = self.form(id, value);
            let width = value.size(form);
            match value {
                Value::Address(block) => block.write(out),
                Value::Number(_, added, Some(symbol)) => out.symbol(symbol, *added, width),
                Value::Number(gimli::DW_FORM_udata, number, None) => out.bytes(&uleb(*number)),
                Value::Number(_, number, None) => out.bytes(&number.to_le_bytes()[..width]),
                Value::Signed(number) => out.bytes(&sleb(*number)),
                Value::String(text) => {
                    out.bytes(text);
                    out.bytes(&[0]);
                }
                Value::Entry(target) if form == gimli::DW_FORM_ref4 => {
                    let offset = self.offsets[target] - unit;
                    out.bytes(&u32::try_from(offset).unwrap_or(u32::MAX).to_le_bytes());
                }
                Value::Entry(target) => out.symbol(".debug_info", self.offsets[target] as u64, 8),
                Value::Block(block) => {
                    let length = block.bytes.len();
                    out.bytes(&length.to_le_bytes()[..width - length]);
                    block.write(out);
                }
            }
        }
        for child in &entry.children {
            self.write_entry(out, *child, unit);
        }
        if !entry.children.is_empty() {
            out.bytes(&[0]);
        }
    }
}

/// DWARF's unsigned numbers of variable length.
pub fn uleb(number: u64) -> Vec<u8> {
    leb128::write::Leb128::unsigned(number).bytes().to_vec()
}

fn sleb(number: i64) -> Vec<u8> {
    leb128::write::Leb128::signed(number).bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::{enums, sections};
    use super::*;

    fn number(form: DwForm, number: u64) -> Value {
        Value::Number(form, number, None)
    }

    fn member(name: Option<&str>, ty: Id, at: u8) -> Entry {
        let place = Block { bytes: vec![gimli::DW_OP_plus_uconst.0, at], symbols: vec![] };
        let mut attributes: Vec<_> = name.map(|name| (gimli::DW_AT_name, Value::text(name))).into_iter().collect();
        attributes
            .extend([(gimli::DW_AT_type, Value::Entry(ty)), (gimli::DW_AT_data_member_location, Value::Block(place))]);
        Entry::new(gimli::DW_TAG_member, attributes)
    }

    /// Two units, the second with a variable whose type is an enum of the first: `Option<u32>` with a tag of 4 bytes.
    fn sample() -> Tree {
        let mut tree = Tree::default();
        let unit = |tree: &mut Tree, name: &str| {
            let id =
                tree.add(None, Entry::new(gimli::DW_TAG_compile_unit, vec![(gimli::DW_AT_name, Value::text(name))]));
            tree.units.push(id);
            id
        };
        let first = unit(&mut tree, "a.rs");
        let base = Entry::new(
            gimli::DW_TAG_base_type,
            vec![
                (gimli::DW_AT_name, Value::text("u32")),
                (gimli::DW_AT_encoding, Value::data1(gimli::DW_ATE_unsigned.0)),
                (gimli::DW_AT_byte_size, Value::data1(4)),
            ],
        );
        let base = tree.add(Some(first), base);
        let size = vec![(gimli::DW_AT_name, Value::text("Option")), (gimli::DW_AT_byte_size, Value::data1(8))];
        let owner = tree.add(Some(first), Entry::new(gimli::DW_TAG_structure_type, size));
        let part = tree.add(Some(owner), Entry::new(gimli::DW_TAG_variant_part, vec![]));
        let tag = tree.add(Some(part), member(None, base, 0));
        tree.entry_mut(part).set(gimli::DW_AT_discr, Value::Entry(tag));
        for (name, value) in [("None", 0), ("Some", 1)] {
            let value = vec![(gimli::DW_AT_discr_value, number(gimli::DW_FORM_data1, value))];
            let variant = tree.add(Some(part), Entry::new(gimli::DW_TAG_variant, value));
            tree.add(Some(variant), member(Some(name), base, 4));
        }
        let second = unit(&mut tree, "b.rs");
        let mut bytes = vec![gimli::DW_OP_addr.0];
        bytes.extend([16, 0, 0, 0, 0, 0, 0, 0]);
        let place = Block { bytes, symbols: vec![(1, "counter".into())] };
        let variable = vec![
            (gimli::DW_AT_name, Value::text("counter")),
            (gimli::DW_AT_type, Value::Entry(owner)),
            (gimli::DW_AT_location, Value::Block(place)),
            (gimli::DW_AT_const_value, Value::Signed(-300)),
            (gimli::DW_AT_decl_line, number(gimli::DW_FORM_udata, 1000)),
            (gimli::DW_AT_stmt_list, Value::Number(gimli::DW_FORM_data4, 0, Some(".debug_line".into()))),
        ];
        tree.add(Some(second), Entry::new(gimli::DW_TAG_variable, variable));
        tree
    }

    /// An outline: tags, names and values in order, references as the names of what they refer to.
    fn outline(tree: &Tree) -> Vec<String> {
        let shown = |value: &Value| match value {
            Value::Entry(id) => format!("-> {:?}", tree.entry(*id).text(gimli::DW_AT_name)),
            other => format!("{other:?}"),
        };
        let line = |id: Id| {
            let entry = tree.entry(id);
            let values = entry.attributes.iter().map(|(name, value)| format!("{name} {}", shown(value)));
            format!(
                "{} in {:?}: {}",
                entry.tag,
                entry.parent.map(|id| tree.entry(id).tag),
                values.collect::<Vec<_>>().join(", ")
            )
        };
        tree.all().into_iter().map(line).collect()
    }

    fn again(tree: &Tree) -> Tree {
        let written = tree.write();
        let sections = sections::parse(&(written.abbreviations + &written.info)).unwrap();
        Tree::read(&sections[1], &sections[0]).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let tree = sample();
        let outlined = outline(&tree);
        assert_eq!(outline(&again(&tree)), outlined);
        assert!(outlined.iter().any(|line| line.contains("DW_AT_type -> Some(\"Option\")")), "{outlined:?}");
    }

    #[test]
    fn enums_become_structures() {
        let mut tree = sample();
        enums::flatten(&mut tree);
        let tree = again(&tree);
        let tags: Vec<_> = tree.all().into_iter().map(|id| tree.entry(id).tag).collect();
        assert!(!tags.contains(&gimli::DW_TAG_variant_part) && !tags.contains(&gimli::DW_TAG_variant), "{tags:?}");
        let owner = tree.all().into_iter().find(|id| tree.entry(*id).tag == gimli::DW_TAG_structure_type).unwrap();
        let names = |id: Id| -> Vec<_> {
            tree.entry(id).children.iter().filter_map(|child| tree.entry(*child).text(gimli::DW_AT_name)).collect()
        };
        // The members, and the type of the first.
        assert_eq!(names(owner), ["{variant}", "None", "Some", "{variant}"]);
        let ty = tree.entry(tree.entry(owner).children[0]).reference(gimli::DW_AT_type).unwrap();
        assert_eq!(names(ty), ["None", "Some"]);
        assert_eq!(tree.entry(tree.entry(ty).children[1]).number(gimli::DW_AT_const_value), Some(1));
    }

    #[test]
    fn bytes_that_are_no_dwarf_are_refused() {
        let section = |bytes: &[u8]| Section { bytes: bytes.to_vec(), ..Section::default() };
        assert!(Tree::read(&section(&[9, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 1, 7]), &section(&[0])).is_err());
        assert!(Tree::read(&section(&[200, 0, 0, 0, 2]), &section(&[0])).is_err());
    }
}
