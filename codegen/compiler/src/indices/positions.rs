//! Tells LLVM that a thread's position in the block is below the block's extent, where a branch has told the extent, and so
//! a block's position in the grid.
//!
//! ```text
//! before:        %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
//!                br i1 (icmp eq i32 %n, 256), label %known, label %panic
//! after: known:  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
//!                call void @llvm.assume(i1 (icmp ult i32 %t, 256))
//! ```
//!
//! So a kernel that begins with `assert!(thread::block_dim_x() == 256)` reaches an array of 256 elements with
//! `thread::thread_idx_x()` without a test, as one in CUDA C++ does, which has none. LLVM knows of both registers that
//! they are below 1,025, but not that one is below the other.
//!
//! **Why it is right.** `%tid` is between 0 and `%ntid` - 1 in each dimension, and `%ctaid` between 0 and `%nctaid` - 1 (PTX
//! ISA, "Special Registers"). None of them changes while a thread runs.

use super::ranges::{Facts, Interval, Ranges};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::hash::QuickMap;
use crate::intrinsics::dimensions;
use crate::llvm::{
    self, BasicBlock, BasicValue, Builder, BuilderError, Context, FunctionValue, InstructionOpcode as Op,
    InstructionValue, IntPredicate, IntValue, Module,
};
use crate::loops::Graph;

/// Extents, and what is below them.
const BELOW: [(&str, &str); 2] = [("ntid.", "tid."), ("nctaid.", "ctaid.")];

/// Does so in every function.
pub fn bound<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    // What is read here may be declared.
    let with_branches = |function: &FunctionValue<'ctx>| function.count_basic_blocks() > 1;
    for function in llvm::functions(module).filter(with_branches).collect::<Vec<_>>() {
        if llvm::instructions(function).any(is_extent) {
            bound_in(context, module, function).map_err(|error| {
                Diagnostic::error(Code::LlvmFailed, format!("cannot bound the positions of a function: {error}"))
            })?;
        }
    }
    Ok(())
}

fn is_extent(from: InstructionValue<'_>) -> bool {
    from.get_opcode() == Op::Call && IntValue::try_from(from).is_ok_and(|value| position_below(value).is_some())
}

fn bound_in<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
) -> std::result::Result<(), BuilderError> {
    let graph = Graph::of(function);
    let given = QuickMap::default();
    let same = QuickMap::default();
    let ranges = Ranges::of_function(&graph, &given, &same);
    let builder = context.create_builder();
    for block in graph.by_dominance() {
        for (position, below) in told(&graph, &ranges, block) {
            assume(module, &builder, block, &position, below)?;
        }
    }
    Ok(())
}

/// The positions of which the branch to a block tells that they are below a number.
fn told<'ctx>(graph: &Graph<'ctx>, ranges: &Ranges<'_, 'ctx>, block: BasicBlock<'ctx>) -> Vec<(String, u64)> {
    let mut before = graph.before(block);
    let (Some(from), None) = (before.next(), before.next()) else { return Vec::new() };
    let Some(end) = from.get_terminator().filter(|end| end.get_opcode() == Op::Br) else { return Vec::new() };
    let (Some((then, other)), Some(condition)) = (llvm::branch_targets(end), llvm::int_operand(end, 0)) else {
        return Vec::new();
    };
    let mut facts = Facts::new();
    if then != other {
        ranges.learn(condition, then == block, &mut facts);
    }
    let below = |(extent, range): (IntValue<'ctx>, Interval)| {
        let all = ranges.of(extent, &Facts::new());
        let below = u64::try_from(range.high).ok().filter(|_| range.high < all.high)?;
        Some((position_below(extent)?, below))
    };
    facts.iter().copied().filter_map(below).collect()
}

/// The register that is below this one.
fn position_below(extent: IntValue<'_>) -> Option<String> {
    let callee = llvm::called_function(extent.as_instruction_value()?)?;
    let register = callee.get_name().to_str().ok()?.strip_prefix(dimensions::REGISTER)?;
    BELOW.iter().find_map(|(of_all, own)| Some(format!("{own}{}", register.strip_prefix(of_all)?)))
}

/// Writes that a position is below a number, where a block begins.
fn assume<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    position: &str,
    below: u64,
) -> std::result::Result<(), BuilderError> {
    let mut place = block.get_first_instruction();
    while let Some(phi) = place.filter(|next| next.get_opcode() == Op::Phi) {
        place = phi.get_next_instruction();
    }
    builder.position_before(&place.expect("a block has an end"));
    let position = dimensions::read(module, builder, position)?;
    let bound = position.get_type().const_int(below, false);
    let fact = builder.build_int_compare(IntPredicate::ULT, position, bound, "")?;
    dimensions::hold(module, builder, fact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// What is assumed where `%ok` holds, and where it does not.
    fn told_by(condition: &str) -> (Vec<String>, Vec<String>) {
        let context = Context::create();
        let registers = ["ntid.x", "ntid.y", "ntid.z", "nctaid.z", "tid.x"];
        let declared = registers.map(|of| format!("declare i32 @llvm.nvvm.read.ptx.sreg.{of}()\n")).concat();
        let read = registers
            .map(|of| {
                let range = if of.starts_with("ntid") { "range(i32 1, 1025) " } else { "" };
                format!("%{} = call {range}i32 @llvm.nvvm.read.ptx.sreg.{of}()\n", of.replace('.', ""))
            })
            .concat();
        let text = format!(
            "{declared} define void @f(i32 %any, i1 %c) {{
            entry: {read} {condition}
              br i1 %ok, label %yes, label %no
            yes: ret void
            no: ret void
            }}"
        );
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        bound(&context, &module).unwrap();
        module.verify().unwrap();
        let f = module.get_function("f").unwrap();
        let [_, yes, no] = f.get_basic_blocks()[..] else { panic!("{text}") };
        let assumed = |block: BasicBlock<'_>| {
            let mut all = Vec::new();
            let lines: Vec<_> = block.get_instructions().map(|line| line.print_to_string().to_string()).collect();
            for (read, compared) in lines.iter().zip(&lines[1..]) {
                if let (Some((_, position)), Some((_, below))) =
                    (read.split_once("sreg."), compared.split_once("icmp ult i32 "))
                {
                    all.push(format!("{} <{}", position.replace("()", ""), below.split_once(',').unwrap().1));
                }
            }
            assert_eq!(lines.iter().filter(|line| line.contains("@llvm.assume")).count(), all.len(), "{lines:?}");
            all
        };
        (assumed(yes), assumed(no))
    }

    fn yes(condition: &str) -> Vec<String> {
        let (yes, no) = told_by(condition);
        assert!(no.is_empty(), "{condition}: {no:?}");
        yes
    }

    #[test]
    fn what_an_extent_is_bounds_the_position() {
        assert_eq!(yes("%ok = icmp eq i32 %ntidx, 256"), ["tid.x < 256"]);
        assert_eq!(yes("%ok = icmp ule i32 %ntidx, 256"), ["tid.x < 256"]);
        assert_eq!(yes("%ok = icmp ult i32 %nctaidz, 2"), ["ctaid.z < 1"]);
        let (yes, no) = told_by("%ok = icmp ne i32 %ntidz, 1");
        assert!(yes.is_empty());
        assert_eq!(no, ["tid.z < 1"]);
    }

    #[test]
    fn of_several_each_counts() {
        let both = "%a = icmp eq i32 %ntidx, 32\n %b = icmp eq i32 %ntidy, 8\n";
        assert_eq!(yes(&format!("{both} %ok = and i1 %a, %b")), ["tid.y < 8", "tid.x < 32"]);
        assert_eq!(yes(&format!("{both} %ok = select i1 %a, i1 %b, i1 false")), ["tid.y < 8", "tid.x < 32"]);
        assert!(yes(&format!("{both} %ok = or i1 %a, %b")).is_empty());
        // As the library asks, with one comparison for all.
        let bits = "%a = xor i32 %ntidx, 32\n %b = xor i32 %ntidy, 8\n %c1 = or i32 %ntidz, %nctaidz\n
            %d = xor i32 %c1, 1\n %ab = or i32 %a, %b\n %abd = or i32 %ab, %d\n %ok = icmp eq i32 %abd, 0";
        let mut all = yes(bits);
        all.sort();
        assert_eq!(all, ["ctaid.z < 1", "tid.x < 32", "tid.y < 8", "tid.z < 1"]);
    }

    #[test]
    fn nothing_else_tells() {
        for condition in [
            "%ok = icmp eq i32 %tidx, 3",
            "%ok = icmp eq i32 %ntidx, %any",
            "%ok = icmp ugt i32 %ntidx, 31",
            "%s = mul i32 %ntidx, 3\n %ok = icmp eq i32 %s, 96",
            "%s = and i32 %ntidx, 31\n %ok = icmp eq i32 %s, 0",
        ] {
            let (yes, no) = told_by(condition);
            assert!(yes.is_empty() && (no.is_empty() || condition.contains("ugt")), "{condition}: {yes:?} {no:?}");
        }
    }
}
