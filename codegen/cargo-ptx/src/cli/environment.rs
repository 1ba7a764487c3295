//! What cargo and the shell say: which cargo, which rustc, which folder, and how much is printed.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::ValueEnum;

/// The cargo that called us, else the one in `PATH`.
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// The rustc that cargo names, else the one in `PATH`.
pub fn rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from)
}

/// Where the program was started.
pub fn current_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// The first program of that name that PATH leads to.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A program of the CUDA toolkit: in one of these folders of it, or on PATH.
pub fn of_toolkit(name: &str, folders: &[&str]) -> Option<PathBuf> {
    let variables = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
    let roots = variables.filter(|root| !root.is_empty()).map(PathBuf::from);
    let find = |root: PathBuf| folders.iter().map(|folder| root.join(folder).join(name)).find(|file| file.is_file());
    let usual = || find("/usr/local/cuda".into());
    roots.into_iter().find_map(find).or_else(|| on_path(name)).or_else(usual)
}

/// When text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Where it goes to a terminal.
    Auto,
    /// Wherever it goes.
    Always,
    /// Nowhere.
    Never,
}

impl Color {
    /// As in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// How much is printed, and in colour or not: for us and for every cargo that we call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// No progress.
    pub quiet: bool,
    /// As many times as `-v` was given.
    pub verbose: u8,
    /// `--color`
    pub color: Option<Color>,
}

static TERMINAL: OnceLock<Terminal> = OnceLock::new();

/// What the command line said of it.
pub fn terminal() -> Terminal {
    TERMINAL.get().copied().unwrap_or_default()
}

impl Terminal {
    /// Makes it the one that [`terminal`] gives; the first counts.
    pub fn set(self) {
        TERMINAL.get_or_init(|| self);
    }

    /// As cargo takes it.
    pub fn to_cargo(self) -> Vec<String> {
        let mut args: Vec<String> = self.quiet.then(|| "--quiet".into()).into_iter().collect();
        args.extend((0..self.verbose).map(|_| "--verbose".into()));
        args.extend(self.color.iter().flat_map(|color| ["--color".into(), color.name().into()]));
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_prints_as_much_as_we_do() {
        let terminal = Terminal { quiet: false, verbose: 2, color: Some(Color::Never) };
        assert_eq!(terminal.to_cargo(), ["--verbose", "--verbose", "--color", "never"]);
        assert_eq!(Terminal { quiet: true, ..Terminal::default() }.to_cargo(), ["--quiet"]);
    }
}
