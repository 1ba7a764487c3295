//! Shows what takes long: bars on a terminal, plain lines elsewhere, always on standard error.

#[cfg(feature = "progress")]
mod bars;
#[cfg(not(feature = "progress"))]
#[path = "no_bars.rs"]
mod bars;

use std::time::{Duration, Instant};

use bars::{Bar, Bars};

/// Steps faster than this leave no line of their own behind.
const NOTICEABLE: Duration = Duration::from_millis(500);

/// Where steps are shown.
#[derive(Clone, Debug)]
pub struct Progress {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Quiet,
    Lines,
    Terminal(Bars),
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// Bars if standard error is a terminal, else lines.
    pub fn new() -> Self {
        Self { kind: Bars::on_terminal().map_or(Kind::Lines, Kind::Terminal) }
    }

    /// Shows nothing.
    pub fn quiet() -> Self {
        Self { kind: Kind::Quiet }
    }

    /// Begins something of unknown length. The message begins with a verb, as cargo's do: `Building device sysroot`.
    pub fn step(&self, message: impl Into<String>) -> Step {
        self.begin(message.into(), None)
    }

    /// Begins something that may turn out to be nothing: it shows what [`Step::message`] and [`Step::announce`] say.
    pub fn silent(&self) -> Step {
        let bar = match &self.kind {
            Kind::Quiet | Kind::Lines => None,
            Kind::Terminal(bars) => Some(bars.add(None)),
        };
        Step { progress: self.clone(), bar, begun: Instant::now() }
    }

    /// Begins something of `length` parts; [`Step::advance`] counts them.
    pub fn bar(&self, message: impl Into<String>, length: u64) -> Step {
        self.begin(message.into(), Some(length))
    }

    /// Prints a line that stays.
    pub fn line(&self, message: &str) {
        match &self.kind {
            Kind::Quiet => {}
            Kind::Lines => eprintln!("{}", aligned(message)),
            Kind::Terminal(bars) => bars.print(&colored(message)),
        }
    }

    fn begin(&self, message: String, length: Option<u64>) -> Step {
        let bar = match &self.kind {
            Kind::Quiet => None,
            Kind::Lines => {
                eprintln!("{}", aligned(&message));
                None
            }
            Kind::Terminal(bars) => {
                let bar = bars.add(length);
                bar.say(colored(&message));
                Some(bar)
            }
        };
        Step { progress: self.clone(), bar, begun: Instant::now() }
    }
}

/// Something under way; it vanishes from the terminal when dropped.
#[derive(Debug)]
pub struct Step {
    progress: Progress,
    bar: Option<Bar>,
    begun: Instant,
}

impl Step {
    /// Says what is being done now; on a terminal only.
    pub fn message(&self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.say(colored(message));
        }
    }

    /// Says it elsewhere, too: a line that stays.
    pub fn announce(&self, message: &str) {
        match &self.bar {
            Some(_) => self.message(message),
            None => self.progress.line(message),
        }
    }

    /// Prints a line of another program's as it is, unless nothing is to be shown.
    pub fn line(&self, line: &str) {
        match &self.progress.kind {
            Kind::Quiet => {}
            Kind::Lines => eprintln!("{line}"),
            Kind::Terminal(bars) => bars.print(line),
        }
    }

    /// Counts parts that are done.
    pub fn advance(&self, parts: u64) {
        if let Some(bar) = &self.bar {
            bar.advance(parts);
        }
    }

    /// Ends it; if it took noticeable time the message stays, with the time.
    pub fn finish(self, message: impl AsRef<str>) {
        let elapsed = self.begun.elapsed();
        if let Some(bar) = &self.bar {
            bar.clear();
        }
        if elapsed >= NOTICEABLE {
            self.progress.line(&format!("{} in {:.1} s", message.as_ref(), elapsed.as_secs_f64()));
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }
}

/// With the verb right-aligned, as in cargo's own lines.
fn aligned(message: &str) -> String {
    let (verb, rest) = message.split_once(' ').unwrap_or((message, ""));
    format!("{verb:>12} {rest}").trim_end().to_string()
}

/// The same with the verb in bold green.
fn colored(message: &str) -> String {
    let (verb, rest) = message.split_once(' ').unwrap_or((message, ""));
    format!("\x1b[1;32m{verb:>12}\x1b[0m {rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_stand_as_in_cargos_lines() {
        assert_eq!(aligned("Building device sysroot"), "    Building device sysroot");
        assert_eq!(aligned("Waiting"), "     Waiting");
    }
}
