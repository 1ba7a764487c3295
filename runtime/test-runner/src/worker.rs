//! The child: launches the tests whose numbers it reads, and says how each ended.

use std::ffi::{OsStr, OsString, c_int, c_void};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use ptx_host::{Device, Error, Module, Panic};

use crate::image::Tests;
use crate::protocol::{Ended, Message};

/// The first argument of a child, before the folder of its tests.
pub(crate) const ARGUMENT: &str = "--ptx-test-worker";

/// If this program was started as a child of [`Runner`](crate::Runner), does its work; otherwise none. Programs that run
/// tests call it first.
pub fn become_worker_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let asked = args.next().is_some_and(|first| first == ARGUMENT);
    asked.then(|| run(&args.next().unwrap_or_default(), &Setup::of(args)))
}

fn run(folder: &OsStr, setup: &Setup) -> ExitCode {
    let worker = match Worker::open(Path::new(folder), setup) {
        Ok(worker) => worker,
        Err(reason) => {
            say(&Message::Unusable(reason));
            return ExitCode::FAILURE;
        }
    };
    say(&Message::Ready);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(index) = line.parse() else { continue };
        let ended = worker.launch(index);
        let is_lost = matches!(ended, Ended::Lost(_));
        say(&Message::Done(ended));
        if is_lost {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

unsafe extern "C" {
    /// C's; with null it writes out what all streams hold back.
    fn fflush(stream: *mut c_void) -> c_int;
}

/// A closed standard output means that nobody listens any more.
fn say(message: &Message) {
    // The driver prints for tests by C's standard output, which keeps that back where it is a pipe.
    // SAFETY: null is allowed.
    unsafe { fflush(std::ptr::null_mut()) };
    let mut stdout = std::io::stdout().lock();
    _ = writeln!(stdout, "{}", message.encode()).and_then(|()| stdout.flush());
}

/// How the child works, as its arguments say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    /// How many such processes share the device's memory.
    pub share: usize,
    /// Whether the driver is to assemble quickly.
    pub unoptimised: bool,
}

impl Setup {
    /// After the folder.
    pub fn args(self) -> [String; 2] {
        [self.share.to_string(), self.unoptimised.to_string()]
    }

    fn of(args: impl Iterator<Item = OsString>) -> Self {
        let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
        let get = |index: usize| args.get(index).map_or("", String::as_str);
        Self { share: get(0).parse().unwrap_or(1), unoptimised: get(1) == "true" }
    }
}

struct Worker {
    module: Module,
}

impl Worker {
    fn open(folder: &Path, setup: &Setup) -> Result<Self, String> {
        let image = Tests::read(folder)?.image()?;
        let open = || {
            let device = Device::first()?;
            device.make_room_for_tests(setup.share)?;
            Ok(Self { module: if setup.unoptimised { device.load_unoptimised(&image)? } else { device.load(&image)? } })
        };
        open().map_err(|error: Error| error.to_string())
    }

    fn launch(&self, index: u32) -> Ended {
        // SAFETY: the linker's report says that the module is of tests, and this process does nothing else. What is unsafe
        // in the tests is theirs.
        match unsafe { self.module.run_test(index) } {
            Ok(None) => Ended::Returned,
            Ok(Some(panic)) => panicked(&panic),
            Err(error) => Ended::Lost(error.to_string()),
        }
    }
}

fn panicked(panic: &Panic) -> Ended {
    let place = if panic.line == 0 { String::new() } else { format!("{}:{}:{}", panic.file, panic.line, panic.column) };
    Ended::Panicked { message: panic.message.clone().unwrap_or_default(), place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_works_as_it_was_told() {
        for setup in [Setup { share: 6, unoptimised: true }, Setup { share: 1, unoptimised: false }] {
            assert_eq!(Setup::of(setup.args().into_iter().map(OsString::from)), setup);
        }
    }
}
