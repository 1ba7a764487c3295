//! ptxas as a process that goes on beside this one, as many as there are cores, and those with most to do first: what begins
//! last is waited for by idle cores. If nobody waits for a process, it is ended.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::scratch::Folder;

/// Who runs, and who wants to.
static TURNS: Mutex<Turns> = Mutex::new(Turns { running: 0, waiting: Vec::new() });

/// A process has ended, or is not wanted any more.
static CHANGED: Condvar = Condvar::new();

struct Turns {
    /// How many processes run.
    running: usize,
    /// What those have to do that wait for their turn.
    waiting: Vec<usize>,
}

/// A process, and the folder with its files.
#[derive(Debug)]
pub struct Process {
    stage: Arc<Mutex<Stage>>,
    /// Starts it when its turn has come, and waits for it. The thread lives as long as the process: see [`Folder::confine`].
    thread: Option<JoinHandle<io::Result<Ended>>>,
}

#[derive(Debug)]
enum Stage {
    Waiting,
    Running(Child),
    /// Nobody wants it.
    Left,
}

/// How it ended.
#[derive(Debug)]
pub struct Ended {
    /// What it wrote, to either stream.
    pub log: String,
    /// What it ended with.
    pub status: ExitStatus,
    /// When it began.
    pub start: Instant,
    /// When it had written everything.
    pub end: Instant,
    /// With its files.
    pub folder: Folder,
}

impl Process {
    /// Starts the command, whose files are in the folder and which has so many bytes to read, as soon as a core is free.
    pub fn start(command: Command, folder: Folder, bytes: usize) -> io::Result<Self> {
        let stage = Arc::new(Mutex::new(Stage::Waiting));
        let own = Arc::clone(&stage);
        lock(&TURNS).waiting.push(bytes);
        let thread = thread::Builder::new().spawn(move || run(command, folder, bytes, &own));
        let thread = thread.inspect_err(|_| lock(&TURNS).leave(bytes))?;
        Ok(Self { stage, thread: Some(thread) })
    }

    /// Waits for its end.
    pub fn wait(mut self) -> io::Result<Ended> {
        let thread = self.thread.take();
        thread.and_then(|thread| thread.join().ok()).ok_or_else(|| io::Error::other("its output was lost"))?
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if let Stage::Running(mut child) = std::mem::replace(&mut *lock(&self.stage), Stage::Left) {
            // It may have ended by itself.
            let _ = child.kill().and_then(|()| child.wait());
        }
        // Locked, so that it is not missed by who is about to wait.
        drop(lock(&TURNS));
        CHANGED.notify_all();
        let _ = thread.join();
    }
}

impl Turns {
    /// Lets nobody wait for one who waits no more.
    fn leave(&mut self, bytes: usize) {
        if let Some(at) = self.waiting.iter().position(|waiting| *waiting == bytes) {
            self.waiting.swap_remove(at);
        }
    }
}

/// While it lives, a process may run.
struct Turn;

impl Turn {
    /// Waits for one; none if nobody wants the process any more.
    fn wait(stage: &Mutex<Stage>, bytes: usize) -> Option<Self> {
        let most = thread::available_parallelism().map_or(1, usize::from);
        let is_wanted = || !matches!(*lock(stage), Stage::Left);
        let is_first = |turns: &Turns| turns.waiting.iter().all(|waiting| *waiting <= bytes);
        let turns =
            CHANGED.wait_while(lock(&TURNS), |turns| (turns.running >= most || !is_first(turns)) && is_wanted());
        let mut turns = turns.unwrap_or_else(PoisonError::into_inner);
        turns.leave(bytes);
        // There may be a core for the next one, too.
        CHANGED.notify_all();
        is_wanted().then(|| {
            turns.running += 1;
            Self
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        lock(&TURNS).running -= 1;
        CHANGED.notify_all();
    }
}

fn run(mut command: Command, folder: Folder, bytes: usize, stage: &Mutex<Stage>) -> io::Result<Ended> {
    let left = || io::Error::other("nobody waits for it");
    let _turn = Turn::wait(stage, bytes).ok_or_else(left)?;
    let (mut log, writer) = io::pipe()?;
    command.stdin(std::process::Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let start = Instant::now();
    {
        let mut stage = lock(stage);
        if matches!(*stage, Stage::Left) {
            return Err(left());
        }
        *stage = Stage::Running(command.spawn()?);
    }
    // The command holds the pipe's other end.
    drop(command);
    let mut bytes = Vec::new();
    // What was read before an error is still the log.
    let _ = log.read_to_end(&mut bytes);
    let end = Instant::now();
    let status = match &mut *lock(stage) {
        Stage::Running(child) => child.wait()?,
        Stage::Waiting | Stage::Left => return Err(left()),
    };
    Ok(Ended { log: String::from_utf8_lossy(&bytes).into_owned(), status, start, end, folder })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command, Folder::new().unwrap(), script.len()).unwrap()
    }

    #[test]
    fn a_long_log_stops_nobody() {
        let process = shell(
            "i=0; while [ $i -lt 3000 ]; do echo 'a line of a log that is longer than a pipe'; i=$((i+1)); done; echo end >&2; exit 3",
        );
        let ended = process.wait().unwrap();
        assert_eq!((ended.log.lines().count(), ended.status.code()), (3001, Some(3)));
        assert!(ended.log.ends_with("end\n") && ended.end > ended.start && ended.folder.path().is_dir());
    }

    #[test]
    fn those_with_most_to_do_are_first() {
        let most = thread::available_parallelism().map_or(1, usize::from);
        let of_size = |bytes| {
            let mut command = Command::new("sh");
            command.args(["-c", "sleep 0.5"]);
            Process::start(command, Folder::new().unwrap(), bytes).unwrap()
        };
        // Nobody else's turn comes before those that wait are all there.
        let _held: Vec<_> = (0..most).map(|_| of_size(usize::MAX)).collect();
        let least = of_size(1_000_000);
        let larger: Vec<_> = (0..most).map(|_| of_size(2_000_000)).collect();
        let begun = least.wait().unwrap().start;
        assert!(larger.into_iter().any(|process| process.wait().unwrap().end <= begun));
    }

    #[test]
    fn a_process_that_nobody_waits_for_is_ended() {
        let start = Instant::now();
        // More than there are cores.
        let most = thread::available_parallelism().map_or(1, usize::from);
        let processes: Vec<_> = (0..most + 2).map(|_| shell("exec sleep 60")).collect();
        let id = loop {
            if let Stage::Running(child) = &*lock(&processes[0].stage) {
                break Some(child.id());
            }
            if processes.iter().filter(|process| matches!(*lock(&process.stage), Stage::Running(_))).count() >= most {
                break None;
            }
            thread::sleep(Duration::from_millis(1));
        };
        drop(processes);
        assert!(id.is_none_or(|id| !std::path::Path::new(&format!("/proc/{id}")).exists()));
        assert!(start.elapsed() < Duration::from_secs(30), "it used to be waited for");
        assert_eq!(shell("echo next").wait().unwrap().log, "next\n", "it has its turn");
    }
}
