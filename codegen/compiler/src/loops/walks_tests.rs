//! Tests of [`super`].

use super::*;
use crate::arch::Arch;
use crate::emit;
use crate::llvm::AnyValue;
use crate::request::OptLevel;

/// A loop of such a body, whose first block has `%k` from `%start` by four, after the stage.
fn walked(head: &str, rest: &str) -> String {
    walked_behind("br label %loop", head, rest)
}

/// The same, with what stands before the loop.
fn walked_behind(before: &str, head: &str, rest: &str) -> String {
    let text = format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
        define float @f(ptr %x, ptr %y, i32 %n.32, i64 %wide, i64 %start, i64 %end, i1 %c) {{
        entry: %n = zext i32 %n.32 to i64
          %column = getelementptr float, ptr %x, i64 %start
          {before}
        loop: %k = phi i64 [ %start, %entry ], [ %k.next, %latch ]
          {head}
          br i1 %c, label %latch, label %out
        latch:
          %k.next = add i64 %k, 4
          {rest}
          %go = icmp ult i64 %k.next, %end
          br i1 %go, label %loop, label %out
        out: ret float 0.0
        }}"
    );
    let context = Context::create();
    let module = llvm::parse_ir(&context, text.as_bytes(), "module").unwrap();
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    walk(&context, &module, &machine).unwrap();
    module.verify().unwrap();
    module.get_function("f").unwrap().print_to_string().to_string()
}

/// Loads at such indices of `float`s, which are computed by the instructions before.
fn loads(base: &str, before: &str, indices: &[&str]) -> String {
    let load = |(at, index): (usize, &&str)| {
        format!(
            "%p{at} = getelementptr inbounds float, ptr {base}, i64 {index}
            %v{at} = load volatile float, ptr %p{at}\n"
        )
    };
    before.to_string() + "\n" + &indices.iter().enumerate().map(load).collect::<String>()
}

const PRODUCTS: &str = "%k.1 = or disjoint i64 %k, 1
    %k.2 = add nuw i64 %k, 2
    %k.3 = or disjoint i64 %k, 3
    %i.0 = mul i64 %k, %n
    %i.1 = mul i64 %k.1, %n
    %i.2 = mul nsw i64 %n, %k.2
    %i.3 = mul i64 %k.3, %n";
const SUMS: &str = "%i.0 = phi i64 [ 7, %entry ], [ %i.4, %latch ]
    %i.1 = add i64 %i.0, %n
    %i.2 = add nuw i64 %n, %i.1
    %i.3 = add i64 %i.2, %n";
const ALL: [&str; 4] = ["%i.0", "%i.1", "%i.2", "%i.3"];
const NEXT: &str = "%i.4 = add i64 %i.3, %n";

/// The addresses of the loads, each as what it is a step behind, and how many steps there are in a round.
fn is_walk(ir: &str, steps: usize) -> bool {
    let of_loop: Vec<&str> = ir.lines().skip_while(|line| !line.starts_with("loop:")).collect();
    let find = |text: &str| of_loop.iter().filter(|line| line.contains(text)).count();
    find("asm \"mov.b32 $0, $1;\"") == 1 && find("getelementptr i8, ptr") == steps && find("phi ptr") == 1
}

#[test]
fn addresses_follow_each_other() {
    let ir = walked(&loads("%column", PRODUCTS, &ALL), "");
    assert!(is_walk(&ir, 4), "{ir}");
    // From where the first round begins: at %column, and %start times %n behind it.
    let before = ir.split("\nloop:").next().unwrap();
    assert!(before.contains("mul i64 %start, %n") && before.contains("float, ptr %column, i64"), "{before}");
    assert!(is_walk(&walked(&loads("%x", SUMS, &ALL), NEXT), 4));
    let pointers = "%p = phi ptr [ %column, %entry ], [ %p.2, %latch ]
        %p.1 = getelementptr float, ptr %p, i64 %n
        %a = load volatile float, ptr %p.1
        %p.2 = getelementptr float, ptr %p.1, i64 %n
        %b = load volatile float, ptr %p.2";
    let ir = walked(pointers, "");
    assert!(ir.matches("asm").count() == 1 && ir.matches("getelementptr i8").count() == 2, "{ir}");
}

#[test]
fn addresses_of_a_loop_that_divides_go_on_by_the_step() {
    let text = |work: &str, step: &str| {
        format!(
            "define void @f(ptr %x, ptr %y, i32 %n.32, i64 %wide, i64 %start, i64 %end, float %by) {{
            entry: %n = zext i32 %n.32 to i64
              br label %loop
            loop: %k = phi i64 [ %start, %entry ], [ %k.next, %loop ]
              %from = getelementptr float, ptr %x, i64 %k
              %v = load float, ptr %from
              %w = {work} float %v, %by
              %to = getelementptr float, ptr %y, i64 %k
              store float %w, ptr %to
              %k.next = add nuw nsw i64 %k, {step}
              %go = icmp ult i64 %k.next, %end
              br i1 %go, label %loop, label %out
            out: ret void
            }}"
        )
    };
    for (work, step, walks) in [("fdiv", "%n", 2), ("fmul", "%n", 0), ("fdiv", "%wide", 0)] {
        let context = Context::create();
        let module = llvm::parse_ir(&context, text(work, step).as_bytes(), "module").unwrap();
        let arch = "sm_90".parse::<Arch>().unwrap();
        let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
        walk(&context, &module, &machine).unwrap();
        module.verify().unwrap();
        let ir = module.get_function("f").unwrap().print_to_string().to_string();
        assert_eq!(ir.matches("= phi ptr").count(), walks, "{work} {step}: {ir}");
    }
}

#[test]
fn in_any_order_and_beside_each_other() {
    assert!(is_walk(&walked(&loads("%x", PRODUCTS, &["%i.2", "%i.0", "%i.3", "%i.1"]), ""), 4));
    // Two elements of each column: an address each, four bytes behind the other, of one walk.
    let beside = "%j.0 = add i64 %i.0, 1\n %j.1 = add i64 %i.1, 1";
    let before = format!("{PRODUCTS}\n{beside}");
    let ir = walked(&loads("%x", &before, &["%i.0", "%j.0", "%i.1", "%j.1", "%i.2", "%i.3"]), "");
    assert!(is_walk(&ir, 4 + 2) && ir.matches(", i64 4\n").count() == 2, "{ir}");
    // Twice as far, and half as often.
    let ir = walked(&loads("%x", PRODUCTS, &["%i.0", "%i.2"]), "");
    assert!(is_walk(&ir, 2) && ir.contains("mul i64 %") && ir.contains(", 8\n"), "{ir}");
}

#[test]
fn a_step_of_64_bits_is_asked_for_before_the_loop() {
    for (before, rest) in [(PRODUCTS, ""), (SUMS, NEXT)] {
        let of_singles = loads("%x", &before.replace("%n", "%wide"), &ALL);
        let beside = format!("{of_singles}\n %beside = load float, ptr %y");
        let ir = walked(&beside, &rest.replace("%n", "%wide"));
        assert!(!ir.contains("asm") && !ir.contains("freeze"), "{ir}");
        let twice = walked(&beside.replace("float", "double"), &rest.replace("%n", "%wide"));
        assert!(twice.contains("asm") && twice.contains("freeze"), "{twice}");
        let ir = walked(&of_singles, &rest.replace("%n", "%wide"));
        let (test, loops) = ir.split_once("\nloop:").unwrap();
        assert!(test.contains("= freeze i64 %wide\n") && test.contains("icmp ult i64 %"), "{ir}");
        assert!(test.contains(", 4294967296\n") && test.contains("trunc i64 %"), "{ir}");
        assert_eq!(loops.matches("load volatile float").count(), 8, "four in each: {ir}");
        assert_eq!(loops.matches("getelementptr i8, ptr").count(), 4, "in one: {ir}");
        assert_eq!(loops.matches("asm").count(), 1, "{ir}");
        assert_eq!(loops.matches("!llvm.loop").count(), 1, "ptxas leaves the other one: {ir}");
    }
    // Another thread of the warp might take the other loop.
    let meets = "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)";
    let of_doubles = loads("%x", &PRODUCTS.replace("%n", "%wide"), &ALL).replace("float", "double");
    let ir = walked(&of_doubles, meets);
    assert!(!ir.contains("asm") && !ir.contains("freeze"), "{ir}");
}

#[test]
fn a_step_that_is_seen_to_have_32_bits_is_not_asked_for() {
    // As the width of a view, or two rows at once.
    for step in ["%s = and i64 %wide, 4294967295", "%h = and i64 %wide, 65535\n %s = mul i64 %h, 3"] {
        let before = format!("{step}\n br label %loop\n");
        let text = loads("%x", &PRODUCTS.replace("%n", "%s"), &ALL);
        let ir = walked_behind(&before, &text, "");
        assert!(is_walk(&ir, 4) && !ir.contains("freeze"), "{ir}");
    }
}

#[test]
fn phis_that_are_always_as_far_apart_are_one() {
    // As LLVM leaves it, that counts `%k` once from the first round and once from the one behind it.
    let ahead = "%j = phi i64 [ 1, %entry ], [ %j.next, %latch ]
        %m = phi i64 [ 0, %entry ], [ %m.next, %latch ]
        %j.2 = add i64 %j, 1
        %j.3 = add i64 %j, 2
        %i.0 = mul i64 %m, %n
        %i.1 = mul i64 %j, %n
        %i.2 = mul i64 %j.2, %n
        %i.3 = mul i64 %j.3, %n";
    let next = "%j.next = add i64 %j, 4\n %m.next = add i64 %m, 4";
    assert!(is_walk(&walked(&loads("%x", ahead, &ALL), next), 4));
    // One of them is faster.
    let ir = walked(&loads("%x", ahead, &ALL[..2]), &next.replace("%m, 4", "%m, 5"));
    assert!(!ir.contains("asm"), "{ir}");
}

#[test]
fn others_stay_as_they_are() {
    for (before, indices, rest) in &[
        // One address a round; few for a twin, or not all of a round; constant steps; what is no sum; steps by turns.
        (PRODUCTS.to_string(), &ALL[..1], ""),
        (SUMS.replace("%n", "%wide").replace("%i.4", "%i.2"), &ALL[..2], ""),
        (PRODUCTS.replace("%n", "%wide"), &ALL[..3], ""),
        (PRODUCTS.replace("%n", "%k"), &ALL[..], ""),
        (PRODUCTS.replace("or disjoint", "or"), &ALL[..2], ""),
        (SUMS.to_string(), &ALL[..], "%i.4 = add i64 %i.3, %wide"),
        (SUMS.to_string(), &ALL[..], "%i.4 = add i64 %i.3, 5"),
        // The addresses of one round reach behind those of the next.
        (SUMS.to_string(), &ALL[..], "%i.4 = add i64 %i.2, 0"),
    ] {
        for ty in ["float", "double"] {
            let ir = walked(&loads("%x", before, indices).replace("float", ty), rest);
            assert!(!ir.contains("asm"), "{before}, {indices:?}, {rest}, {ty}: {ir}");
        }
    }
}

#[test]
fn a_loop_whose_first_round_stands_before_it_has_a_twin() {
    // Four addresses a step apart, the first of them at `%p` or a step behind it, and one that goes by a constant.
    let loads = |addresses: [&str; 4]| {
        let load = |at: &str| format!("%v{at} = load float, ptr %p.{at}\n store volatile float %v{at}, ptr %y\n");
        format!(
            "%p = phi ptr [ %column, %entry ], [ %p.4, %latch ]
            %p.0 = getelementptr float, ptr %p, i64 0
            %p.1 = getelementptr float, ptr %p, i64 %wide
            %p.2 = getelementptr float, ptr %p.1, i64 %wide
            %p.3 = getelementptr float, ptr %p.2, i64 %wide
            %p.4 = getelementptr float, ptr %p.3, i64 %wide
            {}
            %row = getelementptr float, ptr %y, i64 %k
            %v = load float, ptr %row
            store volatile float %v, ptr %y",
            addresses.map(load).concat()
        )
    };
    let asks = |addresses| walked(&loads(addresses), "").contains(", 4294967296");
    assert!(asks(["1", "2", "3", "4"]));
    assert!(!asks(["0", "1", "2", "3"]), "the loop begins where it stands");
}
