//! Reads what `ptxas -v` prints about each kernel.

use std::collections::BTreeMap;

use crate::report::Resources;

/// Resources by kernel.
pub fn parse(log: &str) -> BTreeMap<String, Resources> {
    let mut kernels: BTreeMap<String, Resources> = BTreeMap::new();
    let mut current: Option<String> = None;
    // The properties of device functions stand between those of kernels and are left out.
    let mut in_kernel = false;
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            current = rest.split('\'').next().map(str::to_string);
            kernels.extend(current.clone().map(|name| (name, Resources::default())));
        } else if let Some(name) = line.split("Function properties for ").nth(1) {
            in_kernel = current.as_deref() == Some(name.trim());
        }
        let Some(resources) = current.as_ref().and_then(|name| kernels.get_mut(name)) else { continue };
        if line.contains("stack frame") && in_kernel {
            resources.stack = before(line, " bytes stack frame");
            resources.spill_stores = before(line, " bytes spill stores");
            resources.spill_loads = before(line, " bytes spill loads");
        } else if line.contains(" registers") {
            resources.registers = before(line, " registers");
            resources.barriers = before(line, " barriers");
            resources.shared = before(line, " bytes smem");
            resources.constant = constant(line);
        }
    }
    kernels
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
        let kernels = parse(log);
        assert_eq!(
            kernels["saxpy"],
            Resources {
                registers: 10,
                stack: 24,
                spill_stores: 8,
                spill_loads: 12,
                shared: 1024,
                constant: Some(392),
                barriers: 1
            }
        );
        // As for sm_90 and later: it is not 0, but not said.
        assert_eq!((kernels["empty"].registers, kernels["empty"].constant), (4, None));
        assert_eq!(kernels.len(), 2);
    }
}
