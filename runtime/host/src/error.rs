//! Everything that can go wrong on the host, each with what to do about it.

use std::fmt;

use ptx_device::Dim3;

use crate::grid::{Grid, GridError};
use crate::pitch::BoxError;
use crate::shape::ShapeError;
use crate::texture_error::TextureError;

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong on the host; each message says what to do about it.
///
/// `{:?}` is the same text as `{}`, so that `fn main() -> ptx::Result<()>` and `unwrap` show it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library was not found.
    #[error(
        "no NVIDIA driver was found ({library} cannot be loaded): install the driver, or put the directory of \
         {library} into {path_variable}"
    )]
    NoDriver {
        /// Its file name.
        library: &'static str,
        /// The environment variable with the directories that are searched.
        path_variable: &'static str,
    },
    /// The driver is there, but it sees no device.
    #[error(
        "the NVIDIA driver is installed but sees no CUDA device ({reason}): check `nvidia-smi` and the environment \
         variable CUDA_VISIBLE_DEVICES"
    )]
    NoDevice {
        /// The driver's own message.
        reason: String,
    },
    /// There is no device with this number.
    #[error("there is no CUDA device {ordinal}: this machine has {count}, numbered from 0")]
    UnknownDevice {
        /// The number that was asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },
    /// Nothing in the image runs on the device.
    #[error(
        "the device code `{image}` has nothing for {device} ({arch}): it was compiled for {compiled}. Compile it for \
         {arch}{older}, as in `ptx_build::Builder::new().arch(\"{arch}\")`"
    )]
    NoObject {
        /// The name of the image.
        image: &'static str,
        /// The device's name.
        device: String,
        /// The device's architecture.
        arch: String,
        /// The architectures that the image has code for.
        compiled: String,
        /// What else would help, for older GPUs; may be empty.
        older: &'static str,
    },
    /// The driver refused the code.
    #[error("the driver refused the device code {object} on {device}: {reason}{log}{remedy}")]
    Load {
        /// The object that was refused, as a path or a description.
        object: String,
        /// The device's name.
        device: String,
        /// The driver's description.
        reason: String,
        /// The just-in-time compiler's log, on lines of its own; may be empty.
        log: Box<str>,
        /// What to do, on a line of its own; may be empty.
        remedy: String,
    },
    /// Device code could not be linked.
    #[error("{linker} could not link for {target}: {reason}{log}{remedy}")]
    Link {
        /// The linker that failed.
        linker: &'static str,
        /// The device's name, or the arch.
        target: String,
        /// Why not.
        reason: String,
        /// The symbols that nothing defines, if that is why.
        undefined: Box<[String]>,
        /// The linker's log, on lines of its own; may be empty.
        log: Box<str>,
        /// What to do, on a line of its own; may be empty.
        remedy: &'static str,
    },
    /// A file cannot be linked with.
    #[error("cannot link with {}: {reason}", path.display())]
    LinkInput {
        /// The file that cannot be linked with.
        path: std::path::PathBuf,
        /// Why not.
        reason: String,
    },
    /// The library nvJitLink was not found.
    #[error(
        "NVIDIA's nvJitLink was not found ({library} cannot be loaded), and only it links LTO-IR: install the CUDA toolkit, \
         or name the library's file in {variable}; or give code that nvcc made without `-dlto`, which the driver links"
    )]
    NoNvJitLink {
        /// Its file name.
        library: &'static str,
        /// The variable that names its file.
        variable: &'static str,
    },
    /// The image must be linked before it is loaded.
    #[error(
        "the device code `{image}` was built to be linked when it is loaded: load it by \
         `device.linker().image(&image).file(…).link()`"
    )]
    NotLinked {
        /// The name of the image.
        image: &'static str,
    },
    /// The image has no such kernel.
    #[error(
        "the device code `{image}` has no kernel `{name}` ({known}): is it `image!(\"…\")` of the crate that has it?"
    )]
    UnknownKernel {
        /// The kernel's name.
        name: String,
        /// The name of the image.
        image: String,
        /// The kernels that the image has.
        known: String,
    },
    /// The image has no such static.
    #[error(
        "the device code `{image}` has no static `{path}`: it has those with `#[ptx::global]` or `#[ptx::constant]` that a \
         kernel uses and that stand in a module, not in a function"
    )]
    UnknownStatic {
        /// The static's path.
        path: &'static str,
        /// The name of the image.
        image: String,
    },
    /// The static has another size in the device code.
    #[error(
        "the static `{path}` has {device} bytes on the device and {host} in this program. Build the program again: the device \
         code that it embeds is of other sources"
    )]
    StaticSize {
        /// The static's path.
        path: &'static str,
        /// Its bytes in the device code.
        device: usize,
        /// Its bytes in this program.
        host: usize,
    },
    /// The kernel was compiled with other parameters than those the host knows.
    #[error(
        "kernel `{name}` was compiled with other parameters than this program launches it with.\n  device: {device}\n  \
         host:   {host}\n  {difference}"
    )]
    Signature {
        /// The kernel's name.
        name: String,
        /// The signature of the device's code.
        device: String,
        /// The signature that the host knows.
        host: String,
        /// What differs, and what to do.
        difference: String,
    },
    /// The grid does not fit the device or the kernel.
    #[error("kernel `{kernel}` cannot be launched as {grid}: {reason}")]
    Grid {
        /// The kernel's name.
        kernel: String,
        /// The grid that was asked for.
        grid: Grid,
        /// Why not.
        reason: GridError,
    },
    /// Memory, a stream or a module belongs to another device.
    #[error(
        "{what} belongs to a context of device {found}, and this is one of device {expected}: load, upload, launch and \
         download with the same `Device`"
    )]
    OtherDevice {
        /// The argument, the stream or the module.
        what: String,
        /// The number of the device that it is on.
        found: usize,
        /// The number of the device that it should be on.
        expected: usize,
    },
    /// Memory of the CPU was given to a GPU, or the other way round.
    #[error("parameter `{param}` of kernel `{kernel}` was given {found}: {remedy}")]
    OtherPlace {
        /// The parameter's name.
        param: String,
        /// The kernel's name.
        kernel: String,
        /// Whose memory it is.
        found: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A kernel cannot run on the CPU.
    #[error("kernel `{kernel}` cannot run on the CPU: {reason}")]
    Cpu {
        /// The kernel's name.
        kernel: String,
        /// Why not.
        reason: &'static str,
    },
    /// A launch cannot be part of a graph, or not be changed so.
    #[error("kernel `{kernel}` of a graph: {reason}")]
    Graph {
        /// The kernel's name.
        kernel: String,
        /// Why not.
        reason: &'static str,
    },
    /// A step of a graph that is no launch is not possible so.
    #[error("{step} in a graph: {reason}")]
    GraphStep {
        /// What it is.
        step: &'static str,
        /// Why not.
        reason: String,
    },
    /// Memory that one stream uses was to be used on another.
    #[error("{what} is bound to another stream: use it on that one, or call `move_to`")]
    OtherStream {
        /// The memory, and where it was to be used.
        what: String,
    },
    /// The two sides of a copy have not as many elements.
    #[error("a copy of {from} elements goes to memory of {to}: both must have as many")]
    CopyLength {
        /// Elements of what is copied.
        from: usize,
        /// Elements of where it goes.
        to: usize,
    },
    /// The driver is older than what is asked for.
    #[error(
        "{what} needs a driver of CUDA {}.{} or later, and this one is of CUDA {}.{}: update the driver",
        needed.0, needed.1, found.0, found.1
    )]
    OlderDriver {
        /// What needs it.
        what: &'static str,
        /// The first version of CUDA that has it.
        needed: (u32, u32),
        /// The version of CUDA that the driver is of.
        found: (u32, u32),
    },
    /// A `&T` parameter was given no element.
    #[error("parameter `{param}` of kernel `{kernel}` is a reference, and was given memory without elements")]
    NoElement {
        /// The parameter's name.
        param: String,
        /// The kernel's name.
        kernel: String,
    },
    /// The shape of an argument does not fit its memory or its parameter.
    #[error("parameter `{param}` of kernel `{kernel}`: {reason}")]
    Shape {
        /// The parameter's name.
        param: String,
        /// The kernel's name.
        kernel: String,
        /// Why not.
        reason: ShapeError,
    },
    /// A box of elements is not one of the memory that it is copied from or to.
    #[error("the box to copy {side} does not lie in its memory: {reason}")]
    Box {
        /// `from` or `to`.
        side: &'static str,
        /// Why not.
        reason: BoxError,
    },
    /// An array, a texture or a surface cannot be made so.
    #[error(transparent)]
    Texture(#[from] TextureError),
    /// A kernel panicked. Whether the context lived on is in [`Panic::context_lost`]; if not, every later call in this
    /// process fails with the same error.
    #[error("{}\n{}", .0, .0.afterwards())]
    Panic(Box<Panic>),
    /// The device was not done in time.
    #[error(
        "the device is not done after {limit:?}, and goes on with {}{}. Nothing ends a kernel that waits for ever but the \
         end of the process",
        of_kernels(kernels), cause(panic.as_deref())
    )]
    Deadline {
        /// How long the wait was allowed to take.
        limit: std::time::Duration,
        /// The kernels that were launched since the last wait for all; none if that is not known.
        kernels: Box<[String]>,
        /// The panic of a thread that others may wait for.
        panic: Option<Box<Panic>>,
    },
    /// NVIDIA's management library does not say how a device is.
    #[error(
        "asking how {device} is failed: {reason}. NVIDIA's management library, {library}, comes with the driver; in a container \
         NVIDIA_DRIVER_CAPABILITIES must contain `utility`"
    )]
    Health {
        /// The device's name.
        device: String,
        /// The library's file name.
        library: &'static str,
        /// The library's reason.
        reason: String,
    },
    /// The system gave no thread.
    #[error("{doing} failed, because a thread cannot be started: {reason}")]
    Thread {
        /// What the program was doing.
        doing: String,
        /// The system's reason.
        reason: String,
    },
    /// A kernel failed, and took the context with it.
    #[error(
        "a kernel failed: {reason}.{} The CUDA context is lost: every later call on this device fails with the same error, \
         and only a new process gets the device back. {remedy}",
        of_launches(launches)
    )]
    ContextLost {
        /// The kind of failure.
        reason: Lost,
        /// The kernels that were launched since the last wait for all, each with the grid of its last launch: it was one of
        /// these. None if that is not known.
        launches: Box<[String]>,
        /// How to find the place of the failure.
        remedy: &'static str,
    },
    /// The device has not enough memory for the stack that a kernel needs.
    #[error(
        "kernel `{kernel}` needs {bytes} bytes of stack a thread, and {device} cannot give so much: it keeps them for \
         {threads} threads, which is {} MiB. Keep large arrays in memory that the host allocates, free some memory, or \
         compile with optimisation",
        (bytes * threads) >> 20
    )]
    Stack {
        /// The kernel's name.
        kernel: String,
        /// Bytes a thread.
        bytes: u64,
        /// The device's name.
        device: String,
        /// How many threads the device can run at once.
        threads: u64,
    },
    /// The device does not have enough free memory.
    #[error("the device has not enough free memory for {doing}: free some, or work in smaller pieces")]
    OutOfMemory {
        /// What needed the memory.
        doing: String,
    },
    /// Another error of the driver.
    #[error("{doing} failed: {text} ({name}). {advice}")]
    Driver {
        /// What the program was doing.
        doing: String,
        /// The error's name, such as `CUDA_ERROR_INVALID_VALUE`.
        name: String,
        /// The driver's description.
        text: String,
        /// What to do.
        advice: &'static str,
        /// The error as cudarc has it.
        source: cudarc::driver::DriverError,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A panic in a kernel, of the first thread that panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Panic {
    /// The message, as on the CPU; none if the device code was built with `panic = "location"`.
    pub message: Option<String>,
    /// The source file, as in `file!()`; empty if the place is not known, as for a failed allocation.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The block's index in the grid, CUDA's `blockIdx`.
    pub block: Dim3,
    /// The thread's index in its block, CUDA's `threadIdx`.
    pub thread: Dim3,
    /// The kernels of the context that were launched since somebody last waited for all of them: it was one of these. None
    /// if they were more than eight, or were not launched by this library.
    pub kernels: Vec<String>,
    /// How many threads panicked after the first, if the context lived on. They may be those of another kernel that ran at
    /// the same time.
    pub others: u32,
    /// Whether the panic took the context with it, as with `after-panic = "trap"`.
    pub context_lost: bool,
}

impl Panic {
    /// What it means for what comes next.
    fn afterwards(&self) -> &'static str {
        if self.context_lost {
            "The CUDA context is lost: every later call on this device fails with the same error, and only a new process gets \
             the device back"
        } else {
            "The device can be used as before; what the kernel wrote is not known"
        }
    }
}

/// `` `a` `` or ``one of `a`, `b` ``
fn of_kernels(kernels: &[String]) -> String {
    let names = kernels.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match kernels.len() {
        0 => "its kernels".to_owned(),
        1 => format!("kernel {names}"),
        _ => format!("the kernels {names}"),
    }
}

/// `` It was `k` as …`` or ``It was one of: …``
fn of_launches(launches: &[String]) -> String {
    match launches {
        [] => String::new(),
        [launch] => format!(" It was {launch}."),
        launches => format!(" It was one of: {}.", launches.join("; ")),
    }
}

/// Why others may wait.
fn cause(panic: Option<&Panic>) -> String {
    panic.map_or_else(String::new, |panic| format!(". A thread that others may wait for has left: {panic}"))
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kernels[..] {
            [kernel] => write!(f, "kernel `{kernel}` panicked")?,
            _ => f.write_str("a kernel panicked")?,
        }
        if !self.file.is_empty() {
            write!(f, " at {}:{}:{}", self.file, self.line, self.column)?;
        }
        let Self { block, thread, .. } = self;
        write!(f, ", block [{},{},{}], thread [{},{},{}]", block.x, block.y, block.z, thread.x, thread.y, thread.z)?;
        if let Some(message) = &self.message {
            write!(f, ":\n{message}")?;
        }
        if self.kernels.len() > 1 {
            write!(f, "\nIt was one of {}", of_kernels(&self.kernels))?;
        }
        match self.others {
            0 => Ok(()),
            1 => f.write_str("\nAnother thread panicked, too"),
            others => write!(f, "\n{others} other threads panicked, too"),
        }
    }
}

/// How a kernel failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// An assertion failed, in code that is not Rust or in a module that another library loaded. The driver printed it
    /// on standard error.
    #[error("an assertion failed (CUDA_ERROR_ASSERT); the driver printed it, with file and line, above")]
    Assertion,
    /// It accessed an address that is not mapped.
    #[error("it used an address that is not mapped (CUDA_ERROR_ILLEGAL_ADDRESS)")]
    IllegalAddress,
    /// It accessed memory at an address that is not a multiple of the access's size.
    #[error("it used a misaligned address (CUDA_ERROR_MISALIGNED_ADDRESS)")]
    MisalignedAddress,
    /// It ran longer than the display's watchdog allows.
    #[error("it ran longer than the driver allows on a device with a display (CUDA_ERROR_LAUNCH_TIMEOUT)")]
    Timeout,
    /// It reached an illegal instruction, such as `trap`.
    #[error(
        "it came to a trap, as a panic is in device code built with `panic = \"trap\"`, or to an illegal instruction ({0})"
    )]
    Instruction(&'static str),
    /// Any other failure that the hardware reports.
    #[error("the hardware reported {0}")]
    Other(&'static str),
}

#[cfg(test)]
mod tests {
    use super::{Error, Panic};
    use ptx_device::Dim3;

    #[test]
    fn a_panic_says_what_is_known_and_what_it_cost() {
        let panic = Panic {
            message: Some("no".into()),
            file: "src/lib.rs".into(),
            line: 3,
            column: 5,
            block: Dim3::new(1, 0, 0),
            thread: Dim3::new(2, 0, 0),
            kernels: vec!["k".into()],
            others: 0,
            context_lost: true,
        };
        let text = |panic: &Panic| Error::Panic(Box::new(panic.clone())).to_string();
        let lost = text(&panic);
        assert!(
            lost.starts_with("kernel `k` panicked at src/lib.rs:3:5, block [1,0,0], thread [2,0,0]:\nno\n"),
            "{lost}"
        );
        assert!(lost.contains("context is lost"), "{lost}");
        let kernels = vec!["k".into(), "l".into()];
        let lives = text(&Panic { kernels, others: 7, context_lost: false, ..panic });
        assert_eq!(
            lives,
            "a kernel panicked at src/lib.rs:3:5, block [1,0,0], thread [2,0,0]:\nno\nIt was one of the kernels `k`, `l`\n\
             7 other threads panicked, too\nThe device can be used as before; what the kernel wrote is not known"
        );
    }

    #[test]
    fn a_deadline_names_the_kernel() {
        let limit = std::time::Duration::from_millis(1500);
        let error = Error::Deadline { limit, kernels: Box::new(["k".into()]), panic: None }.to_string();
        assert!(
            error.starts_with("the device is not done after 1.5s, and goes on with kernel `k`. Nothing"),
            "{error}"
        );
    }

    #[test]
    fn main_shows_the_text() {
        let error = Error::UnknownDevice { ordinal: 3, count: 1 };
        assert_eq!(format!("{error:?}"), "there is no CUDA device 3: this machine has 1, numbered from 0");
    }

    /// From 128 bytes on, clippy warns of every function of a user's that returns it (`result_large_err`).
    #[test]
    fn it_is_small_enough_to_return() {
        assert!(size_of::<Error>() < 128, "{} bytes", size_of::<Error>());
    }
}
