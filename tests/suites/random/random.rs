//! Random programs without a GPU: they have one meaning, they compile for the device, and what fails is made small.

use std::process::ExitCode;

use libtest_mimic::Trial;
use ptx_codegen::tool::Name;
use ptx_codegen::workarounds;
use ptx_project::tools;
use ptx_random::choices::Choices;
use ptx_random::ptx::{self, Kernel};
use ptx_random::rust;
use ptx_random_tests::shrinking::{self, Judge};
use ptx_random_tests::{check, compile};
use ptx_tests::{Sample, test, trial};

/// Programs that the CPU runs at both levels, with `--all` and by default.
const PROGRAMS: (u32, u32) = (200, 50);

/// Programs and kernels that are compiled for the device.
const DEVICE: (u32, u32) = (50, 10);

fn main() -> ExitCode {
    ptx_tests::run(|| {
        let sample = Sample::asked();
        let seed = sample.seed;
        let programs = sample.number("random programs on the CPU", PROGRAMS.0, PROGRAMS.1);
        let device = sample.number("random programs for the device", DEVICE.0, DEVICE.1);
        vec![
            test(format!("{programs} programs of seed {seed} have one meaning"), move || {
                let different = check::host(seed, 0, programs.into()).unwrap_or_else(|error| panic!("{error}"));
                assert!(different.is_empty(), "optimised, other results: programs {different:?}");
            }),
            for_device(seed, device, 3),
            for_device(seed, device.div_ceil(5), 0),
            kernels(seed, device),
            test("a planted mistake is found and made small", planted),
        ]
    })
}

/// They compile for the device, and ptxas takes them.
fn for_device(seed: u64, count: u32, level: u32) -> Trial {
    trial(format!("{count} programs of seed {seed} compile for the device at level {level}"), move || {
        if [Name::Ptxas, Name::Nvlink].iter().any(|name| tools::find().get(*name).is_none()) {
            return Some("ptxas and nvlink were not found".into());
        }
        let programs: Vec<String> =
            (0..count).map(|number| rust::program(&mut Choices::of_item(seed, number.into()))).collect();
        let ptx = compile::for_device(&programs, &compile::folder("device"), "programs", level);
        let cubin = ptx.and_then(|ptx| compile::assemble(&ptx, level));
        assert!(cubin.unwrap_or_else(|error| panic!("{error}")).exists());
        None
    })
}

/// ptxas takes kernels in PTX at each of its levels.
fn kernels(seed: u64, count: u32) -> Trial {
    trial(format!("{count} kernels of seed {seed} assemble at each level"), move || {
        if [Name::Ptxas, Name::Nvlink].iter().any(|name| tools::find().get(*name).is_none()) {
            return Some("ptxas and nvlink were not found".into());
        }
        let kernels: Vec<Kernel> =
            (0..count).map(|number| Kernel::new(&mut Choices::of_item(seed, number.into()))).collect();
        let arch = compile::ARCH.parse().expect("an arch");
        let text = workarounds::rewrite(&ptx::module(&kernels, compile::ARCH), arch);
        for level in 0..4 {
            let path = compile::folder("device").join(format!("kernels_o{level}.ptx"));
            std::fs::create_dir_all(compile::folder("device")).expect("our own folder");
            std::fs::write(&path, &text).expect("our own folder");
            compile::assemble(&path, level).unwrap_or_else(|error| panic!("{error}"));
        }
        None
    })
}

/// Of the programs that the judge has fail, the first is made small: little more than the operation is left.
fn planted() {
    let (judge, folder) = (Judge::Planted(".wrapping_sub(", ".wrapping_add("), compile::folder("planted"));
    let lists: Vec<Vec<u32>> = (0..30).map(|number| shrinking::choices(1, number)).collect();
    let texts: Vec<String> = lists.iter().map(|list| shrinking::text(list)).collect();
    let fails = judge.fails(&texts, &folder).unwrap_or_else(|error| panic!("{error}"));
    let at = fails.iter().position(|fails| *fails).expect("one of thirty programs subtracts");
    assert!(fails.iter().zip(&texts).all(|(fails, text)| !fails || text.contains(".wrapping_sub(")));
    let small = shrinking::smallest(&lists[at], &judge, 12, &folder).unwrap_or_else(|error| panic!("{error}"));
    let text = shrinking::text(&small);
    assert!(text.contains(".wrapping_sub("), "the mistake is gone:\n{text}");
    assert!(text.lines().count() <= 24 && text.len() <= 900, "it is still large:\n{text}");
}
