//! What to do about each of the driver's errors.

use cudarc::driver::sys::CUresult::{self, *};

/// What a program's author can do about an error, in a sentence.
pub(crate) fn advice(code: CUresult) -> &'static str {
    match code {
        CUDA_SUCCESS => "It is no error.",
        CUDA_ERROR_INVALID_VALUE => {
            "The driver got an argument that it does not take: check lengths, ranges and handles given to cudarc's `sys`."
        }
        CUDA_ERROR_OUT_OF_MEMORY => {
            "Free some memory, or work in smaller pieces; `nvidia-smi` shows who else has some."
        }
        CUDA_ERROR_NOT_INITIALIZED => "Open a `Device` before you call the driver yourself.",
        CUDA_ERROR_DEINITIALIZED => {
            "The program ends, and the driver is shut down: drop devices and memory before `main` returns, not in statics."
        }
        CUDA_ERROR_PROFILER_DISABLED
        | CUDA_ERROR_PROFILER_NOT_INITIALIZED
        | CUDA_ERROR_PROFILER_ALREADY_STARTED
        | CUDA_ERROR_PROFILER_ALREADY_STOPPED => "Run it under `nsys` or `ncu`, which start and stop the profiler.",
        CUDA_ERROR_STUB_LIBRARY => {
            "The library that was loaded is the toolkit's stub: take its folder `stubs` out of LD_LIBRARY_PATH."
        }
        CUDA_ERROR_DEVICE_UNAVAILABLE => {
            "Another process has the device to itself: wait for it, or set the compute mode by `nvidia-smi -c DEFAULT`."
        }
        CUDA_ERROR_NO_DEVICE => "Check `nvidia-smi` and the variable CUDA_VISIBLE_DEVICES.",
        CUDA_ERROR_INVALID_DEVICE => "Ask `Device::count` for the number of devices, and count from 0.",
        CUDA_ERROR_DEVICE_NOT_LICENSED => "The virtual GPU has no licence: ask who runs the machine.",
        CUDA_ERROR_INVALID_IMAGE | CUDA_ERROR_INVALID_SOURCE => {
            "What was loaded is neither PTX nor a cubin: build the program again, or check the file."
        }
        CUDA_ERROR_INVALID_CONTEXT => {
            "The thread's context is gone or another one: keep the `Device` alive while its memory is used, and reset no device."
        }
        CUDA_ERROR_CONTEXT_ALREADY_CURRENT | CUDA_ERROR_CONTEXT_ALREADY_IN_USE => "Use one `Device` in all threads.",
        CUDA_ERROR_MAP_FAILED
        | CUDA_ERROR_UNMAP_FAILED
        | CUDA_ERROR_ARRAY_IS_MAPPED
        | CUDA_ERROR_ALREADY_MAPPED
        | CUDA_ERROR_ALREADY_ACQUIRED
        | CUDA_ERROR_NOT_MAPPED
        | CUDA_ERROR_NOT_MAPPED_AS_ARRAY
        | CUDA_ERROR_NOT_MAPPED_AS_POINTER
        | CUDA_ERROR_INVALID_GRAPHICS_CONTEXT => {
            "A resource that a graphics library shares must be mapped before it is used, and once."
        }
        CUDA_ERROR_NO_BINARY_FOR_GPU => "Compile for this GPU's arch, or an older one with PTX.",
        CUDA_ERROR_ECC_UNCORRECTABLE | CUDA_ERROR_NVLINK_UNCORRECTABLE | CUDA_ERROR_HARDWARE_STACK_ERROR => {
            "`dmesg` (Xid) and `nvidia-smi -q` say what broke; the device may have to be reset or replaced."
        }
        CUDA_ERROR_UNSUPPORTED_LIMIT => "This device does not have that limit.",
        CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => {
            "The devices cannot reach each other's memory (`nvidia-smi topo -p2p r`): copy through the host."
        }
        CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => "Enable access once for each pair of devices.",
        CUDA_ERROR_PEER_ACCESS_NOT_ENABLED => "Enable access of one device to the other's memory first.",
        CUDA_ERROR_TOO_MANY_PEERS => "A device has access to at most eight others without NVSwitch.",
        CUDA_ERROR_INVALID_PTX => "`ptxas` on the PTX shows the errors.",
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "Update the driver, or build where ptxas is found, so that machine code is embedded."
        }
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND | CUDA_ERROR_JIT_COMPILATION_DISABLED => {
            "Build where ptxas is found, so that machine code is embedded."
        }
        CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY => "This device has no such affinity.",
        CUDA_ERROR_FILE_NOT_FOUND => "Check the path.",
        CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND | CUDA_ERROR_SHARED_OBJECT_INIT_FAILED => {
            "A library of the driver is missing or of another version: install the driver again."
        }
        CUDA_ERROR_OPERATING_SYSTEM => "The system refused it: check `ulimit -a`, the container's rights and `dmesg`.",
        CUDA_ERROR_INVALID_HANDLE => {
            "A stream, event, graph or kernel is gone or of another device: use each with the `Device` that made it, while that lives."
        }
        CUDA_ERROR_ILLEGAL_STATE => "It is not allowed in the state that the object is in.",
        CUDA_ERROR_LOSSY_QUERY => "The answer would lack something that this call has no words for.",
        CUDA_ERROR_NOT_FOUND => "The name is not in the loaded code: `cuobjdump -symbols` lists what is.",
        CUDA_ERROR_NOT_READY => "Wait for it first.",
        CUDA_ERROR_ILLEGAL_ADDRESS | CUDA_ERROR_MISALIGNED_ADDRESS | CUDA_ERROR_INVALID_ADDRESS_SPACE => {
            "`compute-sanitizer PROGRAM` names the kernel, the thread and the line; look at its `unsafe` code first."
        }
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "The block needs more registers or shared memory than a multiprocessor has: launch smaller blocks, or give \
             `launch_bounds` or `max_registers`."
        }
        CUDA_ERROR_LAUNCH_TIMEOUT => "Do less in one launch.",
        CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING => "The texture does not have the mode that the kernel reads it with.",
        CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE => "Set flags before the device is opened.",
        CUDA_ERROR_CONTEXT_IS_DESTROYED => "Somebody reset the device or destroyed its context: open it again.",
        CUDA_ERROR_ASSERT => "Mend what the message says.",
        CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED => "Register host memory once.",
        CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED => "Register host memory before you unregister it.",
        CUDA_ERROR_ILLEGAL_INSTRUCTION | CUDA_ERROR_INVALID_PC | CUDA_ERROR_LAUNCH_FAILED => {
            "`compute-sanitizer PROGRAM` or `cuda-gdb PROGRAM` shows the place."
        }
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => {
            "Not all blocks of a cooperative launch can run at once: `Module::resident_blocks` says how many can."
        }
        CUDA_ERROR_NOT_PERMITTED => {
            "It is not allowed here: in a host callback nothing of CUDA can be called, and a captured stream takes no such call."
        }
        CUDA_ERROR_NOT_SUPPORTED => "This device or driver does not have it.",
        CUDA_ERROR_SYSTEM_NOT_READY => {
            "The system is still starting: is `nvidia-fabricmanager` or `nvidia-persistenced` running?"
        }
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            "The kernel module and libcuda are of different versions: reboot after an update, or mount the host's libcuda into the \
             container."
        }
        CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => {
            "The package cuda-compat is not for this GPU: take it out of LD_LIBRARY_PATH."
        }
        CUDA_ERROR_MPS_CONNECTION_FAILED
        | CUDA_ERROR_MPS_RPC_FAILURE
        | CUDA_ERROR_MPS_SERVER_NOT_READY
        | CUDA_ERROR_MPS_CLIENT_TERMINATED => {
            "The multi-process service does not answer: its log is in CUDA_MPS_LOG_DIRECTORY; start it again."
        }
        CUDA_ERROR_MPS_MAX_CLIENTS_REACHED | CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED => {
            "The multi-process service has as many clients as it takes: run fewer processes, or lower \
             CUDA_DEVICE_MAX_CONNECTIONS."
        }
        CUDA_ERROR_CDP_NOT_SUPPORTED | CUDA_ERROR_CDP_VERSION_MISMATCH | CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC => {
            "The code launches kernels from kernels, and was linked with another version of the device's runtime."
        }
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED | CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
            "While a stream is captured, nothing may wait for the device, allocate without a stream, or use the default stream: \
             do it before."
        }
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED => {
            "Another call broke the capture: the error before this one says which."
        }
        CUDA_ERROR_STREAM_CAPTURE_MERGE | CUDA_ERROR_STREAM_CAPTURE_ISOLATION | CUDA_ERROR_CAPTURED_EVENT => {
            "What is captured waits for work outside, or work outside for it: have all memory ready before the capture, or add the \
             kernels to a `Graph` by hand."
        }
        CUDA_ERROR_STREAM_CAPTURE_UNMATCHED => "The capture must end on the stream that it began on.",
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED => {
            "Have the first stream wait for the other captured streams before the capture ends."
        }
        CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD => "End the capture in the thread that began it.",
        CUDA_ERROR_TIMEOUT => "It took longer than the caller allowed.",
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE => "The graph has another shape now: make it anew.",
        CUDA_ERROR_EXTERNAL_DEVICE => "A device beside the GPU failed; its own log says why.",
        CUDA_ERROR_INVALID_CLUSTER_SIZE => "The cluster is too large for this kernel on this device.",
        CUDA_ERROR_FUNCTION_NOT_LOADED => {
            "The kernel is loaded at its first use, and is not yet: launch it once before."
        }
        CUDA_ERROR_INVALID_RESOURCE_TYPE | CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION => {
            "The partition of the device that was asked for does not exist."
        }
        CUDA_ERROR_UNKNOWN => "`dmesg` may say more (Xid); try another driver, and `compute-sanitizer PROGRAM`.",
    }
}
