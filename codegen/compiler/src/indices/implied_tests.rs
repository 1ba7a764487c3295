//! Checks that others imply, of neighbours in planes and volumes.

use super::*;
use crate::llvm::{AnyValue, parse_ir};

#[path = "implied_random_tests.rs"]
mod random;

/// A kernel that has two copies, the first of which goes on to the block `inside`, with a position and a view's extents.
fn kernel(inside: &str) -> String {
    format!(
        "declare i32 @llvm.umin.i32(i32, i32)
        declare i32 @llvm.usub.sat.i32(i32, i32)
        declare i32 @llvm.smin.i32(i32, i32)
        declare i32 @llvm.smax.i32(i32, i32)
        declare i32 @llvm.umax.i32(i32, i32)
        define ptx_kernel void @f(ptr %from, i64 %from.len, i64 %view, i32 noundef %x, i32 noundef %y, i32 %any) {{
          %any.len = freeze i64 %from.len
          %len = trunc i64 %any.len to i32
          %both = freeze i64 %view
          %width = trunc i64 %both to i32
          %upper = lshr i64 %both, 32
          %height = trunc i64 %upper to i32
          %short = icmp ult i64 %any.len, 1073741824
          {OF_EACH}
          %is.small = and i1 %short, %small
          br i1 %is.small, label %narrow, label %wide
        narrow: br label %inside
        inside:
          {inside}
        yes: store volatile i32 1, ptr %from
          br label %end
        no: store volatile i32 2, ptr %from
          br label %end
        wide: store volatile i32 3, ptr %from
          br label %end
        end: ret void
        }}"
    )
}

/// The test of a kernel that asks for each extent.
const OF_EACH: &str = "%either = or i32 %width, %height
          %small = icmp ult i32 %either, 32768";

/// The same of a kernel that asks for their product.
fn of_product(kernel: &str) -> String {
    assert!(kernel.contains(OF_EACH), "{kernel}");
    let product = "%width.wide = zext i32 %width to i64
          %height.wide = zext i32 %height to i64
          %elements = mul i64 %width.wide, %height.wide
          %elements.low = trunc i64 %elements to i32
          %elements.less = add i32 %elements.low, -1
          %elements.few = icmp ult i32 %elements.less, 268435456
          %elements.upper = lshr i64 %elements, 32
          %elements.high = trunc i64 %elements.upper to i32
          %elements.short = icmp eq i32 %elements.high, 0
          %small = and i1 %elements.few, %elements.short";
    kernel.replace(OF_EACH, product)
}

/// Has the block `mine` be that of threads that are inside of the view.
const MINE: &str = "%x.in = icmp ult i32 %x, %width
    %y.in = icmp ult i32 %y, %height
    %in = and i1 %x.in, %y.in
    br i1 %in, label %mine, label %end
    mine: ";

/// A kernel before and after.
fn both(text: &str) -> (String, String) {
    let context = Context::create();
    let module = parse_ir(&context, text.as_bytes(), "module").unwrap_or_else(|error| panic!("{}: {text}", error.0));
    let function = module.get_function("f").unwrap();
    let before = function.print_to_string().to_string();
    remove(&context, function).unwrap();
    module.verify().unwrap_or_else(|error| panic!("{error}: {text}"));
    (before, function.print_to_string().to_string())
}

/// Which checks go of these indices, for a thread that is inside of a matrix.
fn gone(before: &str, indices: &[&str]) -> Vec<bool> {
    gone_where(before, indices, |text| text)
}

/// The same, with another test of the kernel.
fn gone_where(before: &str, indices: &[&str], test: fn(String) -> String) -> Vec<bool> {
    let mut text = "%x.in = icmp ult i32 %x, %width
        %y.in = icmp ult i32 %y, %height
        %in = and i1 %x.in, %y.in
        br i1 %in, label %mine, label %end
        mine: %row = mul i32 %y, %width
        %i = add i32 %row, %x\n"
        .to_string();
    text += before;
    for (at, index) in indices.iter().enumerate() {
        let known = if at == 0 { "true".to_string() } else { format!("%all{}", at - 1) };
        text += &format!("\n%c{at} = icmp ult i32 {index}, %len\n%all{at} = select i1 {known}, i1 %c{at}, i1 false");
    }
    let text = test(kernel(&format!("{text}\nbr i1 %all{}, label %yes, label %no", indices.len() - 1)));
    let (_, ir) = both(&text);
    (0..indices.len()).map(|at| !ir.contains(&format!("i1 %c{at}, i1 false"))).collect()
}

#[test]
fn of_neighbours_the_largest_is_checked() {
    let before = "%next = add i32 %i, 1
        %above = sub i32 %i, %width
        %below = add i32 %i, %width";
    assert_eq!(gone(before, &["%i", "%next", "%below"]), [true, true, false]);
    // In the first row none is above, and the index has come round.
    assert_eq!(gone(before, &["%above", "%i", "%next"]), [false, true, false]);
    let not_first = format!(
        "{before}
        %is.first = icmp eq i32 %y, 0
        br i1 %is.first, label %no, label %more
        more:"
    );
    assert_eq!(gone(&not_first, &["%above", "%i", "%next"]), [true, true, false]);
}

#[test]
fn a_product_tells_of_each_extent_in_each_case() {
    let of = |before: &str, indices: &[&str]| gone_where(before, indices, |text| of_product(&text));
    let before = "%next = add i32 %i, 1
        %above = sub i32 %i, %width
        %below = add i32 %i, %width";
    assert_eq!(of(before, &["%i", "%next", "%below"]), [true, true, false]);
    let inner = format!(
        "{before}
        %is.first = icmp eq i32 %y, 0
        br i1 %is.first, label %no, label %more
        more:"
    );
    // If there is but one row, none is behind this branch, which says nothing of other planes.
    assert_eq!(of(&inner, &["%above", "%i", "%next"]), [true, true, false]);
    let promised = "%y.before = add nsw i32 %y, -1
        %row.before = mul nsw i32 %y.before, %width
        %before = add nsw i32 %row.before, %x";
    // Neither, where the slice covers the plane.
    assert_eq!(of(&format!("{inner} {promised}"), &["%before", "%i"]), [true, true]);
    assert_eq!(of(promised, &["%before", "%i"]), [false, false]);
    // Where only one half of the product is asked for, nothing is known: the index may have come round.
    let of_low = |text: String| of_product(&text).replace("few, %elements.short", "few, %elements.few");
    let of_high = |text: String| of_product(&text).replace("few, %elements.short", "short, %elements.short");
    for test in [of_low, of_high] {
        assert_eq!(gone_where(before, &["%i", "%below"], test), [false, false]);
    }
    // All of a torus, if the slice covers it, with the product that the test has computed.
    let text = of_product(&kernel(&format!(
        "{MINE}%row = mul i32 %y, %width
        %i = add i32 %row, %x
        {TORUS}
        %a.is = icmp ult i32 %a, %len
        %b.is = icmp ult i32 %b, %len
        %c.is = icmp ult i32 %c, %len
        %ab = select i1 %a.is, i1 %b.is, i1 false
        %abc = select i1 %ab, i1 %c.is, i1 false
        br i1 %abc, label %yes, label %no"
    )));
    let (_, ir) = both(&text);
    assert!(!ir.contains("i1 %a.is, i1") && ir.contains("icmp uge i32 %len, %elements.low"), "{ir}");
}

#[test]
fn layers_are_as_far_apart_as_their_numbers_say() {
    // Rows of `%layer` to a layer; the slice has an element for each of the view.
    let before = |told: &str| {
        format!(
            "%known = freeze i32 %any
            %layer = and i32 %known, 255
            %all = mul i32 %height, %width
            %fits = icmp uge i32 %len, %all
            br i1 %fits, label %fit, label %no
            fit: %z = udiv i32 %y, %layer
            %layers = udiv i32 %height, %layer
            %last = add i32 %layers, -1
            %first = icmp ule i32 %layer, %y
            br i1 %first, label %behind.first, label %no
            behind.first: %told = icmp {told}
            br i1 %told, label %more, label %no
            more: %far = add i32 %y, %layer
            %row.far = mul i32 %far, %width
            %behind = add i32 %row.far, %x"
        )
    };
    let is_gone = |told: &str| gone(&before(told), &["%behind"]) == [true];
    assert!(is_gone("ugt i32 %last, %z") && is_gone("ult i32 %z, %last"));
    // The last layer has none behind it, and of others nothing is known.
    assert!(!is_gone("uge i32 %last, %z") && !is_gone("ult i32 %z, %layers") && !is_gone("ult i32 %y, %last"));
    // Where the view has no whole layer, one less than none is the largest number.
    let first = |from: &str| gone(&before("ugt i32 %last, %z").replace("ule i32 %layer, %y", from), &["%behind"]);
    assert_eq!(first("ne i32 %y, 7"), [false]);
}

/// The nine neighbours of a point on a torus.
const TORUS: &str = "%y.first = icmp eq i32 %y, 0
    %y.or = select i1 %y.first, i32 %height, i32 %y
    %y.before = add i32 %y.or, -1
    %y.more = add i32 %y, 1
    %y.last = icmp eq i32 %y.more, %height
    %y.after = select i1 %y.last, i32 0, i32 %y.more
    %x.first = icmp eq i32 %x, 0
    %x.or = select i1 %x.first, i32 %width, i32 %x
    %x.before = add i32 %x.or, -1
    %x.more = add i32 %x, 1
    %x.last = icmp eq i32 %x.more, %width
    %x.after = select i1 %x.last, i32 0, i32 %x.more
    %row.before = mul i32 %y.before, %width
    %row.after = mul i32 %y.after, %width
    %a = add i32 %row.before, %x.before
    %b = add i32 %row.before, %x.after
    %c = add i32 %row, %x.after
    %d = add i32 %row.after, %x.before
    %e = add i32 %row.after, %x";

#[test]
fn a_slice_that_covers_a_view_has_every_element_of_it() {
    assert_eq!(gone(TORUS, &["%a", "%b", "%i", "%c", "%d", "%e"]), [true; 6]);
    // A branch is gone with two, but not with one beside another check.
    assert_eq!(gone(TORUS, &["%a", "%b"]), [true; 2]);
    assert_eq!(gone(&format!("{TORUS}\n%z = freeze i32 %any"), &["%a", "%z"]), [false; 2]);
    // A slice with an element for each column is not asked for as many as the view has, nor one for each row.
    assert_eq!(gone(TORUS, &["%x", "%y"]), [false; 2]);
    // One of which it is not known.
    let next = format!("{TORUS}\n%f = add i32 %e, 1");
    assert_eq!(gone(&next, &["%a", "%b", "%i", "%c", "%f"]), [true, true, true, true, false]);
}

#[test]
fn what_is_clamped_into_a_view_is_in_the_slice_that_covers_it() {
    let clamped = "%y.last = add i32 %height, -1
        %y.first = icmp ult i32 %y, 2
        %y.less = add i32 %y, -2
        %y.least = call i32 @llvm.umin.i32(i32 %y.less, i32 %y.last)
        %y.above = select i1 %y.first, i32 0, i32 %y.least
        %y.more = add i32 %y, 2
        %y.below = call i32 @llvm.umin.i32(i32 %y.more, i32 %y.last)
        %x.last = add i32 %width, -1
        %x.less = call i32 @llvm.usub.sat.i32(i32 %x, i32 1)
        %x.left = call i32 @llvm.umin.i32(i32 %x.less, i32 %x.last)
        %x.next = add i32 %x, 1
        %x.most = call i32 @llvm.smin.i32(i32 %x.next, i32 %x.last)
        %x.right = call i32 @llvm.smax.i32(i32 %x.most, i32 0)
        %row.above = mul i32 %y.above, %width
        %row.below = mul i32 %y.below, %width
        %a = add i32 %row.above, %x.left
        %b = add i32 %row.above, %x.right
        %c = add i32 %row.below, %x.left
        %d = add i32 %row.below, %x.right
        %y.last.one = call i32 @llvm.umin.i32(i32 %y, i32 %y.last)
        %row.last = mul i32 %y.last.one, %width
        %e = add i32 %row.last, %x.left
        %f = add i32 %row.last, %x.right";
    assert_eq!(gone(clamped, &["%a", "%b", "%i", "%c", "%d", "%e", "%f"]), [true; 7]);
    let next = format!("{clamped}\n%z = freeze i32 %any\n%g = add i32 %row.last, %z");
    assert_eq!(gone(&next, &["%i", "%c", "%d", "%e", "%f", "%g"]), [true, true, true, true, true, false]);
}

#[test]
fn numbers_of_a_kernel_may_be_the_extents() {
    let text = |row: &str| {
        let inside = format!(
            "%y.last = add i32 %height, -1
            %x.last = add i32 %width, -1
            %y.next = call i32 @llvm.umin.i32(i32 %y, i32 %y.last)
            %x.next = call i32 @llvm.umin.i32(i32 %x, i32 %x.last)
            %y.before = call i32 @llvm.usub.sat.i32(i32 %y.next, i32 1)
            %x.before = call i32 @llvm.usub.sat.i32(i32 %x.next, i32 1)
            %row.next = mul i32 %y.next, {row}
            %row.before = mul i32 %y.before, {row}
            %a = add i32 %row.next, %x.next
            %b = add i32 %row.next, %x.before
            %c = add i32 %row.before, %x.next
            %d = add i32 %row.before, %x.before
            %a.is = icmp ult i32 %a, %len
            %b.is = icmp ult i32 %b, %len
            %c.is = icmp ult i32 %c, %len
            %d.is = icmp ult i32 %d, %len
            %ab = select i1 %a.is, i1 %b.is, i1 false
            %abc = select i1 %ab, i1 %c.is, i1 false
            %all = select i1 %abc, i1 %d.is, i1 false
            br i1 %all, label %yes, label %no"
        );
        let text = kernel(&inside)
            .replace("%both = freeze i64 %view", "%both = freeze i64 %broad\n %upper = freeze i64 %tall")
            .replace("i64 %view", "i64 %broad, i64 %tall")
            .replace("%upper = lshr i64 %both, 32", "");
        // Each is small, as a whole.
        assert!(text.contains(OF_EACH), "{text}");
        text.replace(OF_EACH, "%either = or i64 %both, %upper\n %small = icmp ult i64 %either, 32768")
    };
    let (_, ir) = both(&text("%width"));
    assert!(!ir.contains("i1 %a.is, i1") && !ir.contains("i1 %d.is, i1"), "{ir}");
    // Their product is not 0, and the slice is as long.
    let test = ir.split("br i1").next().unwrap();
    assert!(test.contains("mul i32 %width, %height") && test.contains(", 1\n"), "{ir}");
    assert!(test.contains(", %len\n"), "{ir}");
    // Rows of another length.
    let (_, ir) = both(&text("%len"));
    assert!(ir.contains("i1 %a.is, i1"), "{ir}");
}

#[test]
fn the_ends_of_a_part_are_in_order_where_they_are_seen_to_be() {
    let gone = |before: &str, ends: [&str; 2]| {
        let text = format!(
            "{MINE}%less = call i32 @llvm.usub.sat.i32(i32 %x, i32 2)
            %x.more = add i32 %x, 3
            %more = call i32 @llvm.umin.i32(i32 %x.more, i32 %width)
            %row = mul i32 %y, %width
            %row.end = add i32 %row, %width
            {before}
            %in.order = icmp ule i32 {}, {}
            %other = freeze i32 %any
            %is.inside = icmp ule i32 %row.end, %other
            %holds = select i1 %in.order, i1 %is.inside, i1 false
            br i1 %holds, label %yes, label %no",
            ends[0], ends[1]
        );
        let (_, ir) = both(&kernel(&text));
        assert!(ir.contains("%is.inside, i1 false"), "{ir}");
        ir.contains("select i1 true, i1 %is.inside")
    };
    assert!(gone("", ["%row", "%row.end"]));
    assert!(gone("", ["%less", "%more"]));
    // One column more has an end of its own.
    let next = "%next = add i32 %x, 4
        %width.next = add i32 %width, 1
        %right = call i32 @llvm.umin.i32(i32 %next, i32 %width.next)
        %left = call i32 @llvm.umin.i32(i32 %next, i32 %width)";
    assert!(gone(next, ["%more", "%right"]));
    assert!(!gone(next, ["%right", "%more"]));
    assert!(!gone(next, ["%right", "%left"]));
    assert!(!gone("", ["%row.end", "%row"]));
}

#[test]
fn rows_of_a_window_end_behind_where_they_begin() {
    let text = "%x.in = icmp ult i32 %x, %width
        %y.in = icmp ult i32 %y, %height
        %in = and i1 %x.in, %y.in
        br i1 %in, label %mine, label %end
        mine: %first = call i32 @llvm.usub.sat.i32(i32 %y, i32 2)
        %y.more = add i32 %y, 3
        %last = call i32 @llvm.umin.i32(i32 %y.more, i32 %height)
        br label %round
        round: %at = phi i32 [ %first, %mine ], [ %next, %more ]
        %next = add nsw i32 %at, 1
        %row = mul nuw nsw i32 %at, %width
        %row.end = mul nuw nsw i32 %next, %width
        %in.order = icmp uge i32 %row.end, %row
        %is.inside = icmp ule i32 %row.end, %len
        %holds = and i1 %in.order, %is.inside
        br i1 %holds, label %more, label %no
        more: store volatile i32 7, ptr %from
        %goes.on = icmp ult i32 %next, %last
        br i1 %goes.on, label %round, label %yes";
    let (_, ir) = both(&kernel(text));
    assert!(!ir.contains("i1 %in.order,"), "{ir}");
}

/// A loop over some rows of a plane, each a part of a slice, after `remove`: `first` and `end` are its rows, `again` is what it
/// compares, and the part ends at `right`.
fn rows(first: &str, again: &str, right: &str) -> String {
    let text = format!(
        "{MINE}%less = call i32 @llvm.usub.sat.i32(i32 %y, i32 2)
        %y.more = add i32 %y, 3
        %bottom = call i32 @llvm.umin.i32(i32 %y.more, i32 %height)
        %left = call i32 @llvm.usub.sat.i32(i32 %x, i32 2)
        %x.more = add i32 %x, 3
        %right = call i32 @llvm.umin.i32(i32 %x.more, i32 %width)
        %wider = add i32 %right, 1
        br label %round
        round: %at = phi i32 [ {first}, %mine ], [ %next, %more ]
        %row = mul nuw nsw i32 %at, %width
        %outside = icmp ugt i32 %row, %len
        br i1 %outside, label %panic, label %some
        some: %rest = sub nsw i32 %len, %row
        %reversed = icmp ugt i32 %left, {right}
        %beyond = icmp ugt i32 {right}, %rest
        %fails = select i1 %reversed, i1 true, i1 %beyond
        br i1 %fails, label %other, label %more
        more: store volatile i32 %row, ptr %from
        %next = add nsw i32 %at, 1
        %goes.on = icmp {again}
        br i1 %goes.on, label %round, label %yes
        panic: store volatile i32 8, ptr %from
        unreachable
        other: store volatile i32 9, ptr %from
        unreachable"
    );
    both(&kernel(&text)).1
}

#[test]
fn the_rows_of_a_loop_are_in_the_slice_that_covers_them() {
    let asks = |ir: &str| ["br i1 %outside,", "i1 %beyond\n", "select i1 %reversed,"].map(|asked| ir.contains(asked));
    for again in ["ult i32 %next, %bottom", "ugt i32 %bottom, %next"] {
        let ir = rows("%less", again, "%right");
        assert_eq!(asks(&ir), [false; 3], "{again}: {ir}");
        assert!(ir.contains("icmp uge i32 %len, "), "{ir}");
    }
    // It may come to the end, or be there as it begins.
    for (first, again) in [
        ("%less", "ule i32 %next, %bottom"),
        ("%less", "ult i32 %at, %bottom"),
        ("%bottom", "ult i32 %next, %bottom"),
        ("%x", "ult i32 %next, %bottom"),
    ] {
        let ir = rows(first, again, "%right");
        assert!(asks(&ir)[1], "{first}, {again}: {ir}");
    }
    // A row has not so many columns, but it begins in the slice, and the part's ends are in order.
    let ir = rows("%less", "ult i32 %next, %bottom", "%wider");
    assert_eq!(asks(&ir), [false, true, false], "{ir}");
}

#[test]
fn what_was_computed_twice_is_the_same_behind_a_branch() {
    let check = |other: &str| {
        let text = format!(
            "{MINE}%row = mul i32 %y, %width
            %edge = icmp eq i32 %x, 0
            br i1 %edge, label %one, label %two
            one: %i = add i32 %row, %x
            br label %met
            two: %j = add i32 %row, {other}
            br label %met
            met: %k = phi i32 [ %i, %one ], [ %j, %two ]
            %is.inside = icmp ult i32 %k, %len
            br i1 %is.inside, label %yes, label %panic
            panic: store volatile i32 8, ptr %from
            unreachable"
        );
        both(&kernel(&text)).1.contains("br i1 %is.inside,")
    };
    assert!(!check("%x"));
    assert!(check("%width"));
}

#[test]
fn a_slice_that_covers_a_volume_has_the_neighbours_that_are_there() {
    let text = |of_depth: &str| {
        let before = |name: &str, at: &str, extent: &str| {
            format!(
                "%{name}.at = add nsw i32 {at}
                %{name}.there = icmp ult i32 %{name}.at, {extent}
                %{name}.is = freeze i1 %{name}.there
                %{name}.no = xor i1 %{name}.is, true\n"
            )
        };
        let check = |name: &str, [z, y, x]: [&str; 3]| {
            format!(
                "%{name}.plane = mul nsw i32 {z}, %height
                %{name}.line = add nsw i32 %{name}.plane, {y}
                %{name}.row = mul nsw i32 %{name}.line, %width
                %{name}.index = add nsw i32 %{name}.row, {x}
                %{name}.in = icmp ult i32 %{name}.index, %len
                %{name}.asked = freeze i1 %{name}.in
                %{name}.or = or i1 %{name}.asked, %{name}.no\n"
            )
        };
        let neighbours = [
            before("left", "%x, -1", "%width") + &check("left", ["%z", "%y", "%left.at"]),
            before("right", "%x, 1", "%width") + &check("right", ["%z", "%y", "%right.at"]),
            before("up", "%y, -1", "%height") + &check("up", ["%z", "%up.at", "%x"]),
            before("back", "%z, 1", of_depth) + &check("back", ["%back.at", "%y", "%x"]),
        ];
        let inside = format!(
            "{}%a = and i1 %left.or, %right.or
            %b = and i1 %a, %up.or
            %c = and i1 %b, %back.or
            br i1 %c, label %yes, label %no",
            neighbours.concat()
        );
        format!(
            "define ptx_kernel void @f(ptr %from, i64 %from.len, ptr %to, i64 %to.len, i32 noundef %x, i32 noundef %y, i32 noundef %z) {{
              %any.len = freeze i64 %from.len
              %len = trunc i64 %any.len to i32
              %view = freeze i64 %to.len
              %high = and i64 %view, 9218872833128528896
              %low = icmp eq i64 %high, 0
              %short = icmp ult i64 %any.len, 1073741824
              %is.small = and i1 %low, %short
              br i1 %is.small, label %narrow, label %wide
            narrow: %z.of = lshr i64 %view, 42
              %z.cut = trunc i64 %z.of to i32
              %depth = and i32 %z.cut, 2097151
              %y.of = lshr i64 %view, 21
              %y.cut = trunc i64 %y.of to i32
              %height = and i32 %y.cut, 2097151
              %x.cut = trunc i64 %view to i32
              %width = and i32 %x.cut, 2097151
              %x.in = icmp ult i32 %x, %width
              %y.in = icmp ult i32 %y, %height
              %z.in = icmp ult i32 %z, %depth
              %xy.in = and i1 %x.in, %y.in
              %all.in = and i1 %xy.in, %z.in
              br i1 %all.in, label %mine, label %end
            mine: {inside}
            yes: store volatile i32 1, ptr %from
              br label %end
            no: store volatile i32 2, ptr %from
              br label %end
            wide: store volatile i32 3, ptr %from
              br label %end
            end: ret void
            }}"
        )
    };
    let (_, ir) = both(&text("%depth"));
    assert!(ir.contains("%c = and i1 true, true") || ir.contains("and i1 %b, true"), "{ir}");
    // The slice is as long.
    assert!(ir.split("br i1").next().unwrap().matches(" mul i32").count() == 2, "{ir}");
    // Behind the last plane there is none.
    let (_, ir) = both(&text("2000000"));
    assert!(ir.contains("%back.or\n"), "{ir}");
}

#[test]
fn what_another_block_asks_too_stays_there() {
    let text = "%x.in = icmp ult i32 %x, %width
        %y.in = icmp ult i32 %y, %height
        %in = and i1 %x.in, %y.in
        br i1 %in, label %mine, label %end
        mine: %row = mul i32 %y, %width
        %i = add i32 %row, %x
        %next = add i32 %i, 1
        %first = icmp ult i32 %i, %len
        %second = icmp ult i32 %next, %len
        %other = icmp ne i32 %y, 5
        %two = and i1 %first, %other
        %each = select i1 %two, i1 %second, i1 false
        br i1 %each, label %yes, label %which
        which: br i1 %two, label %no, label %end";
    let (_, ir) = both(&kernel(text));
    assert!(ir.contains("%two = and i1 %first, %other") && ir.contains("br i1 %two"), "{ir}");
    assert!(ir.contains("and i1 true, %other") && !ir.contains("%each = select i1 %two"), "{ir}");
}

#[test]
fn what_may_mean_nothing_is_asked_where_it_was() {
    let next = |flags: &str| {
        let before = format!("%z.any = freeze i32 %any\n%z = lshr i32 %z.any, 1\n%j = add {flags} i32 %i, %z");
        gone(&before, &["%i", "%j"])
    };
    assert_eq!(next(""), [true, false]);
    assert_eq!(next("nuw"), [true, false]);
    // Without a sign it may be any but the last.
    let any = "%z.any = freeze i32 %any\n%z.is = icmp ne i32 %z.any, -1\nbr i1 %z.is, label %one, label %no\none:";
    let below = |flags: &str| {
        let next = format!("%z.next = add {flags} i32 %z.any, 1\n%z = call i32 @llvm.umin.i32(i32 %z.next, i32 1)");
        gone(&format!("{any} {next}\n%j = add i32 %i, %z"), &["%i", "%j"])
    };
    assert_eq!(below("nuw"), [true, false]);
    assert_eq!(below("nsw"), [false, false]);
    // The sum may have the bit of the sign.
    assert_eq!(next("nsw"), [false, false]);
    // Anything for each who looks.
    let any = "%z = lshr i32 %any, 1\n%j = add i32 %i, %z";
    assert_eq!(gone(any, &["%i", "%j"]), [false, false]);
    assert_eq!(gone("%j = add nuw nsw i32 %i, 1", &["%i", "%j"]), [true, false]);
}

#[test]
fn what_may_have_come_round_is_compared() {
    let of_row = |row: &str| {
        let before = format!("{row}\n%a = mul i32 %z, %width\n%b = add i32 %a, %width\n%c = add i32 %b, 1");
        gone(&before, &["%b", "%c"])
    };
    assert_eq!(of_row("%z.any = freeze i32 %any\n%z = lshr i32 %z.any, 16"), [true, false]);
    assert_eq!(of_row("%z = freeze i32 %any"), [false, false]);
}

#[test]
fn a_comparison_behind_a_branch_that_tells_its_outcome_has_that() {
    let compare = |compared: &str| {
        let text = format!(
            "{MINE}%compared = {compared}
            %own = zext i1 %compared to i32
            store volatile i32 %own, ptr %from
            %is.inside = icmp ult i32 %x, %len
            br i1 %is.inside, label %yes, label %no"
        );
        let (_, ir) = both(&kernel(&text));
        [true, false].into_iter().find(|holds| ir.contains(&format!("zext i1 {holds} to i32")))
    };
    for (compared, holds) in [
        ("icmp ult i32 %x, %width", Some(true)),
        ("icmp ule i32 %width, %x", Some(false)),
        ("icmp ugt i32 %width, %x", Some(true)),
        ("icmp uge i32 %x, %width", Some(false)),
        ("icmp sgt i32 %x, -1", Some(true)),
        ("icmp ult i32 %x, 32768", Some(true)),
        ("icmp ult i32 %y, %width", None),
        ("icmp ult i32 %x, %len", None),
        ("icmp eq i32 %x, 3", None),
    ] {
        assert_eq!(compare(compared), holds, "{compared}");
    }
}
