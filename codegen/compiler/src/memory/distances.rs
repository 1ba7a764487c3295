//! Counts the bytes between two places of a shared static.
//!
//! ```text
//! before: %left = lshr exact i64 (sub (i64 ptrtoint (ptr (addrspacecast @tiles) + 2048), i64 ptrtoint (… + 1024))), 6
//! after:  %left = lshr exact i64 1024, 6
//! ```
//!
//! How many elements an iterator has left is the distance from where it is to its end, and LLVM unrolls the loop over an array
//! because it knows that. Of a shared static it does not, as soon as it knows where that lies: the pointers lead anywhere,
//! the static lies in the shared space, and LLVM's constants do not look through the cast between them. Then the sum over a
//! column of a tile asked whether there is one, with a read of where the shared space begins.
//!
//! **Why it is right.** Two places of one static are as far from each other as their offsets, in whichever address space they
//! are named.

use crate::llvm::{self, BasicValueEnum, FunctionValue};

/// Does so in a function.
pub fn count(function: FunctionValue<'_>) {
    for instruction in llvm::instructions(function) {
        for (place, operand) in llvm::value_operands(instruction).collect::<Vec<_>>() {
            if let BasicValueEnum::IntValue(number) = operand
                && let Some(distance) = llvm::constant_distance(number)
            {
                instruction.set_operand(place, number.get_type().const_int(distance.cast_unsigned(), true));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AnyValue, Context, parse_ir};

    /// What is stored of a difference between two places.
    fn counted(left: &str, right: &str) -> String {
        let text = format!(
            "@tile = internal addrspace(3) global [64 x i32] undef
            @other = internal addrspace(3) global [64 x i32] undef
            define void @f(ptr %to) {{
              %left = lshr i64 sub (i64 ptrtoint (ptr {left} to i64), i64 ptrtoint (ptr {right} to i64)), 2
              store i64 %left, ptr %to
              ret void
            }}"
        );
        let context = Context::create();
        let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
        let function = module.get_function("f").unwrap();
        count(function);
        module.verify().unwrap();
        function.print_to_string().to_string()
    }

    #[test]
    fn places_of_one_static_are_as_far_apart_as_their_offsets() {
        let tile = "addrspacecast (ptr addrspace(3) @tile to ptr)";
        let end = format!("getelementptr inbounds (i8, ptr {tile}, i64 192)");
        let inner = "addrspacecast (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @tile, i64 64) to ptr)";
        for (left, right, distance) in [(&*end, tile, 192), (&end, inner, 128), (tile, &end, -192), (inner, inner, 0)] {
            let ir = counted(left, right);
            // LLVM itself folds what is the same on both sides.
            assert!(ir.contains(&format!("lshr i64 {distance}, 2")), "{ir}");
        }
    }

    #[test]
    fn two_statics_are_anywhere() {
        let [tile, other] = ["tile", "other"].map(|name| format!("addrspacecast (ptr addrspace(3) @{name} to ptr)"));
        assert!(counted(&tile, &other).contains("ptrtoint"));
    }
}
