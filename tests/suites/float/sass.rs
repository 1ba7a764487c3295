//! The machine code: ptxas makes of our instructions what the modes say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::trial;

use crate::compile::ARCH;
use crate::compiled;

/// A kernel's machine code under a set of modes.
struct Check {
    kernel: &'static str,
    set: &'static str,
    /// Instructions that it has, each with all of its modifiers.
    has: &'static [&'static str],
    /// Beginnings of instructions that it has not.
    lacks: &'static [&'static str],
}

const CHECKS: &[Check] = &[
    Check { kernel: "mul_add_f32", set: "default", has: &["FFMA"], lacks: &["FMUL", "FADD"] },
    Check { kernel: "mul_add_f32", set: "fmad_off", has: &["FMUL", "FADD"], lacks: &["FFMA"] },
    Check { kernel: "mul_add_f32", set: "ftz", has: &["FFMA.FTZ"], lacks: &["FMUL", "FADD"] },
    Check { kernel: "mul_add_f32", set: "ftz_fmad_off", has: &["FMUL.FTZ", "FADD.FTZ"], lacks: &["FFMA"] },
    // nvcc leaves this one to ptxas, which fuses where no rounding is written.
    Check { kernel: "mul_sub_f32", set: "default", has: &["FFMA"], lacks: &["FMUL", "FADD"] },
    Check { kernel: "mul_sub_f32", set: "fmad_off", has: &["FMUL", "FADD"], lacks: &["FFMA"] },
    Check { kernel: "mul_add_f64", set: "default", has: &["DFMA"], lacks: &["DMUL", "DADD"] },
    Check { kernel: "mul_add_f64", set: "fmad_off", has: &["DMUL", "DADD"], lacks: &["DFMA"] },
    Check { kernel: "mul_add_f64", set: "fast_math", has: &["DFMA"], lacks: &["DMUL", "DADD"] },
    Check { kernel: "add_f32", set: "default", has: &["FADD"], lacks: &["FADD.FTZ"] },
    Check { kernel: "add_f32", set: "ftz", has: &["FADD.FTZ"], lacks: &[] },
    Check { kernel: "mul_f32", set: "ftz", has: &["FMUL.FTZ"], lacks: &[] },
    Check { kernel: "less_f32", set: "ftz", has: &["FSETP.GEU.FTZ.AND"], lacks: &[] },
    Check { kernel: "div_f32", set: "default", has: &["MUFU.RCP", "FCHK"], lacks: &[] },
    Check { kernel: "div_f32", set: "prec_div_off", has: &["MUFU.RCP"], lacks: &["FCHK", "CALL"] },
    Check { kernel: "div_f32", set: "fast_math", has: &["MUFU.RCP", "FMUL.FTZ"], lacks: &["FCHK", "CALL", "FFMA"] },
    Check { kernel: "sqrt_f32", set: "default", has: &["MUFU.RSQ", "FFMA"], lacks: &["MUFU.SQRT"] },
    Check { kernel: "sqrt_f32", set: "prec_sqrt_off", has: &["MUFU.SQRT"], lacks: &["CALL", "FFMA"] },
    Check { kernel: "rsqrt_f32", set: "fast_math", has: &["MUFU.RSQ"], lacks: &["CALL", "FFMA", "FMUL"] },
    Check { kernel: "exp2_f32", set: "fast_math", has: &["MUFU.EX2"], lacks: &["CALL", "FMUL"] },
    Check { kernel: "log2_f32", set: "fast_math", has: &["MUFU.LG2"], lacks: &["CALL", "FFMA"] },
    Check { kernel: "sin_f32", set: "fast_math", has: &["MUFU.SIN"], lacks: &["CALL", "FFMA"] },
    Check { kernel: "sin_f32", set: "default", has: &["FFMA", "DMUL"], lacks: &["MUFU.SIN"] },
    Check { kernel: "rcp_f32", set: "fast_math", has: &["MUFU.RCP"], lacks: &["CALL", "FFMA"] },
];

/// A test for every check.
pub fn trials() -> Vec<Trial> {
    CHECKS.iter().map(|check| trial(format!("SASS of {} under {}", check.kernel, check.set), || check.run())).collect()
}

impl Check {
    fn run(&self) -> Option<String> {
        let code = match compiled::ours_ptx(self.set).and_then(disassembled) {
            Ok(Some(code)) => code,
            Ok(None) => return Some("ptxas or nvdisasm was not found".into()),
            Err(error) => panic!("{error}"),
        };
        let found = code.get(self.kernel).unwrap_or_else(|| panic!("no kernel {}", self.kernel));
        for has in self.has {
            assert!(found.iter().any(|opcode| opcode == has), "no {has} in {found:?}");
        }
        for lacks in self.lacks {
            assert!(!found.iter().any(|opcode| opcode.starts_with(lacks)), "{lacks} is in {found:?}");
        }
        None
    }
}

/// Opcodes by kernel.
type Code = BTreeMap<String, Vec<String>>;

/// ptxas makes the same of both compilers' kernels under a set of modes.
pub fn agree(kernel: &str, set: &str) {
    let code = |ptx: PathBuf| {
        let code = disassembled(ptx).unwrap_or_else(|error| panic!("{error}"));
        code.map(|code| code.get(kernel).unwrap_or_else(|| panic!("no kernel {kernel}")))
    };
    let ours = code(compiled::ours_ptx(set).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(ours, code(compiled::nvcc_ptx(set)), "machine code of {kernel} under {set}");
}

/// The machine code of all kernels in a file, made once; nothing if the tools are not there.
fn disassembled(ptx: PathBuf) -> Result<Option<&'static Code>, String> {
    static CODE: Mutex<BTreeMap<PathBuf, Option<&'static Code>>> = Mutex::new(BTreeMap::new());
    let mut code = CODE.lock().map_err(|error| error.to_string())?;
    if let Some(found) = code.get(&ptx) {
        return Ok(*found);
    }
    let found = disassemble(&ptx)?.map(|code| &*Box::leak(Box::new(code)));
    code.insert(ptx, found);
    Ok(found)
}

fn disassemble(ptx: &Path) -> Result<Option<Code>, String> {
    let tools = tools::find();
    let (Some(ptxas), Some(nvdisasm)) = (tools.ptxas(), tools.nvdisasm()) else { return Ok(None) };
    let cubin = ptx.with_extension("cubin");
    run(Command::new(&ptxas.path).args(["--gpu-name", ARCH, "--output-file"]).arg(&cubin).arg(ptx))?;
    Ok(Some(opcodes(&run(Command::new(&nvdisasm.path).arg("--print-code").arg(&cubin))?)))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Of lines such as `        /*0040*/              @!P0 FFMA.FTZ R2, R2, R3, R4 ;` below `.text.KERNEL:`.
fn opcodes(text: &str) -> Code {
    let mut code = Code::new();
    let mut current = String::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            current = name.to_string();
        } else if let Some((_, instruction)) = line.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
            let opcode = instruction.split_whitespace().find(|word| !word.starts_with('@'));
            code.entry(current.clone())
                .or_default()
                .extend(opcode.map(|opcode| opcode.trim_end_matches(';').to_string()));
        }
    }
    code
}
