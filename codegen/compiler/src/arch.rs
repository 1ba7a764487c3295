//! GPU architectures: names, order, and the lowest PTX ISA version that knows each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A PTX ISA version, such as 7.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PtxVersion {
    /// Before the dot.
    pub major: u8,
    /// After the dot.
    pub minor: u8,
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for PtxVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('.').and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok().filter(|minor| *minor < 10)? })
        });
        parsed.ok_or_else(|| format!("`{text}` is not a PTX ISA version such as 7.8"))
    }
}

/// What a module asks of the PTX ISA version.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// The highest that any part of it needs.
    pub ptx: Option<PtxVersion>,
}

impl Needs {
    /// What both ask.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { ptx: self.ptx.max(other.ptx) }
    }
}

/// (name, PTX ISA version that introduced it): PTX ISA 9.0, table "Target architectures"; LLVM's lowest is sm_70.
const ARCHS: &[(&str, u8, u8)] = &[
    ("sm_70", 6, 0),
    ("sm_72", 6, 1),
    ("sm_75", 6, 3),
    ("sm_80", 7, 0),
    ("sm_86", 7, 1),
    ("sm_87", 7, 4),
    ("sm_88", 9, 0),
    ("sm_89", 7, 8),
    ("sm_90", 7, 8),
    ("sm_90a", 8, 0),
    ("sm_100", 8, 6),
    ("sm_100a", 8, 6),
    ("sm_100f", 8, 8),
    ("sm_103", 8, 8),
    ("sm_103a", 8, 8),
    ("sm_103f", 8, 8),
    ("sm_110", 9, 0),
    ("sm_110a", 9, 0),
    ("sm_110f", 9, 0),
    ("sm_120", 8, 7),
    ("sm_120a", 8, 7),
    ("sm_120f", 8, 8),
    ("sm_121", 8, 8),
    ("sm_121a", 8, 8),
    ("sm_121f", 8, 8),
];

/// rustc's own floor for nvptx64 since 1.97; every driver that supports a toolchain this new reads it.
const FLOOR: PtxVersion = PtxVersion { major: 7, minor: 0 };

/// An architecture that LLVM and NVIDIA know, at least sm_70.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch(usize);

impl Arch {
    /// The default where nobody names one: the lowest that ptxas 13 still knows, so that its PTX runs everywhere.
    pub fn portable() -> Self {
        Self::all().find(|arch| arch.name() == "sm_75").expect("in the table")
    }

    /// In order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ARCHS.len()).map(Self)
    }

    /// As in `sm_90a`.
    pub fn name(self) -> &'static str {
        ARCHS[self.0].0
    }

    /// As in 90.
    pub fn number(self) -> u32 {
        let digits = self.name().trim_start_matches("sm_").trim_end_matches(['a', 'f']);
        digits.parse().expect("the table holds sm_ and digits")
    }

    /// The lowest PTX ISA version that has this target, and at least 7.0.
    pub fn min_ptx(self) -> PtxVersion {
        let (_, major, minor) = ARCHS[self.0];
        PtxVersion { major, minor }.max(FLOOR)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(arch) = Self::all().find(|arch| arch.name() == text) {
            return Ok(arch);
        }
        let number = text.strip_prefix("sm_").and_then(|rest| rest.trim_end_matches(['a', 'f']).parse::<u32>().ok());
        Err(match number {
            Some(number) if number < 70 => format!("arch `{text}` is older than sm_70, the oldest that LLVM supports"),
            _ => format!(
                "unknown arch `{text}`; known are {}",
                Self::all().map(Self::name).collect::<Vec<_>>().join(", ")
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_print_alike() {
        for arch in Arch::all() {
            assert_eq!(arch.name().parse::<Arch>().unwrap(), arch);
            assert!(arch.number() >= 70);
        }
    }

    #[test]
    fn old_and_unknown_archs_say_so() {
        assert!("sm_61".parse::<Arch>().unwrap_err().contains("older than sm_70"));
        assert!("sm_999".parse::<Arch>().unwrap_err().contains("known are sm_70"));
        assert!("gfx90a".parse::<Arch>().unwrap_err().contains("unknown arch"));
    }

    #[test]
    fn ptx_versions_have_a_floor() {
        assert_eq!("sm_75".parse::<Arch>().unwrap().min_ptx().to_string(), "7.0");
        assert_eq!("sm_90a".parse::<Arch>().unwrap().min_ptx().to_string(), "8.0");
    }
}
