//! Every message of this crate's errors, word for word, and that none is missing here.

use std::path::PathBuf;
use std::time::Duration;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use ptx_device::Dim3;

use crate::error::{Error, Lost};
use crate::grid::GridError;
use crate::pitch::BoxError;
use crate::shape::ShapeError;
use crate::texture_error::TextureError;

/// The variant's name, and what it says.
type Message = (&'static str, String, &'static str);

fn of_errors() -> Vec<Message> {
    let none = || "".into();
    let text = |text: &str| text.to_owned();
    let row = |name, error: Error, expected| (name, error.to_string(), expected);
    vec![
        row(
            "NoDriver",
            Error::NoDriver { library: "libcuda.so.1", path_variable: "LD_LIBRARY_PATH" },
            "no NVIDIA driver was found (libcuda.so.1 cannot be loaded): install the driver, or put the directory of \
             libcuda.so.1 into LD_LIBRARY_PATH",
        ),
        row(
            "NoObject",
            Error::NoObject {
                image: "i",
                device: text("H200"),
                arch: text("sm_90"),
                compiled: text("sm_100"),
                older: "",
            },
            "the device code `i` has nothing for H200 (sm_90): it was compiled for sm_100. Compile it for sm_90, as in \
             `ptx_build::Builder::new().arch(\"sm_90\")`",
        ),
        row(
            "Link",
            Error::Link {
                linker: "nvJitLink",
                target: text("sm_90"),
                reason: text("no `f`"),
                undefined: Box::new([text("f")]),
                log: none(),
                remedy: "",
            },
            "nvJitLink could not link for sm_90: no `f`",
        ),
        row(
            "LinkInput",
            Error::LinkInput { path: PathBuf::from("a.o"), reason: text("it is empty") },
            "cannot link with a.o: it is empty",
        ),
        row(
            "NoNvJitLink",
            Error::NoNvJitLink { library: "libnvJitLink.so", variable: "V" },
            "NVIDIA's nvJitLink was not found (libnvJitLink.so cannot be loaded), and only it links LTO-IR: install the CUDA \
             toolkit, or name the library's file in V; or give code that nvcc made without `-dlto`, which the driver links",
        ),
        row(
            "NotLinked",
            Error::NotLinked { image: "i" },
            "the device code `i` was built to be linked when it is loaded: load it by \
             `device.linker().image(&image).file(…).link()`",
        ),
        row(
            "UnknownStatic",
            Error::UnknownStatic { path: "a::S", image: text("i") },
            "the device code `i` has no static `a::S`: it has those with `#[ptx::global]` or `#[ptx::constant]` that a kernel \
             uses and that stand in a module, not in a function",
        ),
        row(
            "StaticSize",
            Error::StaticSize { path: "a::S", device: 4, host: 8 },
            "the static `a::S` has 4 bytes on the device and 8 in this program. Build the program again: the device code that it \
             embeds is of other sources",
        ),
        row(
            "Signature",
            Error::Signature { name: text("k"), device: text("k()"), host: text("k(u8)"), difference: text("D") },
            "kernel `k` was compiled with other parameters than this program launches it with.\n  device: k()\n  host:   \
             k(u8)\n  D",
        ),
        row(
            "Health",
            Error::Health { device: text("H200"), library: "libnvidia-ml.so.1", reason: text("no") },
            "asking how H200 is failed: no. NVIDIA's management library, libnvidia-ml.so.1, comes with the driver; in a \
             container NVIDIA_DRIVER_CAPABILITIES must contain `utility`",
        ),
        row(
            "Thread",
            Error::Thread { doing: text("waiting"), reason: text("too many") },
            "waiting failed, because a thread cannot be started: too many",
        ),
        row(
            "Stack",
            Error::Stack { kernel: text("k"), bytes: 1 << 19, device: text("H200"), threads: 1 << 18 },
            "kernel `k` needs 524288 bytes of stack a thread, and H200 cannot give so much: it keeps them for 262144 threads, \
             which is 131072 MiB. Keep large arrays in memory that the host allocates, free some memory, or compile with \
             optimisation",
        ),
        row(
            "OutOfMemory",
            Error::OutOfMemory { doing: text("x") },
            "the device has not enough free memory for x: free some, or work in smaller pieces",
        ),
        row(
            "Driver",
            Error::Driver {
                doing: text("x"),
                name: text("N"),
                text: text("t"),
                advice: "A.",
                source: DriverError(CUresult::CUDA_ERROR_UNKNOWN),
            },
            "x failed: t (N). A.",
        ),
        row(
            "OtherPlace",
            Error::OtherPlace {
                param: text("x"),
                kernel: text("k"),
                found: "memory of the CPU",
                remedy: "`upload` it",
            },
            "parameter `x` of kernel `k` was given memory of the CPU: `upload` it",
        ),
        row(
            "Cpu",
            Error::Cpu { kernel: text("k"), reason: "it has a texture" },
            "kernel `k` cannot run on the CPU: it has a texture",
        ),
        row(
            "GraphStep",
            Error::GraphStep { step: "a copy", reason: text("it is too long") },
            "a copy in a graph: it is too long",
        ),
        row(
            "OlderDriver",
            Error::OlderDriver { what: "a `while`", needed: (12, 3), found: (12, 2) },
            "a `while` needs a driver of CUDA 12.3 or later, and this one is of CUDA 12.2: update the driver",
        ),
        row(
            "OtherStream",
            Error::OtherStream { what: text("x") },
            "x is bound to another stream: use it on that one, or call `move_to`",
        ),
        row(
            "CopyLength",
            Error::CopyLength { from: 3, to: 2 },
            "a copy of 3 elements goes to memory of 2: both must have as many",
        ),
        row(
            "Deadline",
            Error::Deadline { limit: Duration::from_secs(1), kernels: Box::new([]), panic: None },
            "the device is not done after 1s, and goes on with its kernels. Nothing ends a kernel that waits for ever but the end \
             of the process",
        ),
    ]
}

fn of_grids() -> Vec<Message> {
    let row = |name, error: GridError, expected| (name, error.to_string(), expected);
    let (block, cluster) = (Dim3::new(64, 32, 1), Dim3::new(4, 2, 1));
    vec![
        row("Zero", GridError::Zero("grid"), "an extent of the grid is 0: every extent must be at least 1"),
        row(
            "Extent",
            GridError::Extent { what: "grid", axis: 'y', extent: 70_000, limit: 65_535 },
            "the grid's y extent is 70000, and this device allows 65535",
        ),
        row(
            "BlockThreads",
            GridError::BlockThreads { block, limit: 1024 },
            "a block of 2048 threads is over this device's limit of 1024",
        ),
        row(
            "KernelThreads",
            GridError::KernelThreads { block, limit: 512, registers: 100 },
            "a block of 2048 threads is over this kernel's limit of 512, which comes from its `launch_bounds` or from the \
             registers that it uses (100 a thread): launch smaller blocks, or give `launch_bounds(2048)`",
        ),
        row(
            "LaunchBounds",
            GridError::LaunchBounds { block, limit: 256 },
            "a block of 2048 threads is over the 256 of this kernel's `launch_bounds`: launch smaller blocks, or give \
             `launch_bounds(2048)`",
        ),
        row(
            "Dimensions",
            GridError::Dimensions(1),
            "this kernel is compiled for launches of at most 1 dimension(s): launch with extents of 1 beyond, or change its \
             `dimensions`",
        ),
        row(
            "Threads",
            GridError::Threads(1 << 32),
            "4294967296 threads in the first dimension, and this kernel's `dimensions` allow fewer than 2^32: launch fewer",
        ),
        row(
            "Newer",
            GridError::Newer { what: "a launch in clusters", capability: (8, 6) },
            "a launch in clusters needs sm_90 or later, and this device is sm_86",
        ),
        row(
            "ClusterParts",
            GridError::ClusterParts { axis: 'x', blocks: 5, cluster: 2 },
            "the grid's x extent of 5 blocks is no multiple of the cluster's 2",
        ),
        row(
            "OtherCluster",
            GridError::OtherCluster { cluster, own: Dim3::new(2, 1, 1) },
            "the launch asks for clusters of 4x2x1, and this kernel's are of 2x1x1: leave out `.cluster(..)`",
        ),
        row(
            "ClusterBound",
            GridError::ClusterBound { cluster, limit: 4 },
            "clusters of 8 blocks are over the 4 of this kernel's `launch_bounds`: launch smaller clusters, or give a higher \
             bound",
        ),
        row(
            "ClusterSize",
            GridError::ClusterSize { cluster, limit: 6 },
            "clusters of 8 blocks are over the limit of 6 that this device has for this kernel with such blocks",
        ),
        row(
            "Cooperative",
            GridError::Cooperative { blocks: 9, limit: 8 },
            "a cooperative launch of 9 blocks is over the 8 that this device runs of this kernel at once: launch fewer, whose \
             threads do more each",
        ),
        row(
            "Priority",
            GridError::Priority { priority: 1, first: -5, last: 0 },
            "the priority 1 is none of this device's, which go from -5, the highest, to 0",
        ),
        row(
            "SharedMemory",
            GridError::SharedMemory { dynamic: 9, fixed: 8, limit: 16 },
            "9 bytes of dynamic shared memory beside the kernel's own 8 are over this device's limit of 16 a block",
        ),
    ]
}

fn of_memory() -> Vec<Message> {
    let text = |text: &str| text.to_owned();
    let of_shape = |name, error: ShapeError, expected| (name, error.to_string(), expected);
    let of_box = |name, error: BoxError, expected| (name, error.to_string(), expected);
    vec![
        of_shape(
            "TooLarge",
            ShapeError::TooLarge { shape: text("8 by 8"), needed: 64, len: 63 },
            "a shape of 8 by 8 has 64 elements, and the memory has 63",
        ),
        of_shape(
            "Extent",
            ShapeError::Extent { shape: text("8 by 8"), extent: 8, limit: 7 },
            "an extent of 8 is over the limit of 7 for a shape of 8 by 8",
        ),
        of_shape("Stride", ShapeError::Stride(3), "a stride is a power of two, and 3 is none"),
        of_box("Row", BoxError::Row { width: 5, pitch: 4 }, "rows of 5 elements are wider than the pitch of 4"),
        of_box(
            "Layer",
            BoxError::Layer { height: 5, rows: 4 },
            "layers of 5 rows are higher than the 4 of a layer in memory",
        ),
        of_box(
            "NoLayers",
            BoxError::NoLayers(2),
            "the box has 2 layers, and nothing says how many rows a layer has: `Pitch::layers`",
        ),
        of_box(
            "TooLarge",
            BoxError::TooLarge { needed: 20, len: 19 },
            "the last element is number 20, and the memory has 19",
        ),
    ]
}

fn of_textures() -> Vec<Message> {
    let text = |text: &str| text.to_owned();
    let row = |name, error: TextureError, expected| (name, error.to_string(), expected);
    vec![
        row(
            "Extent",
            TextureError::Extent { what: "an array", extents: text("0 × 4"), axis: "width", extent: 0, limit: 9 },
            "an array of 0 × 4 has width 0, and this device takes from 1 to 9",
        ),
        row(
            "Len",
            TextureError::Len { what: "an array", extents: text("2 × 4"), needed: 8, found: 7 },
            "an array of 2 × 4 has 8 elements, and the data has 7",
        ),
        row(
            "Levels",
            TextureError::Levels { extents: text("2 × 4"), levels: 4, limit: 3 },
            "2 × 4 can have from 1 to 3 mipmap levels, each half as large as that before, and not 4",
        ),
        row("Level", TextureError::Level { level: 3, last: 2 }, "there is no mipmap level 3: the last is 2"),
        row(
            "FilterOfIntegers",
            TextureError::FilterOfIntegers,
            "integers cannot be filtered: take `Filter::Nearest`, or, of 8 and 16 bits, `normalized_texture`, which reads them as \
             floats",
        ),
        row(
            "AddressUnnormalized",
            TextureError::AddressUnnormalized { mode: "Wrap" },
            "`Address::Wrap` needs normalised coordinates: `.normalized()` makes them run from 0 to 1",
        ),
        row(
            "MipmapsUnnormalized",
            TextureError::MipmapsUnnormalized,
            "a mipmapped texture needs normalised coordinates, since its levels differ in size: `.normalized()`",
        ),
        row(
            "Srgb",
            TextureError::Srgb,
            "sRGB is for four `u8` that are read as floats: `Array2d<[u8; 4]>` and `normalized_texture`",
        ),
        row("Anisotropy", TextureError::Anisotropy(17), "anisotropy is from 1 to 16, and not 17"),
        row(
            "SurfaceLimit",
            TextureError::SurfaceLimit { extents: text("2 × 4") },
            "an array of 2 × 4 is larger than this device's surfaces may be",
        ),
        row(
            "Alignment",
            TextureError::Alignment { alignment: 512, offset: 4 },
            "a texture of linear memory begins at a multiple of 512 bytes, and this one at 4 behind one: bind the whole \
             `CudaSlice`, or a view that begins at such a multiple",
        ),
        row("CpuMemory", TextureError::CpuMemory, "a texture cannot read memory of the CPU: `upload` it to the device"),
        row(
            "Pitch",
            TextureError::Pitch { width: 5, pitch: 4, alignment: 32 },
            "rows of 5 elements cannot be 4 elements apart: a pitch is at least the width, and a multiple of 32 bytes; \
             `ptx::texture::pitch` gives the least",
        ),
    ]
}

fn of_losses() -> Vec<Message> {
    let row = |name, error: Lost, expected| (name, error.to_string(), expected);
    vec![
        row(
            "Assertion",
            Lost::Assertion,
            "an assertion failed (CUDA_ERROR_ASSERT); the driver printed it, with file and line, above",
        ),
        row(
            "IllegalAddress",
            Lost::IllegalAddress,
            "it used an address that is not mapped (CUDA_ERROR_ILLEGAL_ADDRESS)",
        ),
        row(
            "MisalignedAddress",
            Lost::MisalignedAddress,
            "it used a misaligned address (CUDA_ERROR_MISALIGNED_ADDRESS)",
        ),
        row(
            "Timeout",
            Lost::Timeout,
            "it ran longer than the driver allows on a device with a display (CUDA_ERROR_LAUNCH_TIMEOUT)",
        ),
        row(
            "Instruction",
            Lost::Instruction("N"),
            "it came to a trap, as a panic is in device code built with `panic = \"trap\"`, or to an illegal instruction (N)",
        ),
        row("Other", Lost::Other("N"), "the hardware reported N"),
    ]
}

/// Messages that tests elsewhere bring about and read, and the files of these.
const BROUGHT_ABOUT: [(&str, &[&str]); 3] = [
    (
        "../ptx/tests/driver/refusals.rs",
        &[
            "NoDevice",
            "UnknownDevice",
            "UnknownKernel",
            "Signature",
            "Grid",
            "NoElement",
            "Shape",
            "OtherDevice",
            "Box",
        ],
    ),
    ("../ptx/tests/driver/errors.rs", &["Load", "ContextLost"]),
    ("../ptx/tests/driver/graphs.rs", &["Graph"]),
];

/// Those that only hand on what they contain: tests in their own files read them.
const TRANSPARENT: [&str; 2] = ["Texture", "Panic"];

#[test]
fn every_message_says_this() {
    for (name, text, expected) in [of_errors(), of_grids(), of_memory(), of_textures(), of_losses()].concat() {
        assert_eq!(text, expected, "{name}");
    }
}

#[test]
fn no_message_is_missing_here() {
    let sources = [
        (include_str!("error.rs"), [of_errors(), of_losses()].concat()),
        (include_str!("grid.rs"), of_grids()),
        (include_str!("shape.rs"), of_memory()),
        (include_str!("pitch.rs"), of_memory()),
        (include_str!("texture_error.rs"), of_textures()),
    ];
    let elsewhere = BROUGHT_ABOUT.iter().flat_map(|(file, names)| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
        let test = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        names.iter().copied().filter(move |name| test.contains(&format!("Error::{name} ")))
    });
    let elsewhere: Vec<&str> = elsewhere.chain(TRANSPARENT).collect();
    for (source, read) in sources {
        let code = source.split("#[cfg(test)]").next().unwrap_or(source);
        // The variant's name stands in the first line after the attribute and the documentation that is no part of them.
        let variants: Vec<_> = code.split("#[error(").skip(1).filter_map(name_after).collect();
        assert!(variants.len() > 2, "{variants:?}");
        for variant in variants {
            let is_read = read.iter().any(|(name, ..)| *name == variant);
            assert!(is_read || elsewhere.contains(&variant), "no test reads the message of `{variant}`");
        }
    }
}

/// The name of the variant that such an attribute is followed by.
fn name_after(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(")]\n")?;
    let line = rest.lines().map(str::trim).find(|line| !line.starts_with("///") && !line.starts_with("#["))?;
    line.split(|c: char| !c.is_alphanumeric()).next()
}
