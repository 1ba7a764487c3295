//! The options that say which modes a build has: nvcc's names, on the command line, in the manifest, in a variable.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{ArgAction, Args};
use serde::{Deserialize, Serialize};

use ptx_abi::float::{Modes, Overrides};
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};

/// Hands the modes from `cargo ptx run` to the build script: `fmad=false,ftz=true`.
pub const VARIABLE: &str = "RUST_PTX_FLOAT";

/// What hands on, in the variable, [`FloatSettings::fast_functions`].
const FAST_FUNCTIONS: &str = "fast-functions";

/// The modes that were named.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// What is left of `use-fast-math` where another of its parts was named over it, see [`Self::or`].
    #[arg(skip)]
    pub fast_functions: Option<bool>,
}

impl FloatSettings {
    /// The options' names, without dashes before them.
    pub const NAMES: [&str; 5] = ["fmad", "ftz", "prec-div", "prec-sqrt", "use-fast-math"];

    /// `self` where it says something, else `other`: `use-fast-math` here is over all modes there, and a mode here over a part
    /// of `use-fast-math` there.
    #[must_use]
    pub fn or(self, mut other: Self) -> Self {
        if self.use_fast_math == Some(true) {
            return self;
        }
        let fast = Self { use_fast_math: other.use_fast_math, ..self };
        if self.use_fast_math.is_none() && fast.overrides().contradiction().is_some() {
            let Modes { fmad, ftz, prec_div, prec_sqrt, fast_functions } = Modes::FAST_MATH;
            other = Self {
                fmad: Some(fmad),
                ftz: Some(ftz),
                prec_div: Some(prec_div),
                prec_sqrt: Some(prec_sqrt),
                use_fast_math: None,
                fast_functions: Some(fast_functions),
            };
        }
        Self {
            fmad: self.fmad.or(other.fmad),
            ftz: self.ftz.or(other.ftz),
            prec_div: self.prec_div.or(other.prec_div),
            prec_sqrt: self.prec_sqrt.or(other.prec_sqrt),
            use_fast_math: self.use_fast_math.or(other.use_fast_math),
            fast_functions: self.fast_functions.or(other.fast_functions.filter(|_| self.use_fast_math.is_none())),
        }
    }

    fn overrides(self) -> Overrides {
        let Self { fmad, ftz, prec_div, prec_sqrt, use_fast_math, fast_functions: _ } = self;
        Overrides { fmad, ftz, prec_div, prec_sqrt, use_fast_math }
    }

    /// What was named, as `fmad=false`.
    pub fn assignments(self) -> impl Iterator<Item = String> {
        let Self { fmad, ftz, prec_div, prec_sqrt, use_fast_math, fast_functions } = self;
        let values = [fmad, ftz, prec_div, prec_sqrt, use_fast_math, fast_functions];
        let names = Self::NAMES.into_iter().chain([FAST_FUNCTIONS]);
        names.zip(values).filter_map(|(name, value)| value.map(|value| format!("{name}={value}")))
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
                FAST_FUNCTIONS => &mut settings.fast_functions,
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
        let overrides = self.overrides();
        let Some((name, implied)) = overrides.contradiction() else {
            let modes = overrides.apply(Modes::DEFAULT);
            return Ok(Modes { fast_functions: modes.fast_functions || self.fast_functions == Some(true), ..modes });
        };
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

/// nvcc takes its options with one dash, too, as in `-fmad=false`; clap would read letters. What stands behind `--` is a
/// program's, and what stands behind `--nvcc-flag` nvcc's.
pub fn with_two_dashes(args: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut ours = true;
    let mut before = OsString::new();
    args.into_iter().map(move |arg| {
        ours &= arg != "--";
        let rest = arg.to_str().and_then(|arg| arg.strip_prefix('-'));
        let changed = match rest.filter(|rest| ours && before != "--nvcc-flag" && is_mode(rest)) {
            Some(rest) => format!("--{rest}").into(),
            None => arg.clone(),
        };
        before = arg;
        changed
    })
}

/// Whether it is the name of a mode, perhaps with a value.
pub fn is_mode(text: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name).replace('_', "-");
    FloatSettings::NAMES.contains(&name.as_str())
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
            fast_functions: Some(true),
        };
        let text = settings.assignments().collect::<Vec<_>>().join(",");
        assert_eq!(text, "fmad=false,ftz=true,prec-div=true,prec-sqrt=false,use-fast-math=false,fast-functions=true");
        assert_eq!(FloatSettings::parse(&text).unwrap(), settings);
        assert_eq!(FloatSettings::parse("prec_div=false, ").unwrap().prec_div, Some(false));
        for (text, expected) in
            [("fmda=true", "`use-fast-math`"), ("ftz", "`ftz=true`"), ("ftz=on", "`true` or `false`")]
        {
            let error = FloatSettings::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// A manifest with `ftz = false` had `--use-fast-math` refused, and one with `use-fast-math = true` had `--ftz=false`.
    #[test]
    fn what_wins_contradicts_nothing() {
        let fast = FloatSettings { use_fast_math: Some(true), ..FloatSettings::default() };
        let exact = FloatSettings { ftz: Some(false), prec_div: Some(true), ..FloatSettings::default() };
        assert_eq!(fast.or(exact).modes().unwrap(), Modes::FAST_MATH);
        let expected = Modes { ftz: false, prec_div: true, ..Modes::FAST_MATH };
        assert_eq!(exact.or(fast).modes().unwrap(), expected);
        // What was merged is handed to the linker, which merges it with the manifest again.
        let handed = FloatSettings::parse(&exact.or(fast).assignments().collect::<Vec<_>>().join(",")).unwrap();
        assert_eq!(handed.or(fast).modes().unwrap(), expected);
        let off = FloatSettings { use_fast_math: Some(false), ..FloatSettings::default() };
        assert!(!off.or(handed).modes().unwrap().fast_functions);
        assert_eq!(off.or(fast).modes().unwrap(), Modes::DEFAULT);
        let flushing = FloatSettings { ftz: Some(true), ..FloatSettings::default() };
        assert_eq!(off.or(flushing).modes().unwrap(), Modes { ftz: true, ..Modes::DEFAULT });
    }

    #[test]
    fn one_dash_is_nvccs() {
        let read = |line: &str| {
            let args = line.split(' ').map(OsString::from);
            with_two_dashes(args).map(|arg| arg.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(read("-fmad=false -prec-div true -use_fast_math"), "--fmad=false --prec-div true --use_fast_math");
        for same in ["--ftz=true -p ftz -O3 -o f -f -", "run -r -- -ftz=true", "--nvcc-flag -ftz=true"] {
            assert_eq!(read(same), same);
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
