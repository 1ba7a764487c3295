//! ptxas as a process that goes on beside this one. If nobody waits for it, it is ended.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::scratch::Folder;

/// A process, and the folder with its files.
#[derive(Debug)]
pub struct Process {
    child: Child,
    start: Instant,
    /// What the process writes, and when it ended; until then reading goes on, so that a full pipe stops nothing.
    reader: Option<JoinHandle<(String, Instant)>>,
    folder: Option<Folder>,
}

/// How it ended.
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
    /// Starts the command, whose files are in the folder.
    pub fn start(mut command: Command, folder: Folder) -> io::Result<Self> {
        let (mut log, writer) = io::pipe()?;
        let start = Instant::now();
        let child = command.stdin(std::process::Stdio::null()).stdout(writer.try_clone()?).stderr(writer).spawn()?;
        // The command holds the pipe's other end.
        drop(command);
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before an error is still the log.
            let _ = log.read_to_end(&mut bytes);
            (String::from_utf8_lossy(&bytes).into_owned(), Instant::now())
        });
        Ok(Self { child, start, reader: Some(reader), folder: Some(folder) })
    }

    /// Waits for its end.
    pub fn wait(mut self) -> io::Result<Ended> {
        let status = self.child.wait()?;
        let ended = || io::Error::other("its output was lost");
        let (log, end) = self.reader.take().and_then(|reader| reader.join().ok()).ok_or_else(ended)?;
        let folder = self.folder.take().ok_or_else(ended)?;
        Ok(Ended { log, status, start: self.start, end, folder })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.folder.is_some() {
            // It may have ended by itself.
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command, Folder::new().unwrap()).unwrap()
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
    fn a_process_that_nobody_waits_for_is_ended() {
        let start = Instant::now();
        let process = shell("exec sleep 60");
        let (folder, id) = (process.folder.as_ref().unwrap().path().to_path_buf(), process.child.id());
        drop(process);
        assert!(!folder.exists() && !std::path::Path::new(&format!("/proc/{id}")).exists());
        assert!(start.elapsed() < Duration::from_secs(30), "it used to be waited for");
    }
}
