//! Notes of ours under rustc's errors that mislead in code for a GPU, or in the host's code beside it: rustc does not know what
//! to use there instead.
//!
//! ```text
//! error[E0425]: cannot find value `threadIdx` in this scope
//!  --> src/lib.rs:7:13
//!   |
//! 7 |     let i = threadIdx.x;
//!   |             ^^^^^^^^^ not found in this scope
//!   |
//!   = help: `thread::thread_idx_x()` is CUDA's `threadIdx.x`, …
//! ```

/// What a note goes by.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// rustc's message without its places.
    pub message: &'a str,
    /// Of the error or the lint: `E0425`.
    pub code: Option<&'a str>,
    /// The source line that the message points at.
    pub line: &'a str,
    /// The column in it, from 0, where the message points.
    pub column: usize,
}

const STD: &str = "GPUs have no `std`: `core` has what needs no operating system, and `alloc` (after `extern crate alloc;`) what \
    needs only a heap; what the host alone needs goes under `#[cfg(not(target_arch = \"nvptx64\"))]`";

const SYSTEM: &str = "GPUs have no operating system, and nothing of the kind: what needs it belongs into the host's program, or under \
    `#[cfg(not(target_arch = \"nvptx64\"))]`";

const THREADS: &str = "a kernel starts no threads, each thread of the launch runs it: `ptx::thread` says which one this is, and the \
    launch's `Grid` how many there are";

const ALLOC: &str = "it is in `alloc`, which kernels can use: `extern crate alloc;` at the top of the library, then `use \
    alloc::{vec, vec::Vec, boxed::Box, string::String, format};` and the like; arrays and slices need no heap";

const COLLECTIONS: &str = "`alloc::collections` (after `extern crate alloc;`) has those that need no random numbers, such as `BTreeMap`; \
    the crate hashbrown has `HashMap`";

const PRINT: &str = "`ptx::println!` and `ptx::print!` print from kernels, and are std's macros on the host";

const DISJOINT: &str = "each thread reaches only its own elements of a `DisjointSlice`: `y.get_mut(thread::index_1d())`, or `for (i, y) in \
    y.grid_stride()`; what threads only read is `&[T]`, what several write `AtomicSlice<T, Device>`";

const STATIC_MUT: &str = "all threads of a launch share a `static mut`, and write it at once: `#[ptx::shared] static` is a block's, \
    `ptx::atomic` has what all may write, and `DisjointSlice<T>` gives each thread its own element";

const THREAD_LOCAL: &str = "GPUs have no thread-local statics: a local variable is the thread's own, and `DisjointSlice<T>` has an element \
    for each thread that stays after the launch";

const POSITION: &str = "`thread::index_1d()` is `blockIdx.x * blockDim.x + threadIdx.x`, checked; `thread::thread_idx_x()`, \
    `thread::block_idx_x()`, `thread::block_dim_x()` and `thread::grid_dim_x()` are its parts (`use ptx::prelude::*;`)";

const SYNC: &str = "`ptx::sync_threads()` is CUDA's `__syncthreads()`";

const ATOMIC: &str = "`ptx::atomic` has CUDA's atomic operations: a parameter `counts: AtomicSlice<u32, Device>`, then `counts[i].fetch_add(1, Ordering::Relaxed)`";

const SHARED: &str = "shared memory is a static in Rust: `#[ptx::shared] static TILE: ptx::Shared<[f32; 256]>;`";

const LAUNCH: &str = "`<<<…>>>` is CUDA C++: on the host, `saxpy(a, &x, &mut y).launch(&module, Grid::new(blocks, threads))?` launches a \
    kernel; kernels cannot launch others";

const METHOD: &str = "a kernel cannot stand in an `impl` block or a trait: its entry point is one symbol, and such a function may be one \
    for each type. Write a free function that calls the method, generic if need be: `#[kernel(instantiate(f32, f64))]`";

const MATH: &str =
    "such methods are in `std`, which GPUs do not have: `use ptx::prelude::*;` brings those of `ptx::math::Math`";

const DEVICE_MEMORY: &str = "it is the GPU's memory, which the CPU cannot reach: `device.download(&y)?` copies it into a `Vec`, \
    `device.upload(&values)?` makes it of a slice; kernels get it as an argument";

const ALLOCATE: &str = "`device.upload(&values)?` allocates the GPU's memory and copies a slice to it, `device.zeroed::<f32>(n)?` fills it \
    with zeros; dropping frees it";

const COPY: &str =
    "`device.upload(&values)?` copies a slice to the GPU, `device.download(&y)?` copies back into a `Vec`";

const WAIT: &str = "`device.synchronize()?` waits for the kernels, and tells of their panics";

const GRID: &str = "a launch's shape is a `Grid`: `Grid::new(blocks, threads)`, each a number or a tuple of up to three, or `Grid::cover(n, 256)` for a thread an element";

/// Items of `alloc` that are in std's prelude, and methods by which they are made.
const OF_ALLOC: [&str; 7] = ["Vec", "Box", "String", "ToString", "ToOwned", "vec", "format"];
const MADE_BY: [&str; 4] = ["to_vec", "to_string", "to_owned", "into_boxed_slice"];

/// A few of those that `core` lacks, which [`MATH`] is about.
const MATHEMATICAL: [&str; 12] =
    ["sqrt", "sin", "cos", "tan", "exp", "ln", "powf", "powi", "mul_add", "floor", "round", "hypot"];

/// What there is to say, if anything.
pub fn of(subject: Subject<'_>) -> Option<&'static str> {
    let Subject { message, code, line, column } = subject;
    // Also where rustc stumbles over what stands between the brackets.
    if code.is_none() && is_launch(line) {
        return Some(LAUNCH);
    }
    let name = message.split('`').nth(1).unwrap_or_default();
    match code {
        Some("E0432" | "E0433") if name == "std" => Some(of_std(line.get(column..).unwrap_or_default())),
        Some("E0133") if message.starts_with("use of mutable static") => Some(STATIC_MUT),
        Some("static_mut_refs") => Some(STATIC_MUT),
        Some("E0608" | "E0599" | "E0277") if message.contains("DisjointSlice<") => {
            // Not where a `DisjointSlice` of something is no parameter: that message is our own.
            (code != Some("E0277") || message.ends_with("is not an iterator")).then_some(DISJOINT)
        }
        Some("E0599") if MADE_BY.contains(&name) => Some(ALLOC),
        Some("E0599") if MATHEMATICAL.contains(&name) && (message.contains("`f32`") || message.contains("`f64`")) => {
            Some(MATH)
        }
        // The items that the macro puts beside a kernel have no place among methods.
        None if message == "`const` items in this context need a name" && line.contains("kernel") => Some(METHOD),
        _ if message.starts_with("cannot find ") => of_missing(name),
        None if line.contains("__shared__") => Some(SHARED),
        _ => None,
    }
}

/// The same for code of the host.
pub fn of_host(Subject { message, code, line, .. }: Subject<'_>) -> Option<&'static str> {
    if code.is_none() && is_launch(line) {
        return Some(LAUNCH);
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let name = quoted.next().unwrap_or_default();
    let is_device_memory =
        |name: &str| ["CudaSlice<", "CudaView<", "CudaViewMut<"].iter().any(|known| name.contains(known));
    match code {
        Some("E0608") if is_device_memory(name) => Some(DEVICE_MEMORY),
        Some("E0277") if is_device_memory(name) && message.ends_with("is not an iterator") => Some(DEVICE_MEMORY),
        Some("E0599") if OF_SLICES.contains(&name) && quoted.any(is_device_memory) => Some(DEVICE_MEMORY),
        _ if message.starts_with("cannot find ") => Some(match name {
            "cudaMalloc" | "cudaMallocManaged" | "cudaFree" => ALLOCATE,
            "cudaMemcpy" | "cudaMemcpyAsync" => COPY,
            "cudaDeviceSynchronize" | "cudaStreamSynchronize" => WAIT,
            "dim3" => GRID,
            _ => return None,
        }),
        _ => None,
    }
}

/// Methods of slices by which one would read device memory.
const OF_SLICES: [&str; 11] = [
    "iter",
    "iter_mut",
    "into_iter",
    "to_vec",
    "as_slice",
    "get",
    "get_mut",
    "chunks",
    "first",
    "last",
    "copy_from_slice",
];

fn of_missing(name: &str) -> Option<&'static str> {
    Some(match name {
        "println" | "print" | "eprintln" | "eprint" | "dbg" | "printf" => PRINT,
        "thread_local" => THREAD_LOCAL,
        "threadIdx" | "blockIdx" | "blockDim" | "gridDim" => POSITION,
        "__syncthreads" => SYNC,
        "__shared__" => SHARED,
        "HashMap" | "HashSet" => COLLECTIONS,
        "atomicAdd" | "atomicSub" | "atomicMin" | "atomicMax" | "atomicExch" | "atomicCAS" => ATOMIC,
        _ if OF_ALLOC.contains(&name) => ALLOC,
        _ => return None,
    })
}

/// By the module of `std` that a path names.
fn of_std(path: &str) -> &'static str {
    let module = path.split("::").nth(1).unwrap_or_default();
    match module.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default() {
        "thread" => THREADS,
        "boxed" | "rc" | "string" | "vec" => ALLOC,
        "collections" => COLLECTIONS,
        "println" | "print" | "eprintln" | "eprint" | "dbg" => PRINT,
        "env" | "fs" | "io" | "net" | "os" | "path" | "process" => SYSTEM,
        _ => STD,
    }
}

/// Whether there is `name<<<…>>>`, which is no Rust: a name with such a beginning of types has `::` before it, or `<` and `>`
/// within.
fn is_launch(line: &str) -> bool {
    line.match_indices("<<<").any(|(at, open)| {
        let before = line[..at].trim_end_matches("::").ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let inner = line[at + open.len()..].split_once(">>>").map(|(inner, _)| inner);
        before && inner.is_some_and(|inner| !inner.contains(['<', '>']))
    })
}

/// rustc's text with a note at its end, in rustc's form. A message in one line stays so.
pub fn add(rendered: &str, note: &str) -> String {
    if rendered.trim_end().lines().count() < 2 {
        return rendered.to_string();
    }
    let is_coloured = rendered.contains('\u{1b}');
    // Below the bar that stands at the right of the line numbers: `  --> src/lib.rs:7:13`.
    let arrow = rendered.lines().map(without_colour).find(|line| line.trim_start().starts_with("--> "));
    let indent = arrow.map_or(0, |line| line.len() - line.trim_start().len()) + 1;
    let text = rendered.trim_end_matches('\n');
    // rustc ends a message that has no remarks yet with the source, and sets remarks off by a bar.
    let lines: Vec<String> = text.lines().map(without_colour).collect();
    let ends_with_bar = lines.last().is_some_and(|line| line.trim() == "|");
    let is_first = !ends_with_bar && !lines.iter().any(|line| line.trim_start().starts_with("= "));
    let bar = match (is_first, is_coloured) {
        (false, _) => String::new(),
        (true, false) => format!("\n{:indent$}|", ""),
        (true, true) => format!("\n\u{1b}[1m\u{1b}[94m{:indent$}|\u{1b}[0m", ""),
    };
    if is_coloured {
        format!("{text}{bar}\n{:indent$}\u{1b}[1m\u{1b}[94m= \u{1b}[0m\u{1b}[1mhelp\u{1b}[0m: {note}\n\n", "")
    } else {
        format!("{text}{bar}\n{:indent$}= help: {note}\n\n", "")
    }
}

/// The line without the sequences that set colours.
fn without_colour(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, text)| text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The note for a message that points at the first `^` under the line, or at its beginning.
    fn note(code: &str, message: &str, line: &str) -> Option<&'static str> {
        let column = line.find("std").unwrap_or_default();
        of(Subject { message, code: (!code.is_empty()).then_some(code), line, column })
    }

    /// rustc's messages, as its tests and we see them.
    #[test]
    fn every_case_has_its_note() {
        let std = "cannot find module or crate `std` in this scope";
        for (code, message, line, part) in [
            ("E0433", std, "use std::f32::consts::PI;", "`core` has what"),
            ("E0432", "unresolved import `std`", "use std::{sync::Arc, thread};", "GPUs have no `std`"),
            ("E0433", std, "    std::thread::sleep(d);", "`ptx::thread`"),
            ("E0433", std, "use std::vec::Vec;", "extern crate alloc;"),
            ("E0433", std, "use std::fs;", "no operating system"),
            ("E0433", std, "use std::collections::HashMap;", "hashbrown"),
            ("E0425", "cannot find type `Vec` in this scope", "", "extern crate alloc;"),
            ("E0433", "cannot find type `Box` in this scope", "", "extern crate alloc;"),
            ("", "cannot find macro `vec` in this scope", "", "extern crate alloc;"),
            ("E0599", "no method named `to_vec` found for array `[i32; 1]` in the current scope", "", "alloc"),
            ("", "cannot find macro `println` in this scope", "", "`ptx::println!`"),
            ("", "cannot find macro `thread_local` in this scope", "", "thread-local"),
            ("E0133", "use of mutable static is unsafe and requires unsafe block", "", "`#[ptx::shared] static`"),
            ("static_mut_refs", "creating a shared reference to mutable static", "", "`ptx::atomic`"),
            ("E0425", "cannot find value `threadIdx` in this scope", "", "`thread::index_1d()`"),
            ("E0425", "cannot find function `__syncthreads` in this scope", "", "`ptx::sync_threads()`"),
            ("E0425", "cannot find function `atomicAdd` in this scope", "", "`ptx::atomic`"),
            ("E0608", "cannot index into a value of type `ptx::DisjointSlice<'_, f32>`", "y[0] = 1.0;", "y.get_mut("),
            ("E0277", "`DisjointSlice<'_, f32>` is not an iterator", "for y in y {", "y.grid_stride()"),
            ("", "expected type, found `1`", "    saxpy<<<1, 256>>>(2.0);", "kernels cannot launch others"),
            ("", "expected one of `!`, `(` or `as`, found `,`", "saxpy::<<<a, b>>>();", "Grid::new("),
            ("", "expected one of 8 possible tokens, found `float`", "__shared__ float s[10];", "`#[ptx::shared]"),
            ("", "`const` items in this context need a name", "    #[kernel]", "generic if need be"),
            ("E0599", "no method named `sqrt` found for type `f32` in the current scope", "", "ptx::math::Math"),
        ] {
            let note = note(code, message, line);
            assert!(note.is_some_and(|note| note.contains(part)), "{message}\n{line}\n{note:?}");
        }
    }

    #[test]
    fn other_messages_have_none() {
        for (code, message, line) in [
            ("E0308", "mismatched types", "    let x: u32 = \"std\";"),
            ("E0433", "cannot find module or crate `rand` in this scope", "use rand::std;"),
            ("E0425", "cannot find value `x` in this scope", ""),
            ("E0277", "`DisjointSlice<'_, Own>` has no place in the device ABI", ""),
            ("E0599", "no method named `sqrt` found for struct `Own` in the current scope", ""),
            ("E0608", "cannot index into a value of type `u32`", ""),
            ("", "expected expression, found `;`", "let x: Vec<<<A as B>::C as D>::E> = ;"),
        ] {
            assert_eq!(note(code, message, line), None, "{message}");
        }
    }

    #[test]
    fn code_of_the_host_has_notes_of_its_own() {
        let note = |code: &str, message: &str, line: &str| {
            of_host(Subject { message, code: (!code.is_empty()).then_some(code), line, column: 0 })
        };
        for (code, message, line, part) in [
            ("", "expected expression, found `<`", "    saxpy<<<1, 256>>>(2.0, x, y);", "Grid::new("),
            ("E0608", "cannot index into a value of type `CudaSlice<f32>`", "y[0]", "device.download(&y)?"),
            ("E0608", "cannot index into a value of type `&mut CudaSlice<f32>`", "y[0]", "device.download(&y)?"),
            ("E0277", "`CudaSlice<f32>` is not an iterator", "for y in y {", "device.download(&y)?"),
            ("E0599", "no method named `iter` found for struct `CudaSlice<T>` in the current scope", "", "download"),
            ("E0425", "cannot find function `cudaMalloc` in this scope", "", "device.zeroed"),
            ("E0425", "cannot find function `cudaMemcpy` in this scope", "", "copies back"),
            ("E0425", "cannot find function `cudaDeviceSynchronize` in this scope", "", "device.synchronize"),
            ("E0425", "cannot find function `dim3` in this scope", "", "Grid::new("),
        ] {
            let note = note(code, message, line);
            assert!(note.is_some_and(|note| note.contains(part)), "{message}: {note:?}");
        }
        for (code, message) in [
            ("E0433", "cannot find module or crate `std` in this scope"),
            ("E0608", "cannot index into a value of type `u32`"),
            ("E0599", "no method named `iter` found for struct `Own` in the current scope"),
            ("E0599", "no method named `own` found for struct `CudaSlice<T>` in the current scope"),
            ("E0425", "cannot find type `Vec` in this scope"),
        ] {
            assert_eq!(note(code, message, ""), None, "{message}");
        }
    }

    #[test]
    fn a_note_stands_in_line_with_rustcs() {
        let rendered = "error: no\n  --> a.rs:10:1\n   |\n10 | x\n   | ^\n\n";
        assert_eq!(add(rendered, "do"), "error: no\n  --> a.rs:10:1\n   |\n10 | x\n   | ^\n   |\n   = help: do\n\n");
        let rendered = "error: no\n --> a.rs:3:1\n  |\n3 | x\n  | ^\n  |\n  = note: so\n\n";
        assert!(add(rendered, "do").ends_with("  = note: so\n  = help: do\n\n"));
        let rendered = "error: no\n --> a.rs:3:1\n  |\nhelp: import it\n  |\n2 + use a;\n  |\n\n";
        assert!(add(rendered, "do").ends_with("2 + use a;\n  |\n  = help: do\n\n"));
        let coloured = "\u{1b}[1m\u{1b}[91merror\u{1b}[0m: no\n \u{1b}[1m\u{1b}[94m--> \u{1b}[0ma.rs:3:1\n";
        let text: Vec<String> = add(coloured, "do").lines().map(without_colour).collect();
        assert_eq!(text, ["error: no", " --> a.rs:3:1", "  |", "  = help: do", ""]);
    }
}
