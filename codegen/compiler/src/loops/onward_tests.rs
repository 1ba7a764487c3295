//! Tests of [`super`].

use std::collections::HashMap;

use super::*;
use crate::loops::interpreter::{Function, Value, agree};
use crate::loops::staged;

/// The least of the numbers whose lower bits are few, and where it is: the rest by a count, or up to an address.
fn least(is_counted: bool) -> String {
    let (before, head, next, ends) = if is_counted {
        (
            "%a = ptrtoint ptr %end to i64
             %b = ptrtoint ptr %p.next to i64
             %d = sub i64 %a, %b
             %rounds = udiv exact i64 %d, 8",
            "%i = phi i64 [ 0, %before ], [ %i.next, %again ]",
            "%q = getelementptr inbounds nuw i64, ptr %p.next, i64 %i",
            "%i.next = add nuw i64 %i, 1
             %done = icmp eq i64 %i.next, %rounds",
        )
    } else {
        (
            "",
            "%q = phi ptr [ %p.next, %before ], [ %q.next, %again ]",
            "%q.next = getelementptr inbounds nuw i8, ptr %q, i64 8",
            "%done = icmp eq ptr %q.next, %end",
        )
    };
    format!(
        "define void @f(ptr %from, ptr %to, i64 %n, i32 %few) {{
        entry: %end = getelementptr i64, ptr %from, i64 %n
          %empty = icmp eq i64 %n, 0
          br i1 %empty, label %nothing, label %search
        search: %p = phi ptr [ %from, %entry ], [ %p.next, %miss.here ]
          %p.next = getelementptr inbounds nuw i8, ptr %p, i64 8
          %x = load i32, ptr %p
          %y = and i32 %x, 15
          %miss = icmp ugt i32 %y, %few
          br i1 %miss, label %miss.here, label %found
        miss.here: %over = icmp eq ptr %p.next, %end
          br i1 %over, label %nothing, label %search
        found: %last = icmp eq ptr %p.next, %end
          br i1 %last, label %out, label %before
        before: {before}
          br label %rest
        rest: {head}
          %best = phi i32 [ %x, %before ], [ %best.now, %again ]
          %where = phi ptr [ %p, %before ], [ %where.now, %again ]
          {next}
          %x2 = load i32, ptr %q
          %y2 = and i32 %x2, 15
          %miss2 = icmp ugt i32 %y2, %few
          br i1 %miss2, label %again, label %take
        take: %less = icmp ult i32 %x2, %best
          %new = select i1 %less, i32 %x2, i32 %best
          %new.where = select i1 %less, ptr %q, ptr %where
          br label %again
        again: %best.now = phi i32 [ %best, %rest ], [ %new, %take ]
          %where.now = phi ptr [ %where, %rest ], [ %new.where, %take ]
          {ends}
          br i1 %done, label %out, label %rest
        out: %r = phi i32 [ %x, %found ], [ %best.now, %again ]
          %at = phi ptr [ %p, %found ], [ %where.now, %again ]
          %address = ptrtoint ptr %at to i64
          store volatile i32 %r, ptr %to
          store volatile i64 %address, ptr %to
          ret void
        nothing: store volatile i32 7, ptr %to
          ret void
        }}"
    )
}

/// The function after the stage, and how many loops it has then.
fn joined(text: &str) -> (String, usize) {
    let mut loops = 0;
    let after = staged::after(text, |context, module, machine| {
        go_on(context, module, &SimpleForm::of(machine)).unwrap();
        llvm::run_passes(module, machine, "function(simplifycfg)").unwrap();
        loops = Graph::of(module.get_function("f").unwrap()).loops().len();
    });
    (after, loops)
}

#[test]
fn a_search_and_what_goes_on_behind_it_are_one_loop() {
    for is_counted in [false, true] {
        let text = staged::after(&least(is_counted), |_, _, _| ());
        let (after, loops) = joined(&text);
        assert_eq!(loops, 1, "{after}");
        for start in 0..40 {
            for n in 0..12 {
                for few in [0, 1, 4, 15] {
                    let given: HashMap<&str, Value> = HashMap::from([
                        ("%from", Value::Address(1 << 20 | start << 8)),
                        ("%to", Value::Address(64)),
                        ("%n", Value::Number(n, 64)),
                        ("%few", Value::Number(few, 32)),
                    ]);
                    let (one, other) = (Function::parse(&text).run(&given), Function::parse(&after).run(&given));
                    assert!(agree(&one, &other), "{one:?} {other:?}: {n} elements, {few}: {after}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_the_same_stays_apart() {
    let text = least(false);
    let counted = least(true);
    for (other, why) in [
        (text.replace("ugt i32 %y2", "uge i32 %y2"), "another condition"),
        (text.replace("and i32 %x2, 15", "and i32 %x2, 7"), "another number"),
        (text.replace("ptr %q, i64 8", "ptr %q, i64 16"), "another step"),
        (
            text.replace("%best = phi i32 [ %x, ", "%best = phi i32 [ 1, ").replace("[ %x, %found ]", "[ 2, %found ]"),
            "the end",
        ),
        (text.replace("%q = phi ptr [ %p.next", "%q = phi ptr [ %from"), "from the start"),
        (text.replace("%x2 = load", "store i32 1, ptr %to\n%x2 = load"), "a store"),
        (text.replace("%x = load i32", "%x = load volatile i32"), "a load that somebody sees"),
        (
            text.replace("icmp ult i32 %x2, %best", "icmp ult i32 %x2, %z")
                .replace("%less = icmp", "%z = load i32, ptr %where\n%less = icmp"),
            "a load of what is kept",
        ),
        (text.replace("%last = icmp eq ptr %p.next", "%last = icmp eq ptr %from"), "another end"),
        (counted.replace("udiv exact i64 %d, 8", "udiv exact i64 %d, 4"), "other elements"),
        (counted.replace("udiv exact", "udiv"), "a distance that may leave something"),
        (counted.replace("inbounds nuw i64, ptr %p.next", "i64, ptr %p.next"), "an address that may be outside"),
        (text.replace("icmp ult i32 %x2, %best", "icmp ult i32 %x, %best"), "what was found first, later"),
        (
            text.replace("%last = icmp", "%more = add i32 %x, 1\n%last = icmp")
                .replace("icmp ult i32 %x2, %best", "icmp ult i32 %more, %best"),
            "what is computed between",
        ),
        (text.replace("inbounds nuw i8, ptr %q, i64 8", "i8, ptr %q, i64 8"), "a step that promises less"),
        (text.replace("%x2 = load i32, ptr %q", "%x2 = load i32, ptr %q, align 1"), "a load that promises less"),
        (counted.replace("phi i64 [ 0, %before ]", "phi i64 [ 1, %before ]"), "a count from 1"),
        (counted.replace("store volatile i64 %address", "store volatile i64 %n"), "nothing"),
    ] {
        let (after, loops) = joined(&other);
        assert_eq!(loops, if why == "nothing" { 1 } else { 2 }, "{why}: {after}");
    }
}
