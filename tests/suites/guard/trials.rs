//! The tests: kernels against the record, the record against its last version, and that both can fail.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use libtest_mimic::Trial;
use ptx_bench_table::guard::{Arch, Figures, Key, Record, Verdict, list};
use ptx_bench_table::rows;
use ptx_tests::{Sample, Skip, trial};

use crate::history::{self, Before};
use crate::measure::Tools;
use crate::record::{self, COMMAND, PATH};

/// Archs of which a sample compiles the kernels.
const FEW: usize = 2;

/// What was measured, or why it failed; if it is not to be compared, the reason is in the middle.
type Measured = Result<Result<BTreeMap<Key, Figures>, String>, String>;

/// Every test.
pub fn all() -> Vec<Trial> {
    let archs = Sample::asked().of("GPUs for the guard", record::archs(), FEW);
    let measured = Arc::new(OnceLock::<Measured>::new());
    let mut trials = Vec::new();
    for &arch in &archs {
        let (archs, measured) = (archs.clone(), measured.clone());
        trials.push(trial(format!("guard: code for {}", arch.name()), move || {
            let record = record::read().unwrap_or_else(|error| panic!("{error}"));
            match measured.get_or_init(|| measure(&record, &archs)) {
                Ok(Ok(now)) => compared(&record, &of_arch(now, arch)).unwrap_or_else(|worse| panic!("{worse}")),
                Ok(Err(reason)) => return Some(reason.clone()),
                Err(error) => panic!("{error}"),
            }
            None
        }));
    }
    trials.push(trial("guard: the record has every kernel and nothing else", || {
        let record = record::read().unwrap_or_else(|error| panic!("{error}"));
        let rows = rows();
        let wanted = rows.iter().flat_map(|row| record::archs().into_iter().map(|arch| (row.name.to_string(), arch)));
        let wanted: Vec<Key> = wanted.collect();
        let missing: Vec<&Key> = wanted.iter().filter(|key| !record.keys().any(|found| found == *key)).collect();
        let others: Vec<&Key> = record.keys().filter(|found| !wanted.contains(found)).collect();
        assert!(missing.is_empty() && others.is_empty(), "missing: {missing:?}, unknown: {others:?}; {COMMAND}");
        None
    }));
    trials.push(trial("guard: what became worse in the record has a reason", reasons));
    trials.push(trial("guard: a register more than recorded fails", || {
        // Every line of the real record, each with a figure that is worse.
        let record = record::read().unwrap_or_else(|error| panic!("{error}"));
        for key in record.keys() {
            let old = record.figures(key).expect("its own key");
            assert_eq!(compared(&record, &[(key.clone(), old)].into()), Ok(()));
            for (new, what) in [
                (Figures { registers: old.registers + old.registers / 50 + 1, ..old }, "registers"),
                (Figures { stack: old.stack + 1, ..old }, "stack"),
                (Figures { loops: old.loops + old.loops / 50 + 1, ..old }, "loops"),
                (Figures { code: old.code + old.code / 50 + 1, ..old }, "code"),
            ] {
                let worse = compared(&record, &[(key.clone(), new)].into()).unwrap_err();
                assert!(worse.contains(&format!("{} for {}: {what} ", key.0, key.1.name())), "{worse}");
            }
        }
        None
    }));
    trials
}

fn of_arch(all: &BTreeMap<Key, Figures>, arch: Arch) -> BTreeMap<Key, Figures> {
    all.iter().filter(|((_, found), _)| *found == arch).map(|(key, figures)| (key.clone(), *figures)).collect()
}

fn measure(record: &Record, archs: &[Arch]) -> Measured {
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(missing) => return Ok(Err(missing)),
    };
    if tools.ptxas != record.ptxas {
        return Ok(Err(format!("{PATH} is of ptxas {}, and here is {}", record.ptxas, tools.ptxas)));
    }
    let measured = tools.measure(archs)?;
    let better =
        |(key, now): (&Key, &Figures)| matches!(record.verdict(key, *now), Verdict::Good(better) if !better.is_empty());
    let count = measured.iter().filter(|entry| better(*entry)).count();
    if count > 0 {
        let command = COMMAND.split(" '").next().unwrap_or_default();
        println!("remark: {count} lines of {PATH} could be better; `{command}` writes them anew");
    }
    Ok(Ok(measured))
}

/// An error that lists what is worse than recorded.
fn compared(record: &Record, now: &BTreeMap<Key, Figures>) -> Result<(), String> {
    let mut worse = String::new();
    for (key, now) in now {
        let said = match record.verdict(key, *now) {
            Verdict::Good(_) => continue,
            Verdict::Worse(changes) => list(&changes),
            Verdict::New => "not in the record".into(),
        };
        _ = writeln!(worse, "{} for {}: {said}", key.0, key.1.name());
    }
    let remedy = "where it has to be so, write it down with the reason, in the same commit";
    if worse.is_empty() { Ok(()) } else { Err(format!("worse than in {PATH}:\n{worse}{remedy}: {COMMAND}")) }
}

/// The record against its last version.
fn reasons() -> Skip {
    let record = record::read().unwrap_or_else(|error| panic!("{error}"));
    match history::before() {
        Before::Was(before) => {
            let unexplained = record.unexplained(&before);
            assert!(
                unexplained.is_empty(),
                "{PATH} has worse figures without a reason: {}; {COMMAND} writes them with one",
                unexplained.join("; ")
            );
            None
        }
        Before::Nothing => None,
        Before::Unknown(reason) => Some(reason),
    }
}
