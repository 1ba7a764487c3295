//! Random functions before and after the stages that rewrite branches: an interpreter must see the same stores and
//! panics.

use super::{beside, both, cases, decided, floats, orders, steps, waits};
use crate::checks::random_tests::functions::{Kind, do_the_same};

#[test]
fn parts_of_a_condition_are_the_same_at_once() {
    do_the_same(Kind::Branches, |context, module, _| {
        both::join(context, module.get_function("f").unwrap()).unwrap();
    });
}

#[test]
fn what_floats_decide_is_the_same_without_a_branch() {
    do_the_same(Kind::Choices, |context, module, _| {
        floats::choose(context, module.get_function("f").unwrap()).unwrap();
    });
}

#[test]
fn choices_of_several_steps_are_the_same_without_branches() {
    do_the_same(Kind::Choices, |context, module, _| {
        steps::choose(context, module.get_function("f").unwrap()).unwrap();
    });
}

#[test]
fn a_match_that_chooses_values_is_the_same_without_a_branch() {
    do_the_same(Kind::Choices, |context, module, _| {
        cases::join(context, module.get_function("f").unwrap()).unwrap();
    });
}

#[test]
fn branches_beside_each_other_are_the_same_as_within() {
    do_the_same(Kind::Repeated, |context, module, _| {
        beside::put(context, module.get_function("f").unwrap()).unwrap();
    });
}

#[test]
fn choices_are_the_same_where_a_branch_has_made_them() {
    do_the_same(Kind::Repeated, |_, module, _| decided::decide(module.get_function("f").unwrap()));
}

#[test]
fn a_choice_behind_a_load_is_the_same_as_before_it() {
    do_the_same(Kind::Repeated, |context, module, _| {
        waits::choose(context, module.get_function("f").unwrap()).unwrap();
    });
}

#[test]
fn the_order_of_two_numbers_is_the_same_by_two_branches() {
    do_the_same(Kind::Choices, |context, module, _| {
        orders::part(context, module.get_function("f").unwrap()).unwrap();
    });
}
