//! Programs that can be read but not compiled, and options that make no sense.

use libtest_mimic::Trial;
use ptx_tests::{Scratch, test};

use crate::ir;

pub fn trials() -> Vec<Trial> {
    vec![
        test("undefined symbol with its line", || {
            let wanted = ["missing_function", "src/kernels.rs:42", "vprintf, malloc, free"];
            refused(&[&ir::undefined(true)], &[], &wanted[..2]);
        }),
        test("undefined symbol without debug information", || {
            refused(&[&ir::undefined(false)], &[], &["missing_function"]);
        }),
        test("system calls may stay undefined", || {
            let scratch = Scratch::default();
            let body = "%q = call ptr @malloc(i64 8)\ncall void @free(ptr %q)\n%r = call i32 @vprintf(ptr %p, ptr %p)\nret void";
            let rest = "declare ptr @malloc(i64)\ndeclare void @free(ptr)\ndeclare i32 @vprintf(ptr, ptr)";
            scratch.link([scratch.write("a.ll", ir::kernel("k", body, rest))]).accepted();
        }),
        test("undefined symbol that no kernel reaches", || {
            let scratch = Scratch::default();
            let rest =
                "define void @unused() {\ncall void @missing_function()\nret void\n}\ndeclare void @missing_function()";
            scratch.link([scratch.write("a.ll", ir::kernel("k", "ret void", rest))]).accepted();
        }),
        test("two kernels of one name", || {
            refused(&[&ir::good("k"), &ir::good("k")], &[], &["named `k`", "module1.ll", "rename"])
        }),
        test("global constructors", || {
            let rest = "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } \
                        { i32 1, ptr @start, ptr null }]\ndefine internal void @start() {\nret void\n}";
            refused(&[&ir::kernel("k", "ret void", rest)], &[], &["constructor"]);
        }),
        test("thread-local static", || {
            let body = "store i32 1, ptr @COUNTER\nret void";
            refused(
                &[&ir::kernel("k", body, "@COUNTER = thread_local global i32 0")],
                &[],
                &["COUNTER", "thread-local"],
            );
        }),
        test("extern thread-local static", || {
            let body = "%v = load i32, ptr @COUNTER\nstore i32 %v, ptr %p\nret void";
            refused(
                &[&ir::kernel("k", body, "@COUNTER = external thread_local global i32")],
                &[],
                &["COUNTER", "thread-local"],
            );
        }),
        test("shared static with a value", || {
            let body = "store i32 1, ptr @TILE\nret void";
            let rest = "@TILE = internal global [4 x i8] zeroinitializer, section \".ptx.shared\", align 4";
            refused(&[&ir::kernel("k", body, rest)], &[], &["PTX0024", "TILE", "value to begin with"]);
        }),
        test("shared statics over what a block has", || {
            let body = "call void @f(ptr @SMALL)\nret void";
            let rest = "@SMALL = internal global [4 x i8] undef, section \".ptx.shared\", align 4\n\
                @LARGE = internal global [49152 x i8] undef, section \".ptx.shared\", align 4\n\
                define internal void @f(ptr %p) noinline {\nstore volatile i32 1, ptr %p\n\
                store volatile i32 1, ptr @LARGE\nret void\n}";
            let wanted = ["PTX0024", "kernel `k` has 49156 bytes", "`LARGE` has 49152 bytes"];
            refused(&[&ir::kernel("k", body, rest)], &[], &wanted);
        }),
        test("floating-point modes that contradict each other", || {
            for (options, wanted) in [
                (["--use-fast-math", "--ftz=false"], "`use-fast-math=true` means `ftz=true`, and `ftz=false`"),
                (["--prec-div=true", "--use_fast_math=true"], "`prec-div=true` contradicts"),
                (["--fmad=false", "--use-fast-math"], "leave out `fmad`"),
            ] {
                refused(&[&ir::good("k")], &options, &["PTX0034", wanted, "`prec-sqrt=false`"]);
            }
        }),
        test("cache operators that do not exist, and that no ptxas is told of", || {
            refused(&[&ir::good("k")], &["--def-load-cache=wt"], &["'wt'", "ca, cg, cs, lu, cv"]);
            refused(&[&ir::good("k")], &["--def-store-cache=cv"], &["'cv'", "wb, cg, cs, wt"]);
            let wanted = ["`--def-store-cache=wt` needs ptxas", "`--ptxas=off` forbids it"];
            refused(&[&ir::good("k")], &["--def-store-cache=wt", "--ptxas=off"], &wanted);
        }),
        test("strategies for panics that do not exist", || {
            refused(&[&ir::good("k")], &["--panic=silent"], &["'silent'", "full, location, trap"]);
            refused(&[&ir::good("k")], &["--panic-for=core=abort"], &["`abort`", "(full, location, trap)"]);
            refused(&[&ir::good("k")], &["--panic-for=sha2"], &["`sha2` names no strategy", "`sha2=trap`"]);
        }),
        test("strategies for the panics of crates that are not there", || {
            let wanted = ["PTX0040", "`sha3`", "the crates are", "`module0`"];
            refused(&[&ir::good("k")], &["--panic-for=sha3=trap,module0=full"], &wanted);
        }),
        test("floating-point modes that do not exist", || {
            refused(&[&ir::good("k")], &["--ftz=maybe"], &["'maybe'", "true, false"]);
            refused(&[&ir::good("k")], &["--prec-division=true"], &["'--prec-division'", "'--prec-div'"]);
        }),
        test("floating-point modes that are no constant", || {
            let body = "%c = load i32, ptr %p\ncall void @__ptx_float_modes(i32 %c)\nret void";
            let rest = "declare void @__ptx_float_modes(i32)";
            refused(&[&ir::kernel("k", body, rest)], &[], &["PTX0021", "__ptx_float_modes", "same version"]);
        }),
        test("scoped atomics with an ordering that is no constant", || {
            let body = "%c = load i32, ptr %p\n%o = call i32 @__ptx_atomic_rmw_32(ptr %p, i32 1, i32 %c)\nret void";
            let rest = "declare i32 @__ptx_atomic_rmw_32(ptr, i32, i32)";
            refused(&[&ir::kernel("k", body, rest)], &[], &["PTX0021", "__ptx_atomic_rmw_32", "same version"]);
        }),
        test("scoped atomics that are not there", || {
            for (name, code) in [("frob_32", 0), ("rmw_32", 255), ("load_32", 2 << 8), ("rmw_64", 15)] {
                let ty = if name.ends_with("64") { "i64" } else { "i32" };
                let (operand, params) = if name.starts_with("load") { ("", "") } else { (", TY 1", ", TY") };
                let [operand, params] = [operand, params].map(|text| text.replace("TY", ty));
                let body = format!("%o = call {ty} @__ptx_atomic_{name}(ptr %p{operand}, i32 {code})\nret void");
                let rest = format!("declare {ty} @__ptx_atomic_{name}(ptr{params}, i32)");
                refused(&[&ir::kernel("k", &body, &rest)], &[], &["PTX0021", name]);
            }
        }),
        test("a scoped atomic as a function's address", || {
            let body = "store ptr @__ptx_atomic_fence, ptr %p\nret void";
            let rest = "declare void @__ptx_atomic_fence(i32)";
            refused(&[&ir::kernel("k", body, rest)], &[], &["PTX0021", "__ptx_atomic_fence"]);
        }),
        test("descriptors that cannot be read", || {
            let rest = "@llvm.used = appending global [1 x ptr] [ptr @d], section \"llvm.metadata\"\n";
            // A function, what the macro knows, the place, and a list of parts.
            let entry = |own: &str, list: &str| {
                let ty = "<{ ptr, ptr, [8 x i8], ptr, [8 x i8], ptr, [8 x i8] }>";
                let len = |len: &str| format!("[8 x i8] c\"{len}\\00\\00\\00\\00\\00\\00\\00\"");
                let (own, place, list) = (own.split_once(' '), ("null", "\\00"), list.split_once(' '));
                let parts = [own.expect("two words"), place, list.expect("two words")];
                let parts = parts.map(|(of, count)| format!("ptr {of}, {}", len(count))).join(", ");
                format!("{ty} <{{ ptr @k, {parts} }}>")
            };
            let bytes = "@bytes = private constant [4 x i8] c\"nope\"\n\
                @one = private constant <{ ptr, [8 x i8] }> <{ ptr @bytes, [8 x i8] c\"\\FF\\FF\\FF\\FF\\FF\\FF\\FF\\FF\" }>\n\
                @zeros = private constant [1099511627776 x i8] zeroinitializer\n\
                @outside = external constant [4 x i8]\n";
            let (other, no_pieces) = ("same version", "not a function and pieces");
            for (value, wanted) in [
                (entry("@bytes \\04", "null \\00"), "magic number"),
                (entry("null \\00", "null \\00"), "ends too early"),
                (entry("@bytes \\05", "null \\00"), no_pieces),
                (entry("@outside \\04", "null \\00"), no_pieces),
                (entry("@zeros \\04", "null \\00"), no_pieces),
                (entry("@k \\04", "null \\00"), no_pieces),
                (entry("@bytes \\04", "@bytes \\01"), no_pieces),
                (entry("@bytes \\04", "@one \\01"), no_pieces),
                (entry("@bytes \\04", "@one \\02"), no_pieces),
                ("{ ptr, [4 x i8] } { ptr @k, [4 x i8] c\"nope\" }".to_string(), other),
                ("i32 7".to_string(), no_pieces),
            ] {
                let rest = format!("{bytes}@d = constant {value}, section \"{}\"\n{rest}", ptx_abi::SECTION);
                refused(&[&ir::kernel("k", "ret void", &rest)], &[], &["PTX0008", "`d`", wanted]);
            }
        }),
        test("a strategy for panics of a crate that is not there", || {
            refused(&[&ir::good("k")], &["--panic-for=nobody=trap"], &["PTX0040", "`nobody`", "the crates are"]);
        }),
        test("what LLVM has no instruction for", || {
            let body = "%t = load ptr, ptr %p\nindirectbr ptr %t, [label %a, label %b]\na:\nstore i32 1, ptr %p\n\
                        br label %b\nb:\nret void";
            refused(&[&ir::kernel("k", body, "")], &[], &["PTX0010", "`brind`, which `k` needs", "report it"]);
        }),
        test("what LLVM leaves out of the PTX with an error beside", || {
            let body = "%n = call i32 asm \"mov $0, 1;\", \"=Z\"()\nstore i32 %n, ptr %p\nret void";
            refused(&[&ir::kernel("k", body, "")], &[], &["PTX0010", "constraint 'Z'"]);
            let body = "%n = load i32, ptr %p\n%q = alloca i8, i32 %n\nstore volatile i8 1, ptr %q\nret void";
            let wanted = ["PTX0010", "dynamic alloca", "PTX ISA version"];
            refused(&[&ir::kernel("k", body, "")], &["--arch=sm_75"], &wanted);
        }),
        test("IR that is not valid", || {
            let body = "call void @llvm.init.trampoline(ptr %p, ptr %p, ptr %p)\nret void";
            let rest = "declare void @llvm.init.trampoline(ptr, ptr, ptr)";
            refused(&[&ir::kernel("k", body, rest)], &[], &["PTX0004", "must resolve to a function"]);
        }),
        test("unwinding", || {
            let ir = ir::module(
                "define ptx_kernel void @k() personality ptr @rust_eh_personality {\n\
                 invoke void @callee() to label %fine unwind label %bad\nfine:\nret void\nbad:\n\
                 %pad = landingpad { ptr, i32 } cleanup\nresume { ptr, i32 } %pad\n}\n\
                 define void @callee() noinline {\nret void\n}\ndeclare i32 @rust_eh_personality(...)\n",
            );
            // The optimiser may show that nothing unwinds; either is right, but not a crash.
            let scratch = Scratch::default();
            let linked = scratch.link([scratch.write("a.ll", ir)]);
            scratch.refused(&linked, &["unwind", "`k`"]);
        }),
        test("unknown intrinsic", || {
            let body = "%v = call i32 @__ptx_warp_factor()\nstore i32 %v, ptr %p\nret void";
            refused(&[&ir::kernel("k", body, "declare i32 @__ptx_warp_factor()")], &[], &["__ptx_warp_factor"]);
        }),
        test("intrinsic of another signature", || {
            let body = "%v = call i64 @__ptx_tid_x()\nstore i64 %v, ptr %p\nret void";
            refused(&[&ir::kernel("k", body, "declare i64 @__ptx_tid_x()")], &[], &["__ptx_tid_x"]);
        }),
        test("unknown arch", || refused(&[&ir::good("k")], &["--arch=sm_999"], &["sm_999", "sm_90a"])),
        test("arch of another maker", || refused(&[&ir::good("k")], &["--arch=gfx90a"], &["gfx90a"])),
        test("arch before sm_70", || refused(&[&ir::good("k")], &["--arch=sm_61"], &["sm_61", "older than sm_70"])),
        test("unknown option", || {
            let scratch = Scratch::default();
            let linked = scratch.link(["--archs=sm_80"]);
            assert!(linked.code == Some(1) && linked.stderr.contains("--archs"), "{linked:?}");
        }),
        test("response file", || {
            let scratch = Scratch::default();
            let source = scratch.write("a b.ll", ir::good("k"));
            let escaped = source.display().to_string().replace(' ', "\\ ");
            let response = scratch.write("arguments", format!("{escaped}\n--arch=sm_80\n--ptxas=off\n"));
            ptx_tests::Linked::of(scratch.linker().arg(format!("@{}", response.display()))).accepted();
            assert_eq!(scratch.outputs(), ["k.ptx"]);
        }),
        test("missing response file", || {
            let scratch = Scratch::default();
            let linked = scratch.link(["@missing"]);
            assert!(linked.code == Some(1) && linked.stderr.contains("missing"), "{linked:?}");
        }),
    ]
}

/// The linker refuses these modules with these options.
#[track_caller]
fn refused(modules: &[&str], options: &[&str], parts: &[&str]) {
    let scratch = Scratch::default();
    let write = |(index, ir): (usize, &&str)| scratch.write(&format!("module{index}.ll"), ir).into_os_string();
    let files: Vec<_> = modules.iter().enumerate().map(write).collect();
    let mut command = scratch.linker();
    command.arg("--ptxas=off").args(files).args(options);
    if options.is_empty() {
        command.arg("--arch=sm_80");
    }
    scratch.refused(&ptx_tests::Linked::of(&mut command), parts);
}
