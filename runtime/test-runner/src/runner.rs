//! The child's other side: starts it, hands it tests, waits as long as a test may take, and replaces it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::image::Tests;
use crate::protocol::{Ended, Message};
use crate::verdict::judge;
use crate::worker::{ARGUMENT, Setup};

/// How long things may take, and what the tests get.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// One test, from its launch on.
    pub deadline: Duration,
    /// Loading the code, which the driver may have to compile.
    pub load: Duration,
    /// How many runners share the device's memory.
    pub share: usize,
    /// Whether the driver, where it has to compile, is to do so quickly.
    pub unoptimised: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(60), load: Duration::from_secs(600), share: 1, unoptimised: false }
    }
}

/// What became of a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it failed, if it did.
    pub result: Result<(), String>,
    /// What it printed.
    pub output: String,
    /// How long the launch took.
    pub time: Duration,
}

/// Runs the tests of one crate, one after the other.
#[derive(Debug)]
pub struct Runner {
    tests: Tests,
    options: Options,
    process: Option<Process>,
}

impl Runner {
    /// One that has not started anything yet.
    pub fn new(tests: Tests, options: Options) -> Self {
        Self { tests, options, process: None }
    }

    /// What it runs.
    pub fn tests(&self) -> &Tests {
        &self.tests
    }

    /// Loads the code if it is not loaded; an error says why nothing can run.
    pub fn start(&mut self) -> Result<(), String> {
        if self.process.is_none() {
            self.process = Some(Process::start(&self.tests, &self.options)?);
        }
        Ok(())
    }

    /// Runs a test by its number.
    pub fn run(&mut self, index: usize) -> Outcome {
        if let Err(reason) = self.start() {
            return Outcome { result: Err(reason), output: String::new(), time: Duration::ZERO };
        }
        let begun = Instant::now();
        let process = self.process.as_mut().expect("it was started");
        let mut output = String::new();
        let ended = process.run(index, self.options.deadline, &mut output);
        let time = begun.elapsed();
        let result = match ended {
            Ok(ended) => {
                if matches!(ended, Ended::Lost(_)) {
                    self.process = None;
                }
                judge(&self.tests.tests[index], &ended)
            }
            Err(reason) => {
                self.process = None;
                Err(reason)
            }
        };
        Outcome { result, output, time }
    }
}

/// A child, which ends with this.
#[derive(Debug)]
struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Process {
    fn start(tests: &Tests, options: &Options) -> Result<Self, String> {
        let setup = Setup { share: options.share, unoptimised: options.unoptimised };
        let failed = |error: std::io::Error| format!("cannot start a process for the tests: {error}");
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .arg(ARGUMENT)
            .arg(tests.folder())
            .args(setup.args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (sender, lines) = mpsc::channel();
        let stdin = child.stdin.take().expect("it is piped");
        listen(child.stdout.take().expect("it is piped"), sender.clone());
        listen(child.stderr.take().expect("it is piped"), sender);
        let mut process = Self { child, stdin, lines };
        let mut said = String::new();
        match process.wait(options.load, &mut said)? {
            Message::Ready => Ok(process),
            Message::Unusable(reason) => Err(reason),
            Message::Done(_) => Err("the process for the tests ran none and says that it did".into()),
        }
    }

    fn run(&mut self, index: usize, deadline: Duration, output: &mut String) -> Result<Ended, String> {
        // Where the child has ended, waiting for it says so.
        _ = writeln!(self.stdin, "{index}");
        match self.wait(deadline, output)? {
            Message::Done(ended) => Ok(ended),
            Message::Ready | Message::Unusable(_) => Err("the process for the tests lost count".into()),
        }
    }

    /// The next message; what comes before it goes to `output`.
    fn wait(&mut self, limit: Duration, output: &mut String) -> Result<Message, String> {
        let end = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let (printed, message) = Message::decode(&line);
                    output.push_str(printed);
                    match message {
                        Some(message) => return Ok(message),
                        None => output.push('\n'),
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(format!("no end after {} s", limit.as_secs_f64())),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                    return Err(format!("the process that ran the test ended: {status}"));
                }
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A test may run without end. One that has ended by itself is only waited for.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn listen(stream: impl Read + Send + 'static, sender: Sender<String>) {
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
        lines.try_for_each(|line| sender.send(String::from_utf8_lossy(&line).into_owned()))
    });
}
