//! The verbs of `cargo ptx` on a new project.

use std::fs;

use libtest_mimic::Trial;
use ptx_project::tools;
use ptx_tests::trial;

use crate::demo::demo;

/// A kernel whose panic the device formats, in fewer registers than that takes, and one that formats by itself.
const FORMATTING: &str = r#"
#[cfg(target_arch = "nvptx64")]
extern crate alloc;

/// Shows several numbers, the later ones from registers that a call keeps.
struct Shown([f32; 12]);

impl core::fmt::Debug for Shown {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        let [a, b, c, d, e, g, h, i, j, k, l, m] = self.0;
        for part in [a * b + c, b * c + d, c * d + e, d * e + g, e * g + h, g * h + i] {
            part.fmt(f)?;
        }
        for part in [a + m, b + l, c + k, d + j, e + i, g + h, h + a, i + b, j + c, k + d, l + e, m + g] {
            part.fmt(f)?;
        }
        Ok(())
    }
}

#[kernel(max_registers = 24)]
pub fn shows_slices(a: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        let mut sums = [0.0; 12];
        for k in 0..a.len() {
            if a[k] + sums[0] > 2.0 {
                panic!("{:?} {:?} {k:?} {:?}", &a[k..], Shown(sums), &a[..k]);
            }
            for (factor, sum) in sums.iter_mut().enumerate() {
                *sum += a[k] * *sum + factor as f32;
            }
        }
        *y = sums.iter().sum();
    }
}

#[cfg(target_arch = "nvptx64")]
#[kernel]
pub fn makes_text(a: &[f32], mut y: DisjointSlice<u64>) {
    let i = thread::index_1d();
    if let (Some(y), Some(a)) = (y.get_mut(i), a.first()) {
        *y = alloc::format!("{a:?}").len() as u64;
    }
}
"#;

/// A kernel with 48 values alive at once, and too few registers for them.
const SPILLING: &str = "
#[kernel(max_registers = 24)]
pub fn crowded(x: &[f32; 48], mut out: DisjointSlice<[f32; 48]>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        let mut values = *x;
        for _ in 0..out[0] as u32 {
            for i in 0..48 {
                values[i] = values[i] * values[(i + 7) % 48] + 1.0;
            }
        }
        *out = values;
    }
}
";

/// A kernel that calls a function with a large array, and one that calls a recursive function.
const STACKS: &str = "
#[inline(never)]
fn array(n: usize) -> u32 {
    let mut values = [0_u32; 10_000];
    for i in 0..n {
        values[core::hint::black_box(i) % 10_000] = i as u32;
    }
    core::hint::black_box(&values)[n % 10_000]
}

#[inline(never)]
fn again(n: u32) -> u32 {
    let values = core::hint::black_box([n; 4]);
    if n == 0 { 1 } else { again(values[n as usize % 4] - 1) + again(values[0] / 2) + values[1] }
}

#[kernel]
pub fn calls(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = array(*out as usize);
    }
}

#[kernel]
pub fn recurses(mut out: DisjointSlice<u32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = again(*out);
    }
}
";

pub fn trials() -> Vec<Trial> {
    vec![
        trial("build writes what is asked for", || {
            let demo = demo();
            let out = demo.path().join("out");
            let out = out.to_str().expect("a temporary folder's name is UTF-8");
            demo.ptx(&["build", "--release", "--arch", "sm_80,sm_90a", "--emit", "ptx,llvm-ir,llvm-bc", "--out", out])
                .expect_success();
            let names = names(out);
            for arch in ["sm_80", "sm_90a"] {
                for kind in ["ptx", "ll", "bc"] {
                    assert!(
                        names.iter().any(|name| name.ends_with(&format!("{arch}.{kind}"))),
                        "{arch} {kind}: {names:?}"
                    );
                }
            }
            None
        }),
        trial("build writes cubins and a fatbin", || {
            let tools = tools::find();
            if tools.ptxas().is_none() || tools.fatbinary().is_none() {
                return Some("ptxas and fatbinary were not found".into());
            }
            let demo = demo();
            let out = demo.path().join("binaries");
            let out = out.to_str().expect("a temporary folder's name is UTF-8");
            demo.ptx(&["build", "--release", "--arch", "sm_80,sm_90", "--emit", "cubin,fatbin", "--out", out])
                .expect_success();
            let names = names(out);
            for end in ["sm_80.cubin", "sm_90.cubin", ".fatbin"] {
                let name = names.iter().find(|name| name.ends_with(end));
                let name = name.unwrap_or_else(|| panic!("no {end} in {names:?}"));
                assert!(fs::metadata(format!("{out}/{name}")).is_ok_and(|file| file.len() > 100), "{name} is empty");
            }
            None
        }),
        trial("a spill is a warning with kernel and line", || {
            if tools::find().ptxas().is_none() {
                return Some("ptxas was not found".into());
            }
            let demo = demo();
            demo.edit("lib.rs", |text| text + SPILLING);
            let run = demo.ptx(&["build", "--release", "--arch", "sm_80", "--emit", "cubin"]).expect_success();
            let shown = format!("{}{}", run.stdout, run.stderr);
            for part in ["PTX0014", "kernel `crowded` spills registers on sm_80", "src/lib.rs:", "max_registers"] {
                assert!(shown.contains(part), "{part} is not in:\n{shown}");
            }
            None
        }),
        trial("the table says what panics that format on the device cost, and a spill is blamed on them", || {
            if tools::find().ptxas().is_none() {
                return Some("ptxas was not found".into());
            }
            let demo = demo();
            demo.edit("lib.rs", |text| text + FORMATTING);
            let build = |panic: &str| demo.ptx(&["build", "--release", "--arch", "sm_80", panic]).expect_success();
            let run = build("--panic=full");
            let without = build("--panic=trap");
            let row = without.stdout.lines().find(|line| line.starts_with("shows_slices"));
            let figures: Vec<&str> = row.unwrap_or_else(|| panic!("{}", without.stdout)).split_whitespace().collect();
            // With `trap` several turns are checked at once, in more registers.
            let stripped = run.stdout.lines().find_map(|line| {
                let (registers, rest) = line.strip_prefix("shows_slices, sm_80: ")?.split_once(" registers and ")?;
                Some((registers.parse::<u32>().ok()?, rest.split_once(" bytes of stack without its panics")?.0))
            });
            let (registers, stack) = stripped.unwrap_or_else(|| panic!("{}", run.stdout));
            let most: u32 = figures[2].parse().expect("registers are a number");
            assert!((1..=most).contains(&registers) && stack == figures[3], "{}\n{}", run.stdout, without.stdout);
            let part = "makes_text, sm_80: makes text of values on the device, by `core::fmt`";
            assert!(run.stdout.contains(part), "{part} is not in:\n{}", run.stdout);
            for part in
                ["PTX0014", "kernel `shows_slices` spills", "without its panics", "`core::fmt`", "--panic=location"]
            {
                assert!(run.stderr.contains(part), "{part} is not in:\n{}", run.stderr);
            }
            // What the host formats is no matter.
            for (run, kernel) in [(&run, "saxpy, "), (&without, "shows_slices, ")] {
                assert!(!run.stdout.contains(kernel), "{}", run.stdout);
            }
            assert!(!without.stderr.contains("PTX0014"), "{}", without.stderr);
            None
        }),
        trial("the stack is what a launch needs", || {
            if tools::find().ptxas().is_none() {
                return Some("ptxas was not found".into());
            }
            let demo = demo();
            demo.edit("lib.rs", |text| text + STACKS);
            for profile in ["--profile=dev", "--profile=release"] {
                let run = demo.ptx(&["build", profile, "--arch", "sm_80"]).expect_success();
                let stack = |kernel: &str| -> String {
                    let row = run.stdout.lines().find(|line| line.starts_with(kernel));
                    let cell = row.and_then(|row| row.split_whitespace().nth(3));
                    cell.unwrap_or_else(|| panic!("no {kernel} in:\n{}", run.stdout)).into()
                };
                let needed = |kernel| stack(kernel).trim_end_matches('+').parse::<u32>().expect("a number");
                // Unoptimised code can panic by way of `core::fmt`, and then ptxas counts the kernel's own frame alone.
                let is_counted = needed("calls") >= 40_000 || stack("calls").ends_with('+');
                assert!(is_counted, "{profile}:\n{}", run.stdout);
                assert!(profile != "--profile=release" || needed("calls") >= 40_000, "{}", run.stdout);
                assert!(stack("recurses").ends_with('+'), "{profile}:\n{}", run.stdout);
                assert!(run.stdout.contains("\n+: more with each turn of recursion"), "{profile}:\n{}", run.stdout);
                assert!(!run.stderr.contains("statically determined"), "{profile}:\n{}", run.stderr);
            }
            None
        }),
        trial("flags for rustc come from the device's configuration alone", || {
            let demo = demo();
            demo.edit("lib.rs", |text| {
                text + "\n#[cfg(all(a_flag, target_arch = \"nvptx64\"))]\ncompile_error!(\"it came\");\n"
            });
            let variable = ("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS", "--cfg a_flag");
            demo.ptx_with(&[variable], &["build", "--release"]).expect_success();
            let config = demo.path().join(".cargo/config.toml");
            let text = fs::read_to_string(&config).expect("the project has one");
            let flags = "[target.nvptx64-nvidia-cuda]\nrustflags = [\"--cfg\", \"a_flag\"]\n";
            fs::write(&config, format!("{text}{flags}")).expect("our own file");
            let of_device = demo.ptx(&["build", "--release"]);
            fs::write(&config, text).expect("our own file");
            assert!(!of_device.success && of_device.stderr.contains("it came"), "{}", of_device.stderr);
            None
        }),
        trial("unknown arch", || {
            let run = demo().ptx(&["build", "--arch", "sm_1"]);
            assert!(
                !run.success && run.stderr.contains("sm_1") && !run.stderr.contains("panicked at"),
                "{}",
                run.stderr
            );
            None
        }),
        trial("inspect shows the ABI, the IR and the PTX", || {
            let demo = demo();
            let shown = |what: &str| demo.ptx(&["inspect", what]).expect_success().stdout;
            assert!(shown("abi").contains("param"), "{}", shown("abi"));
            assert!(shown("llvm").contains("define "));
            assert!(shown("ptx").contains(".entry "));
            None
        }),
        trial("inspect shows machine code and resources", || {
            let tools = tools::find();
            if tools.ptxas().is_none() || tools.nvdisasm().is_none() {
                return Some("ptxas and nvdisasm were not found".into());
            }
            let demo = demo();
            let shown = |what: &str| demo.ptx(&["inspect", what]).expect_success().stdout;
            assert!(shown("sass").contains("EXIT"), "{}", shown("sass"));
            assert!(shown("resources").to_lowercase().contains("registers"), "{}", shown("resources"));
            None
        }),
        trial("doctor says what is there", || {
            let run = demo().ptx(&["doctor"]);
            let text = run.stdout + &run.stderr;
            for part in ["rustc", "sysroot", "ptxas"] {
                assert!(text.contains(part), "`{part}` is not in:\n{text}");
            }
            None
        }),
    ]
}

/// Files in that folder.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
