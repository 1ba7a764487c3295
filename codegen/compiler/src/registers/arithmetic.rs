//! Gives kernels whose loops compute much of little memory enough registers to have several loads under way.
//!
//! ```text
//! before: .visible .entry nbody(…)                after: .visible .entry nbody(…)
//!         {                                              .maxnreg 48
//!           ld.shared.v4.b32 …                           {
//!           (19 instructions of arithmetic)                …
//! ```
//!
//! ptxas fits its schedule to 32 registers, or 40: it asks for a body's position when it has done with the one before, and
//! waits. In such a loop the threads that a multiprocessor then has more of do not help, because all want the same units. With
//! 48 registers it asks for four at once: a tile of bodies in shared memory went from .83 of nvcc's speed to 1.13, and bodies in
//! global memory from 1.01 to 1.73 (H100). Where a loop loads more, threads that wait for memory are worth more than that: the same
//! registers took 12 % from a convolution and 5 % from a row's normalisation.
//!
//! The same where a thread loads much of its own at once, as two matrices of sixteen numbers, without a loop: its vectors are all
//! asked for before the first is used. A product of 4 x 4 matrices went from .91 of nvcc's speed to 1.21.
//!
//! A kernel with loops gets them only if each innermost loop that loads computes much of each word, with a root, a quotient or
//! an exponential, stores nothing, asks no other threads and loads the same for all: where each thread goes through words of its
//! own, as for the exponentials of a row, the threads that wait are worth more. And if the kernel's values fit into so many registers
//! (`pressure.rs`).

use std::collections::HashSet;

use super::given::{RESERVE, are_open, give, of_a_thread};
use super::pressure::{Order, most_live};
use crate::arch::Arch;
use crate::llvm::{
    self, BasicTypeEnum, BasicValueEnum, Context, FunctionValue, InstructionOpcode as Op, InstructionValue, Module,
};
use crate::loops::{Graph, Loop, has_loops, is_convergent, is_slow};

/// What such a kernel has. Of 40, 48, 56, 64 and 80 registers, these were the ones with which the slowest of six kernels, all
/// sums over bodies, was fastest (H100).
const ENOUGH: u64 = 48;

/// Units of arithmetic for each word of 32 bits that is loaded.
const OF_A_WORD: u64 = 3;

/// A root, a quotient or an exponential, of which a quarter as many are begun as of sums.
const OF_A_SLOW_ONE: u64 = 4;

/// Values that are looked at for one address.
const MOST_LOOKS: usize = 200;

/// Loads of vectors of 16 bytes in a block.
const MUCH: usize = 6;

/// Gives such kernels of a module so many.
pub fn raise<'ctx>(context: &'ctx Context, module: &Module<'ctx>, arch: Arch) {
    if of_a_thread(arch).is_none_or(|usual| usual >= ENOUGH) {
        return;
    }
    let kernels = llvm::functions(module)
        .filter(|function| function.get_call_conventions() == llvm::PTX_KERNEL && function.count_basic_blocks() > 1);
    for kernel in kernels {
        let asks =
            || computes(kernel) && needs(kernel) + RESERVE <= ENOUGH || loads_much(kernel) && needs(kernel) <= ENOUGH;
        if are_open(kernel) && asks() {
            give(context, kernel, ENOUGH);
        }
    }
}

/// Whether all its innermost loops that load compute much of that, and there is one.
fn computes(kernel: FunctionValue<'_>) -> bool {
    let mut loops =
        Graph::of(kernel).innermost().into_iter().map(|found| Work::of(&found)).filter(|work| work.words > 0);
    let mut found = false;
    loops.all(|work| {
        found = true;
        work.is_alone && work.has_slow_one && work.units >= OF_A_WORD * work.words
    }) && found
}

/// Whether a block loads many vectors, and nothing is a loop. LLVM's code generator makes one of the numbers at an aligned
/// address and those behind it.
fn loads_much(kernel: FunctionValue<'_>) -> bool {
    let is_vector =
        |from: &InstructionValue<'_>| llvm::is_plain_load(*from) && from.get_alignment().is_ok_and(|align| align >= 16);
    kernel.get_basic_block_iter().any(|block| block.get_instructions().filter(is_vector).count() >= MUCH)
        && !has_loops(kernel)
}

/// What a round does.
#[derive(Debug, Default, PartialEq, Eq)]
struct Work {
    /// Words of 32 bits that are loaded.
    words: u64,
    units: u64,
    has_slow_one: bool,
    /// It stores nothing, asks no other threads, and loads what all load.
    is_alone: bool,
}

impl Work {
    fn of(found: &Loop<'_>) -> Self {
        let mut work = Self { is_alone: true, ..Self::default() };
        for instruction in found.blocks.iter().flat_map(|block| block.get_instructions()) {
            work.add(instruction);
        }
        work
    }

    fn add(&mut self, instruction: InstructionValue<'_>) {
        match instruction.get_opcode() {
            Op::Load => {
                let address = instruction.get_operand(0).and_then(|operand| operand.value());
                self.is_alone &= !address.is_some_and(is_of_thread);
                let ty = BasicTypeEnum::try_from(instruction.get_type());
                self.words += ty.map_or(1, |ty| llvm::type_align(ty).0.div_ceil(4));
            }
            Op::FAdd | Op::FSub | Op::FMul => self.units += 1,
            _ if is_slow(instruction) => {
                self.units += OF_A_SLOW_ONE;
                self.has_slow_one = true;
            }
            Op::Store | Op::AtomicRMW | Op::AtomicCmpXchg | Op::Fence => self.is_alone = false,
            Op::Call if is_convergent(instruction) => self.is_alone = false,
            Op::Call if llvm::calls(instruction, &["llvm.fma", "llvm.nvvm.fma"]) => self.units += 1,
            _ => {}
        }
    }
}

/// Whether a value is another one for each thread, as far as it is computed of where a thread is.
fn is_of_thread(value: BasicValueEnum<'_>) -> bool {
    let (mut next, mut seen) = (vec![value], HashSet::new());
    while let Some(value) = next.pop() {
        let Some(from) = llvm::instruction_of(value) else { continue };
        if seen.len() >= MOST_LOOKS || !seen.insert(from) {
            continue;
        }
        if llvm::calls(from, &["llvm.nvvm.read.ptx.sreg.tid.", "llvm.nvvm.read.ptx.sreg.laneid"]) {
            return true;
        }
        // What was loaded is not looked into.
        if from.get_opcode() != Op::Load {
            next.extend(llvm::value_operands(from).map(|(_, operand)| operand));
        }
        if from.get_opcode() == Op::Phi {
            next.extend(llvm::incoming(from).into_iter().map(|(value, _)| value));
        }
    }
    false
}

/// How many registers its values take, in the better of two orders.
fn needs(kernel: FunctionValue<'_>) -> u64 {
    let graph = Graph::of(kernel);
    let most = |order| most_live(kernel, &graph, order).into_values().max().unwrap_or(0);
    most(Order::Given).min(most(Order::Late))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AttributeLoc, parse_ir};

    /// What a kernel gets whose loop does this with `%x` and `%y` of a body, from the first one on.
    fn given(rest: &str, attributes: &str, arch: &str) -> Option<String> {
        given_from("add i32 0, 0", rest, attributes, arch)
    }

    /// The same, from the body of a number on.
    fn given_from(first: &str, rest: &str, attributes: &str, arch: &str) -> Option<String> {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
            declare float @llvm.nvvm.rsqrt.approx.f(float)
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            define ptx_kernel void @f(ptr %p, i64 %n, ptr %to) {attributes} {{
            entry: %first = {first}
              %begin = zext i32 %first to i64
              br label %loop
            loop: %k = phi i64 [ %begin, %entry ], [ %next, %loop ]
              %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
              %at = getelementptr <4 x float>, ptr %p, i64 %k
              %body = load <4 x float>, ptr %at
              %x = extractelement <4 x float> %body, i32 0
              %y = extractelement <4 x float> %body, i32 1
              {rest}
              %next = add i64 %k, 1
              %again = icmp ult i64 %next, %n
              br i1 %again, label %loop, label %end
            end: store float %more, ptr %to
              ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        raise(&context, &module, arch.parse().expect("an arch"));
        module.verify().unwrap();
        let kernel = module.get_function("f").expect("it is there");
        let attribute = kernel.get_string_attribute(AttributeLoc::Function, "nvvm.maxnreg")?;
        Some(attribute.get_string_value().to_string_lossy().into_owned())
    }

    /// As many products, and a root of them.
    fn products(count: usize) -> String {
        let products: String = (1..=count).map(|at| format!("%v{at} = fmul float %v{}, %y\n", at - 1)).collect();
        format!(
            "%v0 = fadd float %x, %y\n {products} %root = call float @llvm.nvvm.rsqrt.approx.f(float %v{count})
             %more = fadd float %sum, %root"
        )
    }

    #[test]
    fn much_arithmetic_gets_registers() {
        assert_eq!(given(&products(6), "", "sm_90").as_deref(), Some("48"));
        assert_eq!(given(&products(6), "", "sm_120").as_deref(), Some("48"));
    }

    #[test]
    fn others_keep_what_ptxas_gives() {
        let root = "%root = call float @llvm.nvvm.rsqrt.approx.f(float %v6)";
        for (rest, attributes, arch, why) in [
            (products(5), "", "sm_90", "eleven units of four words"),
            (products(6), "", "sm_75", "there are 64 registers already"),
            (products(6), "\"nvvm.minctasm\"=\"2\"", "sm_90", "the user has said something"),
            (
                products(12).replace("call float @llvm.nvvm.rsqrt.approx.f(float %v12)", "fadd float %v12, 1.0"),
                "",
                "sm_90",
                "no root",
            ),
            (products(6).replace(root, &format!("{root}\n store float %root, ptr %to")), "", "sm_90", "a store"),
            (
                products(6).replace(root, &format!("{root}\n call void @llvm.nvvm.barrier.cta.sync.all(i32 0)")),
                "",
                "sm_90",
                "others are asked",
            ),
        ] {
            assert_eq!(given(&rest, attributes, arch), None, "{why}");
        }
    }

    #[test]
    fn many_vectors_get_registers() {
        let given = |count: usize, align: u32, loops: bool| {
            let loads: String = (0..count)
                .map(|at| {
                    format!(
                        "%at{at} = getelementptr i8, ptr %p, i64 {}\n %v{at} = load i32, ptr %at{at}, align {align}\n store i32 %v{at}, ptr %to\n",
                        16 * at
                    )
                })
                .collect();
            let end = if loops { "br i1 %again, label %work, label %end" } else { "br label %end" };
            let text = format!(
                "define ptx_kernel void @f(ptr noalias readonly %p, ptr noalias %to, i1 %again) {{
                entry: br label %work
                work: {loads} {end}
                end: ret void
                }}"
            );
            let context = Context::create();
            let module = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
            raise(&context, &module, "sm_90".parse().expect("an arch"));
            let kernel = module.get_function("f").expect("it is there");
            kernel.get_string_attribute(AttributeLoc::Function, "nvvm.maxnreg").is_some()
        };
        assert!(given(6, 16, false));
        assert!(!given(5, 16, false) && !given(6, 8, false) && !given(6, 16, true));
    }

    #[test]
    fn words_of_its_own_are_loaded_by_more_threads() {
        let given = |register: &str| {
            let first = format!("call i32 @llvm.nvvm.read.ptx.sreg.{register}()");
            given_from(&first, &products(6), "", "sm_90").is_some()
        };
        assert!(given("ctaid.x") && !given("tid.x"));
    }

    #[test]
    fn what_needs_more_gets_no_limit() {
        let count = 44;
        let stay: String = (0..count).map(|at| format!("%u{at} = load volatile float, ptr %to\n")).collect();
        let used: String = (0..count).map(|at| format!("store volatile float %u{at}, ptr %to\n")).collect();
        // Loaded before the loop, and stored behind it.
        let context = Context::create();
        let ir = format!(
            "declare float @llvm.nvvm.rsqrt.approx.f(float)
            define ptx_kernel void @f(ptr %p, i64 %n, ptr %to) {{
            entry: {stay} br label %loop
            loop: %k = phi i64 [ 0, %entry ], [ %next, %loop ]
              %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
              %at = getelementptr float, ptr %p, i64 %k
              %x = load float, ptr %at
              %root = call float @llvm.nvvm.rsqrt.approx.f(float %x)
              %more = fadd float %sum, %root
              %next = add i64 %k, 1
              %again = icmp ult i64 %next, %n
              br i1 %again, label %loop, label %end
            end: {used} store float %more, ptr %to
              ret void
            }}"
        );
        let module = parse_ir(&context, ir.as_bytes(), "m").expect("the text is LLVM IR");
        raise(&context, &module, "sm_90".parse().expect("an arch"));
        let kernel = module.get_function("f").expect("it is there");
        assert!(computes(kernel) && are_open(kernel));
        assert!(kernel.get_string_attribute(AttributeLoc::Function, "nvvm.maxnreg").is_none());
    }
}
