//! Where our instructions are not nvcc's, and why that is right.

use std::fmt;

use crate::compare::{Compiled, differences};
use crate::instructions::Instructions;
use crate::sass;
use crate::table::rows;

/// What one kernel has and the other has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    ours: Vec<String>,
    nvcc: Vec<String>,
}

impl Difference {
    /// Of two kernels.
    pub fn between(ours: &Instructions, nvcc: &Instructions) -> Self {
        let more = |these: &Instructions, those: &Instructions| {
            let count = |name: &String, count: &usize| count.saturating_sub(those.get(name).copied().unwrap_or(0));
            these.iter().flat_map(|(name, n)| vec![name.clone(); count(name, n)]).collect()
        };
        Self { ours: more(ours, nvcc), nvcc: more(nvcc, ours) }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ours.is_empty() && self.nvcc.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ours has [{}], nvcc has [{}]", self.ours.join(", "), self.nvcc.join(", "))
    }
}

/// A difference that is right. `.ftz` and `.rn` are left out of the instructions' names, so that one entry holds for all modes.
pub struct Deviation {
    /// In these rows.
    pub rows: &'static [&'static str],
    /// Ours, of what differs.
    pub ours: &'static [&'static str],
    /// nvcc's, of what differs; nothing if it is too much to write down.
    pub nvcc: Option<&'static [&'static str]>,
    /// Whether ptxas makes the same of both.
    pub same_machine_code: bool,
    /// Why.
    pub reason: &'static str,
}

/// All that are known.
pub const ALL: &[Deviation] = &[
    Deviation {
        rows: &["half_f32"],
        ours: &["mul.f32"],
        nvcc: Some(&["div.approx.f32"]),
        same_machine_code: true,
        reason: "a division by a power of two is a product already here",
    },
    Deviation {
        rows: &["clamp_f32"],
        ours: &["max.f32", "min.f32"],
        nvcc: Some(&["cvt.sat.f32.f32"]),
        same_machine_code: true,
        reason: "what lies between 0 and 1 is found by ptxas, not before",
    },
    Deviation {
        rows: &["round_f32"],
        ours: &["abs.f32", "add.f32", "setp.f32"],
        nvcc: Some(&["add.rz.f32", "copysign.f32"]),
        same_machine_code: false,
        reason: "LLVM has instructions of its own for `llvm.round`; both results are exact",
    },
    Deviation {
        rows: &["round_f32"],
        ours: &["abs.f32", "add.f32", "cvt.rzi.f32.f32", "setp.f32"],
        nvcc: Some(&["add.rz.f32", "copysign.f32", "cvt.rzi.f32.f32"]),
        same_machine_code: false,
        reason: "as before; with ftz, nvcc's conversion has no `.ftz`, where the numbers that it would make a difference to become zero anyway",
    },
    Deviation {
        rows: &["sin_f32", "cos_f32"],
        ours: &["sub.f32"],
        nvcc: Some(&[]),
        same_machine_code: false,
        reason: "libdevice's fma(x, -1, 0) is 0 - x here: the same number for every x, signs of zeros and all",
    },
    Deviation {
        rows: &["powf_f32"],
        ours: &["sub.f32"],
        nvcc: Some(&[]),
        same_machine_code: false,
        reason: "libdevice's x + -y with a rounding of its own is x - y here, with the same rounding",
    },
    Deviation {
        rows: &["fmod_f32"],
        ours: &["mul.f32"],
        nvcc: Some(&[]),
        same_machine_code: false,
        reason: "libdevice's fma(x, y, -0) is x * y here, rounded as it was",
    },
    Deviation {
        rows: &["rem_f32"],
        ours: &["call"],
        nvcc: None,
        same_machine_code: false,
        reason: "`%` is the function of compiler_builtins, on integers; `a.fmod(b)` is libdevice's, and both are exact",
    },
    Deviation {
        rows: &["ln_f64"],
        ours: &[],
        nvcc: Some(&["setp.f32"]),
        same_machine_code: false,
        reason: "libdevice compares the upper half of a number with zero as a float; LLVM compares its bits",
    },
    Deviation {
        rows: &["sin_f64"],
        ours: &["sub.f64"],
        nvcc: Some(&["neg.f64"]),
        same_machine_code: false,
        reason: "as of sinf, and a negation that is thereby not needed",
    },
];

impl Deviation {
    /// Whether it is this one.
    pub fn explains(&self, row: &str, difference: &Difference) -> bool {
        let plain = |name: &String| name.replace(".ftz", "").replace(".rn.", ".");
        let same = |found: &[String], known: &[&str]| found.iter().map(plain).eq(known.iter().copied());
        self.rows.contains(&row)
            && same(&difference.ours, self.ours)
            && self.nvcc.is_none_or(|nvcc| same(&difference.nvcc, nvcc))
    }

    /// Every row that it names has it under some set of modes, and the machine code is the same if it says so.
    pub fn persists(&self, both: (&Compiled, &Compiled)) {
        for name in self.rows {
            let row = rows().find(|row| row.name == *name).unwrap_or_else(|| panic!("there is no row {name}"));
            let found = differences(row, both);
            let mut sets = found.iter().filter(|(_, difference)| self.explains(name, difference)).map(|(set, _)| *set);
            let set = sets
                .next()
                .unwrap_or_else(|| panic!("{name} does not differ any more: take it out of tests/float/deviations.rs"));
            if self.same_machine_code {
                sass::agree(name, set);
            }
        }
    }
}
