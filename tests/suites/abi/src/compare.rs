//! The judgement: what nvcc and rust-ptx make of one case must be equal in everything that the other side can see.

use std::fmt::Write as _;

use crate::extension::Range;
use crate::model::{Case, Ty};
use crate::ptx::{Call, Function, Linking, Module, Param, Signature};

/// Where both compilers may differ, since nvcc itself is at odds with the guide.
#[derive(Debug)]
pub struct Deviation {
    /// What nvcc does.
    pub what: &'static str,
    /// Why ours may differ.
    pub why: &'static str,
    /// Whether this difference, ours then nvcc's, of one parameter of a device function is it.
    pub allows: fn(Param, Param) -> bool,
}

/// All of them. `abi.rs` checks that each is still there.
pub const DEVIATIONS: &[Deviation] = &[
    Deviation {
        what: "before sm_100, nvcc aligns parameters of device functions that have more than 128 bytes and an alignment of 1 \
           or 2 to 4 bytes; from sm_100 on it does not, and it never does so to results or to kernels' parameters",
        why: "the guide (§2.3, note D) asks for the aggregate's own alignment; ptxas places either at a multiple of 4 bytes, so \
          that the machine code is the same",
        allows: |ours, theirs| match (ours, theirs) {
            (Param::Bytes { size, align }, Param::Bytes { size: same, align: 4 }) => {
                size == same && size > 128 && align < 4
            }
            _ => false,
        },
    },
    Deviation {
        what: "nvcc passes a packed struct inside a struct that is not packed by stores of whole scalars, wherever they lie: \
               `st.param.b32 [param0+6]`. If the parameter is in memory, the hardware refuses the store",
        why: "a bug of nvcc, in calls from C++ to C++ too: signatures are equal, but such values cannot make round trips",
        allows: |_, _| false,
    },
];

/// Everything that is wrong with the case; empty if both agree.
pub fn differences(case: &Case, rust: &Module, cxx: &Module) -> Vec<String> {
    let mut found = Vec::new();
    let judge = Judge { case, rust, cxx };
    judge.exported(&mut found);
    judge.imported(&mut found);
    judge.kernel(&mut found);
    found
}

struct Judge<'a> {
    case: &'a Case,
    rust: &'a Module,
    cxx: &'a Module,
}

impl Judge<'_> {
    /// `f`: defined in Rust, declared and called in C++.
    fn exported(&self, found: &mut Vec<String>) {
        let Some((name, ours, theirs)) = self.functions('f', found) else { return };
        expect_linking(&name, "rust-ptx", ours, Linking::Visible, found);
        expect_linking(&name, "nvcc", theirs, Linking::Extern, found);
        for call in self.calls(self.cxx, "nvcc", &name, found) {
            same(false, &format!("the call of `{name}` in C++"), &ours.signature, &call.signature, found);
            self.extended_arguments("nvcc", &name, call, found);
        }
        self.extended_result("rust-ptx", &name, ours, found);
    }

    /// `g`: defined in C++, declared and called in Rust.
    fn imported(&self, found: &mut Vec<String>) {
        let Some((name, ours, theirs)) = self.functions('g', found) else { return };
        expect_linking(&name, "rust-ptx", ours, Linking::Extern, found);
        expect_linking(&name, "nvcc", theirs, Linking::Visible, found);
        for call in self.calls(self.rust, "rust-ptx", &name, found) {
            same(false, &format!("the call of `{name}` in Rust"), &call.signature, &theirs.signature, found);
            self.extended_arguments("rust-ptx", &name, call, found);
        }
        self.extended_result("nvcc", &name, theirs, found);
    }

    /// `k`: defined in both.
    fn kernel(&self, found: &mut Vec<String>) {
        let Some((name, ours, theirs)) = self.functions('k', found) else { return };
        expect_linking(&name, "rust-ptx", ours, Linking::Visible, found);
        expect_linking(&name, "nvcc", theirs, Linking::Visible, found);
    }

    /// The function of that letter in both modules: equal names, kinds and signatures.
    fn functions(&self, letter: char, found: &mut Vec<String>) -> Option<(String, &Function, &Function)> {
        let plain = format!("{letter}{}x", self.case.id);
        let names = |module: &Module| -> Vec<String> {
            // In a mangled name its length stands before it.
            let mangled = format!("{}{plain}", plain.len());
            let is_it = |name: &&String| **name == plain || name.starts_with("_Z") && name.contains(&mangled);
            module.functions.keys().filter(is_it).cloned().collect()
        };
        let (ours, theirs) = (names(self.rust), names(self.cxx));
        if ours.len() != 1 || ours != theirs {
            found.push(format!("`{plain}` is named {ours:?} by rust-ptx, {theirs:?} by nvcc"));
        }
        let (ours, theirs) = (ours.first()?, theirs.first()?);
        let (rust, cxx) = (&self.rust.functions[ours], &self.cxx.functions[theirs]);
        if rust.is_kernel != cxx.is_kernel || rust.is_kernel != (letter == 'k') {
            found.push(format!("`{plain}` is a kernel on one side only"));
        }
        same(letter == 'k', &format!("`{plain}`"), &rust.signature, &cxx.signature, found);
        (ours == theirs).then(|| (ours.clone(), rust, cxx))
    }

    fn calls<'a>(&self, module: &'a Module, whose: &str, name: &str, found: &mut Vec<String>) -> &'a [Call] {
        let calls = module.calls.get(name).map_or(&[][..], Vec::as_slice);
        if calls.is_empty() {
            found.push(format!("{whose} has no call of `{name}`"));
        }
        calls
    }

    /// Guide §2.3, note A: the caller extends its arguments.
    fn extended_arguments(&self, whose: &str, name: &str, call: &Call, found: &mut Vec<String>) {
        // A slice is two parameters.
        let types = self.case.params.iter().flat_map(|ty| match ty {
            Ty::Slice { .. } => vec![None, None],
            ty => vec![Some(ty)],
        });
        for (index, (ty, given)) in types.zip(&call.given).enumerate() {
            if let Some(why) = ty.and_then(|ty| self.not_extended(ty, *given)) {
                found.push(format!("{whose} passes parameter {index} of `{name}` unextended: {why}"));
            }
        }
    }

    /// And the callee its result.
    fn extended_result(&self, whose: &str, name: &str, function: &Function, found: &mut Vec<String>) {
        let Some(ty) = &self.case.result else { return };
        if let Some(why) = self.not_extended(ty, function.returned) {
            found.push(format!("{whose} returns the result of `{name}` unextended: {why}"));
        }
    }

    fn not_extended(&self, ty: &Ty, given: Option<Range>) -> Option<String> {
        let (bits, is_signed) = self.case.extended(ty)?;
        // A `bool` is 0 or 1, which is the same with either sign.
        let is_bool = *ty == Ty::Scalar(crate::model::Scalar::Bool);
        match given {
            Some(range) if range.fits(bits, is_signed) || is_bool && range.bits <= 8 => None,
            None => Some(format!("nothing is known of its upper bits, which must extend {bits} bits")),
            Some(range) => Some(format!("it has {range:?}, and must extend {bits} bits, signed: {is_signed}")),
        }
    }
}

fn expect_linking(name: &str, whose: &str, function: &Function, expected: Linking, found: &mut Vec<String>) {
    if function.linking != expected {
        found.push(format!("`{name}` is {:?} in the PTX of {whose}, not {expected:?}", function.linking));
    }
}

fn same(is_kernel: bool, what: &str, ours: &Signature, theirs: &Signature, found: &mut Vec<String>) {
    let allowed = |(ours, theirs): (&Param, &Param)| {
        ours == theirs || !is_kernel && DEVIATIONS.iter().any(|deviation| (deviation.allows)(*ours, *theirs))
    };
    let alike = ours.params.len() == theirs.params.len() && ours.params.iter().zip(&theirs.params).all(allowed);
    if !alike || ours.result != theirs.result {
        found.push(format!("{what}: rust-ptx has {ours}, nvcc has {theirs}"));
    }
}

/// A failure as a person reads it: both languages, then what is wrong.
pub fn describe(case: &Case, differences: &[String]) -> String {
    let mut text = format!("Rust:\n{}C++:\n{}", crate::rust::summary(case), crate::cxx::summary(case));
    for difference in differences {
        let _ = writeln!(text, "  {difference}");
    }
    text
}
