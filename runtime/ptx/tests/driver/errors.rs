//! What each of the driver's errors says: what was done, with which kernel and grid, what it means, and what to do.

use ptx::cudarc::driver::sys::CUresult::{self, *};
use ptx::prelude::*;
use ptx::{Error, Lost};

use crate::driver::{device, driver, module_of};
use crate::launches::saxpy;

/// Errors of a launch that cost the launch only, and a part of what is said.
const REFUSED: &[(CUresult, &str)] = &[
    (CUDA_ERROR_INVALID_VALUE, "an argument that it does not take"),
    (CUDA_ERROR_NOT_INITIALIZED, "Open a `Device`"),
    (CUDA_ERROR_DEINITIALIZED, "before `main` returns"),
    (CUDA_ERROR_STUB_LIBRARY, "LD_LIBRARY_PATH"),
    (CUDA_ERROR_DEVICE_UNAVAILABLE, "nvidia-smi -c DEFAULT"),
    (CUDA_ERROR_INVALID_DEVICE, "Device::count"),
    (CUDA_ERROR_INVALID_IMAGE, "neither PTX nor a cubin"),
    (CUDA_ERROR_INVALID_CONTEXT, "keep the `Device` alive"),
    (CUDA_ERROR_NO_BINARY_FOR_GPU, "Compile for this GPU's arch"),
    (CUDA_ERROR_UNSUPPORTED_LIMIT, "does not have that limit"),
    (CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "topo -p2p"),
    (CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "once for each pair"),
    (CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "Enable access"),
    (CUDA_ERROR_INVALID_PTX, "`ptxas` on the PTX"),
    (CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Update the driver"),
    (CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "machine code is embedded"),
    (CUDA_ERROR_OPERATING_SYSTEM, "ulimit -a"),
    (CUDA_ERROR_INVALID_HANDLE, "of another device"),
    (CUDA_ERROR_NOT_FOUND, "not in the loaded code"),
    (CUDA_ERROR_NOT_READY, "Wait for it"),
    (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "launch smaller blocks"),
    (CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "once"),
    (CUDA_ERROR_NOT_PERMITTED, "host callback"),
    (CUDA_ERROR_NOT_SUPPORTED, "does not have it"),
    (CUDA_ERROR_SYSTEM_NOT_READY, "nvidia-fabricmanager"),
    (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "reboot after an update"),
    (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "cuda-compat"),
    (CUDA_ERROR_MPS_CONNECTION_FAILED, "CUDA_MPS_LOG_DIRECTORY"),
    (CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "run fewer processes"),
    (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "While a stream is captured"),
    (CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "broke the capture"),
    (CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "before the capture"),
    (CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "Have the first stream wait"),
    (CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "in the thread that began it"),
    (CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "make it anew"),
    (CUDA_ERROR_INVALID_CLUSTER_SIZE, "cluster is too large"),
    (CUDA_ERROR_UNKNOWN, "dmesg"),
];

/// Errors that cost the context, what is said of them, and what to do.
const LOST: &[(CUresult, &str, &str)] = &[
    (CUDA_ERROR_ASSERT, "an assertion failed", "Mend what the message says"),
    (CUDA_ERROR_ILLEGAL_ADDRESS, "an address that is not mapped", "compute-sanitizer"),
    (CUDA_ERROR_MISALIGNED_ADDRESS, "a misaligned address", "compute-sanitizer"),
    (CUDA_ERROR_LAUNCH_TIMEOUT, "longer than the driver allows", "Do less in one launch"),
    (CUDA_ERROR_ILLEGAL_INSTRUCTION, "a trap", "CUDA_ENABLE_COREDUMP_ON_EXCEPTION"),
    (CUDA_ERROR_LAUNCH_FAILED, "a trap", "cuda-gdb"),
    (CUDA_ERROR_HARDWARE_STACK_ERROR, "CUDA_ERROR_HARDWARE_STACK_ERROR", "Xid"),
    (CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "Xid"),
    (CUDA_ERROR_NVLINK_UNCORRECTABLE, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "Xid"),
    (CUDA_ERROR_INVALID_ADDRESS_SPACE, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "compute-sanitizer"),
    (CUDA_ERROR_INVALID_PC, "CUDA_ERROR_INVALID_PC", "cuda-gdb"),
    (CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "open it again"),
    (CUDA_ERROR_MPS_CLIENT_TERMINATED, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "multi-process service"),
];

#[test]
fn a_refused_launch_says_which_and_what_to_do() {
    let driver = driver();
    let device = device(&driver);
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let mut y = device.zeroed::<f32>(32).unwrap();
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    for (code, part) in REFUSED {
        driver.fail("cuLaunchKernel", *code as i32);
        let error = saxpy(1.0, &x, &mut y).launch(&module, Grid::new(2, 32)).unwrap_err();
        let text = error.to_string();
        let doing = "launching kernel `saxpy` as 2x1x1 blocks of 32x1x1 threads failed: ";
        assert!(text.starts_with(doing) && text.contains(&format!("{code:?}")) && text.contains(part), "{text}");
        let Error::Driver { source, .. } = error else { panic!("{code:?}: {error}") };
        assert_eq!(source.0, *code);
        // The next launch is as good as ever.
        saxpy(1.0, &x, &mut y).launch(&module, Grid::new(2, 32)).unwrap();
    }
    driver.fail("cuLaunchKernel", CUDA_ERROR_OUT_OF_MEMORY as i32);
    let text = saxpy(1.0, &x, &mut y).launch(&module, Grid::new(2, 32)).unwrap_err().to_string();
    assert!(text.contains("free memory for launching kernel `saxpy` as 2x1x1 blocks"), "{text}");
}

#[test]
fn a_lost_context_says_which_kernels_and_that_it_is_lost() {
    let driver = driver();
    for (code, reason, remedy) in LOST {
        {
            let device = device(&driver);
            let x = device.upload(&[1.0_f32; 32]).unwrap();
            let mut y = device.zeroed::<f32>(32).unwrap();
            let module = module_of(&device, &saxpy(1.0, &x, &mut y));
            saxpy(1.0, &x, &mut y).launch(&module, Grid::new(2, 32)).unwrap();
            driver.lose(*code as u32);
            for _ in 0..2 {
                let error = device.synchronize().unwrap_err();
                assert!(matches!(error, Error::ContextLost { .. }), "{code:?}: {error}");
                let text = error.to_string();
                for part in [
                    reason,
                    remedy,
                    "It was kernel `saxpy`, launched as 2x1x1 blocks of 32x1x1 threads.",
                    "The CUDA context is lost: every later call on this device fails with the same error",
                ] {
                    assert!(text.contains(part), "`{part}` is not in: {text}");
                }
            }
            // The next launch says it, too, and no drop panics.
            let error = saxpy(1.0, &x, &mut y).launch(&module, Grid::new(2, 32)).unwrap_err();
            assert!(matches!(error, Error::ContextLost { .. }), "{code:?}: {error}");
        }
        driver.lose(0);
    }
    let error = Error::ContextLost { reason: Lost::IllegalAddress, launches: Box::new([]), remedy: "" };
    assert!(!error.to_string().contains("It was"), "{error}");
}

/// Each call of the host's side, failing in the driver, says what it was doing.
#[test]
fn each_call_says_what_it_was_doing() {
    let driver = driver();
    let device = device(&driver);
    let x = device.upload(&[1.0_f32; 32]).unwrap();
    let mut y = device.zeroed::<f32>(32).unwrap();
    let module = module_of(&device, &saxpy(1.0, &x, &mut y));
    type Call<'a> = Box<dyn FnMut() -> ptx::Result<()> + 'a>;
    let calls: [(&str, &str, Call<'_>); 9] = [
        (
            "cuMemAllocAsync",
            "copying 128 bytes to the device failed",
            Box::new(|| device.upload(&[1.0_f32; 32]).map(drop)),
        ),
        ("cuMemsetD8Async", "making 8 zero bytes on the device failed", Box::new(|| device.zeroed::<u64>(1).map(drop))),
        (
            "cuMemcpyDtoHAsync_v2",
            "copying 128 bytes from the device failed",
            Box::new(|| device.download(&x).map(drop)),
        ),
        ("cuCtxSynchronize", "waiting for the device failed", Box::new(|| device.synchronize())),
        ("cuStreamCreate", "making a stream failed", Box::new(|| device.new_stream().map(drop))),
        (
            "cuCtxSetLimit",
            "setting the size of the device's heap to 64 bytes failed",
            Box::new(|| device.set_heap_size(64)),
        ),
        ("cuCtxGetLimit", "asking for the stack's size failed", Box::new(|| device.stack_size().map(drop))),
        (
            "cuModuleGetFunction",
            "looking for kernel `other` in the loaded code failed",
            Box::new(|| module.function("other").map(drop)),
        ),
        (
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            "asking how many blocks of kernel `saxpy` run at once failed",
            Box::new(|| module.resident_blocks("saxpy", 32, 0).map(drop)),
        ),
    ];
    for (name, doing, mut call) in calls {
        driver.fail(name, CUDA_ERROR_INVALID_VALUE as i32);
        let text = call().unwrap_err().to_string();
        assert!(text.starts_with(doing) && text.contains("check lengths"), "{name}: {text}");
        call().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_load_that_fails_says_why() {
    let driver = driver();
    let device = device(&driver);
    let mut y = device.zeroed::<f32>(32).unwrap();
    let x = device.zeroed::<f32>(32).unwrap();
    driver.fail("cuModuleLoadDataEx", CUDA_ERROR_UNSUPPORTED_PTX_VERSION as i32);
    let launch = saxpy(1.0, &x, &mut y);
    let error = crate::driver::load(&device, &launch).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Load { .. }) && text.contains("`test` (cubin for sm_90)"), "{text}");
    assert!(text.contains("Fake GPU") && text.contains("update it"), "{text}");
    drop(launch);
}
