//! Reads what `ptxas -v` prints about each kernel.

use std::collections::BTreeMap;

use crate::arch::Arch;
use crate::report::Resources;
use crate::stacks::Frames;
use crate::timings::KernelTime;

/// How ptxas went about functions that are not inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functions {
    /// With each kernel, whose frame holds theirs. Those that follow a kernel and have a frame all the same are called again
    /// before they return, or through pointers.
    OfKernels,
    /// Each for itself, with `-g` or `-c`, in any order. ptxas or nvlink warns of kernels whose need is not known.
    Separate,
}

/// What ptxas says of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Its registers, its memory, and what it spills.
    pub resources: Resources,
    /// The frames of the kernel and of what it may call, in bytes.
    pub frames: Frames,
}

/// Whose stack cannot be known, in what ptxas or nvlink warn of.
pub fn kernel_of_unknown_stack(line: &str) -> Option<&str> {
    let rest = line.split_once("Stack size for entry function '")?.1;
    rest.split_once("' cannot be statically determined").map(|(name, _)| name)
}

/// What each kernel uses.
pub fn parse(log: &str, functions: Functions) -> BTreeMap<String, Used> {
    let mut kernels: BTreeMap<String, Used> = BTreeMap::new();
    let mut shared = Frames::new();
    let mut current: Option<&str> = None;
    let mut function: Option<&str> = None;
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            current = rest.split('\'').next();
            kernels.extend(current.map(|name| (name.to_string(), Used::default())));
        } else if let Some(name) = line.split("Function properties for ").nth(1) {
            function = Some(name.trim());
        }
        let is_frame = line.contains("stack frame");
        if let Some(name) = function.filter(|_| is_frame && functions == Functions::Separate) {
            shared.insert(name.to_string(), before(line, " bytes stack frame"));
        }
        let Some(Used { resources, frames }) = current.and_then(|name| kernels.get_mut(name)) else { continue };
        if let Some(name) = function.filter(|_| is_frame) {
            let bytes = before(line, " bytes stack frame");
            frames.insert(name.to_string(), bytes);
            if function == current {
                resources.stack = bytes;
                resources.spill_stores = before(line, " bytes spill stores");
                resources.spill_loads = before(line, " bytes spill loads");
            }
        } else if line.contains(" registers") {
            resources.registers = before(line, " registers");
            resources.barriers = before(line, " barriers");
            resources.shared = before(line, " bytes smem");
            resources.constant = constant(line);
            // Left out where it is 0.
            resources.stack = resources.stack.max(before(line, " bytes cumulative stack size"));
        }
    }
    if functions == Functions::Separate {
        kernels.values_mut().for_each(|used| used.frames.clone_from(&shared));
    }
    for name in log.lines().filter_map(kernel_of_unknown_stack) {
        if let Some(used) = kernels.get_mut(name) {
            used.resources.stack_is_minimum = true;
        }
    }
    kernels
}

/// How long each kernel took, with what it calls, where one was compiled after the other.
pub fn times(log: &str, arch: Arch) -> Vec<KernelTime> {
    let mut times: Vec<KernelTime> = Vec::new();
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            let name = rest.split('\'').next().unwrap_or_default().to_string();
            times.push(KernelTime { name, arch: arch.to_string(), seconds: 0.0 });
        } else if let Some((_, time)) = line.split_once("Compile time = ")
            && let Some(kernel) = times.last_mut()
        {
            let millis = time.trim().strip_suffix(" ms").and_then(|number| number.parse::<f64>().ok());
            kernel.seconds += millis.unwrap_or(0.0) / 1e3;
        }
    }
    times
}

/// The number that stands right before `unit`; 0 where the unit is missing.
fn before(line: &str, unit: &str) -> u32 {
    let Some((head, _)) = line.split_once(unit) else { return 0 };
    head.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The sum over all constant banks; none where the line names no bank.
fn constant(line: &str) -> Option<u32> {
    let banks = line.split(',').filter(|part| part.contains("bytes cmem"));
    banks.map(|part| before(part, " bytes cmem")).reduce(|sum, bank| sum + bank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_of_ptxas_13_is_read() {
        let log = "\
ptxas info    : 16 bytes gmem
ptxas info    : Compiling entry function 'saxpy' for 'sm_90'
ptxas info    : Function properties for saxpy
    24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 24 bytes cumulative stack size, 1024 bytes smem, 384 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 3.250 ms
ptxas info    : Function properties for helper
    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'empty' for 'sm_90'
ptxas info    : Function properties for empty
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
";
        let kernels = parse(log, Functions::OfKernels);
        assert_eq!(
            kernels["saxpy"].resources,
            Resources {
                registers: 10,
                stack: 24,
                stack_is_minimum: false,
                recursion: None,
                spill_stores: 8,
                spill_loads: 12,
                shared: 1024,
                constant: Some(392),
                barriers: 1,
                formatting: None,
            }
        );
        assert_eq!(kernels["saxpy"].frames, [("saxpy".into(), 24), ("helper".into(), 64)].into());
        // As for sm_90 and later: it is not 0, but not said.
        assert_eq!((kernels["empty"].resources.registers, kernels["empty"].resources.constant), (4, None));
        assert_eq!(kernels.len(), 2);
        let times = times(log, "sm_90".parse().unwrap());
        let times: Vec<_> = times.iter().map(|kernel| (&*kernel.name, &*kernel.arch, kernel.seconds)).collect();
        assert_eq!(times, [("saxpy", "sm_90", 0.00325), ("empty", "sm_90", 0.0)]);
    }

    /// Stack by kernel, and whether it is all.
    fn stacks(log: &str, functions: Functions) -> Vec<(String, u32, bool)> {
        let used = parse(log, functions).into_iter();
        used.map(|(name, Used { resources, .. })| (name, resources.stack, resources.stack_is_minimum)).collect()
    }

    #[test]
    fn the_stack_holds_what_called_functions_need() {
        let log = "\
ptxas warning : Stack size for entry function 'r' cannot be statically determined
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    104 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 44 registers, used 0 barriers, 524400 bytes cumulative stack size
ptxas info    : Function properties for rec
    56 bytes stack frame, 24 bytes spill stores, 24 bytes spill loads
ptxas info    : Compiling entry function 'r' for 'sm_90'
ptxas info    : Function properties for r
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 26 registers, used 0 barriers, 40 bytes cumulative stack size
";
        assert_eq!(stacks(log, Functions::Separate), [("k".into(), 524_400, false), ("r".into(), 40, true)]);
    }

    #[test]
    fn frames_are_those_of_the_kernel_or_of_all() {
        let log = "\
ptxas info    : Compiling entry function 'r' for 'sm_90'
ptxas info    : Function properties for r
    40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 40 bytes cumulative stack size
ptxas info    : Function properties for rec
    56 bytes stack frame, 28 bytes spill stores, 28 bytes spill loads
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    524288 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 17 registers, used 0 barriers, 524288 bytes cumulative stack size
";
        assert_eq!(stacks(log, Functions::OfKernels), [("k".into(), 524_288, false), ("r".into(), 40, false)]);
        let frames = |functions| parse(log, functions)["r"].frames.clone();
        assert_eq!(frames(Functions::OfKernels), [("r".into(), 40), ("rec".into(), 56)].into());
        assert_eq!(frames(Functions::Separate), [("r".into(), 40), ("rec".into(), 56), ("k".into(), 524_288)].into());
    }
}
