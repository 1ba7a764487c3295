//! Loads before a branch what both of its sides load.
//!
//! ```text
//! before:       br i1 %fits, label %some, label %none
//!         some: %a = load i32, ptr addrspace(3) (getelementptr i32, %row, %room)
//!               %b = load i32, ptr addrspace(3) %rest
//!               …
//!         none: %c = load i32, ptr addrspace(3) (getelementptr i32, %row, %room)
//!               br label %end
//! after:        %a = load i32, ptr addrspace(3) (getelementptr i32, %row, %room)
//!               br i1 %fits, label %some, label %end
//!         some: %b = load i32, ptr addrspace(3) %rest
//!               …
//! ```
//!
//! So it is of a `match` of which each arm names the same element. LLVM looks at both sides in step, and finds it only where it is as
//! far from the beginning of both. Of what is left ptxas makes predicated instructions, where it would branch around both sides,
//! one after the other, and have each load wait for the branch: a knapsack's row asked that of four elements a thread.
//!
//! **Why it is right.** Each side begins behind this branch alone and loads before it writes anything or lets another thread do so.
//! What only one of the loads promises of its number goes.

use crate::llvm::{self, BasicBlock, Context, FunctionValue, InstructionOpcode as Op, InstructionValue};

/// Instructions of a side that are looked at.
const MOST: usize = 32;

/// Does so in a function; whether there was anything to do.
pub fn load<'ctx>(context: &'ctx Context, function: FunctionValue<'ctx>) -> bool {
    let mut any = false;
    for block in function.get_basic_blocks() {
        let Some(branch) = block.get_terminator() else { continue };
        let Some((one, other)) = llvm::branch_targets(branch) else { continue };
        if one == other || [one, other].iter().any(|side| llvm::predecessors(*side) != [block]) {
            continue;
        }
        while let Some(common) = Common::of(one, other) {
            common.load_before(context, branch);
            any = true;
        }
    }
    any
}

/// Two loads of one place.
struct Common<'ctx> {
    kept: Place<'ctx>,
    gone: Place<'ctx>,
}

/// A load, and what computes its address in its block.
struct Place<'ctx> {
    load: InstructionValue<'ctx>,
    gep: Option<InstructionValue<'ctx>>,
}

impl<'ctx> Common<'ctx> {
    fn of(one: BasicBlock<'ctx>, other: BasicBlock<'ctx>) -> Option<Self> {
        let others = places(other);
        places(one).into_iter().find_map(|kept| {
            let gone = others.iter().find(|gone| kept.is_of(gone))?;
            let gone = Place { load: gone.load, gep: gone.gep };
            Some(Self { kept, gone })
        })
    }

    fn load_before(&self, context: &'ctx Context, branch: InstructionValue<'ctx>) {
        let Place { load, gep } = self.kept;
        let moved: Vec<_> = gep.into_iter().chain([load]).collect();
        llvm::move_before(context, &moved, branch);
        llvm::keep_promises(load, self.gone.load);
        llvm::replace_uses(self.gone.load, llvm::result(load));
        self.gone.load.erase_from_basic_block();
    }
}

impl<'ctx> Place<'ctx> {
    fn is_of(&self, other: &Self) -> bool {
        let is_alike =
            self.load.get_type() == other.load.get_type() && self.load.get_alignment() == other.load.get_alignment();
        is_alike
            && match (self.gep, other.gep) {
                (None, None) => llvm::operand(self.load, 0) == llvm::operand(other.load, 0),
                (Some(one), Some(other)) => {
                    one.get_gep_source_element_type() == other.get_gep_source_element_type()
                        && llvm::value_operands(one).eq(llvm::value_operands(other))
                        && llvm::promise_alike(one, other)
                }
                _ => false,
            }
    }
}

/// What a side loads, from addresses that are known before it, as long as nobody can write.
fn places<'ctx>(side: BasicBlock<'ctx>) -> Vec<Place<'ctx>> {
    let is_here = |value: InstructionValue<'_>| value.get_parent() == Some(side);
    let quiet = side.get_instructions().take(MOST).take_while(|at| is_quiet(*at));
    let place = |load: InstructionValue<'ctx>| {
        let address = llvm::instruction_of(llvm::operand(load, 0)?).filter(|from| is_here(*from));
        let Some(gep) = address else { return Some(Place { load, gep: None }) };
        let is_known = gep.get_opcode() == Op::GetElementPtr
            && llvm::value_operands(gep).all(|(_, of)| llvm::instruction_of(of).is_none_or(|of| !is_here(of)));
        is_known.then_some(Place { load, gep: Some(gep) })
    };
    quiet.filter(|at| llvm::is_plain_load(*at)).filter_map(place).collect()
}

/// Whether an instruction writes nothing, and goes on.
fn is_quiet(at: InstructionValue<'_>) -> bool {
    llvm::is_pure(at)
        || llvm::is_plain_load(at)
        || llvm::calls(at, &["llvm.assume", "llvm.experimental.noalias.scope.decl"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, parse_ir};

    /// A function that adds to `%x`, after [`load`].
    fn shared(some: &str, none: &str) -> String {
        let text = format!(
            "declare void @write()
            declare void @llvm.assume(i1)
            define i32 @f(ptr addrspace(3) %row, ptr %p, i64 %room, i64 %rest, i1 %fits) {{
            entry: br i1 %fits, label %some, label %none
            some:
              {some}
              br label %end
            none:
              {none}
              br label %end
            end:
              %v = phi i32 [ %a, %some ], [ %c, %none ]
              ret i32 %v
            }}
            !0 = !{{}}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "m").unwrap_or_else(|error| panic!("{}: {text}", error.0));
        let function = module.get_function("f").unwrap();
        load(&context, function);
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    const ONE: &str = "%g = getelementptr inbounds i32, ptr addrspace(3) %row, i64 %room
              %a = load i32, ptr addrspace(3) %g, align 4, !noundef !0";
    const OTHER: &str = "%h = getelementptr inbounds i32, ptr addrspace(3) %row, i64 %room
              %c = load i32, ptr addrspace(3) %h, align 4";

    #[test]
    fn what_both_sides_load_is_loaded_once() {
        for none in [
            OTHER.to_string(),
            // Behind what the other side does not do.
            format!("%d = add i64 %room, %rest\n call void @llvm.assume(i1 %fits)\n {OTHER}"),
        ] {
            let ir = shared(ONE, &none);
            let (before, behind) = ir.split_once("br i1").expect("there is a branch");
            assert!(before.contains("%a = load i32") && !behind.contains("load"), "{ir}");
            assert!(behind.contains("phi i32 [ %a, %some ], [ %a, %none ]"), "{ir}");
            // The other load does not promise that.
            assert!(!ir.contains("!noundef"), "{ir}");
        }
        let ir = shared("%a = load i32, ptr %p, !noundef !0", "%c = load i32, ptr %p, !noundef !0");
        assert!(ir.matches("load").count() == 1 && ir.contains("!noundef"), "{ir}");
    }

    #[test]
    fn other_loads_stay() {
        for (some, none) in [
            (ONE, &*OTHER.replace("%room", "%rest")),
            (ONE, &OTHER.replace("inbounds ", "")),
            (ONE, &OTHER.replace("getelementptr inbounds i32", "getelementptr inbounds i16")),
            (ONE, &OTHER.replace("align 4", "align 2")),
            (ONE, &OTHER.replace("load i32", "load volatile i32")),
            (ONE, &format!("call void @write()\n {OTHER}")),
            (ONE, &format!("%k = add i64 %room, 0\n {}", OTHER.replace("i64 %room", "i64 %k"))),
            (ONE, "%c = load i32, ptr %p"),
        ] {
            let ir = shared(some, none);
            assert_eq!(ir.matches(" = load").count(), 2, "{ir}");
        }
    }
}
