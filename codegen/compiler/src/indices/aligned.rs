//! Which loads and stores would be one of several elements, if slices began at addresses as a vector needs them.
//!
//! ```text
//! before: %from = getelementptr [4 x float], ptr %points, i64 %i
//!         load float, ptr %from, align 4                       ; four, of addresses one behind the other
//! after:  the test also asks: (ptrtoint %points) & 15 == 0
//!         load float, ptr %from, align 16                      ; in the copy; LLVM makes one `ld.v4` of the four
//! ```
//!
//! Rust aligns `[f32; 4]`, or a structure of floats, as one float. CUDA C++ has `float4`, which one instruction loads. With four,
//! the threads of a warp ask four times for the same sectors, and what is stored between them has to wait. The driver
//! begins every allocation at a multiple of 256 bytes, and a slice hardly ever begins at an odd element of one.
//!
//! **Why it is right.** An address is a parameter plus multiples of numbers; as many zeros as the parameter and all of these end
//! with, it ends with, too. Through the phis of a loop that holds by induction: what is added in a round ends with as many. The
//! parameters' are tested. In the copy that runs where the test fails, nothing is promised.

use std::collections::{HashMap, HashSet};

use super::ranges::constant;
use crate::llvm::{
    self, AttributeLoc, BasicBlock, BasicTypeEnum, BasicValue, BasicValueEnum, Builder, BuilderError, CallSiteValue,
    Context, FunctionValue, InstructionOpcode as Op, InstructionValue, IntPredicate, IntValue, PointerValue, Use,
};
use crate::loops::Graph;

/// The zeros with which the widest vector's address ends.
const MOST_ZEROS: u32 = 4;

/// How many values an address may be computed of.
const MOST_VALUES: u32 = 64;

/// Loads and stores that must go; one in a loop counts as several.
const FEWEST_GONE: u64 = 2;
const IN_A_LOOP: u64 = 4;

/// For how many instructions of a copy that is made for nothing else one must go.
const COPIED: u64 = 48;

/// Instructions of a function that is copied for nothing else, and how many must go where there are as many.
pub const MOST_INSTRUCTIONS: usize = 1_500;
const MANY_GONE: u64 = 12;

/// Bytes of a copy that becomes loads and stores.
const LONGEST_COPY: u64 = 64;

/// What the test would ask, and what may be promised where it holds.
pub struct Aligned<'ctx> {
    params: Vec<PointerValue<'ctx>>,
    zeros: u32,
    accesses: Vec<Access<'ctx>>,
    gone: u64,
}

/// A load, a store, or a side of a copy.
#[derive(Clone, Copy)]
struct Access<'ctx> {
    instruction: InstructionValue<'ctx>,
    /// Of a call, which argument is the address.
    argument: Option<u32>,
    /// The zeros that its address is said to end with.
    known: u32,
    bytes: u64,
    offset: i64,
    /// The zeros that its address ends with, if the parameters end with as many as the test may ask for.
    zeros: u32,
}

/// What the addresses of a group have in common: an address, and so many elements of so many bytes behind it.
type Root<'ctx> = (PointerValue<'ctx>, Option<(u64, IntValue<'ctx>)>);

impl<'ctx> Aligned<'ctx> {
    /// `None`, if too little would be gained.
    pub fn of(kernel: FunctionValue<'ctx>, graph: &Graph<'ctx>) -> Option<Self> {
        let loops = graph.innermost();
        let mut groups: Vec<((BasicBlock<'ctx>, bool, Root<'ctx>), Vec<Access<'ctx>>)> = Vec::new();
        let mut places = HashMap::new();
        for instruction in llvm::instructions(kernel) {
            let Some(block) = instruction.get_parent() else { continue };
            for (pointer, access) in accesses(instruction) {
                let (root, offset) = root(pointer);
                let key = (block, instruction.get_opcode() == Op::Load, root);
                let place = *places.entry(key).or_insert(groups.len());
                if place == groups.len() {
                    groups.push((key, Vec::new()));
                }
                groups[place].1.push(Access { offset, ..access });
            }
        }
        let mut all = Self { params: Vec::new(), zeros: 0, accesses: Vec::new(), gone: 0 };
        for ((block, _, root), mut accesses) in groups {
            let mut seen = Seen { params: Vec::new(), in_progress: Vec::new(), left: MOST_VALUES };
            let zeros = seen.zeros_of(root);
            for access in &mut accesses {
                access.zeros = zeros.min(access.offset.trailing_zeros());
            }
            let (saved, needed) = saved(&accesses);
            let bytes = accesses.iter().map(|access| access.bytes).min().unwrap_or_default();
            let has_large_elements = || seen.params.iter().all(|param| element_bytes(kernel, *param) > bytes);
            // To take a byte out of a register is an instruction, as loading it is.
            if saved == 0 || (bytes == 1 || !has_large_elements()) && !varies(root) {
                continue;
            }
            if seen.params.iter().any(|param| is_passed_by_value(kernel, *param)) {
                continue;
            }
            all.gone += saved * if loops.iter().any(|found| found.contains(block)) { IN_A_LOOP } else { 1 };
            all.zeros = all.zeros.max(needed);
            let new: Vec<_> = seen.params.into_iter().filter(|param| !all.params.contains(param)).collect();
            all.params.extend(new);
            all.accesses.extend(accesses);
        }
        (all.gone >= FEWEST_GONE).then_some(all)
    }

    /// Whether a copy of so many instructions is worth it. Where many loads go, it is that of a hash or of a row: each was one
    /// of every thread from a place of its own.
    pub fn pays(&self, instructions: usize) -> bool {
        u64::try_from(instructions).is_ok_and(|count| count <= COPIED * self.gone) || self.pays_many()
    }

    /// Whether so many go that any copy is worth it.
    pub fn pays_many(&self) -> bool {
        self.gone >= MANY_GONE
    }

    /// Writes whether the parameters are as is wanted.
    pub fn test(
        &self,
        context: &'ctx Context,
        builder: &Builder<'ctx>,
        kernel: FunctionValue<'ctx>,
    ) -> Result<IntValue<'ctx>, BuilderError> {
        let word = context.i64_type();
        let mut together = word.const_zero();
        for param in &self.params {
            // A pointer that is not defined may be another one for each thread, so that they may part here.
            let param = if llvm::is_defined(kernel, (*param).into()) {
                *param
            } else {
                llvm::freeze(builder, (*param).into()).into_pointer_value()
            };
            let address = builder.build_ptr_to_int(param, word, "")?;
            together = builder.build_or(together, address, "")?;
        }
        let rest = builder.build_and(together, word.const_int((1 << self.zeros) - 1, false), "")?;
        builder.build_int_compare(IntPredicate::EQ, rest, word.const_zero(), "")
    }

    /// Promises it of the loads and stores.
    pub fn promise(&self) {
        for access in &self.accesses {
            let zeros = access.zeros.min(self.zeros);
            if zeros <= access.known {
                continue;
            }
            match access.argument {
                Some(index) => {
                    let call = CallSiteValue::try_from(access.instruction).expect("only a call has arguments");
                    call.set_alignment_attribute(AttributeLoc::Param(index), 1 << zeros);
                }
                None => access.instruction.set_alignment(1 << zeros).expect("loads and stores take powers of two"),
            }
        }
    }
}

/// Whether threads of a warp look at different addresses. Elements of one address for all of them come from a cache anyway: a
/// vector of those that an unrolled loop loads spares little, and needs registers side by side.
fn varies(root: Root<'_>) -> bool {
    let mut pending: Vec<BasicValueEnum<'_>> = vec![root.0.into()];
    pending.extend(root.1.map(|(_, index)| BasicValueEnum::from(index)));
    let mut seen = HashSet::new();
    while let Some(value) = pending.pop() {
        let Some(from) = llvm::instruction_of(value).filter(|from| seen.insert(*from)) else { continue };
        let is_own = llvm::called_function(from).is_some_and(|callee| {
            let name = callee.get_name().to_string_lossy();
            name.contains(".sreg.tid.") || name.ends_with(".sreg.laneid")
        });
        if is_own || from.get_opcode() == Op::Load {
            return true;
        }
        pending.extend(llvm::value_operands(from).map(|(_, operand)| operand));
        pending.extend(llvm::incoming(from).into_iter().map(|(operand, _)| operand));
    }
    false
}

/// The bytes of an element of a slice: rustc tells LLVM of its length that all elements have less than 2^63 bytes. One for
/// what is no slice.
fn element_bytes(kernel: FunctionValue<'_>, slice: PointerValue<'_>) -> u64 {
    let len = llvm::param_index(slice).and_then(|index| kernel.get_nth_param(u32::try_from(index).ok()? + 1));
    let Some(BasicValueEnum::IntValue(len)) = len else { return 1 };
    let limits = llvm::uses(&len).into_iter().filter_map(|user| match user {
        Use::Instruction(user) if user.get_icmp_predicate() == Some(IntPredicate::ULT) => llvm::int_operand(user, 1),
        _ => None,
    });
    let limit = limits.filter_map(IntValue::get_zero_extended_constant).filter(|limit| *limit > 0).max();
    limit.map_or(1, |limit| (1 << 63) / limit)
}

/// The kernel has its own copy of such a parameter, where the ABI says.
fn is_passed_by_value(kernel: FunctionValue<'_>, param: PointerValue<'_>) -> bool {
    let index = llvm::param_index(param).and_then(|index| u32::try_from(index).ok());
    let byval = llvm::Attribute::get_named_enum_kind_id("byval");
    index.is_none_or(|index| kernel.get_enum_attribute(AttributeLoc::Param(index), byval).is_some())
}

/// The addresses that an instruction accesses, if no other thread may wait for that.
fn accesses(instruction: InstructionValue<'_>) -> Vec<(PointerValue<'_>, Access<'_>)> {
    let access = |bytes, known: u32, argument| Access {
        instruction,
        argument,
        known: known.max(1).trailing_zeros(),
        bytes,
        offset: 0,
        zeros: 0,
    };
    let operand = |index| llvm::operand(instruction, index);
    let (pointer, ty) = if llvm::is_plain_load(instruction) {
        (operand(0), BasicTypeEnum::try_from(instruction.get_type()).ok())
    } else if llvm::is_plain_store(instruction) {
        (operand(1), operand(0).map(|value| value.get_type()))
    } else {
        return of_copy(instruction)
            .into_iter()
            .map(|(at, pointer, len, known)| (pointer, access(len, known, Some(at))))
            .collect();
    };
    let (Some(BasicValueEnum::PointerValue(pointer)), Some(ty)) = (pointer, ty) else { return Vec::new() };
    let is_plain = match ty {
        BasicTypeEnum::IntType(ty) => matches!(ty.get_bit_width(), 8 | 16 | 32 | 64),
        BasicTypeEnum::FloatType(_) | BasicTypeEnum::PointerType(_) => true,
        _ => false,
    };
    let known = instruction.get_alignment().ok();
    let found = known.filter(|_| is_plain).map(|known| (pointer, access(llvm::type_align(ty).0, known, None)));
    found.into_iter().collect()
}

/// The two sides of a copy of a few bytes: which argument, its length, and how it is aligned.
fn of_copy(call: InstructionValue<'_>) -> Vec<(u32, PointerValue<'_>, u64, u32)> {
    let callee = if call.get_opcode() == Op::Call { llvm::called_function(call) } else { None };
    let is_copy = callee.is_some_and(|callee| callee.get_name().to_bytes().starts_with(b"llvm.memcpy.p"));
    let number = |index| llvm::int_operand(call, index).and_then(IntValue::get_zero_extended_constant);
    let (true, Some(len), Some(0)) = (is_copy, is_copy.then(|| number(2)).flatten(), number(3)) else {
        return Vec::new();
    };
    let Some(site) = CallSiteValue::try_from(call).ok().filter(|_| len <= LONGEST_COPY) else { return Vec::new() };
    let sides = llvm::value_operands(call).take(2).filter_map(|(index, value)| {
        let kind = llvm::Attribute::get_named_enum_kind_id("align");
        let align = site.get_enum_attribute(AttributeLoc::Param(index), kind).map_or(1, |of| of.get_enum_value());
        let BasicValueEnum::PointerValue(pointer) = value else { return None };
        Some((index, pointer, len, u32::try_from(align).ok()?))
    });
    sides.collect()
}

/// An address without the constants that are added to it, and these in bytes.
fn root(pointer: PointerValue<'_>) -> (Root<'_>, i64) {
    let (mut at, mut offset) = (pointer, 0_i64);
    while let Some((base, size, index)) = at.as_instruction_value().and_then(llvm::element_of) {
        let size_of = i64::try_from(size).unwrap_or_default();
        let wide = index.get_type().get_bit_width() == 64;
        if let Some(number) = constant(index).and_then(|number| i64::try_from(number).ok()) {
            offset = offset.wrapping_add(number.wrapping_mul(size_of));
            at = base;
            continue;
        }
        let sum = index.as_instruction_value().filter(|from| wide && is_sum(*from));
        let parts =
            sum.and_then(|sum| Some((llvm::int_operand(sum, 0)?, llvm::int_operand(sum, 1).and_then(constant)?)));
        let parts = parts.and_then(|(rest, number)| Some((rest, i64::try_from(number).ok()?)));
        return match parts {
            Some((rest, number)) => ((base, Some((size, rest))), offset.wrapping_add(number.wrapping_mul(size_of))),
            None => ((base, Some((size, index))), offset),
        };
    }
    ((at, None), offset)
}

fn is_sum(from: InstructionValue<'_>) -> bool {
    from.get_opcode() == Op::Add || from.get_opcode() == Op::Or && llvm::is_disjoint(from)
}

/// How many of these, which have one root, are no longer there as vectors, and the zeros that takes.
fn saved(accesses: &[Access<'_>]) -> (u64, u32) {
    let (mut saved, mut needed) = (0, 0);
    let at = |offset: i64, bytes: u64| accesses.iter().find(|one| one.offset == offset && one.bytes == bytes);
    let mut sorted: Vec<&Access<'_>> = accesses.iter().collect();
    sorted.sort_by_key(|access| access.offset);
    let mut end = i64::MIN;
    for first in sorted {
        // What is one access, but has to be several, as of bytes.
        let whole = first.zeros.min(first.bytes.trailing_zeros().min(MOST_ZEROS));
        if whole > first.known && first.bytes > 1 << first.known {
            saved += (first.bytes >> first.known) - (first.bytes >> whole).max(1);
            needed = needed.max(whole);
        }
        if first.offset < end || first.argument.is_some() {
            continue;
        }
        let is_filled = |zeros: &u32| {
            let count = (1_u64 << zeros) / first.bytes.max(1);
            count > 1
                && (1..count).all(|k| {
                    let next = i64::try_from(k * first.bytes).ok().and_then(|more| first.offset.checked_add(more));
                    next.is_some_and(|next| at(next, first.bytes).is_some())
                })
        };
        let widest = (1..=first.zeros.min(MOST_ZEROS)).rev().find(is_filled);
        if let Some(zeros) = widest.filter(|zeros| *zeros > first.known) {
            saved += (1_u64 << zeros) / first.bytes - 1;
            needed = needed.max(zeros);
            end = first.offset.saturating_add(1 << zeros);
        }
    }
    (saved, needed)
}

/// What was met on the way from an address to what it is computed of.
struct Seen<'ctx> {
    params: Vec<PointerValue<'ctx>>,
    in_progress: Vec<InstructionValue<'ctx>>,
    left: u32,
}

impl<'ctx> Seen<'ctx> {
    fn zeros_of(&mut self, (base, more): Root<'ctx>) -> u32 {
        let base = self.of_pointer(base);
        base.min(more.map_or(MOST_ZEROS, |(size, index)| self.of_element(size, index)))
    }

    /// The zeros that an address ends with, if the parameters do; those in progress are taken to have as many.
    fn of_pointer(&mut self, pointer: PointerValue<'ctx>) -> u32 {
        if llvm::address_space(pointer) > 1 {
            return 0;
        }
        let Some(from) = pointer.as_instruction_value() else {
            if llvm::param_index(pointer).is_none() {
                return 0;
            }
            if !self.params.contains(&pointer) {
                self.params.push(pointer);
            }
            return MOST_ZEROS;
        };
        self.inside(from, |this| {
            if let Some((base, size, index)) = llvm::element_of(from) {
                return this.of_pointer(base).min(this.of_element(size, index));
            }
            let choices: Vec<_> = choices(from).collect();
            let mut zeros = if choices.is_empty() { 0 } else { MOST_ZEROS };
            for choice in choices {
                let BasicValueEnum::PointerValue(choice) = choice else { return 0 };
                zeros = zeros.min(this.of_pointer(choice));
            }
            zeros
        })
    }

    fn of_element(&mut self, size: u64, index: IntValue<'ctx>) -> u32 {
        (size.trailing_zeros() + self.of_integer(index)).min(MOST_ZEROS)
    }

    fn of_integer(&mut self, value: IntValue<'ctx>) -> u32 {
        if let Some(number) = constant(value) {
            return number.trailing_zeros().min(MOST_ZEROS);
        }
        let Some(from) = value.as_instruction_value() else { return 0 };
        self.inside(from, |this| {
            let mut of = |index| llvm::int_operand(from, index).map_or(0, |operand| this.of_integer(operand));
            match from.get_opcode() {
                Op::Add | Op::Sub | Op::Or | Op::Xor => of(0).min(of(1)),
                Op::And => of(0).max(of(1)),
                Op::Mul => (of(0) + of(1)).min(MOST_ZEROS),
                Op::Shl => {
                    let by = llvm::int_operand(from, 1).and_then(constant).and_then(|by| u32::try_from(by).ok());
                    (of(0) + by.unwrap_or_default().min(MOST_ZEROS)).min(MOST_ZEROS)
                }
                Op::ZExt | Op::SExt => match llvm::int_operand(from, 0) {
                    // Of what is narrower, zeros may be above all of its bits.
                    Some(inner) if inner.get_type().get_bit_width() > MOST_ZEROS => of(0),
                    _ => 0,
                },
                Op::Trunc => of(0),
                _ => choices(from)
                    .map(|choice| match choice {
                        BasicValueEnum::IntValue(choice) => this.of_integer(choice),
                        _ => 0,
                    })
                    .min()
                    .unwrap_or(0),
            }
        })
    }

    fn inside(&mut self, from: InstructionValue<'ctx>, find: impl FnOnce(&mut Self) -> u32) -> u32 {
        if self.in_progress.contains(&from) {
            return MOST_ZEROS;
        }
        if self.left == 0 {
            return 0;
        }
        self.left -= 1;
        self.in_progress.push(from);
        let zeros = find(self);
        self.in_progress.pop();
        zeros
    }
}

/// The values of which a phi or a `select` is one.
fn choices(from: InstructionValue<'_>) -> impl Iterator<Item = BasicValueEnum<'_>> {
    let of_phi = llvm::incoming(from).into_iter().map(|(value, _)| value);
    let is_select = from.get_opcode() == Op::Select;
    let of_select =
        llvm::value_operands(from).filter(move |(index, _)| is_select && *index > 0).map(|(_, value)| value);
    of_phi.chain(of_select)
}

#[cfg(test)]
mod tests {
    use crate::arch::Arch;
    use crate::emit;
    use crate::llvm::{self, AnyValue, Context, parse_ir};
    use crate::request::OptLevel;

    /// What becomes of a kernel with this body. `%n` is any number of 64 bits, `%i` one of 32.
    fn aligned(body: &str) -> String {
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
            declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            define ptx_kernel void @f(ptr %x, ptr %y, i64 %n, i32 %i, ptr byval([16 x i8]) align 4 %own) {{
            entry:
              %own.i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %k = zext i32 %own.i to i64
              {body}
              ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        crate::indices::narrow(&context, &module, &machine, arch).unwrap();
        module.verify().unwrap();
        llvm::functions(&module).find(|f| f.get_name() == c"f").unwrap().print_to_string().to_string()
    }

    /// Four loads of floats from `%at`, and what is done with them.
    fn four(at: &str) -> String {
        let loads = (0..4).map(|k| {
            format!(
                "%p{k} = getelementptr i8, ptr %at, i64 {}
                %v{k} = load float, ptr %p{k}, align 4
                store volatile float %v{k}, ptr %y, align 4\n",
                4 * k
            )
        });
        format!("{at}\n{}", loads.collect::<String>())
    }

    /// So many loads of words from a row of 32, and what is done with them.
    fn words_of_a_row(words: u32) -> String {
        let loads = (0..words).map(|k| {
            format!(
                "%p{k} = getelementptr i8, ptr %at, i64 {}
                %v{k} = load i32, ptr %p{k}, align 4
                store volatile i32 %v{k}, ptr %y, align 4\n",
                4 * k
            )
        });
        format!("%at = getelementptr [32 x i32], ptr %x, i64 %k\n{}", loads.collect::<String>())
    }

    #[test]
    fn what_begins_at_multiples_of_a_vector_is_loaded_as_one() {
        for at in [
            "%at = getelementptr [4 x float], ptr %x, i64 %k",
            "%four = mul i64 %k, 12\n %at = getelementptr float, ptr %x, i64 %four",
            "%four = shl i64 %k, 2\n %more = add i64 %four, 8\n %at = getelementptr float, ptr %x, i64 %more",
            "%c = icmp eq i64 %k, 0\n %p = select i1 %c, ptr %x, ptr %y\n %at = getelementptr i8, ptr %p, i64 32",
        ] {
            let ir = aligned(&four(at));
            assert_eq!(ir.matches("load float").count(), 8, "{at}: {ir}");
            assert_eq!(ir.matches("align 16").count(), 1, "the first, in one copy: {ir}");
            assert!(ir.contains("ptrtoint") && ir.contains(", 15\n"), "{ir}");
        }
        let both = aligned(&four("%c = icmp eq i64 %k, 0\n %at = select i1 %c, ptr %x, ptr %y"));
        assert_eq!(both.matches("ptrtoint").count(), 2, "{both}");
    }

    #[test]
    fn a_long_kernel_gets_its_copy_where_many_loads_go() {
        let of_words = |words: u32| {
            // As a hash does; more than what is copied for a few loads.
            let rounds = (1..1000).map(|k| format!("%h{k} = mul i32 %h{}, %i\n", k - 1));
            let (loads, rounds) = (words_of_a_row(words), rounds.collect::<String>());
            aligned(&format!("{loads}%h0 = add i32 %i, 1\n{rounds}store volatile i32 %h999, ptr %y, align 4"))
        };
        assert_eq!(of_words(32).matches("load i32").count(), 64);
        assert_eq!(of_words(16).matches("load i32").count(), 32);
        assert_eq!(of_words(12).matches("load i32").count(), 12);
    }

    #[test]
    fn a_kernel_in_which_threads_meet_gets_its_copy_where_many_loads_go() {
        let with = |words, meet: &str| aligned(&(words_of_a_row(words) + meet));
        let of_words = |words| with(words, "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)");
        let both = of_words(32);
        // Assembly may have names of its own.
        let assembly = "call void asm sideeffect \"again:\", \"\"()";
        assert_eq!(with(32, assembly).matches("load i32").count(), 32);
        assert_eq!((both.matches("load i32").count(), both.matches("call void @llvm.nvvm.barrier").count()), (64, 2));
        assert_eq!(of_words(16).matches("load i32").count(), 32, "12 of 16 are many");
        assert_eq!(of_words(12).matches("load i32").count(), 12, "9 of 12 are not");
    }

    #[test]
    fn an_address_that_a_loop_moves_is_aligned_if_each_step_is() {
        let walk_from = |first: &str, step: u32| {
            let body = four("");
            aligned(&format!(
                "%first = getelementptr [16 x i8], ptr %x, i64 {first}
                br label %loop
                loop: %at = phi ptr [ %first, %entry ], [ %next, %loop ]
                  {body}
                  %next = getelementptr i8, ptr %at, i64 {step}
                  %go = icmp ne ptr %next, %y
                  br i1 %go, label %loop, label %end
                end:"
            ))
        };
        let walk = |step| walk_from("%k", step);
        assert_eq!(walk(48).matches("align 16").count(), 1);
        assert_eq!(walk(8).matches("align 8").count(), 2, "two of two: {}", walk(8));
        assert!(!walk(20).contains("ptrtoint"), "{}", walk(20));
        // What all threads look at counts only if it is what the slice is made of.
        assert!(!walk_from("%n", 16).contains("ptrtoint"));
        let uniform = |limit: u64| {
            let at = "%at = getelementptr [4 x float], ptr %y, i64 7";
            aligned(&format!("%few = icmp ult i64 %n, {limit}\n{}", four(at))).contains("ptrtoint")
        };
        assert!(uniform(1 << 59) && !uniform(1 << 61));
        // Bytes do not: each would have to be taken out of its word.
        let bytes = |at: &str| {
            let loads: String = (0..16)
                .map(|k| format!("%p{k} = getelementptr i8, ptr %at, i64 {k}\n %v{k} = load i8, ptr %p{k}, align 1\n"))
                .collect();
            let at = format!("%at = getelementptr [16 x i8], ptr %y, i64 {at}");
            aligned(&format!("%few = icmp ult i64 %n, {}\n{at}\n{loads}", 1_u64 << 59)).contains("ptrtoint")
        };
        assert!(bytes("%k") && !bytes("7"));
    }

    #[test]
    fn copies_and_single_words_count_too() {
        let ends = "%p = getelementptr [16 x i8], ptr %x, i64 %k\n %q = getelementptr [16 x i8], ptr %y, i64 %k";
        let call = "call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr align 4 %q, i64 16, i1 false)";
        let ir = aligned(&format!("{ends}\n{call}"));
        assert!(ir.contains("ptr align 16 %p, ptr align 16 %q") && ir.matches("ptrtoint").count() == 2, "{ir}");
        let ir = aligned(&format!("{ends}\n %v = load i32, ptr %p, align 1\n store i32 %v, ptr %q, align 1"));
        assert_eq!(ir.matches("align 4").count(), 2 + 1, "and what is passed by value: {ir}");
        assert!(ir.contains(", 3\n"), "{ir}");
    }

    #[test]
    fn others_stay_as_they_are() {
        for body in [
            // Any float may be the first.
            &four("%at = getelementptr float, ptr %x, i64 %k"),
            &four("%odd = or i64 %k, 4\n %at = getelementptr float, ptr %x, i64 %odd"),
            &four("%four = mul i64 %k, 16\n %any = freeze i64 %four\n %at = getelementptr i8, ptr %x, i64 %any"),
            // What is passed by value is where the ABI says.
            &four("%at = getelementptr i8, ptr %own, i64 0"),
            &four("%at = getelementptr [4 x float], ptr %x, i64 %k").replace("load float", "load volatile float"),
            &format!(
                "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)\n{}",
                four("%at = getelementptr [4 x float], ptr %x, i64 %k")
            ),
            // One pair is not worth a copy.
            &"%at = getelementptr [2 x float], ptr %x, i64 %k
              %v = load float, ptr %at, align 4
              %next = getelementptr i8, ptr %at, i64 4
              %w = load float, ptr %next, align 4
              store volatile float %v, ptr %y
              store volatile float %w, ptr %y"
                .to_string(),
        ] {
            let ir = aligned(body);
            assert!(!ir.contains("ptrtoint") && !ir.contains("align 16"), "{body}: {ir}");
        }
    }
}
