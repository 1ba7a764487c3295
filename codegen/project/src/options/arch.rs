//! GPU architectures as users name them, and where a name stands that is wrong.

use ptx_codegen::arch::Arch;
use ptx_codegen::codes::Code;
use ptx_codegen::diagnostic::{Diagnostic, Result};

use crate::native;

/// The variable that names archs; it wins over the build script and the manifest.
pub const VARIABLE: &str = "RUST_PTX_ARCH";

/// Stands for the GPUs of this machine.
pub const NATIVE: &str = "native";

/// Where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// `--arch` of `cargo ptx`.
    Argument,
    /// [`VARIABLE`].
    Variable,
    /// `Builder::arch`.
    BuildScript,
    /// `-C link-arg`.
    LinkArgument,
    /// `-C target-cpu`.
    TargetCpu,
}

impl From {
    fn text(self) -> &'static str {
        match self {
            Self::Argument => "`--arch` names it",
            Self::Variable => "the variable RUST_PTX_ARCH names it",
            Self::BuildScript => "`Builder::arch` in the build script names it",
            Self::LinkArgument => "`-C link-arg=--arch=…` names it: see rustc's flags",
            Self::TargetCpu => "`-C target-cpu` names it: see rustc's flags, and `rustflags` in cargo's configuration",
        }
    }
}

/// Gives every name the form `sm_90a`, or says which is wrong and where it stands. `native` stays.
pub fn check(names: &mut [String], from: From) -> Result<()> {
    names.iter_mut().try_for_each(|name| {
        *name = canonical(name, |error| error.note(from.text()))?;
        Ok(())
    })
}

/// `sm_90a` for any form of the name, `native` for itself; `place` says of an error where the name stands.
pub fn canonical(name: &str, place: impl FnOnce(Diagnostic) -> Diagnostic) -> Result<String> {
    if name == NATIVE {
        return Ok(NATIVE.into());
    }
    Ok(name.parse::<Arch>().map(|arch| arch.name().to_string()).map_err(|reason| {
        let error = place(Diagnostic::error(Code::UnknownArch, reason));
        match Arch::near(name) {
            Some(arch) => error.help(format!("did you mean `{arch}`?")),
            None => error
                .note(format!("known are {}", Arch::list()))
                .help("name an arch as in `--arch sm_80,sm_90a`, or `native` for the GPU of this machine"),
        }
    })?)
}

/// What [`VARIABLE`] says; none where it is not set, or empty.
pub fn of_variable() -> Result<Option<Vec<String>>> {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    let mut names = split(&text);
    check(&mut names, From::Variable)?;
    Ok((!names.is_empty()).then_some(names))
}

fn split(names: &str) -> Vec<String> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// The archs of those names, lowest first, each once; those of this machine's GPUs for `native`.
pub fn archs(names: &[String]) -> Result<Vec<Arch>> {
    let mut archs = Vec::new();
    for name in names {
        match canonical(name, |error| error)?.as_str() {
            NATIVE => archs.extend(native::archs().map_err(|reason| {
                Diagnostic::error(
                    Code::UnknownArch,
                    format!("the arch `native` is that of this machine's GPU: {reason}"),
                )
                .help("name the arch of the GPU that will run the kernels, as in `--arch sm_90`")
            })?),
            name => archs.extend(name.parse::<Arch>()),
        }
    }
    archs.sort();
    archs.dedup();
    Ok(archs)
}

/// Whether that is the name of an arch.
pub fn is_known(name: &str) -> bool {
    name.parse::<Arch>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_name_means_the_same() {
        let mut names = ["80", "compute_80", "sm_80", "8.0", "sm80", "SM_90a", "native"].map(String::from);
        check(&mut names, From::Argument).unwrap();
        assert_eq!(names, ["sm_80", "sm_80", "sm_80", "sm_80", "sm_80", "sm_90a", "native"]);
        let found = archs(&["90".into(), "compute_80".into(), "sm_80".into()]).unwrap();
        assert_eq!(found.iter().map(|arch| arch.name()).collect::<Vec<_>>(), ["sm_80", "sm_90"]);
        assert_eq!(split("sm_80, sm_90a,"), ["sm_80", "sm_90a"]);
    }

    #[test]
    fn a_wrong_name_says_where_it_stands_and_what_was_meant() {
        for (from, place) in [
            (From::Argument, "`--arch`"),
            (From::Variable, "variable RUST_PTX_ARCH"),
            (From::BuildScript, "`Builder::arch`"),
            (From::LinkArgument, "`-C link-arg"),
            (From::TargetCpu, "`-C target-cpu`"),
        ] {
            let error = check(&mut ["sm_81".to_string()], from).unwrap_err().to_string();
            assert!(error.contains(place) && error.contains("did you mean `sm_80`?"), "{error}");
            assert!(error.contains("PTX0002") && error.lines().all(|line| line.len() < 140), "{error}");
        }
        let error = check(&mut ["gfx90a".to_string()], From::Argument).unwrap_err().to_string();
        assert!(error.contains("`native`") && !error.contains("did you mean"), "{error}");
    }
}
