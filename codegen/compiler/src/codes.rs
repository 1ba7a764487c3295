//! The codes of our diagnostics and the text that `cargo ptx explain` prints for each.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($variant:ident = $number:literal, $title:literal, $text:literal;)*) => {
        /// Identifies a kind of message; stable once released.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code, in order of number.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As in `PTX0007`.
            pub fn number(self) -> u16 {
                match self { $(Self::$variant => $number,)* }
            }

            /// One line.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Cause and remedy, as paragraphs.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

codes! {
    Usage = 1, "bad option",
        "An option of the linker, of `cargo ptx` or in `[package.metadata.ptx]` is unknown or has a value that it cannot take.";
    UnknownArch = 2, "unknown or unsupported GPU architecture",
        "A name of an arch is not one of NVIDIA's, or is older than sm_70, the oldest that LLVM generates code for; or it is `native`, and this machine has no GPU. The message says where the name stands: in an argument, in a variable, in the manifest, in a build script.\n\n`sm_80` may be written `80`, `8.0` or `compute_80`, too. ptxas 13 no longer knows sm_70 and sm_72: PTX for them is written but not checked.";
    ForeignBitcode = 3, "bitcode of another LLVM",
        "An input holds LLVM bitcode that this LLVM cannot read. Bitcode is read by the LLVM of the rustc that built the linker, so every crate must be compiled by that rustc.\n\nRebuild the linker (`cargo install --path codegen/cargo-ptx --force`) or the crate with the same toolchain, and run `cargo clean` on mixed output.";
    BrokenInput = 4, "unreadable input",
        "An object, rlib or archive is empty, cut short or damaged. A full disk or an interrupted build leaves such files behind: remove the file, or run `cargo clean`, and build again.";
    NoBitcode = 5, "object without bitcode",
        "An input is machine code, not LLVM bitcode. Only crates that rustc compiled for nvptx64-nvidia-cuda can be linked into PTX; host objects and objects of a C compiler cannot.";
    UndefinedSymbol = 6, "undefined symbol",
        "Code that a kernel reaches calls a function that no input defines. Only vprintf, malloc, free and __assertfail may stay undefined: the driver supplies them (PTX Writer's Guide to Interoperability, chapter 3), and so it does cudaGraphSetConditional.\n\nIf CUDA C++ defines it, name its file: `link = [\"kernels/twin.cu\"]` in `[package.metadata.ptx]`, or `--link`. If it is linked when the program runs, say `link-at-load = true`.";
    DuplicateKernel = 7, "two functions of one name",
        "Kernels and exported functions are found by their symbol, so a module can hold only one of each name. Rename one of them, even if they are in different crates. With `export = \"C++\"` the parameters' types are part of the symbol, so functions of one name may differ in them.";
    BadDescriptor = 8, "unreadable descriptor",
        "The record that `#[kernel]` or `#[device]` leaves beside the code was written by another version of the crate `ptx`, or is damaged. Use the same version of `ptx` and of the compiler.";
    Unsupported = 9, "feature that PTX does not have",
        "The program uses something that NVIDIA GPUs do not offer: thread-local statics, global constructors, unwinding, or kernel names with characters other than ASCII letters, digits, `_` and `$` (PTX Writer's Guide to Interoperability, chapter 7).";
    LlvmFailed = 10, "LLVM could not generate code",
        "LLVM refused the program. If the message names no remedy, this is our bug: please report it with the file that `--dump-dir` writes.";
    PtxMismatch = 11, "emitted signature differs from the ABI table",
        "The emitted PTX has another signature than the ABI table asks for. This is our bug. Nothing was written.";
    PtxasMissing = 12, "ptxas not found",
        "Cubins, fatbins, resource figures and the check of the PTX need NVIDIA's assembler. `cargo ptx doctor` says where it is looked for; `cargo ptx setup` installs it.";
    PtxasFailed = 13, "ptxas rejected the PTX",
        "NVIDIA's assembler did not accept the PTX. Its message is shown with the kernel and the Rust source line that the PTX line came from.";
    Spill = 14, "a kernel spills registers",
        "The kernel needs more registers than it may use, so some values are in local memory, which is much slower. Loosen `launch_bounds` or `max_registers`, or keep fewer values alive at once.\n\nMaking text of values takes many registers (`core::fmt`). The message says if it is the cause: if the kernel would spill none without the panics whose messages the device makes. Show in them what the host can format (numbers, texts, structs of them), or build with `--panic=location`.";
    OutputFailed = 15, "an output could not be written",
        "A file could not be written: the folder is missing or not writable, or the disk is full. Nothing was left half-written: outputs appear under their names only when they are whole.";
    ParamTooAligned = 16, "parameter that PTX cannot pass",
        "Parameters and results may be aligned to 1 to 128 bytes, and all of a kernel's parameters together may take 4,096 bytes (32,764 from sm_70 with PTX ISA 8.1).";
    NeedsStd = 17, "a crate needs `std`",
        "A dependency of the kernels uses the standard library, which GPUs do not have. Turn off its default features, or, if only host code needs it, move it to `[target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]`.";
    NoSysroot = 18, "no device sysroot",
        "`core` and `alloc` for the device are built from the component rust-src or rust-docs. Neither was found: run `rustup component add rust-src`.";
    NoKernels = 19, "nothing to compile",
        "No kernel and no exported function was found. Mark a function with `#[ptx::kernel]`, and make sure that its crate is a dependency that is used.";
    CargoFailed = 20, "the device build failed",
        "cargo or rustc failed while compiling the crate for the GPU; their messages are above.";
    Intrinsic = 21, "unknown device intrinsic",
        "Code calls a function whose name begins with `__ptx_`, which is reserved for device intrinsics, but the compiler has none of that name, or has it with another signature. Either the crates `ptx` and `ptx-codegen` have different versions, or the name is your own: choose another.";
    ToolFailed = 22, "one of NVIDIA's tools failed",
        "fatbinary, nvdisasm, cuobjdump, compute-sanitizer or ncu was not found, could not be run, or ended with an error.";
    AtomicUnsupported = 23, "atomic operation that the GPU does not have",
        "Some atomic operations need newer GPUs: read-modify-write operations on 128 bits, addition of `bf16` values and cluster scope need sm_90.\n\nCompile for that arch (`--arch sm_90`), or use another operation: a smaller type, or device scope in place of cluster scope.";
    SharedStatic = 24, "shared static that a block cannot have",
        "The shared statics that a kernel uses take up more than 48 KiB together, or a static in shared memory has an initial value. Shared memory cannot have one: its contents are arbitrary when a block starts.\n\nMake the arrays smaller, and write the first values in the kernel.";
    MathMissing = 25, "mathematical function that nothing computes",
        "Mathematical functions come from NVIDIA's libdevice. If libdevice is not found, or with `--libdevice=off`, the crate `libm` is used instead. It has no `erfcx`, `erfinv`, `erfcinv`, `normcdf`, `normcdfinv` or modified Bessel functions, and it comes only with the crate `ptx`.\n\nInstall libdevice (`cargo ptx setup`), or use another function. `cargo ptx doctor` says which library is used.";
    LinkInput = 26, "file that cannot be linked with",
        "A file named by `link` is missing, damaged, of a kind that contains no device code, or has code only for other architectures. These can be linked: CUDA C++ (`.cu`), PTX (`.ptx`), relocatable device objects (`.cubin`), host objects and archives with relocatable device code (`.o`, `.obj`, `.a`), fatbins (`.fatbin`) and LTO-IR (`.ltoir`).\n\nnvcc makes relocatable code with `-dc`. Without it the code is already linked and defines nothing for others.";
    CudaCompile = 27, "CUDA C++ does not compile",
        "nvcc refused a file named by `link`, or ptxas refused PTX named there. Their message is shown with its file and line.";
    LinkFailed = 28, "linking with CUDA C++ failed",
        "nvlink did not link the Rust code with the files named by `link`: a name is defined twice, or its declaration differs from its definition in signature or size. CUDA C++ names include the parameters' types and so cannot be confused; names of `extern \"C\"` functions can.";
    LinkTool = 29, "a tool for linking is missing",
        "Linking with CUDA C++ needs ptxas and nvlink; `.cu` files need nvcc and a host compiler that nvcc accepts (g++), whose preprocessor it runs; LTO-IR needs libnvvm. `cargo ptx doctor` says what was found; `cargo ptx setup` installs NVIDIA's tools.";
    DeclarationsDiffer = 30, "two declarations of a function differ",
        "A symbol is imported twice, or imported and exported, with parameters or results that differ in kind, size or alignment. One of the two would read what the other did not write. Make the declarations agree; a header that both sides include, such as `cargo ptx header` writes, keeps them in step.";
    ArrayByValue = 31, "array passed by value",
        "In C and C++ a parameter that is declared as an array is a pointer, and no function returns an array, so an array by value has no counterpart. Put it into a `#[repr(C)]` struct, or pass a reference to it.";
    OperationUnsupported = 32, "operation that the GPU does not have",
        "Some operations need newer GPUs. Of `ptx::warp`, `reduce_add` and the other reductions need sm_80, and `elect` needs sm_90; so do clusters. The documentation of each function says it. Of the explicit operations and roundings of `ptx::float`, `bf16` needs sm_80, and most of its arithmetic and conversions need sm_90; 8-bit floats (`F8E4M3`, `F8E5M2`) need sm_89; rounding to `tf32` needs sm_80, and sm_90 for any rounding but to nearest with ties away.\n\nCompile for a GPU that has it, or use one of the roundings and forms that the message lists. Code for several GPUs asks `ptx::arch()` first: branches that the answer excludes may use what the GPU lacks.";
    HeaderName = 33, "name or type that the C++ header cannot have",
        "`cargo ptx header` declares exported functions, kernels and their types under their C++ names. A C++ keyword cannot be a name, and two types cannot share one. `name = \"…\"` on a function, `#[ptx(name = \"…\", namespace = \"…\")]` on a type give another. (Members and parameters need nothing: a keyword gets an underscore at the end.)";
    FloatModes = 34, "contradictory floating-point modes",
        "`use-fast-math=true` stands for `fmad=true`, `ftz=true`, `prec-div=false`, `prec-sqrt=false` and the fast forms of the functions of single precision, so none of these modes can be set to anything else beside it.\n\nLeave out either the mode or `use-fast-math`, whose parts can be named one by one. A function or a block can have other modes than the build, with `#[ptx::float(..)]`.";
    MathUnsupported = 37, "floating-point type that GPUs do not have",
        "GPUs compute in `f64`, `f32` and narrower types. There are no instructions for `f128`, and no functions for it in libdevice. Use `f64`, or the sum of two of them if you need more than 53 bits.";
    BadLibdevice = 38, "libdevice that cannot be used",
        "The file that `--libdevice`, `RUST_PTX_LIBDEVICE` or the CUDA toolkit names as NVIDIA's libdevice is missing, damaged, or bitcode of an LLVM newer than rustc's. The file is nvvm/libdevice/libdevice.10.bc in a toolkit; `cargo ptx setup` installs one.";
    MathSignature = 39, "mathematical function with another signature",
        "An `extern` block declares a function of the C maths library, or one of libdevice's, with the wrong parameters or result. `sinf` and similar functions take and return `f32`, `sin` takes and returns `f64`; what C passes through a pointer is a pointer in Rust too.";
    PanicCrate = 40, "panic strategy for a crate that is not there",
        "`panic-for` names a crate that is not part of the device build, so it would have no effect. Crates are named as in Rust code (`my_crate`; a package's dashes are underscores): the crate with the kernels, its dependencies, `core` and `alloc`.";
    Bug = 43, "a bug of the compiler",
        "The compiler reached a state that it believes impossible. No input should lead there, so this is our bug, whatever the program is. Nothing was written, and the exit code is 101.\n\nPlease report it with the message, and with the kernel or the files that `--dump-dir=DIR` writes. `RUST_BACKTRACE=1` shows how the compiler got there.";
    PtxasWarning = 44, "ptxas warns",
        "NVIDIA's assembler accepted the PTX with a warning. Its message is shown with the kernel or the Rust source line that it is about.";
    InlinePtx = 46, "inline PTX that ptxas rejects",
        "The text of an `asm!` goes to NVIDIA's assembler unchanged, with registers in place of `{}`, and the assembler did not accept it. The message shows the `asm!`, the line of PTX that it became, and the calls through which the kernel reaches it.\n\nThe PTX ISA documents each instruction's types and operands. Operands of `asm!` are registers of the classes `reg16`, `reg32` and `reg64`, which have the PTX types `.b16`, `.b32` and `.b64`.";
    InlinePtxUnsupported = 47, "inline PTX for a newer GPU",
        "The text of an `asm!` has an instruction that the target GPU, or the PTX ISA version, does not have. The message says which GPU or version has it.\n\nCompile for that GPU (`--arch sm_90`), or ask for the version (`--ptx-version 8.0`). Optimised code for several GPUs can ask `ptx::arch()` first: branches that the answer excludes are removed.";
    Stack = 48, "too much stack",
        "A thread can have at most 512 KiB of stack (CUDA C++ Programming Guide, \"Compute Capabilities\", local memory per thread), and the driver keeps what a kernel needs for as many threads as the device can run at once: 64 KiB are 16 GiB on an H200. A function whose variables are larger, or a kernel that needs more with all that it calls, is an error; a kernel that needs more than 64 KiB is a warning.\n\nKeep large arrays in memory that the host allocates and hands to the kernel as a slice, or in shared memory. A debug build needs several times as much stack as a release build. Recursion is not counted: functions that a kernel can come back to look for the stack's end themselves, and panic with `stack overflow in …`.";
    DebuggerMissing = 50, "cuda-gdb not found",
        "`cargo ptx debug` starts NVIDIA's debugger, which comes with the CUDA toolkit for Linux (package cuda-gdb-13-0 of NVIDIA's repositories) and is not among the tools that `cargo ptx setup` installs. It is looked for in this order: `--cuda-gdb`, the variable `CUDA_GDB`, the folder bin below `CUDA_HOME` or `CUDA_PATH`, `PATH`, /usr/local/cuda/bin.\n\n`cargo ptx debug --setup` needs no debugger: it writes the script that every cuda-gdb can load.";
    PoorDebugInfo = 51, "kernels without full debug information",
        "cuda-gdb shows variables, types and frames of kernels that were compiled without optimisation at the debug level `full`, as the profile `dev` does. With line tables alone it stops at lines and shows nothing else; without debug information it can do neither.\n\nLeave out `--release`, or set `opt-level = 0` and `debug = \"full\"` in the profile. A `profile` in the build script, or `debug-level` in `[package.metadata.ptx]`, wins over the profile.";
    NoLibrarySources = 52, "no sources of `core` and `alloc`",
        "Debug information names the files of `core` and `alloc` as /rustc/HASH/library/…, which exist on no disk. `cargo ptx debug` tells cuda-gdb to read them from the component rust-src, or from rust-docs. Neither is installed, so stepping into the library shows no source: run `rustup component add rust-src`.";
}

impl Code {
    /// The code of that spelling: `PTX0006`, `ptx6` and `6` are the same.
    pub fn find(text: &str) -> Option<Self> {
        let digits = text.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let number = digits.parse::<u16>().ok();
        Self::ALL.iter().copied().find(|code| Some(code.number()) == number)
    }

    /// Title and explanation.
    pub fn explain(self) -> String {
        format!("{self}: {}\n\n{}", self.title(), self.explanation())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX{:04}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::*;

    /// The book's page of all codes.
    fn page() -> String {
        let mut page = "# Messages\n\nEvery message of the compiler has a code. `cargo ptx explain CODE` and \
                        `ptx-linker --explain CODE` print the same texts.\n"
            .to_string();
        for code in Code::ALL {
            write!(page, "\n## {code}: {}\n", code.title()).unwrap();
            for paragraph in code.explanation().split("\n\n") {
                write!(page, "\n{}\n", wrapped(paragraph)).unwrap();
            }
        }
        page
    }

    /// In lines of at most 120 columns, as the book has them.
    fn wrapped(text: &str) -> String {
        let mut lines = vec![String::new()];
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if line.chars().count() + word.chars().count() < 120 => write!(line, " {word}").unwrap(),
                _ => lines.push(word.to_string()),
            }
        }
        lines.join("\n")
    }

    #[test]
    fn the_book_has_every_code() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/codes.md");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, page()).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap();
        let page = page();
        let differs = page.lines().zip(found.lines()).find(|(ours, book)| ours != book);
        assert!(
            found == page,
            "docs/src/codes.md is out of date, first at {differs:?}: run `BLESS=1 cargo test -p ptx-codegen --lib codes`"
        );
    }

    #[test]
    fn codes_are_found_in_every_spelling() {
        for text in ["PTX0006", "ptx6", "6", "0006"] {
            assert_eq!(Code::find(text).unwrap(), Code::UndefinedSymbol, "{text}");
        }
        for text in ["PTX9999", "E0463x", "", "PTX"] {
            assert_eq!(Code::find(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_in_order_and_unique() {
        for pair in Code::ALL.windows(2) {
            assert!(pair[0].number() < pair[1].number(), "{} {}", pair[0], pair[1]);
        }
    }
}
