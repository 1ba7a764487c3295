//! Random structs and unions with bit-fields, each in Rust and in C++.

use std::fmt::Write as _;

/// A struct or union.
pub struct Case {
    /// Its name in both languages.
    pub name: String,
    pub is_union: bool,
    /// Of `alignas`; 1 if there is none.
    align: usize,
    pub members: Vec<Member>,
}

/// A member of a struct or union: a bit-field or of an ordinary type.
pub struct Member {
    /// Empty if it is an unnamed bit-field.
    pub name: String,
    /// Its type in Rust: `u32`.
    rust: String,
    /// In C++, before the name.
    pub cxx: String,
    /// In C++, after the name, as `[3]`.
    suffix: String,
    /// Of a bit-field.
    pub width: Option<usize>,
    /// Of a bit-field.
    pub is_signed: bool,
}

/// The integer types: in Rust, in C++, bits, signed.
const INTEGERS: [(&str, &str, usize, bool); 14] = [
    ("i8", "signed char", 8, true),
    ("u8", "unsigned char", 8, false),
    ("i16", "short", 16, true),
    ("u16", "unsigned short", 16, false),
    ("i32", "int", 32, true),
    ("u32", "unsigned int", 32, false),
    ("i64", "long", 64, true),
    ("u64", "unsigned long", 64, false),
    ("isize", "long", 64, true),
    ("usize", "unsigned long", 64, false),
    ("bool", "bool", 8, false),
    ("ptx::ffi::CChar", "char", 8, true),
    ("ptx::ffi::LongLong", "long long", 64, true),
    ("ptx::ffi::ULongLong", "unsigned long long", 64, false),
];

const OTHERS: [(&str, &str, &str); 8] = [
    ("f32", "float", ""),
    ("f64", "double", ""),
    ("[u8; 3]", "unsigned char", "[3]"),
    ("[i16; 2]", "short", "[2]"),
    ("[u32; 3]", "unsigned int", "[3]"),
    ("*mut f32", "float*", ""),
    ("i128", "__int128", ""),
    ("[[i8; 3]; 2]", "signed char", "[2][3]"),
];

/// The generator: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// That many cases.
pub fn cases(seed: u64, count: usize) -> Vec<Case> {
    let mut random = Random(seed);
    let mut cases: Vec<Case> = Vec::new();
    for index in 0..count {
        let length = 1 + random.below(9);
        let mut members: Vec<Member> = (0..length).map(|at| member(at, &cases, &mut random)).collect();
        if members.iter().all(|member| member.width.is_none()) {
            members.push(bit_field(length, &mut random));
        }
        let align = if random.below(10) == 0 { 1 << random.below(6) } else { 1 };
        cases.push(Case { name: format!("S{index}"), is_union: random.below(5) == 0, align, members });
    }
    cases
}

fn member(at: usize, before: &[Case], random: &mut Random) -> Member {
    match random.below(10) {
        0..7 => bit_field(at, random),
        7 => {
            let (rust, cxx, _, is_signed) = INTEGERS[random.below(10)];
            Member { is_signed, ..ordinary(at, rust, cxx, "") }
        }
        8 => {
            let (rust, cxx, suffix) = OTHERS[random.below(OTHERS.len())];
            ordinary(at, rust, cxx, suffix)
        }
        // A small one, or the sizes would grow and grow.
        _ => match before.iter().rev().find(|case| case.members.len() < 4) {
            Some(case) => ordinary(at, &case.name, &case.name, ""),
            None => ordinary(at, "u8", "unsigned char", ""),
        },
    }
}

fn ordinary(at: usize, rust: &str, cxx: &str, suffix: &str) -> Member {
    Member {
        name: format!("m{at}"),
        rust: rust.into(),
        cxx: cxx.into(),
        suffix: suffix.into(),
        width: None,
        is_signed: false,
    }
}

fn bit_field(at: usize, random: &mut Random) -> Member {
    let (rust, cxx, bits, is_signed) = INTEGERS[random.below(INTEGERS.len())];
    let is_unnamed = random.below(5) == 0;
    let width = match (is_unnamed, random.below(3)) {
        (true, 0) => 0,
        (_, 1) => 1 + random.below(bits),
        // Small ones share units more often.
        _ => 1 + random.below(bits.min(8)),
    };
    let name = if is_unnamed { String::new() } else { format!("m{at}") };
    Member { name, width: Some(width), is_signed, ..ordinary(at, rust, cxx, "") }
}

impl Member {
    pub fn is_bool(&self) -> bool {
        self.cxx == "bool"
    }
}

impl Case {
    pub fn named(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| !member.name.is_empty())
    }

    /// The definition in Rust.
    pub fn rust(&self) -> String {
        let keyword = if self.is_union { "union" } else { "struct" };
        let mut text =
            format!("#[ptx::bitfields]\n#[repr(C, align({}))]\npub {keyword} {} {{\n", self.align, self.name);
        for (at, member) in self.members.iter().enumerate() {
            if let Some(width) = member.width {
                writeln!(text, "    #[bits({width})]").unwrap();
            }
            let name = if member.name.is_empty() { format!("_m{at}") } else { member.name.clone() };
            writeln!(text, "    pub {name}: {},", member.rust).unwrap();
        }
        text + "}\n"
    }

    /// The definition in C++.
    pub fn cxx(&self) -> String {
        let keyword = if self.is_union { "union" } else { "struct" };
        // `alignas` may not ask for less than there is; GCC's attribute raises only.
        let mut text = format!("{keyword} __attribute__((aligned({}))) {} {{\n", self.align, self.name);
        if self.align == 1 {
            text = format!("{keyword} {} {{\n", self.name);
        }
        for Member { name, cxx, suffix, width, .. } in &self.members {
            let width = width.map(|width| format!(" : {width}")).unwrap_or_default();
            writeln!(text, "    {cxx} {name}{suffix}{width};").unwrap();
        }
        text + "};\n"
    }
}
