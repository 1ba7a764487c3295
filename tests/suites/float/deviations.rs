//! Where our instructions are not nvcc's, and why that is right.

use std::collections::BTreeMap;
use std::fmt;

use crate::compiled::Compiled;
use crate::instructions::{self, Instructions, Kernels};
use crate::modes::SETS;
use crate::row::Row;
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

/// A row's differences by set.
pub fn differences(row: &Row, (ours, nvcc): (&Compiled, &Compiled)) -> BTreeMap<&'static str, Difference> {
    let kernel = |kernels: &Kernels| -> Instructions {
        let found = kernels.get(row.name).unwrap_or_else(|| panic!("no kernel {}", row.name));
        let mut found = instructions::without_names(found);
        if row.repeats {
            found.values_mut().for_each(|count| *count = 1);
        }
        found
    };
    let pairs = SETS.iter().zip(ours.iter().zip(nvcc));
    pairs
        .map(|(set, (ours, nvcc))| (set.name, Difference::between(&kernel(ours), &kernel(nvcc))))
        .filter(|(_, difference)| !difference.is_empty())
        .collect()
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
        rows: &["half_f32", "div_by_negative_f32", "unit_of_u32"],
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
        rows: &["sin_f32", "cos_f32", "sin_times_f32", "sin_of_product_f32"],
        ours: &["sub.f32"],
        nvcc: Some(&[]),
        same_machine_code: false,
        reason: "libdevice's fma(x, -1, 0) is 0 - x here: the same number for every x, signs of zeros and all",
    },
    Deviation {
        rows: &["powf_f32", "lgamma_f32", "two_to_f32"],
        ours: &["sub.f32"],
        nvcc: Some(&[]),
        same_machine_code: false,
        reason: "libdevice's x + -y with a rounding of its own is x - y here, with the same rounding",
    },
    Deviation {
        rows: &["fmod_f32", "remainder_f32"],
        ours: &["mul.f32"],
        nvcc: Some(&[]),
        same_machine_code: false,
        reason: "libdevice's fma(x, y, -0) is x * y here, rounded as it was",
    },
    Deviation {
        rows: &["rem_f32"],
        ours: &["add.f32", "call"],
        nvcc: None,
        same_machine_code: false,
        reason: "`%` divides where the quotient is small, and else is the function of compiler_builtins, on integers; \
                 `a.fmod(b)` is libdevice's, and both are exact",
    },
    Deviation {
        rows: &["rem_f32"],
        ours: &["call"],
        nvcc: None,
        same_machine_code: false,
        reason: "as before; without `fmad`, nvcc's sums have their rounding, too",
    },
    Deviation {
        rows: &["ln_f64", "log2_f64"],
        ours: &[],
        nvcc: Some(&["setp.f32"]),
        same_machine_code: false,
        reason: "libdevice compares the upper half of a number with zero as a float; LLVM compares its bits",
    },
    Deviation {
        rows: &["powf_two_f32", "powf_half_f32", "powf_three_f32", "powf_minus_one_f32"],
        ours: &["sub.f32"],
        nvcc: Some(&["cvt.rzi.f32.f32"]),
        same_machine_code: false,
        reason: "as of powf; and that a constant exponent is an odd number is known here, and asked there",
    },
    Deviation {
        rows: &["powf_two_f32", "powf_half_f32", "powf_three_f32", "powf_minus_one_f32"],
        ours: &[],
        nvcc: Some(&["cvt.rzi.f32.f32"]),
        same_machine_code: false,
        reason: "that a constant exponent is an odd number is known here, and asked there",
    },
    Deviation {
        rows: &["powf_two_f32", "powf_half_f32", "powf_three_f32", "powf_minus_one_f32"],
        ours: &["sub.f32"],
        nvcc: Some(&["cvt.rmi.f32.f32"]),
        same_machine_code: false,
        reason: "as of powf, and of a constant exponent; nvcc asks otherwise with ftz",
    },
    Deviation {
        rows: &["powf_two_f32", "powf_half_f32", "powf_three_f32", "powf_minus_one_f32"],
        ours: &[],
        nvcc: Some(&["cvt.rmi.f32.f32"]),
        same_machine_code: false,
        reason: "as of a constant exponent; nvcc asks otherwise with ftz",
    },
    Deviation {
        rows: &["powf_two_f64"],
        ours: &[],
        nvcc: Some(&["cvt.rzi.f64.f64", "neg.f64"]),
        same_machine_code: false,
        reason: "that a constant exponent is no odd number is known here, and asked there",
    },
    Deviation {
        rows: &["two_to_f32"],
        ours: &["sub.f32"],
        nvcc: Some(&["cvt.f32.s32"]),
        same_machine_code: false,
        reason: "as of powf; and with ftz the exponent of the constant base is known here, and converted there",
    },
    Deviation {
        rows: &["two_to_f32"],
        ours: &[],
        nvcc: Some(&["cvt.f32.s32"]),
        same_machine_code: false,
        reason: "with ftz the exponent of the constant base is known here, and converted there",
    },
    Deviation {
        rows: &["exp_m1_f32", "asin_f32"],
        ours: &[],
        nvcc: Some(&["neg.f32"]),
        same_machine_code: false,
        reason: "a sign goes into a constant or is a bit that is turned over",
    },
    Deviation {
        rows: &["neg_f32", "minus_one_times_f32"],
        ours: &[],
        nvcc: Some(&["neg.f32"]),
        same_machine_code: false,
        reason: "a sign is turned over or cleared as a bit: Rust says that a NaN keeps its others, and PTX does not",
    },
    Deviation {
        rows: &["neg_f64"],
        ours: &[],
        nvcc: Some(&["neg.f64"]),
        same_machine_code: false,
        reason: "a sign is turned over or cleared as a bit: Rust says that a NaN keeps its others, and PTX does not",
    },
    Deviation {
        rows: &["abs_f32"],
        ours: &[],
        nvcc: Some(&["abs.f32"]),
        same_machine_code: false,
        reason: "a sign is turned over or cleared as a bit: Rust says that a NaN keeps its others, and PTX does not",
    },
    Deviation {
        rows: &["abs_f64"],
        ours: &[],
        nvcc: Some(&["abs.f64"]),
        same_machine_code: false,
        reason: "a sign is turned over or cleared as a bit: Rust says that a NaN keeps its others, and PTX does not",
    },
    Deviation {
        rows: &["neg_abs_f32"],
        ours: &[],
        nvcc: Some(&["abs.f32", "neg.f32"]),
        same_machine_code: false,
        reason: "a sign is turned over or cleared as a bit: Rust says that a NaN keeps its others, and PTX does not",
    },
    Deviation {
        rows: &["negated_difference_f32"],
        ours: &[],
        nvcc: Some(&["neg.f32"]),
        same_machine_code: false,
        reason: "the sign of a difference is turned over as a bit of an integer",
    },
    Deviation {
        rows: &["fma_of_one_f32"],
        ours: &["add.f32"],
        nvcc: Some(&["fma.f32"]),
        same_machine_code: false,
        reason: "rustc knows that `mul_add` with a factor of 1 is a sum, of which the rounding is the same",
    },
    Deviation {
        rows: &["rcp_of_neg_f32"],
        ours: &["div.approx.f32"],
        nvcc: Some(&["div.full.f32"]),
        same_machine_code: false,
        reason: "rustc has made -1.0 / a of it, which is a division like any other; nvcc makes that of `-1.0f / a` as well, but not here",
    },
    Deviation {
        rows: &["f64_of_quotient_as_f32"],
        ours: &["div.full.f32"],
        nvcc: Some(&["cvt.f64.f32", "cvt.f64.f32", "cvt.f32.f64", "div.f64"]),
        same_machine_code: false,
        reason: "rustc divides in single precision where the rounded result is the same; the modes then hold for that",
    },
    Deviation {
        rows: &["f64_of_quotient_as_f32"],
        ours: &["div.approx.f32"],
        nvcc: Some(&["cvt.f64.f32", "cvt.f64.f32", "cvt.f32.f64", "div.f64"]),
        same_machine_code: false,
        reason: "rustc divides in single precision where the rounded result is the same; the modes then hold for that",
    },
    Deviation {
        rows: &["f64_of_quotient_as_f32"],
        ours: &["div.f32"],
        nvcc: Some(&["cvt.f64.f32", "cvt.f64.f32", "cvt.f32.f64", "div.f64"]),
        same_machine_code: false,
        reason: "rustc divides in single precision where the rounded result is the same; the modes then hold for that",
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
            let set = sets.next().unwrap_or_else(|| {
                panic!("{name} does not differ any more: take it out of tests/suites/float/deviations.rs")
            });
            if self.same_machine_code {
                sass::agree(name, set);
            }
        }
    }
}
