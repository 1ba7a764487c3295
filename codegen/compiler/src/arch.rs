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

/// nvcc's forms of the name, too: `compute_80`, `80`; and NVIDIA's number of the GPU, `8.0`.
impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = number_of(text);
        if let Some(arch) = Self::all().find(|arch| arch.name()[3..] == number) {
            return Ok(arch);
        }
        Err(match number.trim_end_matches(['a', 'f']).parse::<u32>() {
            Ok(number) if number < 70 => format!("arch `{text}` is older than sm_70, the oldest that LLVM supports"),
            _ => format!("unknown arch `{text}`"),
        })
    }
}

/// `90a` of any form of the name.
fn number_of(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    let number = ["sm_", "sm", "compute_", "compute"].iter().find_map(|prefix| text.strip_prefix(prefix));
    number.unwrap_or(&text).replacen('.', "", 1)
}

impl Arch {
    /// The one that was meant by a name that is not known: the same without a variant, or the next lower number.
    pub fn near(text: &str) -> Option<Self> {
        let number: u32 = number_of(text).trim_end_matches(char::is_alphabetic).parse().ok()?;
        let plain = Self::all().filter(|arch| arch.name().ends_with(|c: char| c.is_ascii_digit()));
        plain.filter(|arch| (number.saturating_sub(9)..=number).contains(&arch.number())).last()
    }

    /// All names, shortened.
    pub fn list() -> String {
        let has = |arch: Self, variant: &str| Self::all().any(|other| *other.name() == format!("{arch}{variant}"));
        let is_plain = |arch: &Self| arch.name().ends_with(|c: char| c.is_ascii_digit());
        let (with, without): (Vec<Self>, Vec<Self>) = Self::all().filter(is_plain).partition(|arch| has(*arch, "f"));
        let variants = Self::all()
            .filter(|arch| arch.name().ends_with('a'))
            .filter(|arch| without.iter().any(|plain| plain.number() == arch.number()));
        let number = |arch: Self| arch.name()[3..].to_string();
        let list = |archs: Vec<Self>| archs.into_iter().map(number).collect::<Vec<_>>().join(", ");
        let mut alone: Vec<Self> = without.iter().copied().chain(variants).collect();
        alone.sort();
        format!("sm_{}, and {} with `a`, `f` or neither", list(alone), list(with))
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
        assert!("sm_999".parse::<Arch>().unwrap_err().contains("unknown arch `sm_999`"));
        assert!("gfx90a".parse::<Arch>().unwrap_err().contains("unknown arch"));
    }

    #[test]
    fn other_forms_of_a_name_are_known() {
        for (text, expected) in [
            ("80", "sm_80"),
            ("compute86", "sm_86"),
            ("compute_90a", "sm_90a"),
            ("8.6", "sm_86"),
            ("SM_120F", "sm_120f"),
        ] {
            assert_eq!(text.parse::<Arch>().unwrap().name(), expected, "{text}");
        }
        for text in ["", "sm_", "8.0.0", "sm_80f", "sm_sm_80", "a80"] {
            assert!(text.parse::<Arch>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_meant_is_near() {
        for (text, expected) in [
            ("sm_81", Some("sm_80")),
            ("sm_80a", Some("sm_80")),
            ("sm_91", Some("sm_90")),
            ("sm_999", None),
            ("gfx90a", None),
        ] {
            assert_eq!(Arch::near(text).map(Arch::name), expected, "{text}");
        }
        let list = "sm_70, 72, 75, 80, 86, 87, 88, 89, 90, 90a, and 100, 103, 110, 120, 121 with `a`, `f` or neither";
        assert_eq!(Arch::list(), list);
    }

    #[test]
    fn ptx_versions_have_a_floor() {
        assert_eq!("sm_75".parse::<Arch>().unwrap().min_ptx().to_string(), "7.0");
        assert_eq!("sm_90a".parse::<Arch>().unwrap().min_ptx().to_string(), "8.0");
    }
}
