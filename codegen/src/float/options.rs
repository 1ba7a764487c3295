//! The options that say which modes a build has: nvcc's names, on the command line, in the manifest, in a variable.

use std::fmt::Write as _;

use clap::{ArgAction, Args};
use serde::Deserialize;

use super::{Modes, Overrides};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};

/// Hands the modes from `cargo ptx run` to the build script: `fmad=false,ftz=true`.
pub const VARIABLE: &str = "RUST_PTX_FLOAT";

/// The modes that were named.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[command(next_help_heading = "Floating point")]
pub struct FloatSettings {
    /// Fuse multiplications and additions [default: true].
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    pub fmad: Option<bool>,
    /// Take subnormal numbers of single precision for zero [default: false].
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    pub ftz: Option<bool>,
    /// Round divisions and reciprocals of single precision correctly [default: true].
    #[arg(long, alias = "prec_div", value_name = "BOOL", action = ArgAction::Set)]
    #[serde(alias = "prec_div")]
    pub prec_div: Option<bool>,
    /// Round square roots of single precision correctly [default: true].
    #[arg(long, alias = "prec_sqrt", value_name = "BOOL", action = ArgAction::Set)]
    #[serde(alias = "prec_sqrt")]
    pub prec_sqrt: Option<bool>,
    /// ftz=true, prec-div=false, prec-sqrt=false, fmad=true, and the fast forms of the functions of single precision.
    #[arg(long, alias = "use_fast_math", value_name = "BOOL", action = ArgAction::Set)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(alias = "use_fast_math")]
    pub use_fast_math: Option<bool>,
}

impl FloatSettings {
    /// The options' names, without dashes before them.
    pub const NAMES: [&str; 5] = ["fmad", "ftz", "prec-div", "prec-sqrt", "use-fast-math"];

    /// `self` where it says something, else `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            fmad: self.fmad.or(other.fmad),
            ftz: self.ftz.or(other.ftz),
            prec_div: self.prec_div.or(other.prec_div),
            prec_sqrt: self.prec_sqrt.or(other.prec_sqrt),
            use_fast_math: self.use_fast_math.or(other.use_fast_math),
        }
    }

    /// What was named, as `fmad=false`.
    pub fn assignments(self) -> impl Iterator<Item = String> {
        let Self { fmad, ftz, prec_div, prec_sqrt, use_fast_math } = self;
        let values = [fmad, ftz, prec_div, prec_sqrt, use_fast_math];
        Self::NAMES.into_iter().zip(values).filter_map(|(name, value)| value.map(|value| format!("{name}={value}")))
    }

    /// What [`VARIABLE`] says; nothing where it is not set.
    pub fn of_variable() -> Result<Self> {
        std::env::var(VARIABLE).map_or_else(|_| Ok(Self::default()), |text| Self::parse(&text))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut settings = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let mode = match name.trim().replace('_', "-").as_str() {
                "fmad" => &mut settings.fmad,
                "ftz" => &mut settings.ftz,
                "prec-div" => &mut settings.prec_div,
                "prec-sqrt" => &mut settings.prec_sqrt,
                "use-fast-math" => &mut settings.use_fast_math,
                other => {
                    return Err(bad_variable(format!("`{other}` is not a floating-point mode"))
                        .help(format!("the modes are {}", names("")))
                        .into());
                }
            };
            *mode = Some(value.trim().parse().map_err(|_| {
                bad_variable(format!("`{part}`: the value must be `true` or `false`, as in `{name}=true`"))
            })?);
        }
        Ok(settings)
    }

    /// The modes of the build, unless they contradict each other.
    pub fn modes(self) -> Result<Modes> {
        let Self { fmad, ftz, prec_div, prec_sqrt, use_fast_math } = self;
        let overrides = Overrides { fmad, ftz, prec_div, prec_sqrt, use_fast_math };
        let Some((name, implied)) = overrides.contradiction() else { return Ok(overrides.apply(Modes::DEFAULT)) };
        let name = name.replace('_', "-");
        let mut parts = String::new();
        for (part, value) in [("ftz", true), ("prec-div", false), ("prec-sqrt", false)] {
            let value = if part == name { !implied } else { value };
            write!(parts, " `{part}={value}`").expect("writing to a string cannot fail");
        }
        Err(Diagnostic::error(
            Code::FloatModes,
            format!("`use-fast-math=true` means `{name}={implied}`, and `{name}={}` contradicts it", !implied),
        )
        .help(format!("leave out `{name}`, or name the modes one by one in place of `use-fast-math`:{parts}"))
        .help("a single function can have other modes than the build: `#[ptx::float(..)]`")
        .into())
    }
}

/// The names, as in a list of serde's.
pub fn names(end: &str) -> String {
    FloatSettings::NAMES.map(|name| format!("`{name}`")).join(", ") + end
}

fn bad_variable(reason: String) -> Diagnostic {
    Diagnostic::error(Code::Usage, format!("the variable {VARIABLE}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_as_it_is_written() {
        let settings = FloatSettings {
            fmad: Some(false),
            ftz: Some(true),
            prec_div: Some(true),
            prec_sqrt: Some(false),
            use_fast_math: Some(false),
        };
        let text = settings.assignments().collect::<Vec<_>>().join(",");
        assert_eq!(text, "fmad=false,ftz=true,prec-div=true,prec-sqrt=false,use-fast-math=false");
        assert_eq!(FloatSettings::parse(&text).unwrap(), settings);
        assert_eq!(FloatSettings::parse("prec_div=false, ").unwrap().prec_div, Some(false));
        for (text, expected) in
            [("fmda=true", "`use-fast-math`"), ("ftz", "`ftz=true`"), ("ftz=on", "`true` or `false`")]
        {
            let error = FloatSettings::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn contradictions_name_both_sides_and_the_way_out() {
        let fast = FloatSettings { use_fast_math: Some(true), ..FloatSettings::default() };
        assert_eq!(fast.modes().unwrap(), Modes::FAST_MATH);
        assert_eq!(FloatSettings { ftz: Some(true), ..fast }.modes().unwrap(), Modes::FAST_MATH);
        let error = FloatSettings { prec_div: Some(true), ..fast }.modes().unwrap_err().to_string();
        for part in ["`use-fast-math=true`", "`prec-div=false`", "`ftz=true` `prec-div=true` `prec-sqrt=false`"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
