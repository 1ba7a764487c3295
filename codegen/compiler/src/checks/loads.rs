//! Loads before a check that waits for memory what is loaded behind it.
//!
//! ```text
//! before: a:  %p = load i32, ptr (getelementptr i32, ptr %place, i64 %i)      ; %i < %x.len in this block
//!             br i1 (icmp ult i32 %p, %len), label %b, label %panic
//!         b:  %v = load i32, ptr (getelementptr i32, ptr %x, i64 %i)
//! after:  a:  %p = load i32, ptr (getelementptr i32, ptr %place, i64 %i)
//!             %v = load i32, ptr (getelementptr i32, ptr %x, i64 %i)
//!             br i1 (icmp ult i32 %p, %len), label %b, label %panic
//! ```
//!
//! `out[place[i]] = x[i]` waits for the place, because it is checked, and only then asks for what goes there: ptxas moves no
//! load across a branch. In C++ both are under way at once.
//!
//! **Why it is right.** The load is from a slice that nobody writes while the kernel runs (`noalias readonly`), at an index
//! that a branch above has compared with that slice's length. So it may be done, and reads the same as later. What LLVM is
//! promised of the value behind the check is not promised before.
//!
//! Only before checks that panic, or ask why they do: behind another branch, there may be no need of the load. Where the
//! element's own check is asked together with the one that waits, ptxas takes a load before both back to where it was.

use super::chain::Check;
use crate::abi::Table;
use crate::llvm::{
    self, BasicBlock, BasicTypeEnum, BasicValue, BasicValueEnum, Context, FunctionValue, InstructionOpcode,
    InstructionValue, IntPredicate, IntValue, Module, PointerValue,
};
use crate::loops::{self, Branch, Graph, Slice};

/// Loads before one check: each keeps a register.
const MOST_LOADS: usize = 4;

/// How deep an address, or a condition, may be computed.
const MOST_STEPS: u32 = 12;

/// Does so in every kernel.
pub fn load_early<'ctx>(context: &'ctx Context, module: &Module<'ctx>, table: &Table) {
    for kernel in &table.kernels {
        let function = module.get_function(&kernel.name).filter(|function| function.count_basic_blocks() > 1);
        let Some(function) = function else { continue };
        let mut slices = loops::shared_slices(kernel, function);
        slices.retain(Slice::is_constant);
        if !slices.is_empty() {
            load_in(context, function, &slices);
        }
    }
}

fn load_in<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>, slices: &[Slice<'ctx>]) {
    let graph = Graph::of(function);
    // The last ones first: what comes before one check may come before the one above, too.
    for block in graph.by_dominance().into_iter().rev() {
        let Some(check) = Check::of(block, false) else { continue };
        if llvm::predecessors(check.inside) != [block] || check.inside == block {
            continue;
        }
        let Some(end) = block.get_terminator() else { continue };
        let waits = Waits { graph: &graph, block, slices };
        if waits.is_late(check.condition.into(), MOST_STEPS) {
            waits.load(context, check.inside, end);
        }
    }
}

/// A block that ends in a check.
struct Waits<'a, 'ctx> {
    graph: &'a Graph<'ctx>,
    block: BasicBlock<'ctx>,
    slices: &'a [Slice<'ctx>],
}

/// A load of an element of a slice, or of a part of one.
struct Element<'ctx> {
    load: InstructionValue<'ctx>,
    address: PointerValue<'ctx>,
    index: IntValue<'ctx>,
    slice: Slice<'ctx>,
}

impl<'ctx> Waits<'_, 'ctx> {
    fn load(&self, context: &'ctx Context, inside: BasicBlock<'ctx>, end: InstructionValue<'ctx>) {
        let loads: Vec<_> = inside.get_instructions().filter_map(|from| self.element(from)).collect();
        let mut count = 0;
        for element in loads.into_iter().filter(|element| self.is_below(element)) {
            let mut needed = Vec::new();
            if count < MOST_LOADS && self.can_be_early(element.address.into(), inside, &mut needed, MOST_STEPS) {
                needed.push(element.load);
                llvm::move_before(context, &needed, end);
                llvm::forget_value(element.load);
                count += 1;
            }
        }
    }

    fn element(&self, load: InstructionValue<'ctx>) -> Option<Element<'ctx>> {
        if !llvm::is_plain_load(load) {
            return None;
        }
        let BasicValueEnum::PointerValue(address) = load.get_operand(0)?.value()? else { return None };
        let (base, size, index, more) = llvm::part_of_element(address.as_instruction_value()?)?;
        let slice = *self.slices.iter().find(|slice| slice.pointer == base && slice.size == size)?;
        let width = width(load)?;
        (more.checked_add(width)? <= size).then_some(Element { load, address, index, slice })
    }

    /// Whether a value is computed from what the block loads.
    fn is_late(&self, value: BasicValueEnum<'ctx>, steps: u32) -> bool {
        let Some(from) = llvm::instruction_of(value).filter(|from| from.get_parent() == Some(self.block)) else {
            return false;
        };
        match from.get_opcode() {
            InstructionOpcode::Load => true,
            InstructionOpcode::Phi => false,
            _ => steps == 0 || llvm::value_operands(from).any(|(_, operand)| self.is_late(operand, steps - 1)),
        }
    }

    /// Whether a value can be computed at the block's end without waiting; adds what of it is computed behind the check, each
    /// behind its operands.
    fn can_be_early(
        &self,
        value: BasicValueEnum<'ctx>,
        inside: BasicBlock<'ctx>,
        needed: &mut Vec<InstructionValue<'ctx>>,
        steps: u32,
    ) -> bool {
        let Some(from) = llvm::instruction_of(value) else { return true };
        if needed.contains(&from) {
            return true;
        }
        if from.get_parent() != Some(inside) {
            return !self.is_late(value, MOST_STEPS);
        }
        let is_early = steps > 0
            && llvm::is_pure(from)
            && llvm::value_operands(from).all(|(_, operand)| self.can_be_early(operand, inside, needed, steps - 1));
        if is_early {
            needed.push(from);
        }
        is_early
    }

    /// Whether a branch above has found the element to be in its slice.
    fn is_below(&self, element: &Element<'ctx>) -> bool {
        let mut below = self.block;
        while let Some(above) = self.graph.dominator(below).filter(|above| *above != below) {
            if llvm::predecessors(below) == [above]
                && Branch::parts(above, below).iter().flatten().any(|part| element.is_asked(part, below))
            {
                return true;
            }
            below = above;
        }
        false
    }
}

impl<'ctx> Element<'ctx> {
    /// Whether a comparison asks that the index is below the slice's length where it leads to a block.
    fn is_asked(&self, part: &Branch<'ctx>, to: BasicBlock<'ctx>) -> bool {
        let (low, high) = match (part.predicate, part.then == to) {
            (IntPredicate::ULT, true) | (IntPredicate::UGE, false) => (part.left, part.right),
            (IntPredicate::UGT, true) | (IntPredicate::ULE, false) => (part.right, part.left),
            _ => return false,
        };
        part.then != part.other && widened(low) == widened(self.index) && is_at_most(high, self.slice.len)
    }
}

/// Bytes that a load reads, and that its address is a multiple of, if these are the same.
fn width(load: InstructionValue<'_>) -> Option<u64> {
    let (size, align) = llvm::type_align(BasicTypeEnum::try_from(load.get_type()).ok()?);
    (align == size && u64::from(load.get_alignment().ok()?) == align).then_some(size)
}

/// What a number of more bits was, if it is one.
fn widened(value: IntValue<'_>) -> IntValue<'_> {
    let wide = llvm::instruction_of(value.into()).filter(|from| from.get_opcode() == InstructionOpcode::ZExt);
    wide.and_then(|wide| llvm::int_operand(wide, 0)).unwrap_or(value)
}

/// Whether a number is a length, or what is left of its bits.
fn is_at_most<'ctx>(value: IntValue<'ctx>, len: IntValue<'ctx>) -> bool {
    use InstructionOpcode as Op;
    let mut value = value;
    while value != len {
        let from = llvm::instruction_of(value.into())
            .filter(|from| matches!(from.get_opcode(), Op::ZExt | Op::Trunc | Op::Freeze));
        let Some(inner) = from.and_then(|from| llvm::int_operand(from, 0)) else { return false };
        value = inner;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// `to[place[i]] = x[i]` with the given start, condition and element; after the stage.
    fn loaded(x: &str, start: &str, condition: &str, element: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            declare void @__rust_ptx_panic_with_0() noreturn
            define void @f(ptr noalias readonly %place, i64 %place.len, {x}, i64 %x.len, ptr %to, i64 %to.len, i64 %i,
              i32 %n, i1 %other) {{
            entry: {start}
            a: %p.at = getelementptr i32, ptr %place, i64 %i
              %p = load i32, ptr %p.at
              %wide = zext i32 %p to i64
              %is.there = icmp ult i64 %wide, %to.len
              %is.mine = icmp ugt i64 %x.len, %i
              %both = select i1 %is.there, i1 %is.mine, i1 false
              br i1 {condition}, label %b, label %panic
            b: %to.at = getelementptr i32, ptr %to, i64 %wide
              store i32 7, ptr %to.at
              call void @llvm.experimental.noalias.scope.decl(metadata !0)
              {element}
              store i32 %v, ptr %to.at
              ret void
            end: ret void
            panic: call void @__rust_ptx_panic_with_0()
              unreachable
            }}
            declare void @llvm.experimental.noalias.scope.decl(metadata)
            !0 = !{{!1}}
            !1 = distinct !{{!1, !2}}
            !2 = distinct !{{!2}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        let param = |index| function.get_nth_param(index).unwrap();
        let slice = |index| {
            let (pointer, len) = (param(index).into_pointer_value(), param(index + 1).into_int_value());
            Slice { function, pointer, len, size: 4 }
        };
        let slices: Vec<_> = [slice(0), slice(2)].into_iter().filter(Slice::is_constant).collect();
        load_in(&context, function, &slices);
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    fn before(ir: &str) -> &str {
        let a = ir.split("\na:").nth(1).unwrap_or_default();
        a.split("br i1").next().unwrap_or_default()
    }

    const CONSTANT: &str = "ptr noalias readonly %x";
    const KNOWN: &str = "%fits = icmp ult i64 %i, %x.len\n br i1 %fits, label %a, label %end";
    const UNKNOWN: &str = "br label %a";
    const OF_I: &str = "%at = getelementptr i32, ptr %x, i64 %i\n %v = load i32, ptr %at, !noundef !{}";

    #[test]
    fn what_is_known_to_be_there_is_loaded_before_the_check() {
        let two = "%fits = icmp ult i64 %i, %x.len\n %two = and i1 %other, %fits\n br i1 %two, label %a, label %end";
        let not = "%fits = icmp uge i64 %i, %x.len\n br i1 %fits, label %end, label %a";
        for start in [KNOWN, two, not] {
            let ir = loaded(CONSTANT, start, "%is.there", OF_I);
            assert_eq!(before(&ir).matches("load i32").count(), 2, "{ir}");
            assert!(!before(&ir).contains("noundef") && !before(&ir).contains("freeze"), "{ir}");
        }
        let narrow = "%short = trunc i64 %x.len to i32\n %fits = icmp ult i32 %n, %short
            br i1 %fits, label %a, label %end";
        let of_n = "%w = zext i32 %n to i64\n %at = getelementptr i32, ptr %x, i64 %w\n %v = load i32, ptr %at";
        assert_eq!(before(&loaded(CONSTANT, narrow, "%is.there", of_n)).matches("load i32").count(), 2);
    }

    #[test]
    fn others_are_loaded_where_they_were() {
        let next = "%j = add i64 %i, 1\n %at = getelementptr i32, ptr %x, i64 %j\n %v = load i32, ptr %at";
        let of_p = "%at = getelementptr i32, ptr %x, i64 %wide\n %v = load i32, ptr %at";
        let pair = "%at = getelementptr i32, ptr %x, i64 %i\n %all = load i64, ptr %at\n %v = trunc i64 %all to i32";
        let volatile = "%at = getelementptr i32, ptr %x, i64 %i\n %v = load volatile i32, ptr %at";
        let some = "%fits = icmp ult i64 %i, %x.len\n %two = or i1 %other, %fits\n br i1 %two, label %a, label %end";
        let turned = "%fits = icmp ult i64 %i, %x.len\n br i1 %fits, label %end, label %a";
        let up_to = "%fits = icmp ule i64 %i, %x.len\n br i1 %fits, label %a, label %end";
        for (x, start, condition, element) in [
            // Nobody has asked for it.
            (CONSTANT, UNKNOWN, "%is.there", OF_I),
            (CONSTANT, some, "%is.there", OF_I),
            (CONSTANT, turned, "%is.there", OF_I),
            (CONSTANT, up_to, "%is.there", OF_I),
            (CONSTANT, KNOWN, "%is.there", next),
            (CONSTANT, KNOWN, "%is.there", pair),
            (CONSTANT, KNOWN, "%is.there", volatile),
            (CONSTANT, KNOWN, "%both", of_p),
            (CONSTANT, UNKNOWN, "%both", OF_I),
            // Somebody may write it.
            ("ptr %x", KNOWN, "%is.there", OF_I),
            ("ptr readonly %x", KNOWN, "%both", OF_I),
            // The check waits for nothing.
            (CONSTANT, KNOWN, "%other", OF_I),
        ] {
            let ir = loaded(x, start, condition, element);
            assert_eq!(before(&ir).matches("load ").count(), 1, "{x}, {start}, {condition}, {element}: {ir}");
        }
    }
}
