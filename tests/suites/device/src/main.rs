//! Launches every test kernel and compares with the CPU; needs a GPU, and skips with the reason where there is none.
//!
//! `--json FILE` writes what ran where, a line of JSON a test; `--examples FOLDER` also runs the programs in a folder,
//! `--examples-at-o0 FOLDER` those there, which were not optimised;
//! `--abi FOLDER` also runs the round trips between Rust and C++ in a folder; `--debugger FOLDER` the cases there under cuda-gdb
//! and compute-sanitizer;
//! `--core FOLDER` also runs the tests of Rust's `core` there, `--tested FOLDER` those of the crate `ptx-tested`;
//! `--cases FOLDER` also runs the user-interface tests that were put there;
//! `--only TEXT` runs those with it in their names, or with that of another `--only`;
//! `--at-once` runs them in several processes, which end after `--limit SECONDS`;
//! `--commit ID` and `--date DAY` are noted in the record; other arguments are libtest's. The last line is `N passed, N failed, N skipped`.

use std::process::ExitCode;

use libtest_mimic::Arguments;

mod abi;
mod atomics;
mod block;
mod cases;
mod children;
mod concurrency;
mod core_tests;
mod crates;
mod cubins;
mod debugger;
mod dynamic;
mod examples;
mod failures;
mod float;
mod generic;
mod gpu;
mod graphs;
mod halfwords;
mod heap;
mod hostless;
mod indices;
mod language;
mod launcher;
mod launches;
mod layouts;
mod linking;
mod litmus;
mod memory;
mod options;
mod panics;
mod parts;
mod print;
mod random;
mod record;
mod sanitizer;
mod scalars;
mod shared;
mod split;
mod stacks;
mod stacks_sanitized;
mod statics;
mod survive;
mod tested;
mod textures;
mod threads;
mod timeline;
mod tools;
mod types;
mod warp;

fn main() -> ExitCode {
    // Tests of `cargo ptx test` run in a process that is this program again.
    if let Some(code) = ptx_test_runner::become_worker_if_asked() {
        return code;
    }
    let (options, rest) = match options::parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(name) = &options.child {
        let child = panics::child(name)
            .or_else(|| survive::child(name))
            .or_else(|| hostless::child(name))
            .or_else(|| stacks::child(name))
            .or_else(|| stacks_sanitized::child(name))
            .or_else(|| crates::child(name))
            .or_else(|| print::child(name))
            .or_else(|| heap::child(name))
            .or_else(|| dynamic::child(name))
            .or_else(|| textures::child(name))
            .or_else(|| tools::child(name));
        return child.unwrap_or_else(|| failures::child(name));
    }
    let mut arguments = Arguments::from_iter(std::iter::once("device-tests".to_string()).chain(rest));
    // One context, and records in the order of the tests.
    arguments.test_threads = Some(1);
    let mut tests = [
        scalars::tests(),
        layouts::tests(),
        memory::tests(),
        statics::tests(),
        cubins::tests(),
        threads::tests(),
        shared::tests(),
        split::tests(),
        textures::tests(),
        warp::tests(),
        generic::tests(),
        indices::tests(),
        types::tests(),
        language::tests(),
        atomics::tests(),
        block::tests(),
        litmus::tests(),
        failures::tests(),
        panics::tests(),
        stacks::tests(),
        stacks_sanitized::tests(),
        sanitizer::tests(),
        launches::tests(),
        concurrency::tests(),
        graphs::tests(),
        timeline::tests(),
        tools::tests(),
        dynamic::tests(),
        survive::tests(),
        hostless::tests(),
        crates::tests(),
        linking::tests(),
        print::tests(),
        heap::tests(),
        halfwords::tests(),
        random::tests(),
        float::tests(),
    ]
    .concat();
    tests.extend(options.abi.iter().flat_map(|folder| abi::tests(folder)));
    tests.extend(options.debugger.iter().flat_map(|folder| debugger::tests(folder)));
    tests.extend(options.cases.iter().flat_map(|folder| cases::tests(folder)));
    tests.extend(options.tested.iter().flat_map(|folder| tested::tests(folder)));
    tests.extend(options.core.iter().flat_map(|folder| core_tests::tests(folder)));
    tests.extend(options.examples.iter().flat_map(|folder| examples::tests("example", folder)));
    tests.extend(options.examples_at_o0.iter().flat_map(|folder| examples::tests("example at O0:", folder)));
    if !options.only.is_empty() {
        tests.retain(|test| options.only.iter().any(|part| test.name.contains(part)));
    }
    let shares = parts::Share::of_tests(tests.iter().map(|test| &*test.name));
    if options.at_once {
        let of_parts = options::of_parts(std::env::args().skip(1));
        return parts::run(&shares, &of_parts, options.json.as_deref(), options.limit).unwrap_or_else(|message| {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        });
    }
    if let Some(mine) = options.share {
        let mut shares = shares.into_iter();
        tests.retain(|_| shares.next() == Some(mine));
    }
    let record = record::Record::new(options.json.clone(), options.commit.clone(), options.date.clone());
    let conclusion = libtest_mimic::run(&arguments, tests.into_iter().map(|test| record.trial(test)).collect());
    let written = record.write();
    if let Err(error) = &written {
        eprintln!("error: {error}");
    }
    println!("{} passed, {} failed, {} skipped", conclusion.num_passed, conclusion.num_failed, conclusion.num_ignored);
    if conclusion.has_failed() || written.is_err() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
