//! Rust calls CUDA C++ and CUDA C++ calls Rust, linked by nvlink, by the driver and by nvJitLink, from every form of the
//! CUDA C++ side.

use crate::record::Test;
#[cfg(not(twin))]
use crate::record::skippable;

#[cfg(not(twin))]
pub fn tests() -> Vec<Test> {
    vec![skippable("linking with CUDA C++", |_| Err(env!("TWIN_MISSING").to_string()))]
}

#[cfg(twin)]
pub fn tests() -> Vec<Test> {
    linked::tests()
}

#[cfg(twin)]
mod linked {
    use ptx::cudarc::driver::{DevicePtr, DevicePtrMut, result};
    use ptx::prelude::*;
    use ptx::{Error, Image, LinkWith, Linker};
    use ptx_link_kernels::{self as kernels, Mixed, twin};

    use crate::gpu::{Gpu, random, same};
    use crate::record::{Test, skippable, test};

    /// Elements a test.
    const N: usize = 1000;

    /// Linked when this program was built.
    static AT_BUILD: [(&str, Image); 7] = [
        ("cu", ptx::image!("linked_cu")),
        ("ptx", ptx::image!("linked_ptx")),
        ("cubin", ptx::image!("linked_cubin")),
        ("fatbin", ptx::image!("linked_fatbin")),
        ("o", ptx::image!("linked_o")),
        ("a", ptx::image!("linked_a")),
        ("ltoir", ptx::image!("linked_ltoir")),
    ];

    /// To be linked.
    static AT_LOAD: Image = ptx::image!("link_at_load");

    /// The twin, by arch.
    static CUBINS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/cubins.rs"));

    macro_rules! twin {
        ($extension:literal) => {
            include_bytes!(concat!(env!("OUT_DIR"), "/twin.", $extension))
        };
    }

    /// Adds the twin in one form; an error is why it cannot be linked on this GPU.
    type Add = fn(Linker<'static>, &Gpu) -> Result<Linker<'static>, String>;

    const FORMS: [(&str, Add); 6] = [
        // SAFETY: nvcc compiled the twin, which defines what the image declares.
        ("ptx", |linker, _| Ok(unsafe { linker.ptx(std::str::from_utf8(twin!("ptx")).expect("PTX is text")) })),
        ("cubin", |linker, gpu| {
            let (major, minor) = gpu.device.capability();
            let fits = |arch: &str| {
                let number: u32 = arch.trim_start_matches("sm_").parse().unwrap_or(0);
                number / 10 == major && number % 10 <= minor
            };
            let cubin = CUBINS.iter().rev().find(|(arch, _)| fits(arch));
            let (_, bytes) = cubin.ok_or(format!("the twin was not compiled for {}", gpu.device.arch()))?;
            // SAFETY: as above.
            Ok(unsafe { linker.cubin(bytes) })
        }),
        // SAFETY: as above.
        ("fatbin", |linker, _| Ok(unsafe { linker.fatbin(twin!("fatbin")) })),
        // SAFETY: as above.
        ("o", |linker, _| Ok(unsafe { linker.object(twin!("o")) })),
        // SAFETY: as above.
        ("a", |linker, _| Ok(unsafe { linker.library(twin!("a")) })),
        // SAFETY: as above.
        ("ltoir", |linker, _| Ok(unsafe { linker.ltoir(twin!("ltoir")) })),
    ];

    pub fn tests() -> Vec<Test> {
        let mut tests = Vec::new();
        for (form, image) in &AT_BUILD {
            tests.push(skippable(&format!("nvlink: twin.{form}"), move |gpu| {
                match gpu.device.load(image) {
                    Ok(module) => check(gpu, &module),
                    // Linked code is machine code, which a GPU of another major version does not run.
                    Err(error @ Error::NoObject { .. }) => return Err(error.to_string()),
                    Err(error) => panic!("{error}"),
                }
                Ok(())
            }));
        }
        for (form, add) in FORMS {
            tests.push(skippable(&format!("nvJitLink: twin.{form}"), move |gpu| {
                ptx::nvjitlink_version().map_err(|error| error.to_string())?;
                let linker = gpu.device.linker().image(&AT_LOAD).with(LinkWith::NvJitLink);
                let module = add(linker, gpu)?.link().unwrap_or_else(|error| panic!("{error}"));
                assert!(module.loaded().contains("nvJitLink"), "{}", module.loaded());
                check(gpu, &module);
                Ok(())
            }));
            if form != "ltoir" {
                tests.push(skippable(&format!("driver's linker: twin.{form}"), move |gpu| {
                    let linker = add(gpu.device.linker().image(&AT_LOAD), gpu)?;
                    let module = linker.link().unwrap_or_else(|error| panic!("{error}"));
                    assert!(module.loaded().contains("the driver's linker"), "{}", module.loaded());
                    check(gpu, &module);
                    Ok(())
                }));
            }
        }
        tests.push(test("driver's linker: a file", |gpu| {
            let file = std::env::temp_dir().join(format!("ptx-device-tests-{}.o", std::process::id()));
            std::fs::write(&file, twin!("o")).unwrap();
            // SAFETY: the file is the twin.
            let linker = unsafe { gpu.device.linker().image(&AT_LOAD).file(&file) };
            let module = linker.link();
            std::fs::remove_file(&file).unwrap();
            check(gpu, &module.unwrap_or_else(|error| panic!("{error}")));
        }));
        tests.push(test("driver's linker: what is undefined is named", |gpu| {
            let error = gpu.device.linker().image(&AT_LOAD).link().unwrap_err();
            let Error::Link { undefined, .. } = &error else { panic!("{error}") };
            assert!(undefined.iter().any(|symbol| symbol == "cpp_scale"), "{error}");
        }));
        tests.push(test("driver's linker: two definitions are refused", |gpu| {
            // SAFETY: it is the twin, and nothing is loaded.
            let twice = unsafe { gpu.device.linker().image(&AT_LOAD).object(twin!("o")).object(twin!("o")) };
            let error = twice.link().unwrap_err().to_string();
            assert!(error.contains("cpp_scale") && error.contains("Leave one of the pieces out"), "{error}");
        }));
        tests.push(test("driver's linker: garbage is refused", |gpu| {
            // SAFETY: this is not even the beginning of an object, or of PTX, so that nobody can believe it.
            let garbage = unsafe { [gpu.device.linker().object(b"garbage"), gpu.device.linker().ptx("garbage")] };
            for linker in garbage {
                let error = linker.image(&AT_LOAD).link().unwrap_err();
                assert!(matches!(error, Error::Link { .. }), "{error}");
            }
        }));
        tests.push(test("an image to be linked is not loaded", |gpu| {
            let error = gpu.device.load(&AT_LOAD).unwrap_err();
            assert!(matches!(error, Error::NotLinked { .. }), "{error}");
            let error = gpu.device.linker().image(&AT_BUILD[0].1).link().unwrap_err().to_string();
            assert!(error.contains("link-at-load"), "{error}");
        }));
        tests
    }

    /// Every kernel computes what the CPU does.
    #[track_caller]
    fn check(gpu: &Gpu, module: &Module) {
        let device = &gpu.device;
        let values: Vec<Mixed> = random(11).zip(random(12)).take(N).map(|(a, b)| mixed(a, b)).collect();
        let uploaded = device.upload(&values).unwrap();
        let mut out = device.upload(&vec![mixed(0, 0); N]).unwrap();
        let grid = Grid::cover(N, 128);

        kernels::rust_calls_cuda(&uploaded, -5, &mut out).launch(module, grid).unwrap();
        same(&device.download(&out).unwrap(), values.iter().map(|value| twin::mix(*value, -5)));
        kernels::cuda_calls_rust(&uploaded, 9, &mut out).launch(module, grid).unwrap();
        same(&device.download(&out).unwrap(), values.iter().map(|value| twin::through_rust(*value, 9)));

        let numbers: Vec<i32> = random(13).take(N).map(|bits| bits as i32).collect();
        let uploaded_numbers = device.upload(&numbers).unwrap();
        let mut products = device.zeroed::<i32>(N).unwrap();
        kernels::scalars(&uploaded_numbers, 12_345, &mut products).launch(module, grid).unwrap();
        same(&device.download(&products).unwrap(), numbers.iter().map(|a| twin::cpp_scale(*a, 12_345)));

        let mut pairs = device.upload(&vec![[0_i16; 2]; N]).unwrap();
        kernels::pointers(&uploaded_numbers, &mut pairs).launch(module, grid).unwrap();
        let both = |a: &i32| {
            let (small, wide) = (*a as i8, (*a >> 8) as u16);
            [twin::apply_here(kernels::add, small, wide), twin::through_pointer(small, wide)]
        };
        same(&device.download(&pairs).unwrap(), numbers.iter().map(both));

        // The kernel of CUDA C++.
        let function = module.function("cuda_kernel").unwrap();
        {
            let stream = device.stream();
            let (mut input, _read) = uploaded.device_ptr(stream);
            let (mut output, _written) = out.device_ptr_mut(stream);
            let mut n = N as u32;
            let mut parameters =
                [(&raw mut input).cast(), (&raw mut output).cast(), (&raw mut n).cast::<std::ffi::c_void>()];
            // SAFETY: the parameters are those of `cuda_kernel`, and the memory is as long as it is told.
            unsafe { result::launch_kernel(function, (8, 1, 1), (128, 1, 1), 0, stream.cu_stream(), &mut parameters) }
                .unwrap();
        }
        same(&device.download(&out).unwrap(), values.iter().map(|value| kernels::step(*value, 5)));

        // The signatures of the image's kernels are still compared with the host's.
        let error = ptx_test_kernels::scalars::echo_i32(1, &mut products).launch(module, grid).unwrap_err();
        assert!(matches!(error, Error::UnknownKernel { .. }), "{error}");
    }

    fn mixed(a: u64, b: u64) -> Mixed {
        Mixed {
            small: a as i8,
            // Sums and products with these are exact, fused or not.
            wide: f64::from((b >> 20) as i32) / 1024.0,
            parts: [(a >> 8) as i16, (a >> 24) as i16, (a >> 40) as i16],
            count: b as u32,
        }
    }
}
