//! Writes the chains of halfwords as PTX, as our linker would hand it on, and has ptxas assemble it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_codegen::arch::Arch;
use ptx_codegen::workarounds;

use chains::{Chain, IN_KERNEL, IN_MODULE, Operand, Step};

#[path = "../src/halfwords/chains.rs"]
mod chains;
#[path = "../src/halfwords/list.rs"]
#[macro_use]
mod list;

macro_rules! ptx {
    ($($ptx:literal |$($operand:ident),*| $body:expr;)*) => { &[$($ptx),*] };
}
const SOURCES: &[&str] = for_each_source!(ptx);
const OPERATIONS: &[&str] = for_each_operation!(ptx);
const ENDS: &[&str] = for_each_end!(ptx);

/// The arch for which ptxas has the most instructions of 16 bits.
const ARCH: &str = "sm_90";

/// Writes each module's PTX and, if there is a ptxas, cubin; and the list of both.
pub fn build(ptxas: Option<&Path>) {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let chains = chains::all(SOURCES.len(), OPERATIONS.len(), ENDS.len());
    let mut modules = String::from("&[");
    std::thread::scope(|scope| {
        for (number, chains) in chains.chunks(IN_KERNEL * IN_MODULE).enumerate() {
            let ptx = out_dir.join(format!("halfwords{number}.ptx"));
            let cubin = ptx.with_extension("cubin");
            let arch: Arch = ARCH.parse().expect("an arch");
            std::fs::write(&ptx, workarounds::rewrite(&module(chains), arch)).expect("our own folder");
            _ = write!(modules, "(include_str!({:?}), ", ptx.display().to_string());
            _ = match ptxas {
                Some(_) => write!(modules, "Some(include_bytes!({:?}) as &[u8])), ", cubin.display().to_string()),
                None => write!(modules, "None), "),
            };
            scope.spawn(move || {
                let Some(ptxas) = ptxas else { return };
                let run = Command::new(ptxas).args(["-arch", ARCH, "-o"]).arg(cubin).arg(ptx).output();
                let run = run.expect("ptxas starts");
                assert!(run.status.success(), "ptxas: {}", String::from_utf8_lossy(&run.stderr));
            });
        }
    });
    std::fs::write(out_dir.join("halfwords.rs"), modules + "]").expect("our own folder");
}

fn module(chains: &[Chain]) -> String {
    let mut text = format!(".version 8.0\n.target {ARCH}\n.address_size 64\n");
    for (number, chains) in chains.chunks(IN_KERNEL).enumerate() {
        _ = writeln!(text, ".visible .entry k{number}(.param .u64 words, .param .u64 results)\n{{");
        text += "\t.reg .b32 %thread<4>;\n\t.reg .b64 %words, %results, %at, %other;\n";
        text += "\tld.param.u64 %words, [words];\n\tld.param.u64 %results, [results];\n";
        text += "\tmov.u32 %thread0, %tid.x;\n\tmov.u32 %thread1, %ctaid.x;\n\tmov.u32 %thread2, %ntid.x;\n";
        text += "\tmad.lo.s32 %thread0, %thread1, %thread2, %thread0;\n";
        text += "\tmov.u32 %thread3, %nctaid.x;\n\tmul.lo.s32 %thread3, %thread2, %thread3;\n";
        // Two words for each thread; results for each chain and thread.
        text += "\tmad.wide.u32 %at, %thread0, 8, %words;\n\tadd.s64 %other, %at, 4;\n";
        text += "\tmad.wide.u32 %results, %thread0, 8, %results;\n";
        for chain in chains {
            write_chain(&mut text, chain);
        }
        text += "\tret;\n}\n";
    }
    text
}

/// A block with registers of its own: `%h0` and `%h1` are the sources, `%h2` the first step's result, and so on.
fn write_chain(text: &mut String, chain: &Chain) {
    *text +=
        "\t{\n\t.reg .b16 %h<8>, %between<8>;\n\t.reg .b32 %v<8>, %w<8>;\n\t.reg .pred %p<8>;\n\t.reg .b64 %end;\n";
    for ((row, address), number) in chain.sources.iter().zip(["%at", "%other"]).zip(0..) {
        instructions(text, SOURCES[*row], number, [address, ""], &format!("%h{number}"));
    }
    let mut write_step = |step: &Step, table: &[&str], number: usize, result: &str| {
        let [a, b] = step.operands.map(|operand| match operand {
            Operand::Source(source) => format!("%h{source}"),
            Operand::Step(step) => format!("%h{}", step + 2),
            Operand::Constant(value) => value.to_string(),
        });
        instructions(text, table[step.row], number, [&a, &b], result);
    };
    for (step, number) in chain.steps.iter().zip(2..) {
        write_step(step, OPERATIONS, number, &format!("%h{number}"));
    }
    write_step(&chain.end, ENDS, 7, "%end");
    *text += "\tst.global.u64 [%results], %end;\n\tmad.wide.u32 %results, %thread3, 8, %results;\n\t}\n";
}

/// One instruction a line, as LLVM writes.
fn instructions(text: &mut String, row: &str, number: usize, [a, b]: [&str; 2], result: &str) {
    for instruction in row.split_inclusive(';') {
        let mut line = instruction.trim().replace("{a}", a).replace("{b}", b).replace("{r}", result);
        for (name, register) in [("{h}", "%between"), ("{v}", "%v"), ("{w}", "%w"), ("{p}", "%p")] {
            line = line.replace(name, &format!("{register}{number}"));
        }
        _ = writeln!(text, "\t{line}");
    }
}
