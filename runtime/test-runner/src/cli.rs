//! libtest's command line for the tests of a crate on a GPU.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Parser;
use libtest_mimic::{Arguments, Failed, Trial};
use ptx_host::Device;

use crate::image::{ShouldPanic, Tests};
use crate::runner::{Options, Runner};

/// What stands after `--`: libtest's arguments and ours.
#[derive(Parser, Clone, Debug)]
#[command(name = "cargo ptx test --", disable_version_flag = true)]
pub struct Line {
    /// libtest's.
    #[command(flatten)]
    pub libtest: Arguments,
    /// How many seconds a test may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub deadline: u64,
}

/// Runs the tests, or lists them; without a GPU nothing runs, and that is a failure.
pub fn run(tests: Tests, line: Line) -> ExitCode {
    let mut arguments = line.libtest;
    if !arguments.list
        && let Err(reason) = Device::count()
    {
        eprintln!("error: {} tests of `{}` were compiled, and none was run: {reason}", tests.tests.len(), tests.name);
        eprintln!("  = help: `--no-run` only compiles them, and `-- --list` lists them");
        return ExitCode::FAILURE;
    }
    // One context: those of several processes would take turns on the device.
    arguments.test_threads = Some(1);
    let show = arguments.nocapture || arguments.show_output;
    let options = Options { deadline: Duration::from_secs(line.deadline), ..Options::default() };
    let runner = Arc::new(Mutex::new(Runner::new(tests.clone(), options)));
    let trials = tests.tests.iter().enumerate().map(|(index, test)| {
        let runner = Arc::clone(&runner);
        let kind = if test.should_panic == ShouldPanic::No { "" } else { "should panic" };
        let trial = Trial::test(&test.name, move || {
            let outcome = runner.lock().unwrap_or_else(PoisonError::into_inner).run(index);
            if show {
                print!("{}", outcome.output);
            }
            outcome.result.map_err(|reason| Failed::from(with_output(&reason, if show { "" } else { &outcome.output })))
        });
        trial.with_ignored_flag(test.ignored).with_kind(kind)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn with_output(reason: &str, output: &str) -> String {
    let output = output.trim_end();
    if output.is_empty() { reason.to_string() } else { format!("{output}\n{reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtests_arguments_are_understood() {
        let line = Line::try_parse_from(["t", "--exact", "--skip", "a", "--deadline", "5", "b"]).unwrap();
        assert!(line.libtest.exact && line.deadline == 5);
        assert_eq!((line.libtest.filter.as_deref(), &line.libtest.skip[..]), (Some("b"), &["a".to_string()][..]));
        assert!(Line::try_parse_from(["t", "--no-such"]).is_err());
    }

    #[test]
    fn what_a_test_printed_stands_with_its_failure() {
        assert_eq!(with_output("panicked", ""), "panicked");
        assert_eq!(with_output("panicked", "x = 1\n"), "x = 1\npanicked");
    }
}
