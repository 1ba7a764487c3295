//! The options that say what a panic leaves: on the command line, in the manifest, in a variable.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};

use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};
use ptx_codegen::request::{AfterPanic, PanicStrategy, Panics};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Hands the strategies from `cargo ptx run` to the build script: `location,sha2=trap,after-panic=exit`.
pub const VARIABLE: &str = "RUST_PTX_PANIC";

/// What a panic ends, among the strategies of [`VARIABLE`]; with a dash, so that it is no crate.
const AFTER: &str = "after-panic=";

/// The strategy of one crate's panics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanicFor {
    /// As in Rust code: `my_crate`.
    pub name: String,
    /// What its panics leave behind, whatever those of other crates do.
    pub strategy: PanicStrategy,
}

/// The strategies that were named.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[command(next_help_heading = "Panics")]
pub struct PanicSettings {
    /// What a panic leaves: message and place, the place alone, or nothing [default: full].
    #[arg(long, value_enum, value_name = "STRATEGY")]
    pub panic: Option<PanicStrategy>,
    /// The same for the panics of one crate, as in `sha2=trap`; may be given several times.
    #[arg(long, value_name = "CRATE=STRATEGY", value_delimiter = ',', value_parser = assignment)]
    #[serde(alias = "panic_for", serialize_with = "to_table", deserialize_with = "of_table")]
    pub panic_for: Vec<PanicFor>,
    /// What a panic ends: its thread, so that the context lives, or the launch, where a debugger stops [default: trap].
    #[arg(long, value_enum, value_name = "END")]
    #[serde(alias = "after_panic")]
    pub after_panic: Option<AfterPanic>,
}

impl PanicSettings {
    /// The options' names, without dashes before them.
    pub const NAMES: [&str; 3] = ["panic", "panic-for", "after-panic"];

    /// `self` where it says something, else `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut panic_for = self.panic_for;
        for given in other.panic_for {
            if !panic_for.iter().any(|known| known.name == given.name) {
                panic_for.push(given);
            }
        }
        Self { panic: self.panic.or(other.panic), panic_for, after_panic: self.after_panic.or(other.after_panic) }
    }

    /// What [`VARIABLE`] says; nothing where it is not set.
    pub fn of_variable() -> Result<Self> {
        std::env::var(VARIABLE).map_or_else(|_| Ok(Self::default()), |text| Self::parse(&text))
    }

    /// The value of [`VARIABLE`] that says the same; none if nothing was named.
    pub fn to_variable(&self) -> Option<String> {
        let default = self.panic.map(|strategy| strategy.name().to_string());
        let crates = self.panic_for.iter().map(|given| format!("{}={}", given.name, given.strategy.name()));
        let after = self.after_panic.map(|after| format!("{AFTER}{}", after.name()));
        let parts: Vec<String> = default.into_iter().chain(crates).chain(after).collect();
        (!parts.is_empty()).then(|| parts.join(","))
    }

    fn parse(text: &str) -> Result<Self> {
        let bad = |reason| Diagnostic::error(Code::Usage, format!("the variable {VARIABLE}: {reason}"));
        let mut settings = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if let Some(name) = part.strip_prefix(AFTER) {
                settings.after_panic = Some(after(name).map_err(bad)?);
            } else if part.contains('=') {
                settings.panic_for.push(assignment(part).map_err(bad)?);
            } else {
                settings.panic = Some(strategy(part).map_err(bad)?);
            }
        }
        Ok(settings)
    }

    /// The strategies of the build.
    pub fn panics(&self) -> Panics {
        let crates = self.panic_for.iter().map(|given| (given.name.clone(), given.strategy)).collect();
        Panics { default: self.panic.unwrap_or_default(), crates, after: self.after_panic.unwrap_or_default() }
    }
}

fn strategy(text: &str) -> Result<PanicStrategy, String> {
    let all = PanicStrategy::value_variants();
    all.iter()
        .copied()
        .find(|strategy| strategy.name() == text.trim())
        .ok_or_else(|| format!("`{}` is no strategy for panics (full, location, trap)", text.trim()))
}

fn after(text: &str) -> Result<AfterPanic, String> {
    let all = AfterPanic::value_variants();
    let found = all.iter().copied().find(|after| after.name() == text.trim());
    found.ok_or_else(|| format!("`{}` is nothing that a panic ends in (exit, trap)", text.trim()))
}

/// `sha2=trap`
fn assignment(text: &str) -> Result<PanicFor, String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("`{text}` names no strategy: write `{text}=full`, `{text}=location` or `{text}=trap`"));
    };
    Ok(PanicFor { name: as_in_code(name), strategy: strategy(value)? })
}

/// Packages may be named with dashes, and their crates are not.
fn as_in_code(name: &str) -> String {
    name.trim().replace('-', "_")
}

/// `panic-for = { sha2 = "trap" }`
fn of_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PanicFor>, D::Error> {
    let table = BTreeMap::<String, PanicStrategy>::deserialize(deserializer)?;
    Ok(table.into_iter().map(|(name, strategy)| PanicFor { name: as_in_code(&name), strategy }).collect())
}

/// The reverse of [`of_table`].
fn to_table<S: Serializer>(panic_for: &[PanicFor], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(panic_for.iter().map(|given| (&given.name, given.strategy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_as_it_is_written() {
        let settings = PanicSettings::parse("location, sha2=trap,after-panic=exit,my-crate=full").unwrap();
        assert_eq!(settings.panic, Some(PanicStrategy::Location));
        assert_eq!(settings.after_panic, Some(AfterPanic::Exit));
        assert_eq!(settings.to_variable().as_deref(), Some("location,sha2=trap,my_crate=full,after-panic=exit"));
        assert_eq!(PanicSettings::parse(&settings.to_variable().unwrap()).unwrap(), settings);
        assert_eq!(PanicSettings::default().to_variable(), None);
        for (text, expected) in [
            ("silent", "`silent` is no strategy"),
            ("a=b", "(full, location, trap)"),
            ("after-panic=full", "(exit, trap)"),
        ] {
            let error = PanicSettings::parse(text).unwrap_err().to_string();
            assert!(error.contains(VARIABLE) && error.contains(expected), "{error}");
        }
    }

    /// The text is written by hand.
    #[test]
    fn the_help_says_what_a_panic_ends_by_default() {
        let command = <PanicSettings as Args>::augment_args(clap::Command::new("test"));
        let argument = command.get_arguments().find(|argument| argument.get_id() == "after_panic").unwrap();
        let help = argument.get_help().unwrap().to_string();
        assert!(help.ends_with(&format!("[default: {}]", AfterPanic::default().name())), "{help}");
    }

    #[test]
    fn what_was_said_first_wins_crate_by_crate() {
        let ours = PanicSettings::parse("sha2=trap").unwrap();
        let theirs = PanicSettings::parse("location,sha2=full,glam=full,after-panic=exit").unwrap();
        let panics = ours.or(theirs).panics();
        assert_eq!(panics.after, AfterPanic::Exit);
        assert_eq!(panics.of(Some("sha2")), PanicStrategy::Trap);
        assert_eq!(panics.of(Some("glam")), PanicStrategy::Full);
        assert_eq!(panics.of(Some("core")), PanicStrategy::Location);
        assert_eq!(panics.of(None), PanicStrategy::Location);
    }
}
