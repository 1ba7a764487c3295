//! How many blocks of a kernel a multiprocessor has room for, by the kernel's registers, shared memory and barriers.
//!
//! The limits are those of the CUDA C++ Programming Guide, "Compute Capabilities", tables of technical specifications; how
//! registers and shared memory are handed out is what CUDA's own `cuda_occupancy.h` says, with which a test compares this.

use ptx_codegen::report::Resources;
use serde::Serialize;

/// What a multiprocessor has, where archs differ.
#[derive(Clone, Copy, Debug)]
struct Multiprocessor {
    /// The archs that have it, by their numbers.
    archs: &'static [u32],
    blocks: u32,
    warps: u32,
    /// Bytes of shared memory.
    shared: u32,
    /// Bytes of shared memory that the driver keeps of each block.
    reserved: u32,
    /// Shared memory is given out in multiples of so many bytes.
    shared_unit: u32,
    /// Barriers, as multiples of `blocks`.
    barriers: u32,
}

const KIB: u32 = 1024;

const MULTIPROCESSORS: [Multiprocessor; 9] = [
    of(&[70, 72], 32, 64, 96, 2),
    of(&[75], 16, 32, 64, 2),
    of(&[80], 32, 64, 164, 2),
    of(&[87], 16, 48, 164, 1),
    of(&[86, 88], 16, 48, 100, 1),
    of(&[89], 24, 48, 100, 1),
    of(&[90, 100, 103], 32, 64, 228, 2),
    of(&[110], 24, 48, 228, 1),
    of(&[120, 121], 24, 48, 100, 1),
];

const fn of(archs: &'static [u32], blocks: u32, warps: u32, shared: u32, barriers: u32) -> Multiprocessor {
    let is_new = archs[0] >= 80;
    let (reserved, shared_unit) = if is_new { (KIB, 128) } else { (0, 256) };
    Multiprocessor { archs, blocks, warps, shared: shared * KIB, reserved, shared_unit, barriers }
}

/// Registers of a multiprocessor, and of a block at most.
const REGISTERS: u32 = 64 * KIB;

/// The parts of a multiprocessor that have registers of their own, an equal share each.
const PARTITIONS: u32 = 4;

/// A warp's registers are given out in multiples of so many.
const REGISTER_UNIT: u32 = 256;

const WARP: u32 = 32;

/// Room for blocks of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Threads a block.
    pub threads: u32,
    /// Blocks on a multiprocessor at a time.
    pub blocks: u32,
    /// Warps on it then.
    pub warps: u32,
    /// Warps that it has room for at most.
    pub of: u32,
    /// What there is too little of for another block.
    pub limit: &'static str,
}

/// For blocks of every number of warps. None for an arch that is not in the table.
pub fn curve(arch: &str, used: &Resources) -> Vec<Point> {
    let number = arch.trim_start_matches("sm_").trim_end_matches(['a', 'f']).parse().unwrap_or(0);
    let Some(sm) = MULTIPROCESSORS.iter().find(|sm| sm.archs.contains(&number)) else { return vec![] };
    (1..=1024 / WARP).map(|warps| sm.point(warps, used)).collect()
}

impl Multiprocessor {
    /// A block of that many warps.
    fn point(&self, warps: u32, used: &Resources) -> Point {
        let a_warp = (used.registers * WARP).next_multiple_of(REGISTER_UNIT);
        // A launch is refused by the registers of as many warps as fill all partitions.
        let registers = if a_warp * warps.next_multiple_of(PARTITIONS) > REGISTERS {
            0
        } else {
            (REGISTERS / PARTITIONS)
                .checked_div(a_warp)
                .map_or(u32::MAX, |a_partition| a_partition * PARTITIONS / warps)
        };
        let a_block = (used.shared + self.reserved).next_multiple_of(self.shared_unit);
        let shared = self.shared.checked_div(a_block).unwrap_or(u32::MAX);
        let barriers = (self.blocks * self.barriers).checked_div(used.barriers).unwrap_or(u32::MAX);
        let limits = [
            (self.warps / warps, "warps"),
            (registers, "registers"),
            (shared, "shared memory"),
            (barriers, "barriers"),
            (self.blocks, "blocks"),
        ];
        let (blocks, limit) = limits.into_iter().min_by_key(|(blocks, _)| *blocks).expect("there are some");
        Point { threads: warps * WARP, blocks, warps: blocks * warps, of: self.warps, limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;

    fn used(registers: u32, shared: u32, barriers: u32) -> Resources {
        Resources { registers, shared, barriers, ..Resources::default() }
    }

    #[test]
    fn what_is_scarce_limits() {
        let at = |arch, used: &Resources, threads| {
            let curve = curve(arch, used);
            let point = curve.into_iter().find(|point| point.threads == threads).expect("a number of warps");
            (point.blocks, point.warps, point.of, point.limit)
        };
        assert_eq!(at("sm_90a", &used(32, 0, 1), 256), (8, 64, 64, "warps"));
        assert_eq!(at("sm_75", &used(128, 0, 1), 256), (2, 16, 32, "registers"));
        assert_eq!(at("sm_80", &used(16, 48 * KIB, 1), 128), (3, 12, 64, "shared memory"));
        assert_eq!(at("sm_86", &used(16, 0, 8), 64), (2, 4, 48, "barriers"));
        assert_eq!(at("sm_90", &used(16, 0, 1), 32), (32, 32, 64, "blocks"));
        assert_eq!(at("sm_90", &used(255, 0, 1), 1024), (0, 0, 64, "registers"));
        assert!(curve("sm_35", &used(16, 0, 1)).is_empty());
    }

    /// NVIDIA's own calculator, where its header and a C++ compiler are.
    #[test]
    fn cudas_calculator_says_the_same() {
        let tools = ptx_project::tools::find();
        let nvcc = tools.nvcc().map(|tool| tool.path.canonicalize().unwrap_or_else(|_| tool.path.clone()));
        let includes =
            nvcc.iter().flat_map(|nvcc| nvcc.ancestors().skip(1).take(3).map(|folder| folder.join("include")));
        let Some(include) = includes.into_iter().find(|folder| folder.join("cuda_occupancy.h").is_file()) else {
            eprintln!("skipped: there is no cuda_occupancy.h; `cargo ptx setup` installs it");
            return;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join("occupancy");
        let source = folder.path().join("occupancy.cpp");
        std::fs::write(&source, CALCULATOR).expect("our own folder");
        let mut compiler = Command::new("c++");
        let built = compiler.arg("-w").arg("-I").arg(include).arg(&source).arg("-o").arg(&program).status();
        let Ok(built) = built else {
            eprintln!("skipped: there is no C++ compiler");
            return;
        };
        assert!(built.success());
        for sm in MULTIPROCESSORS.iter().filter(|sm| sm.archs[0] >= 75) {
            for arch in sm.archs {
                compare(&program, sm, *arch);
            }
        }
    }

    fn compare(program: &PathBuf, sm: &Multiprocessor, arch: u32) {
        let figures = [arch / 10, arch % 10, sm.warps * WARP, sm.shared, sm.reserved].map(|figure| figure.to_string());
        let output = Command::new(program).args(figures).output().expect("it was compiled");
        let text = String::from_utf8(output.stdout).expect("figures");
        let mut compared = 0;
        let mut ours: Option<((u32, u32), Vec<Point>)> = None;
        for line in text.lines() {
            let figures: Vec<u32> = line.split(' ').map(|figure| figure.parse().expect("a number")).collect();
            let [registers, shared, threads, blocks] = figures[..] else { panic!("{line}") };
            if ours.as_ref().is_none_or(|(of, _)| *of != (registers, shared)) {
                ours = Some(((registers, shared), curve(&format!("sm_{arch}"), &used(registers, shared, 1))));
            }
            let (_, curve) = ours.as_ref().expect("it was made");
            let point = curve.iter().find(|point| point.threads == threads).expect("a number of warps");
            assert_eq!(point.blocks, blocks, "sm_{arch}: {line}, limited by {}", point.limit);
            compared += 1;
        }
        assert!(compared > 1000, "{compared} of {arch}: {}", String::from_utf8_lossy(&output.stderr));
    }

    const CALCULATOR: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <cstddef>
#include <initializer_list>
#include "cuda_occupancy.h"
int main(int, char** a) {
    cudaOccDeviceProp p;
    p.computeMajor = atoi(a[1]); p.computeMinor = atoi(a[2]);
    p.maxThreadsPerBlock = 1024; p.maxThreadsPerMultiprocessor = atoi(a[3]);
    p.regsPerBlock = p.regsPerMultiprocessor = 65536; p.warpSize = 32; p.numSms = 1;
    p.sharedMemPerMultiprocessor = atoi(a[4]); p.reservedSharedMemPerBlock = atoi(a[5]);
    p.sharedMemPerBlock = 49152; p.sharedMemPerBlockOptin = p.sharedMemPerMultiprocessor - p.reservedSharedMemPerBlock;
    cudaOccDeviceState s;
    for (int r : {1, 8, 16, 24, 31, 32, 33, 40, 48, 64, 72, 96, 128, 168, 200, 255})
        for (int m : {0, 1, 100, 1024, 4096, 10000, 16384, 32768, 49152})
            for (int t = 32; t <= 1024; t += 32) {
                cudaOccFuncAttributes f;
                f.maxThreadsPerBlock = 1024; f.numRegs = r; f.sharedSizeBytes = m; f.numBlockBarriers = 1;
                cudaOccResult o;
                if (cudaOccMaxActiveBlocksPerMultiprocessor(&o, &p, &f, &s, t, 0) != CUDA_OCC_SUCCESS) return 1;
                printf("%d %d %d %d\n", r, m, t, o.activeBlocksPerMultiprocessor);
            }
}
"#;
}
