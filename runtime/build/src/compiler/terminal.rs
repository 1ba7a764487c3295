//! A line for the user while a build script runs.
//!
//! cargo keeps what a script prints and shows it when the script has ended, if at all. Where cargo's own standard error is a
//! terminal, a line can be written there as cargo writes its own: its bar is wiped off, and cargo draws it anew below.

use std::fs::File;
use std::io::{IsTerminal, Write};

/// Where cargo shows its progress, if that is a terminal.
pub struct Terminal(Option<File>);

impl Terminal {
    /// That of the cargo which runs this script. Only Linux says where it is.
    pub fn of_cargo() -> Self {
        let path = format!("/proc/{}/fd/2", std::os::unix::process::parent_id());
        let terminal = File::options().append(true).open(path).ok();
        Self(terminal.filter(File::is_terminal))
    }

    /// Shows a line as cargo's own: its verb right-aligned, bold and green.
    pub fn line(&self, verb: &str, rest: &str) {
        if let Some(mut terminal) = self.0.as_ref() {
            // A terminal that went away is no reason to stop.
            let _ = write!(terminal, "\r\x1b[K\x1b[1;32m{verb:>12}\x1b[0m {rest}\n");
        }
    }
}
