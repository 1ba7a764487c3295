//! Random functions before and after the stages that rewrite checks: an interpreter must see the same stores and
//! panics.

mod elements;
pub mod functions;

use std::collections::HashSet;

use functions::{Kind, do_the_same};

use super::{Stage, apart, areas, chain, clamped, merge, planes, regions, start};

#[test]
fn elements_of_areas_are_the_same_in_a_copy() {
    do_the_same(Kind::Checks, |context, module, _| {
        areas::copy(context, module, module.get_function("f").unwrap()).unwrap();
        apart::drop(module);
    });
}

#[test]
fn chains_of_checks_are_the_same_as_one() {
    do_the_same(Kind::Checks, |context, module, _| {
        let function = module.get_function("f").unwrap();
        for chain in chain::chains(function, HashSet::new()) {
            let elements = clamped::elements(&chain);
            let stage = Stage { context, builder: context.create_builder(), function, chain: &chain, elements };
            stage.merge().unwrap();
        }
    });
}

#[test]
fn stretches_are_the_same_in_a_copy_without_checks() {
    do_the_same(Kind::Checks, |context, module, _| {
        regions::copy(context, module.get_function("f").unwrap(), &HashSet::new()).unwrap();
    });
}

#[test]
fn checks_are_the_same_after_all_that_merges_them() {
    do_the_same(Kind::Checks, |context, module, machine| merge(context, module, machine).unwrap());
}

#[test]
fn elements_of_planes_are_the_same_without_checks() {
    do_the_same(Kind::Checks, |context, module, _| planes::drop(context, module.get_function("f").unwrap()));
}

#[test]
fn the_first_two_branches_are_the_same_as_one() {
    do_the_same(Kind::Checks, |context, module, _| {
        start::ask_once(context, module.get_function("f").unwrap()).unwrap();
    });
}
