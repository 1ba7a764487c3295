//! Patterns on a small text, as cases write them.

use ptx_test_cases::checks::{Checks, Text};
use ptx_test_cases::filecheck::check;

const TEXT: &str = "entry a(\n  p0\n)\n ld %r1, [p0];\n st %r1;\nentry b()\n ret;\n";

fn holds(case: &str) -> Result<(), String> {
    check(&Checks::parse(case, &[])?.of(Text::Main, ""), TEXT)
}

#[test]
fn patterns_match_in_order() {
    holds("// CHECK: ld [[R:%r\\d+]], [{{p.}}];\n// CHECK-NEXT: st [[R]];\n// CHECK: entry b").unwrap();
    holds("// CHECK: ld\n// CHECK-SAME: p0").unwrap();
    assert!(holds("// CHECK: st\n// CHECK: ld").unwrap_err().contains("line 2"));
    assert!(holds("// CHECK: entry a\n// CHECK-NEXT: ld").is_err());
    assert!(holds("// CHECK: ld\n// CHECK-SAME: ret").is_err());
    assert!(holds("// CHECK: ld [[R:%r\\d]]\n// CHECK: [[S]]").unwrap_err().contains("no value"));
    assert!(holds("// CHECK: [[R:%r\\d").unwrap_err().contains("`]]` is missing"));
    assert!(holds("// CHECK: {{(}}").is_err());
    for all in ["{{}}", "{{.*}}", "{{ld|}}", "[[R:.*]]"] {
        assert!(holds(&format!("// CHECK: {all}")).unwrap_err().contains("in any text"), "{all}");
    }
}

#[test]
fn what_must_not_be_there_is_found() {
    holds("// CHECK-NOT: st\n// CHECK: ld\n// CHECK: st\n// CHECK-NOT: st").unwrap();
    assert!(holds("// CHECK: entry a\n// CHECK-NOT: ld\n// CHECK: ret").is_err());
    assert!(holds("// CHECK-NOT: ret").is_err());
    assert!(holds("// CHECK-NOT: p0\n// CHECK-DAG: st\n// CHECK-DAG: ld").is_err());
    holds("// CHECK-NOT: st\n// CHECK-DAG: p0\n// CHECK-DAG: ld").unwrap();
}

#[test]
fn dag_lines_match_in_any_order_and_do_not_overlap() {
    holds("// CHECK-DAG: st\n// CHECK-DAG: ld\n// CHECK: entry b").unwrap();
    holds("// CHECK-DAG: %r1\n// CHECK-DAG: %r1").unwrap();
    assert!(holds("// CHECK-DAG: ld\n// CHECK-DAG: ld").is_err());
    assert!(holds("// CHECK-DAG: ret\n// CHECK-DAG: ld\n// CHECK: entry b").is_err());
    holds("// CHECK-DAG: ld [[R:%r\\d]]\n// CHECK-DAG: st [[R]]").unwrap();
}

#[test]
fn counts_are_kept() {
    holds("// CHECK-COUNT-2: %r1\n// CHECK-NOT: %r1").unwrap();
    holds("// CHECK-COUNT-2: entry").unwrap();
    assert!(holds("// CHECK-COUNT-3: entry").is_err());
    assert!(holds("// CHECK-COUNT-0: entry").unwrap_err().contains("there is no directive"));
    assert!(holds("// CHECK-COUNT: entry").unwrap_err().contains("there is no directive"));
}

#[test]
fn labels_bound_what_is_searched() {
    holds("// CHECK-LABEL: entry a\n// CHECK: st\n// CHECK-LABEL: entry b\n// CHECK-NOT: st").unwrap();
    assert!(holds("// CHECK-LABEL: entry a\n// CHECK: ret\n// CHECK-LABEL: entry b").is_err());
    assert!(holds("// CHECK-LABEL: entry a\n// CHECK: [[R:%r1]]\n// CHECK-LABEL: entry b\n// CHECK: [[R]]").is_err());
    assert!(holds("// CHECK-LABEL: entry c").is_err());
}
