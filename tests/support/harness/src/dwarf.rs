//! The debug information of a cubin as a tree, read with gimli; addresses are told apart by section.

use std::collections::HashMap;

use gimli::{DwAt, DwTag, EndianSlice, LittleEndian, Reader, UnitSectionOffset};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

/// Every entry of a cubin's `.debug_info`.
#[derive(Debug)]
pub struct Dwarf {
    /// In their order.
    pub entries: Vec<Entry>,
    by_offset: HashMap<usize, usize>,
}

/// A debugging information entry (DIE), linked to others by indices.
#[derive(Debug)]
pub struct Entry {
    /// In the section.
    pub offset: usize,
    /// What it is.
    pub tag: DwTag,
    /// Its index in [`Dwarf::entries`].
    pub parent: Option<usize>,
    /// Their indices in [`Dwarf::entries`].
    pub children: Vec<usize>,
    /// As they stand.
    pub attributes: Vec<(DwAt, Value)>,
}

/// An attribute's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// See [`SECTION`].
    Address(u64),
    /// Of any size.
    Number(i64),
    /// A string, from whichever section holds it.
    Text(String),
    /// An offset in the section.
    Reference(usize),
    /// An expression, relocated.
    Block(Vec<u8>),
}

/// Where a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address of the class' space.
    Address(u64),
    /// So far from the frame's base.
    Frame(i64),
    /// In a virtual register of PTX.
    Register,
    /// Anything else, in hexadecimal.
    Other(String),
}

/// Addresses of sections are so far apart: the section's number stands above these bits.
pub const SECTION: u64 = 1 << 32;

/// A section's contents, relocated; `None` if there is none of that name.
pub fn section(file: &object::File<'_>, name: &str) -> Option<Vec<u8>> {
    let section = file.section_by_name(name)?;
    let mut contents = section.data().expect("its contents").to_vec();
    for (offset, relocation) in section.relocations() {
        let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
        let symbol = file.symbol_by_index(symbol).expect("a symbol of this file");
        let base = symbol.section_index().map_or(0, |index| index.0 as u64 * SECTION);
        let at = usize::try_from(offset).expect("an offset in a file");
        // ptxas leaves the addend in place for `.rel`, and in the relocation for `.rela`.
        let value = base.wrapping_add(symbol.address()).wrapping_add_signed(relocation.addend());
        if relocation.size() == 64 || base > 0 {
            contents[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
    }
    Some(contents)
}

impl Dwarf {
    /// Reads a cubin.
    pub fn read(cubin: &[u8]) -> Self {
        let file = object::File::parse(cubin).expect("a cubin is an ELF file");
        let info = section(&file, ".debug_info").expect("the cubin has no .debug_info");
        let abbreviations = section(&file, ".debug_abbrev").expect("the cubin has no .debug_abbrev");
        let mut dwarf = Self { entries: Vec::new(), by_offset: HashMap::new() };
        dwarf.units(&info, &abbreviations).unwrap_or_else(|error| panic!("the DWARF cannot be read: {error}"));
        dwarf
    }

    fn units(&mut self, info: &[u8], abbreviations: &[u8]) -> gimli::Result<()> {
        let table = gimli::DebugAbbrev::new(abbreviations, LittleEndian);
        let mut units = gimli::DebugInfo::new(info, LittleEndian).units();
        while let Some(unit) = units.next()? {
            assert_eq!((unit.version(), unit.address_size()), (2, 8), "version of DWARF, size of addresses");
            let UnitSectionOffset(start) = unit.offset();
            let abbreviations = unit.abbreviations(&table)?;
            let mut raw = unit.entries_raw(&abbreviations, None)?;
            let mut open: Vec<usize> = Vec::new();
            while !raw.is_empty() {
                let offset = start + raw.next_offset().0;
                let Some(abbreviation) = raw.read_abbreviation()? else {
                    open.pop();
                    continue;
                };
                let index = self.entries.len();
                let mut attributes = Vec::new();
                for spec in abbreviation.attributes() {
                    attributes.push((spec.name(), Value::of(raw.read_attribute(*spec)?.raw_value(), start)));
                }
                let parent = open.last().copied();
                self.entries.push(Entry { offset, tag: abbreviation.tag(), parent, children: Vec::new(), attributes });
                self.by_offset.insert(offset, index);
                if let Some(parent) = parent {
                    self.entries[parent].children.push(index);
                }
                if abbreviation.has_children() {
                    open.push(index);
                }
            }
        }
        Ok(())
    }

    /// The entry that an attribute refers to; it must be there.
    pub fn referred(&self, entry: &Entry, name: DwAt) -> Option<&Entry> {
        match entry.get(name)? {
            Value::Reference(offset) => {
                let index = self.by_offset.get(offset);
                let index =
                    index.unwrap_or_else(|| panic!("{name} of {:#x} refers to {offset:#x}, no entry", entry.offset));
                Some(&self.entries[*index])
            }
            other => panic!("{name} of {:#x} is no reference: {other:?}", entry.offset),
        }
    }

    /// The attribute, or that of the entry that this one is an instance or the definition of.
    pub fn inherited<'a>(&'a self, entry: &'a Entry, name: DwAt) -> Option<&'a Value> {
        entry.get(name).or_else(|| self.inherited(self.origin(entry)?, name))
    }

    fn origin(&self, entry: &Entry) -> Option<&Entry> {
        self.referred(entry, gimli::DW_AT_abstract_origin).or_else(|| self.referred(entry, gimli::DW_AT_specification))
    }

    /// The entry's type.
    pub fn ty<'a>(&'a self, entry: &'a Entry) -> Option<&'a Entry> {
        self.referred(entry, gimli::DW_AT_type).or_else(|| self.ty(self.origin(entry)?))
    }

    /// The entry's name.
    pub fn name(&self, entry: &Entry) -> Option<String> {
        match self.inherited(entry, gimli::DW_AT_name)? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// With names of all above, for messages.
    pub fn path(&self, entry: &Entry) -> String {
        let mut parts = vec![self.name(entry).unwrap_or_else(|| format!("{}", entry.tag))];
        let mut above = entry.parent;
        while let Some(index) = above {
            let entry = &self.entries[index];
            parts.extend(self.name(entry).filter(|_| entry.parent.is_some()));
            above = entry.parent;
        }
        parts.reverse();
        format!("{} ({:#x})", parts.join("::"), entry.offset)
    }

    /// Functions that have code and this linkage name.
    pub fn function(&self, linkage_name: &str) -> Option<&Entry> {
        let wanted = Value::Text(linkage_name.into());
        self.entries.iter().find(|entry| {
            entry.tag == gimli::DW_TAG_subprogram
                && entry.get(gimli::DW_AT_low_pc).is_some()
                && [gimli::DW_AT_MIPS_linkage_name, gimli::DW_AT_linkage_name]
                    .iter()
                    .any(|name| self.inherited(entry, *name) == Some(&wanted))
        })
    }

    /// Functions that have code and whose path ends so.
    pub fn function_named(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            entry.tag == gimli::DW_TAG_subprogram
                && entry.get(gimli::DW_AT_low_pc).is_some()
                && self.name(entry).as_deref() == Some(name)
        })
    }

    /// Parameters and variables of a function, those of blocks too, not those of what is inlined.
    pub fn variables<'a>(&'a self, function: &'a Entry) -> Vec<&'a Entry> {
        let mut found = Vec::new();
        for child in function.children.iter().map(|child| &self.entries[*child]) {
            match child.tag {
                gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable => found.push(child),
                gimli::DW_TAG_lexical_block => found.extend(self.variables(child)),
                _ => {}
            }
        }
        found
    }

    /// The size of a type in bytes.
    pub fn size(&self, ty: &Entry) -> Option<u64> {
        if let Some(size) = ty.number(gimli::DW_AT_byte_size) {
            return u64::try_from(size).ok();
        }
        match ty.tag {
            gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type => Some(8),
            gimli::DW_TAG_array_type => {
                let element = self.size(self.ty(ty)?)?;
                let counts = ty.children.iter().map(|child| self.entries[*child].number(gimli::DW_AT_count));
                counts
                    .map(|count| count.and_then(|count| u64::try_from(count).ok()))
                    .try_fold(element, |size, count| Some(size * count?))
            }
            gimli::DW_TAG_typedef | gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => self.size(self.ty(ty)?),
            _ => None,
        }
    }
}

impl Value {
    fn of(value: gimli::AttributeValue<EndianSlice<'_, LittleEndian>>, unit: usize) -> Self {
        use gimli::AttributeValue as Raw;
        match value {
            Raw::Addr(address) => Self::Address(address),
            Raw::Block(block) => Self::Block(block.to_vec()),
            Raw::Exprloc(gimli::Expression(block)) => Self::Block(block.to_vec()),
            Raw::Data1(number) => Self::Number(number.into()),
            Raw::Data2(number) => Self::Number(number.into()),
            Raw::Data4(number) => Self::Number(number.into()),
            Raw::Data8(number) | Raw::Udata(number) => Self::Number(number.cast_signed()),
            Raw::Sdata(number) => Self::Number(number),
            Raw::Flag(flag) => Self::Number(flag.into()),
            Raw::SecOffset(offset) => Self::Number(offset as i64),
            Raw::UnitRef(offset) => Self::Reference(unit + offset.0),
            Raw::DebugInfoRef(offset) => Self::Reference(offset.0),
            Raw::String(text) => Self::Text(text.to_string_lossy().into_owned()),
            other => panic!("no form of DWARF 2: {other:?}"),
        }
    }
}

impl Entry {
    /// The attribute's value.
    pub fn get(&self, name: DwAt) -> Option<&Value> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The number that an attribute is.
    pub fn number(&self, name: DwAt) -> Option<i64> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Beginning and end of the code.
    pub fn code(&self) -> Option<(u64, u64)> {
        match (self.get(gimli::DW_AT_low_pc)?, self.get(gimli::DW_AT_high_pc)?) {
            (Value::Address(low), Value::Address(high)) => Some((*low, *high)),
            _ => None,
        }
    }

    /// Where it is.
    pub fn place(&self) -> Option<Place> {
        let Value::Block(bytes) = self.get(gimli::DW_AT_location)? else { return None };
        Some(Place::of(bytes))
    }

    /// Where the member is in its structure.
    pub fn member_offset(&self) -> i64 {
        match self.get(gimli::DW_AT_data_member_location) {
            Some(Value::Number(number)) => *number,
            Some(Value::Block(bytes)) => match operations(bytes)[..] {
                [gimli::Operation::PlusConstant { value }] => value.cast_signed(),
                _ => -1,
            },
            _ => 0,
        }
    }
}

fn operations(bytes: &[u8]) -> Vec<gimli::Operation<EndianSlice<'_, LittleEndian>>> {
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 2 };
    let mut operations = gimli::Expression(EndianSlice::new(bytes, LittleEndian)).operations(encoding);
    let mut found = Vec::new();
    while let Some(operation) = operations.next().expect("operations of DWARF") {
        // ptxas puts the frame's offset in the place of a longer address, and fills up.
        if operation != gimli::Operation::Nop {
            found.push(operation);
        }
    }
    found
}

impl Place {
    fn of(bytes: &[u8]) -> Self {
        use gimli::Operation::{Address, FrameOffset, PlusConstant};
        // The number is the virtual register's name in ASCII, more than gimli takes for a register.
        let mut rest = EndianSlice::new(bytes, LittleEndian);
        if rest.read_u8().is_ok_and(|first| gimli::DwOp(first) == gimli::DW_OP_regx)
            && gimli::leb128::read::skip(&mut rest).is_ok()
            && rest.is_empty()
        {
            return Self::Register;
        }
        match operations(bytes)[..] {
            [Address { address }] => Self::Address(address),
            [Address { address }, PlusConstant { value }] => Self::Address(address + value),
            [FrameOffset { offset }] => Self::Frame(offset),
            [FrameOffset { offset }, PlusConstant { value }] => Self::Frame(offset + value.cast_signed()),
            _ => Self::Other(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }

    /// Its kind, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Address(_) => "address",
            Self::Frame(_) => "frame",
            Self::Register => "register",
            Self::Other(_) => "other",
        }
    }
}
