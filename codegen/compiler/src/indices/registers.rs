//! Keeps a kernel's second copy from taking the registers of the first.
//!
//! A kernel has as many registers as its largest part, and they say how many threads a multiprocessor runs at once. The copy
//! with 64 bits is for lengths that hardly ever occur, but its indices take two registers each: the game of life needed 24
//! registers, had 38, and ran three quarters of the threads that fit.
//!
//! ```text
//! before: .visible .entry life(…)                 after: .visible .entry life(…)
//!         {                                              .maxnreg 32
//!                                                        {
//! ```
//!
//! So where the copy with 32 bits needs no more registers than all threads of a multiprocessor can have, and the other one
//! does, the kernel gets that many (PTX ISA, "Performance-Tuning Directives: .maxnreg"). ptxas then keeps some values of the
//! other copy in local memory. Where the first copy needs more, the kernel gets what that needs: a filter of 25 clamped
//! neighbours had 83 registers, for a copy that needs 40. What a copy needs is estimated: the most registers that hold values at
//! once, in LLVM's order. Of the first copy also where each value is computed just before it is used, if that is less: where the
//! checks of 25 loads have gone, LLVM's order still has all 25 indices before the first load, and ptxas has not.

use crate::arch::Arch;
use crate::llvm::{self, BasicBlock, Context, FunctionValue};
use crate::loops::Graph;
use crate::registers::{self, Order, RESERVE, most_live};

/// An address has 64 bits.
const WORDS_OF_AN_ADDRESS: u64 = 2;

/// By how many registers the copy with 64 bits may pass the limit for all threads: of more values, too many would go to memory.
const MOST_ABOVE: u64 = 12;

/// What the first copy can do without of its reserve: with eight more registers, ptxas has loads under way for them, and fewer
/// threads run.
const SPARE: u64 = 2;

/// How often the copy with 64 bits may need what the other one has, where that is more.
const MOST_TIMES: u64 = 2;

/// Limits the registers of a kernel that has two copies, if that is worth it.
pub fn limit<'ctx>(context: &'ctx Context, kernel: FunctionValue<'ctx>, arch: Arch) {
    let Some(limit) = registers::of_a_thread(arch) else { return };
    if !registers::are_open(kernel) {
        return;
    }
    let Some(Copies { narrow, wide, loads }) = copies(kernel) else { return };
    let of_narrow = (narrow + RESERVE).next_multiple_of(8);
    let most_of_all = limit + MOST_ABOVE;
    let (limit, most, early) = if of_narrow <= limit || narrow + RESERVE - SPARE <= limit && wide <= most_of_all {
        (limit, most_of_all, WORDS_OF_AN_ADDRESS * loads)
    } else {
        (of_narrow, MOST_TIMES * of_narrow, 0)
    };
    if wide + early + RESERVE > limit && wide <= most {
        registers::give(context, kernel, limit);
    }
}

/// What the two copies need.
#[derive(Debug, PartialEq, Eq)]
struct Copies {
    narrow: u64,
    wide: u64,
    /// How many loads of a block in the wide one ptxas may begin at once, each with an address.
    loads: u64,
}

/// The two are the blocks behind the second target of the kernel's first jump, and all others.
fn copies(kernel: FunctionValue<'_>) -> Option<Copies> {
    let chooses = kernel.get_first_basic_block()?;
    let (_, second) = llvm::branch_targets(chooses.get_terminator()?)?;
    let graph = Graph::of(kernel);
    let is_wide = |block| std::iter::successors(Some(block), |at| graph.dominator(*at)).any(|at| at == second);
    let most = |order: Order, of_wide: bool| {
        let needs = most_live(kernel, &graph, order).into_iter();
        needs.filter(|(block, _)| is_wide(*block) == of_wide).map(|(_, needs)| needs).max().unwrap_or(0)
    };
    let loads =
        |block: BasicBlock<'_>| block.get_instructions().filter(|from| llvm::is_plain_load(*from)).count() as u64;
    let of_wide = kernel.get_basic_block_iter().filter(|block| is_wide(*block));
    Some(Copies {
        narrow: most(Order::Given, false).min(most(Order::Late, false)),
        wide: most(Order::Given, true),
        loads: of_wide.map(loads).max().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{AttributeLoc, Module, parse_ir};

    /// A kernel whose second part has so many numbers of 64 bits at once, and the first as many of 32; `more` stands in both.
    fn kernel(count: usize, attributes: &str, more: &str) -> String {
        parts([count, count], attributes, more)
    }

    /// The same with other counts, of the first and the second part.
    fn parts(counts: [usize; 2], attributes: &str, more: &str) -> String {
        let part = |count: usize, ty: &str, name: &str| {
            let loads = (0..count).map(|at| format!("%{name}{at} = load volatile {ty}, ptr %p\n")).collect::<String>();
            let stores = (0..count).map(|at| format!("store volatile {ty} %{name}{at}, ptr %p\n")).collect::<String>();
            format!("{name}: {loads} {more} {stores} br label %end\n")
        };
        format!(
            "define void @g() {{ ret void }}
            define ptx_kernel void @f(ptr %p, i1 %small) {attributes} {{
            entry: br i1 %small, label %narrow, label %wide
            {} {}
            end: ret void
            }}",
            part(counts[0], "i32", "narrow"),
            part(counts[1], "i64", "wide")
        )
    }

    fn with_kernel<T>(text: &str, of: impl FnOnce(&Context, FunctionValue<'_>) -> T) -> T {
        let context = Context::create();
        let module: Module<'_> = parse_ir(&context, text.as_bytes(), "m").expect("the text is LLVM IR");
        of(&context, module.get_function("f").expect("it is there"))
    }

    fn limited(text: &str, arch: &str) -> Option<String> {
        with_kernel(text, |context, kernel| {
            limit(context, kernel, arch.parse().expect("an arch"));
            let attribute = kernel.get_string_attribute(AttributeLoc::Function, "nvvm.maxnreg")?;
            Some(attribute.get_string_value().to_string_lossy().into_owned())
        })
    }

    #[test]
    fn values_count_while_they_are_used() {
        assert_eq!(
            with_kernel(&kernel(14, "", ""), |_, kernel| copies(kernel)),
            Some(Copies { narrow: 14, wide: 28, loads: 0 })
        );
        let text = "define ptx_kernel void @f(ptr %p, i64 %given, i1 %small) {
            entry: br i1 %small, label %narrow, label %wide
            narrow: br label %loop
            loop:
              %k = phi i64 [ 0, %narrow ], [ %next, %loop ]
              %sum = phi float [ 0.0, %narrow ], [ %more, %loop ]
              %at = getelementptr float, ptr %p, i64 %k
              %x = load float, ptr %at
              %more = fadd float %sum, %x
              %next = add i64 %k, 1
              %again = icmp ult i64 %next, %given
              br i1 %again, label %loop, label %end
            wide: ret void
            end:
              store float %more, ptr %p
              ret void
            }";
        // The counter, the sum and the address.
        assert_eq!(with_kernel(text, |_, kernel| copies(kernel)), Some(Copies { narrow: 5, wide: 0, loads: 0 }));
    }

    #[test]
    fn the_first_copy_may_compute_late() {
        let lines = |line: &dyn Fn(usize) -> String| (0..20).map(line).collect::<String>();
        let text = format!(
            "define ptx_kernel void @f(ptr %p, i32 %given, i1 %small) {{
            entry: br i1 %small, label %narrow, label %wide
            narrow: %x = load volatile i32, ptr %p
              {} {} br label %end
            wide: br label %end
            end: ret void
            }}",
            lines(&|at| format!("%i{at} = add i32 %x, {at}\n")),
            lines(&|at| format!("%v{at} = mul i32 %i{at}, %i{at}\n store volatile i32 %v{at}, ptr %p\n")),
        );
        // What all are made of, and one of them. If they stay where they stand, all at once.
        let of = |order: Order| {
            with_kernel(&text, |_, kernel| most_live(kernel, &Graph::of(kernel), order).into_values().max())
        };
        assert_eq!((of(Order::Given), of(Order::Late)), (Some(20), Some(2)));
        assert_eq!(with_kernel(&text, |_, kernel| copies(kernel)), Some(Copies { narrow: 2, wide: 0, loads: 0 }));
    }

    #[test]
    fn the_first_copy_says_how_many_registers_there_are() {
        assert_eq!(limited(&kernel(14, "", ""), "sm_90").as_deref(), Some("32"));
        assert_eq!(limited(&kernel(14, "", ""), "sm_80").as_deref(), Some("32"));
        assert_eq!(limited(&kernel(18, "", ""), "sm_89").as_deref(), Some("40"));
        assert_eq!(limited(&kernel(25, "", ""), "sm_90").as_deref(), Some("40"));
    }

    #[test]
    fn what_is_so_near_to_all_threads_registers_has_no_more() {
        assert_eq!(limited(&parts([25, 17], "", ""), "sm_90").as_deref(), Some("32"));
        assert_eq!(limited(&parts([26, 22], "", ""), "sm_90").as_deref(), Some("32"));
        // The first copy needs more, or the other one has too much for that.
        assert_eq!(limited(&parts([27, 15], "", ""), "sm_90"), None);
        assert_eq!(limited(&parts([26, 23], "", ""), "sm_90").as_deref(), Some("40"));
    }

    #[test]
    fn loads_that_may_begin_at_once_count() {
        let more = |count: usize| {
            let loads =
                (0..count).map(|at| format!("%early{at} = load i32, ptr %q{at}\nstore i32 %early{at}, ptr %p\n"));
            let params = (0..count).map(|at| format!(", ptr %q{at}")).collect::<String>();
            let text = kernel(10, "", "").replace("i1 %small)", &format!("i1 %small{params})"));
            text.replace("wide: ", &format!("wide: {}", loads.collect::<String>()))
        };
        assert_eq!(with_kernel(&more(8), |_, kernel| copies(kernel)).map(|copies| copies.loads), Some(8));
        assert_eq!(limited(&more(8), "sm_90").as_deref(), Some("32"));
        assert_eq!(limited(&more(1), "sm_90"), None);
    }

    #[test]
    fn others_have_what_they_need() {
        for (text, arch, why) in [
            (kernel(14, "", ""), "sm_75", "64 registers are enough"),
            (kernel(12, "", ""), "sm_90", "32 registers are enough"),
            (kernel(23, "", ""), "sm_90", "the second copy needs many more"),
            (kernel(14, "", "call void @g()"), "sm_90", "a function has registers of its own"),
            (kernel(14, "\"nvvm.minctasm\"=\"2\"", ""), "sm_90", "the user has said something"),
        ] {
            assert_eq!(limited(&text, arch), None, "{why}");
        }
        let said = kernel(14, "\"nvvm.maxnreg\"=\"64\"", "");
        assert_eq!(limited(&said, "sm_90").as_deref(), Some("64"));
    }
}
