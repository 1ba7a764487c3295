//! What a compiler says of itself: it and rustc must be of one toolchain, since its LLVM reads rustc's bitcode.

use std::path::Path;
use std::process::Command;

/// What a `cargo-ptx` was built of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As in `0.1.0`.
    pub version: String,
    /// The release of the rustc that built it, whose LLVM it has: `1.97.0-nightly`.
    pub rustc: String,
    /// That LLVM's version.
    pub llvm: String,
    /// Of the sources, where they were those of a clone.
    pub sources: Option<String>,
}

impl Identity {
    /// Asks the program.
    pub fn of(program: &Path) -> Result<Self, String> {
        let text = output(program, &["build-script", "--identity"])?;
        Self::parse(&text).ok_or_else(|| format!("`{}` does not say what it was built of", program.display()))
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name| field(text, name);
        Some(Self {
            version: field("cargo-ptx")?,
            rustc: field("rustc")?,
            llvm: field("LLVM")?,
            sources: field("sources").filter(|sources| !sources.is_empty()),
        })
    }

    /// Why a program that is `self` cannot do what `wanted` could; sources do not count where none are wanted.
    pub fn misfit(&self, wanted: &Self) -> Option<String> {
        let differs =
            |what: &str, is: &str, should: &str| (is != should).then(|| format!("it is {what} {is}, not {should}"));
        differs("of version", &self.version, &wanted.version)
            .or_else(|| differs("for rustc", &self.rustc, &wanted.rustc))
            .or_else(|| differs("for LLVM", &self.llvm, &wanted.llvm))
            .or_else(|| {
                let other = wanted.sources.is_some() && self.sources != wanted.sources;
                other.then(|| "it was built from other sources".into())
            })
    }
}

/// The value in the line `name: value`.
fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim().to_string())
}

fn output(program: &Path, args: &[&str]) -> Result<String, String> {
    let failed = |why: String| format!("cannot run `{} {}`: {why}", program.display(), args.join(" "));
    let output = Command::new(program).args(args).output().map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{}\n{}", output.status, text.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "cargo-ptx: 0.1.0\nrustc: 1.97.0-nightly\nLLVM: 22.1.4\nsources: 0123\n";

    #[test]
    fn what_a_program_says_is_compared() {
        let own = Identity::parse(TEXT).unwrap();
        assert_eq!(own.misfit(&own), None);
        assert_eq!(own.misfit(&Identity { sources: None, ..own.clone() }), None);
        for (from, to, reason) in [
            ("0.1.0", "0.2.0", "of version 0.2.0, not 0.1.0"),
            ("1.97.0-nightly", "1.95.0", "for rustc 1.95.0"),
            ("22.1.4", "21.1.0", "for LLVM 21.1.0"),
            (" 0123", "", "other sources"),
        ] {
            let other = Identity::parse(&TEXT.replace(from, to)).unwrap();
            assert!(other.misfit(&own).unwrap().contains(reason), "{reason}");
        }
        assert_eq!(Identity::parse("cargo-ptx 0.0.9\n"), None);
    }
}
