//! Kernels before and after they have a copy with indices of 32 bits.

use super::*;
use crate::emit;
use crate::llvm::{AnyValue, parse_ir};
use crate::request::OptLevel;

/// A kernel that loads the neighbours of an element of a matrix, after [`narrow`]. `more` stands where all indices are
/// known to be inside.
fn narrowed(convention: &str, guard: &str, more: &str) -> String {
    let offsets = ["-1", "1", "%width", "%minus", "0", "2", "-2", "3"];
    let mut checks = String::new();
    let mut loads = String::new();
    for (at, offset) in offsets.iter().enumerate() {
        let before = if at == 0 { "true".into() } else { format!("%all{}", at - 1) };
        checks += &format!(
            "%i{at} = add i64 %index, {offset}
            %in{at} = icmp ult i64 %i{at}, %len
            %all{at} = select i1 {before}, i1 %in{at}, i1 false\n"
        );
        loads += &format!(
            "%p{at} = getelementptr float, ptr %from, i64 %i{at}
            %x{at} = load float, ptr %p{at}
            store volatile float %x{at}, ptr %to\n"
        );
    }
    let text = format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare void @__rust_ptx_panic_with_1(i64) noreturn
        declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
        declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        define {convention} void @f(ptr %from, i64 %len, i64 %width, i64 %height, i32 %x.32, i32 %y.32, ptr %to) {{
        entry:
          %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
          %x.sum = add i32 %x.32, %tid
          %x = zext i32 %x.sum to i64
          %y = zext i32 %y.32 to i64
          %x.inside = icmp ult i64 %x, %width
          %y.inside = icmp ult i64 %y, %height
          %inside = and i1 %x.inside, %y.inside
          br i1 {guard}, label %mine, label %end
        mine:
          %row = mul i64 %y, %width
          %index = add i64 %row, %x
          %minus = sub i64 0, %width
          {checks}
          br i1 %all7, label %fine, label %panic
        fine:
          {loads}
          {more}
          br label %end
        end: ret void
        panic: call void @__rust_ptx_panic_with_1(i64 %i0)
          unreachable
        }}"
    );
    narrowed_text(&text)
}

/// What becomes of the function `f` of this text.
fn narrowed_text(text: &str) -> String {
    let context = Context::create();
    let module = parse_ir(&context, text.as_bytes(), "module").unwrap();
    let arch = "sm_90".parse::<Arch>().unwrap();
    let machine = emit::machine(arch, arch.min_ptx(), OptLevel::O3).unwrap();
    narrow(&context, &module, &machine, arch).unwrap();
    module.verify().unwrap();
    module.get_function("f").unwrap().print_to_string().to_string()
}

const KERNEL: &str = "ptx_kernel";

fn loads(ir: &str) -> usize {
    ir.matches("load float").count()
}

#[test]
fn indices_of_rounds_behind_branches_stay_as_they_are_where_they_are_constants_apart() {
    // Whether 1 is added, or a number of which nothing is known.
    for (ahead, count) in [("or disjoint i64 %k, 1", 1), ("xor i64 %k, 1", 0)] {
        let ir = narrowed(
            KERNEL,
            "%inside",
            &format!(
                "br label %loop
            loop: %k = phi i64 [ 0, %fine ], [ %k.next, %latch ]
              %some = icmp ult i64 %k, %width
              br i1 %some, label %one, label %two
            one: %p.k = getelementptr inbounds float, ptr %from, i64 %k
              %u = load float, ptr %p.k
              store volatile float %u, ptr %to
              br label %two
            two: %k.1 = {ahead}
              %more = icmp ult i64 %k.1, %width
              br i1 %more, label %three, label %latch
            three: %p.k.1 = getelementptr inbounds float, ptr %from, i64 %k.1
              %v = load float, ptr %p.k.1
              store volatile float %v, ptr %to
              br label %latch
            latch: %k.next = add i64 %k, 2
              %go = icmp ult i64 %k.next, %len
              br i1 %go, label %loop, label %past
            past:"
            ),
        );
        let wide = ir.lines().filter(|line| line.contains("getelementptr inbounds float, ptr %from, i64 %k.1"));
        assert_eq!(wide.count(), count, "{ahead}: {ir}");
    }
}

#[test]
fn indices_that_become_addresses_of_a_loop_stay_as_they_are() {
    let ir = narrowed(
        KERNEL,
        "%inside",
        "br label %loop
        loop: %k = phi i64 [ 0, %fine ], [ %k.next, %loop ]
          %k.1 = or disjoint i64 %k, 1
          %beside = getelementptr inbounds float, ptr %from, i64 %k.1
          %down = mul i64 %k, %width
          %below = getelementptr inbounds float, ptr %from, i64 %down
          %u = load float, ptr %beside
          %v = load float, ptr %below
          store volatile float %u, ptr %to
          store volatile float %v, ptr %to
          %k.next = add i64 %k, 4
          %go = icmp ult i64 %k.next, %len
          br i1 %go, label %loop, label %past
        past:",
    );
    assert_eq!(ir.matches("or disjoint i64").count(), 2, "{ir}");
    // The small copy sees that the step has 32 bits.
    let steps: Vec<&str> = ir.lines().filter(|line| line.contains("mul i64")).collect();
    let is_extended = |line: &&&str| {
        let step = line.rsplit(' ').next().unwrap_or_default();
        ir.contains(&format!("{step} = zext i32 %"))
    };
    assert_eq!(steps.iter().filter(is_extended).count(), 1, "{ir}");
}

#[test]
fn what_is_clamped_below_a_height_is_small_where_there_is_a_row() {
    let text = |last: &str| {
        let loads = (0..20).map(|at| {
            format!(
                "%y{at} = add i64 %y, {at}
                %c{at} = call i64 @llvm.umin.i64(i64 %y{at}, i64 {last})
                %r{at} = mul i64 %c{at}, %width
                %p{at} = getelementptr float, ptr %from, i64 %r{at}
                %x{at} = load volatile float, ptr %p{at}\n"
            )
        });
        let loads = loads.collect::<String>();
        format!(
            "declare i64 @llvm.umin.i64(i64, i64)
            declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            define ptx_kernel void @f(ptr %from, i64 %len, i64 %width, i64 %height) {{
              %id = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %y.wide = zext i32 %id to i64
              %y = mul i64 %y.wide, %len
              %last = add i64 %height, -1
              {loads}
              ret void
            }}"
        )
    };
    let ir = narrowed_text(&text("%last"));
    assert!(ir.matches("mul nuw nsw i32").count() >= 20, "{ir}");
    let test = ir.split("br i1").next().unwrap();
    assert_eq!(test.matches("icmp uge i32").count(), 1, "of the height: {ir}");
    // Where the height is not looked at so, nothing is asked of it, and rows may be any.
    let ir = narrowed_text(&text("%height"));
    assert!(!ir.contains("icmp uge i32"), "{ir}");
}

#[test]
fn what_is_left_of_a_border_is_small_where_there_is_such_a_border() {
    let text = |border: u32, extents: &str| {
        let loads = (0..20).map(|at| {
            format!(
                "%r{at} = mul i64 %width, {at}
                %i{at} = add i64 %index, %r{at}
                %p{at} = getelementptr float, ptr %from, i64 %i{at}
                %x{at} = load volatile float, ptr %p{at}\n"
            )
        });
        let loads = loads.collect::<String>();
        format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            define ptx_kernel void @f(ptr %from, i64 %extents, i32 %position) {{
            entry:
              {extents}
              %id = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
              %wide = zext i32 %id to i64
              %x = zext i32 %position to i64
              %end = add i64 %width, -{border}
              %inside = icmp ult i64 %x, %end
              br i1 %inside, label %within, label %without
            within:
              %row = mul i64 %wide, %width
              %index = add i64 %row, %x
              {loads}
              br label %without
            without: ret void
            }}"
        )
    };
    let two = "%width.32 = trunc i64 %extents to i32 %width = zext i32 %width.32 to i64
        %high = lshr i64 %extents, 32 %height.32 = trunc i64 %high to i32
        %height = zext i32 %height.32 to i64 call void @llvm.assume(i1 true)";
    let three = "%width = and i64 %extents, 2097151 %middle = lshr i64 %extents, 21 %height = and i64 %middle, 2097151";
    for (extents, of) in [(two, "trunc i64"), (three, "and i32")] {
        let ir = narrowed_text(&text(2, extents));
        let test = ir.split("br i1").next().unwrap();
        assert!(test.contains("icmp uge i32") && test.contains(", 2\n") && test.contains(of), "{ir}");
        let ir = narrowed_text(&text(65, extents));
        assert!(!ir.contains("icmp uge i32"), "who asks for so much? {ir}");
    }
}

#[test]
fn a_kernel_gets_a_copy_with_indices_of_32_bits() {
    let ir = narrowed(KERNEL, "%inside", "");
    assert_eq!(loads(&ir), 16, "eight in each copy: {ir}");
    let (test, rest) = ir.split_once("br i1").unwrap();
    assert!(test.contains("icmp ult i64") && test.contains("32768") && test.contains("1073741824"), "{ir}");
    assert_eq!(test.matches("freeze i64").count(), 3, "{ir}");
    assert!(!test.contains("load"), "{ir}");
    // Checks and panics of one copy have 64 bits, those of the other 32.
    assert_eq!(rest.matches("icmp ult i64 %").count(), 8 + 2, "{ir}");
    assert_eq!(rest.matches("mul nuw nsw i32").count(), 1, "{ir}");
    assert_eq!(rest.matches("mul i64").count(), 1, "{ir}");
    assert_eq!(ir.matches("call void @__rust_ptx_panic_with_1").count(), 2, "{ir}");
}

#[test]
fn a_float_is_made_of_32_bits() {
    let more = "%float = uitofp i64 %i4 to float\n store volatile float %float, ptr %to";
    let ir = narrowed(KERNEL, "%inside", more);
    assert_eq!((ir.matches("sitofp i32").count(), ir.matches("uitofp i64").count()), (1, 1), "one a copy: {ir}");
    // It may be negative, and then the number without a sign is another.
    let ir = narrowed(KERNEL, "%inside", &more.replace("%i4", "%minus"));
    assert_eq!((ir.matches("sitofp i32").count(), ir.matches("uitofp i64").count()), (0, 2), "{ir}");
    let ir = narrowed(KERNEL, "%inside", &more.replace("%i4", "%minus").replace("uitofp", "sitofp"));
    assert_eq!((ir.matches("sitofp i32").count(), ir.matches("sitofp i64").count()), (1, 1), "{ir}");
}

#[test]
fn positions_are_read_before_the_test() {
    let ir = narrowed(KERNEL, "%inside", "");
    let (test, rest) = ir.split_once("br i1").unwrap();
    assert!(test.contains("sreg.tid.x()") && !rest.contains("sreg.tid.x()"), "{ir}");
    assert_eq!(rest.matches("add i32 %x.32, %").count(), 2, "{ir}");
    let more = "br label %loop
        loop: %k = phi i32 [ 0, %fine ], [ %next, %loop ]
          store volatile i32 %k, ptr %to
          %next = add i32 %k, 1
          %go = icmp ult i32 %next, %x.32
          br i1 %go, label %loop, label %after
        after:";
    let ir = narrowed(KERNEL, "%inside", more);
    let (test, rest) = ir.split_once("br i1").unwrap();
    assert!(!test.contains("sreg.tid.x()") && rest.matches("sreg.tid.x()").count() == 2, "{ir}");
}

/// A kernel that stores to elements of a view at so many places, with another number that it is given.
fn elements_of_a_view(places: &str) -> String {
    let store = |(at, place): (usize, &str)| {
        let [row, column] = place.split(' ').collect::<Vec<_>>()[..] else { panic!("{place}") };
        format!(
            "%row{at} = mul i64 {row}, %width
            %i{at} = add i64 %row{at}, {column}
            %p{at} = getelementptr float, ptr %to, i64 %i{at}
            store volatile float 1.0, ptr %p{at}\n"
        )
    };
    let stores: String = places.split(", ").cycle().take(12).enumerate().map(store).collect();
    narrowed_text(&format!(
        "define ptx_kernel void @f(ptr %to, i64 %extents, i64 %n, i32 %x.32, i32 %y.32) {{
        entry:
          %width = and i64 %extents, 4294967295
          %height = lshr i64 %extents, 32
          %x = zext i32 %x.32 to i64
          %y = zext i32 %y.32 to i64
          %x.inside = icmp ult i64 %x, %width
          %y.inside = icmp ult i64 %y, %height
          %inside = and i1 %x.inside, %y.inside
          br i1 %inside, label %mine, label %end
        mine:
          %y.n = add i64 %y, %n
          %x.n = add i64 %x, %n
          %n.n = mul i64 %n, %n
          %y.n.n = add i64 %y, %n.n
          {stores}
          br label %end
        end: ret void
        }}"
    ))
}

#[test]
fn a_planes_product_is_asked_for_where_no_less_goes_then() {
    let asked = |places: &str| {
        let ir = elements_of_a_view(places);
        let test = ir.split("br i1").next().unwrap();
        ["32768", "1073741824", "268435456"].map(|limit| test.matches(limit).count())
    };
    // The other number is below 2^15 by itself, or multiplied by the width it is small, too.
    assert_eq!(asked("%y %x"), [1, 0, 1]);
    assert_eq!(asked("%y %x.n"), [1, 0, 1]);
    assert_eq!(asked("%y.n %x"), [0, 1, 2]);
    assert_eq!(asked("%n %x"), [0, 1, 2]);
    // Of its square nothing is known by that.
    assert_eq!(asked("%n.n %x"), [0, 0, 0]);
}

#[test]
fn clamped_neighbours_of_a_view_have_32_bits() {
    // As `(x + dx).saturating_sub(1).min(width - 1)`; width and height come in one number, which is frozen here and there.
    let neighbours: String = (0..8)
        .map(|at| {
            format!(
                "%moved{at} = add i64 %x, {at}
                %left{at} = call i64 @llvm.usub.sat.i64(i64 %moved{at}, i64 1)
                %last{at} = add i64 %width, -1
                %near{at} = call i64 @llvm.umin.i64(i64 %last{at}, i64 %left{at})
                %i{at} = add i64 %near{at}, %row
                %p{at} = getelementptr float, ptr %from, i64 %i{at}
                %v{at} = load float, ptr %p{at}
                store volatile float %v{at}, ptr %to\n"
            )
        })
        .collect();
    let text = |mask: &str| {
        format!(
            "declare i64 @llvm.usub.sat.i64(i64, i64)
            declare i64 @llvm.umin.i64(i64, i64)
            define ptx_kernel void @f(ptr %from, i64 %len, ptr %out, i64 %extents, i32 %x.32, i32 %y.32, ptr %to) {{
            entry:
              %frozen = freeze i64 %extents
              %width.32 = trunc i64 %extents to i32
              %height = lshr i64 %frozen, 32
              %height.32 = trunc i64 %height to i32
              %x.inside = icmp ult i32 %x.32, %width.32
              %y.inside = icmp ult i32 %y.32, %height.32
              %inside = and i1 %x.inside, %y.inside
              br i1 %inside, label %mine, label %end
            mine:
              %x = zext i32 %x.32 to i64
              %y = zext i32 %y.32 to i64
              %width = and i64 %frozen, {mask}
              %row = mul i64 %y, %width
              {neighbours}
              br label %end
            end: ret void
            }}"
        )
    };
    let ir = narrowed_text(&text("4294967295"));
    assert!(ir.contains("llvm.umin.i32") && ir.contains("llvm.usub.sat.i32") && ir.contains("268435456"), "{ir}");
    // Some bits of a half are none of the other.
    let part = "%bits = and i64 %frozen, 4294967292\nstore volatile i64 %bits, ptr %to\n%row = mul";
    let ir = narrowed_text(&text("4294967295").replace("%row = mul", part));
    assert!(ir.contains("llvm.umin.i32") && ir.contains("268435456"), "{ir}");
    // Of another part of the number nothing is known.
    let ir = narrowed_text(&text("1152921504606846975"));
    assert!(!ir.contains("llvm.umin.i32"), "{ir}");
}

/// A kernel that asks before its loads whether what a loop would reach at last is inside of the slice.
fn asked_ahead(width: &str) -> String {
    let neighbours: String = (0..6)
        .map(|at| {
            format!(
                "%column{at} = add nuw nsw i64 %x, {at}
                %frozen{at} = freeze i64 %column{at}
                %pair{at} = call {{ i64, i1 }} @llvm.uadd.with.overflow.i64(i64 %row, i64 %frozen{at})
                %i{at} = extractvalue {{ i64, i1 }} %pair{at}, 0
                %past{at} = extractvalue {{ i64, i1 }} %pair{at}, 1
                %below{at} = icmp ult i64 %i{at}, %len
                %fits{at} = xor i1 %past{at}, true
                %in{at} = and i1 %below{at}, %fits{at}
                br i1 %in{at}, label %fine{at}, label %end
                fine{at}: %p{at} = getelementptr float, ptr %from, i64 %i{at}
                %v{at} = load float, ptr %p{at}
                store volatile float %v{at}, ptr %to\n"
            )
        })
        .collect();
    narrowed_text(&format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare {{ i64, i1 }} @llvm.uadd.with.overflow.i64(i64, i64)
        declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)
        define ptx_kernel void @f(ptr %from, i64 %len, i64 noundef %width, i32 noundef %x.32, i32 %y.32, ptr %to, i128 %any) {{
        entry:
          %unknown = trunc i128 %any to i64
          %x = zext i32 %x.32 to i64
          %x.inside = icmp ult i64 %x, %width
          br i1 %x.inside, label %mine, label %end
        mine: %y = zext i32 %y.32 to i64
          %y.inside = icmp ult i64 %y, %width
          br i1 %y.inside, label %ours, label %end
        ours: %rows = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %y, i64 {width})
          %row = extractvalue {{ i64, i1 }} %rows, 0
          %too.many = extractvalue {{ i64, i1 }} %rows, 1
          br i1 %too.many, label %end, label %some
        some: {neighbours}
          br label %end
        end: ret void
        }}"
    ))
}

#[test]
fn what_is_seen_not_to_overflow_is_not_asked_in_the_copy() {
    let ir = asked_ahead("%width");
    assert_eq!(loads(&ir), 12, "six in each copy: {ir}");
    assert_eq!(ir.matches("call { i64, i1 }").count(), 7, "those of one copy: {ir}");
    assert_eq!(ir.matches("icmp ult i32 ").count(), 6 + 2, "{ir}");
    // Of a number of which nothing is known nothing is known when it is frozen.
    let ir = asked_ahead("%unknown");
    assert_eq!(loads(&ir), 6, "no copy: {ir}");
}

#[test]
fn three_extents_in_one_number_have_32_bits() {
    let neighbours: String = ["1", "-1", "%width", "%layer", "2", "-2", "3", "-3"]
        .iter()
        .enumerate()
        .map(|(at, offset)| {
            format!(
                "%i{at} = add i64 %index, {offset}
                %in{at} = icmp ult i64 %i{at}, %len
                br i1 %in{at}, label %fine{at}, label %end
                fine{at}: %p{at} = getelementptr float, ptr %from, i64 %i{at}
                store volatile float 1.0, ptr %p{at}\n"
            )
        })
        .collect();
    let text = |more: &str| {
        format!(
            "define ptx_kernel void @f(ptr %from, i64 %len, ptr %to, i64 %all, i32 %x, i32 %y, i32 %z) {{
            entry:
              %upper = lshr i64 %all, 21
              %top = lshr i64 %all, 42
              %width = and i64 %all, 2097151
              %height = and i64 %upper, 2097151
              %all.32 = trunc i64 %all to i32
              %width.32 = and i32 %all.32, 2097151
              %upper.32 = trunc i64 %upper to i32
              %height.32 = and i32 %upper.32, 2097151
              %top.32 = trunc i64 %top to i32
              %depth.32 = and i32 %top.32, 2097151
              %x.in = icmp ult i32 %x, %width.32
              %y.in = icmp ult i32 %y, %height.32
              %z.in = icmp ult i32 %z, %depth.32
              %plane.in = and i1 %x.in, %y.in
              %in = and i1 %plane.in, %z.in
              {more}
              br i1 %in, label %mine, label %end
            mine:
              %x.64 = zext i32 %x to i64
              %y.64 = zext i32 %y to i64
              %z.64 = zext i32 %z to i64
              %rows = mul i64 %z.64, %height
              %row = add i64 %rows, %y.64
              %first = mul i64 %row, %width
              %index = add i64 %first, %x.64
              %layer = mul i64 %width, %height
              {neighbours}
              br label %end
            end: ret void
            }}"
        )
    };
    let ir = narrowed_text(&text(""));
    // No bit of the three numbers from the eleventh on.
    let mask: u64 = (0x1f_fc00 << 42) | (0x1f_fc00 << 21) | 0x1f_fc00;
    assert!(ir.contains(&format!(", {mask}")) && ir.contains("mul nuw nsw i32"), "{ir}");
    assert_eq!(ir.matches("store volatile").count(), 16, "eight in each copy: {ir}");
    // It is something else as well.
    for more in ["store volatile i64 %all, ptr %to", "%part = and i64 %all, 1023\nstore volatile i64 %part, ptr %to"] {
        let ir = narrowed_text(&text(more));
        assert!(!ir.contains(&format!(", {mask}")), "{ir}");
    }
}

#[test]
fn what_is_run_again_counts_more() {
    let kernel = |number: &str, end: &str| {
        let sums: String = (0..5)
            .map(|at| {
                format!(
                    "%i{at} = add i64 %k, {at}
                    %in{at} = icmp ult i64 %i{at}, %len
                    br i1 %in{at}, label %fine{at}, label %panic
                    fine{at}: %p{at} = getelementptr float, ptr %from, i64 %i{at}
                    store volatile float 1.0, ptr %p{at}\n"
                )
            })
            .collect();
        let text = format!(
            "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
            target triple = \"nvptx64-nvidia-cuda\"
            declare void @__rust_ptx_panic_with_0() noreturn
            define ptx_kernel void @f(ptr %from, i64 %len, i32 %x) {{
            entry: br label %loop
            loop: %k = {number}
              {sums}
              %next = add i64 %k, 5
              %more = icmp ult i64 %next, %len
              {end}
            end: ret void
            panic: call void @__rust_ptx_panic_with_0()
              unreachable
            }}"
        );
        narrowed_text(&text)
    };
    let stores = |ir: &str| ir.matches("store volatile").count();
    let again = kernel("phi i64 [ 0, %entry ], [ %next, %fine4 ]", "br i1 %more, label %loop, label %end");
    assert!(stores(&again) == 10 && again.contains("phi i32"), "{again}");
    let once = kernel("zext i32 %x to i64", "br label %end");
    assert_eq!(stores(&once), 5, "{once}");
}

/// A kernel with a barrier that searches for each of `n` elements: what it does in each step of a search. Or for one.
fn searching(step: &str, is_for_each: bool) -> String {
    let (first, again) = if is_for_each {
        (", [ %i.next, %found ]", "br i1 %goes.on, label %each, label %end")
    } else {
        ("", "br label %end")
    };
    narrowed_text(&format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"
        target triple = \"nvptx64-nvidia-cuda\"
        declare void @llvm.nvvm.barrier.cta.sync.all(i32) convergent
        declare void @llvm.assume(i1)
        define ptx_kernel void @f(ptr %from, i64 %len, ptr %of, i64 %n, ptr %to) {{
        entry: call void @llvm.nvvm.barrier.cta.sync.all(i32 1)
          %any = icmp ugt i64 %len, 1
          br i1 %any, label %each, label %end
        each: %i = phi i64 [ 0, %entry ]{first}
          %q = getelementptr inbounds float, ptr %of, i64 %i
          %x = load float, ptr %q
          br label %loop
        loop: %size = phi i64 [ %len, %each ], [ %left, %loop ]
          %base = phi i64 [ 0, %each ], [ %frozen, %loop ]
          %half = lshr i64 %size, 1
          %mid = add nuw i64 %base, %half
          %is.inside = icmp ult i64 %mid, %len
          call void @llvm.assume(i1 %is.inside)
          %p = getelementptr inbounds float, ptr %from, i64 %mid
          %y = load float, ptr %p
          {step}
          %less = fcmp ole float %y, %x
          %new = select i1 %less, i64 %mid, i64 %base
          %frozen = freeze i64 %new
          %left = sub i64 %size, %half
          %more = icmp ugt i64 %left, 1
          br i1 %more, label %loop, label %found
        found: store volatile i64 %frozen, ptr %to
          %i.next = add nuw i64 %i, 1
          %goes.on = icmp ult i64 %i.next, %n
          {again}
        end: ret void
        }}"
    ))
}

#[test]
fn searches_have_a_copy_where_threads_meet_elsewhere() {
    let ir = searching("", true);
    assert!(ir.contains("lshr i32") && loads(&ir) == 4, "{ir}");
    // Each thread searches once, or they meet in each step.
    for (step, is_for_each) in [("", false), ("call void @llvm.nvvm.barrier.cta.sync.all(i32 1)", true)] {
        let ir = searching(step, is_for_each);
        assert!(!ir.contains("lshr i32") && loads(&ir) == 2, "{step}, {is_for_each}: {ir}");
    }
}

#[test]
fn others_stay_as_they_are() {
    for (convention, guard, more) in [
        // Nothing says that a product is small, or that its factors are.
        (KERNEL, "%x.inside", ""),
        (KERNEL, "true", ""),
        // Where threads meet, indices are not worth a copy, but in a search for each element.
        (KERNEL, "%inside", "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)"),
        ("", "%inside", ""),
    ] {
        let ir = narrowed(convention, guard, more);
        assert_eq!(loads(&ir), 8, "{convention}, {guard}, {more}: {ir}");
        assert!(!ir.contains("mul nuw nsw i32"), "{ir}");
    }
}
