//! A file's kernels as opcodes, in PTX and in machine code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use ptx_codegen::ptx_text;

/// Opcodes of every kernel.
pub struct Code {
    ptx: BTreeMap<String, Vec<String>>,
    sass: BTreeMap<String, Vec<String>>,
}

impl Code {
    /// Of a PTX file, and of what ptxas makes of it.
    pub fn of(ptx: &Path, arch: &str, ptxas: &Path, nvdisasm: &Path) -> Self {
        let text = fs::read_to_string(ptx).expect("just written");
        let cubin = ptx.with_extension("cubin");
        run(Command::new(ptxas).arg(format!("-arch={arch}")).arg("-o").arg(&cubin).arg(ptx));
        let output = Command::new(nvdisasm).arg("-c").arg(&cubin).output().expect("nvdisasm starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let listing = String::from_utf8_lossy(&output.stdout).into_owned();
        fs::write(ptx.with_extension("sass"), &listing).expect("our own folder");
        Self { ptx: of_ptx(&text), sass: of_sass(&listing) }
    }

    /// What a kernel computes with, sorted.
    pub fn ptx(&self, kernel: &str) -> &[String] {
        self.ptx.get(&format!("k_{kernel}")).map_or(&[], Vec::as_slice)
    }

    /// The machine instructions of a kernel, sorted.
    pub fn sass(&self, kernel: &str) -> &[String] {
        self.sass.get(&format!("k_{kernel}")).map_or(&[], Vec::as_slice)
    }
}

/// Runs a tool, which must not fail.
pub fn run(command: &mut Command) {
    let output = command.output().expect("the tool starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn of_ptx(ptx: &str) -> BTreeMap<String, Vec<String>> {
    let mut kernels = BTreeMap::new();
    for kernel in ptx_text::definitions(ptx) {
        let mut opcodes: Vec<String> = kernel.body.split(['\n', ';', '{', '}']).filter_map(opcode).collect();
        opcodes.sort();
        kernels.insert(kernel.function.name.to_string(), opcodes);
    }
    kernels
}

/// What a line computes with. Left out are parameters, addresses, moves, and how a truth becomes a predicate or a number.
fn opcode(line: &str) -> Option<String> {
    let word = line.split_whitespace().next()?;
    let skipped = ["//", "ld.", "st.", "cvta.", "mov.", "ret", ".", "%", "$", "setp.", "selp.", "cvt."];
    let is_instruction = word.starts_with(|c: char| c.is_ascii_lowercase());
    (is_instruction && !skipped.iter().any(|prefix| word.starts_with(prefix))).then(|| canonical(word))
}

/// One of several spellings of the same: bits do not care about a sign, `.cta` is what a barrier is about anyway, and
/// `membar` is `fence.sc` (PTX ISA, "membar").
fn canonical(word: &str) -> String {
    let word = word.replace("barrier.cta.", "barrier.").replace("membar.gl", "fence.sc.gpu");
    let word = word.replace("membar.cta", "fence.sc.cta").replace("membar.sys", "fence.sc.sys");
    for operation in ["add", "sub", "mul.lo", "redux.sync.add", "neg"] {
        for (signed, other) in [(".s32", ".u32"), (".b32", ".u32"), (".s64", ".u64"), (".b64", ".u64")] {
            if word == format!("{operation}{signed}") {
                return format!("{operation}{other}");
            }
        }
    }
    word
}

fn of_sass(listing: &str) -> BTreeMap<String, Vec<String>> {
    let mut kernels = BTreeMap::<String, Vec<String>>::new();
    let mut current: Option<&mut Vec<String>> = None;
    for line in listing.lines() {
        if let Some(name) = line.trim().strip_prefix(".section\t.text.").or(line.trim().strip_prefix(".section .text."))
        {
            let name = name.split(',').next().unwrap_or_default();
            current = Some(kernels.entry(name.to_string()).or_default());
        } else if let (Some(kernel), Some((_, rest))) = (&mut current, line.split_once("*/")) {
            let mut words = rest.split_whitespace().map(|word| word.trim_end_matches(';'));
            let opcode = words.find(|word| !word.starts_with('@'));
            kernel.extend(opcode.and_then(computing));
        }
    }
    kernels.values_mut().for_each(|kernel| kernel.sort());
    kernels
}

/// A machine instruction without the letter for the uniform unit; nothing for what loads parameters, moves, or fills up.
fn computing(opcode: &str) -> Option<String> {
    let opcode = opcode.strip_prefix('U').filter(|rest| !rest.starts_with("BREV")).unwrap_or(opcode);
    let moves = ["LDC", "LDCU", "MOV", "IMAD.MOV", "IMAD.U32", "HFMA2", "R2UR", "CS2R", "NOP", "BRA", "EXIT"];
    if opcode.is_empty()
        || moves.iter().any(|beginning| opcode == *beginning || opcode.starts_with(&format!("{beginning}.")))
    {
        return None;
    }
    // Sums and choices are done by whichever unit is free.
    Some(match opcode {
        "VIADD" | "IADD" | "IMAD.IADD" | "IADD3.X" => "IADD3".into(),
        "FSEL" => "SEL".into(),
        other => other.into(),
    })
}
