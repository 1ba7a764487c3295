//! Messages with values that are shown in one of several ways, as an `Option` is: each way is a panic of its own.
//!
//! ```text
//! before: call void @panic_fmt(ptr @"value: {:?}", ptr %args, ptr %location)     ; an `Option<u32>` at %value
//!         unreachable
//! after:  br label %a
//!     a:  %some = icmp ne i32 %tag, 0                          ; as in `<Option<u32> as Debug>::fmt`
//!         br i1 %some, label %b, label %c
//!     b:  call void @__rust_ptx_panic_with_1(ptr @"value: Some({})", ptr %location, i64 %number)
//!         unreachable
//!     c:  call void @__rust_ptx_panic_with_0(ptr @"value: None", ptr %location)
//!         unreachable
//! ```
//!
//! Nothing jumps to what was begun until all of it is there, so a way that only the device can show leaves nothing behind.

use std::cell::Cell;

use super::shown::{Branch, Frame, Pieces, Reader, is_only_effect, operand_of};
use crate::llvm::{
    self, BasicBlock, BasicValueEnum, BuilderError, FunctionValue, InstructionOpcode, InstructionValue, IntValue,
};

/// Ways to show a message at most.
const MOST_WAYS: usize = 16;

/// Conditions on the way to one.
const MOST_CONDITIONS: usize = 6;

/// Writes every way of a message.
pub struct Ways<'a, 'ctx, F> {
    pub reader: &'a Reader<'a, 'ctx>,
    /// The function that panics.
    pub function: FunctionValue<'ctx>,
    /// Writes a panic where the builder stands, if it can be written.
    pub panic: F,
    /// How many ways there are.
    pub count: Cell<usize>,
}

impl<'ctx, F: Fn(&Pieces<'ctx>) -> Result<bool, BuilderError>> Ways<'_, 'ctx, F> {
    /// Writes the panics into new blocks, and returns the first of these.
    pub fn write(&self, message: &Pieces<'ctx>) -> Result<Option<BasicBlock<'ctx>>, BuilderError> {
        let first = self.block();
        Ok(self.all(message)?.then_some(first))
    }

    /// Goes on in a new block.
    fn block(&self) -> BasicBlock<'ctx> {
        let block = self.reader.context.append_basic_block(self.function, "");
        self.reader.builder.position_at_end(block);
        block
    }

    /// Ends the block that the builder stands in, with every way of the message.
    fn all(&self, message: &Pieces<'ctx>) -> Result<bool, BuilderError> {
        let Some((branch, rest)) = message.branches.split_first() else {
            self.count.set(self.count.get() + 1);
            let done = self.count.get() <= MOST_WAYS && (self.panic)(message)?;
            self.reader.builder.build_unreachable()?;
            return Ok(done);
        };
        let rest = Pieces { branches: rest.to_vec(), ..message.clone() };
        match branch.function.get_first_basic_block() {
            Some(block) => self.from(block, None, branch, &rest, 0),
            None => self.give_up(),
        }
    }

    /// The ways from a block of what formats the value.
    fn from(
        &self,
        block: BasicBlock<'ctx>,
        before: Option<BasicBlock<'ctx>>,
        branch: &Branch<'ctx>,
        rest: &Pieces<'ctx>,
        conditions: usize,
    ) -> Result<bool, BuilderError> {
        let (mut frame, builder) = (Frame::at(branch.address), self.reader.builder);
        frame.from = before;
        let Some(end) = block.get_terminator() else { return self.give_up() };
        if end.get_opcode() == InstructionOpcode::Unreachable {
            builder.build_unreachable()?;
            return Ok(true);
        }
        if let Some(call) = last_call(block, end) {
            if !is_only_effect(block.get_instructions(), call) {
                return self.give_up();
            }
            return match self.reader.call(branch.function, call, &frame, branch.level + 1)? {
                Some(shown) => self.all(&put(rest, branch, shown)),
                None => self.give_up(),
            };
        }
        // What comes before a condition is computed where it is asked for.
        if conditions == MOST_CONDITIONS || !is_only_effect(block.get_instructions(), end) {
            return self.give_up();
        }
        if let (InstructionOpcode::Br, [next]) = (end.get_opcode(), &llvm::block_operands(end)[..]) {
            return self.from(*next, Some(block), branch, rest, conditions + 1);
        }
        let condition = match operand_of(end, 0) {
            Some(condition) => self.reader.plain(condition, &frame)?,
            None => None,
        };
        let Some(BasicValueEnum::IntValue(condition)) = condition else { return self.give_up() };
        let (from, block_before) = (builder.get_insert_block(), block);
        let mut done = true;
        let mut target = |to| -> Result<BasicBlock<'ctx>, BuilderError> {
            let block = self.block();
            done &= self.from(to, Some(block_before), branch, rest, conditions + 1)?;
            Ok(block)
        };
        match end.get_opcode() {
            InstructionOpcode::Br => {
                let Some((then, other)) = llvm::branch_targets(end) else { return self.give_up() };
                let (then, other) = (target(then)?, target(other)?);
                from.into_iter().for_each(|block| builder.position_at_end(block));
                builder.build_conditional_branch(condition, then, other)?;
            }
            InstructionOpcode::Switch => {
                let Some((default, cases)) = llvm::switch_targets(end) else { return self.give_up() };
                let default = target(default)?;
                let mut targets: Vec<(IntValue<'ctx>, BasicBlock<'ctx>)> = Vec::new();
                for (value, to) in cases {
                    targets.push((value, target(to)?));
                }
                from.into_iter().for_each(|block| builder.position_at_end(block));
                builder.build_switch(condition, default, &targets)?;
            }
            _ => return self.give_up(),
        }
        Ok(done)
    }

    /// Ends a block that nothing will jump to.
    fn give_up(&self) -> Result<bool, BuilderError> {
        self.reader.builder.build_unreachable()?;
        Ok(false)
    }
}

/// The message with what is shown in the place of the first value that branches.
fn put<'ctx>(rest: &Pieces<'ctx>, branch: &Branch<'ctx>, shown: Pieces<'ctx>) -> Pieces<'ctx> {
    let before = Pieces {
        parts: rest.parts[..branch.parts].to_vec(),
        words: rest.words[..branch.words].to_vec(),
        branches: vec![],
    };
    let moved = |later: &Branch<'ctx>| Branch {
        parts: later.parts - branch.parts,
        words: later.words - branch.words,
        ..*later
    };
    let after = Pieces {
        parts: rest.parts[branch.parts..].to_vec(),
        words: rest.words[branch.words..].to_vec(),
        branches: rest.branches.iter().map(moved).collect(),
    };
    let mut pieces = before;
    pieces.add(shown);
    pieces.add(after);
    pieces
}

/// The call in a block whose result the function returns after it.
fn last_call<'ctx>(block: BasicBlock<'ctx>, end: InstructionValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    let returned = match end.get_opcode() {
        InstructionOpcode::Return => operand_of(end, 0)?,
        InstructionOpcode::Br => {
            let [last] = llvm::block_operands(end)[..] else { return None };
            let end = last.get_terminator().filter(|end| end.get_opcode() == InstructionOpcode::Return)?;
            let phi = llvm::instruction_of(operand_of(end, 0)?)?;
            let is_alone = last.get_instructions().all(|instruction| {
                let name =
                    llvm::called_function(instruction).map(|callee| callee.get_name().to_string_lossy().into_owned());
                instruction == phi || instruction == end || name.is_some_and(|name| name.starts_with("llvm.lifetime."))
            });
            if phi.get_opcode() != InstructionOpcode::Phi || !is_alone {
                return None;
            }
            llvm::incoming_from(phi, block)?
        }
        _ => return None,
    };
    let call = llvm::instruction_of(returned)?;
    (call.get_opcode() == InstructionOpcode::Call && call.get_parent() == Some(block)).then_some(call)
}
