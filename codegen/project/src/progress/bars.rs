//! Bars on a terminal, by indicatif.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// All bars of a terminal.
#[derive(Clone, Debug)]
pub struct Bars(MultiProgress);

impl Bars {
    /// Those of standard error, if it is a terminal.
    pub fn on_terminal() -> Option<Self> {
        let draw = || Self(MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));
        std::io::stderr().is_terminal().then(draw)
    }

    /// Another one, of so many parts, if that is known. It is not seen before it says something.
    pub fn add(&self, length: Option<u64>) -> Bar {
        let bar = match length {
            Some(length) => ProgressBar::new(length).with_style(style("{msg} [{bar:24}] {pos}/{len} {elapsed}")),
            None => ProgressBar::new_spinner().with_style(style("{msg} {spinner} {elapsed}")),
        };
        Bar(self.0.add(bar))
    }

    /// Prints a line above them. Failing to print to a terminal that went away is no reason to stop.
    pub fn print(&self, line: &str) {
        drop(self.0.println(line));
    }
}

/// One of them.
#[derive(Debug)]
pub struct Bar(ProgressBar);

impl Bar {
    /// Shows it, with a message.
    pub fn say(&self, message: String) {
        self.0.set_message(message);
        self.0.enable_steady_tick(Duration::from_millis(100));
    }

    /// Counts parts that are done.
    pub fn advance(&self, parts: u64) {
        self.0.inc(parts);
    }

    /// Takes it off the terminal.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}
