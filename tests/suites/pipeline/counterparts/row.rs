//! An operation in both languages, and how its instructions are compared.

use super::code::Code;

/// What must hold of the instructions.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// They are nvcc's: in PTX, or in machine code.
    Same,
    /// In machine code there may be so many more than nvcc's, and others, for this reason.
    Others(usize, &'static str),
}

/// An expression in both languages. Operands, of kernels on both sides: `m` the lanes, `u`, `v`, `w` of `u32`, `i`, `j`,
/// `k` of `i32`, `l`, `n` of `i64`, `q`, `r`, `s` of `u64`, `f` of `f32`, `d` of `f64`.
#[derive(Clone, Debug)]
pub struct Row {
    /// Of the kernel.
    pub name: String,
    /// The result's type: a letter of the operands, or `-` for none.
    pub result: char,
    /// An expression, or a statement.
    pub rust: String,
    /// The expression or statement in CUDA C++.
    pub cuda: String,
    /// The lowest arch.
    pub min_sm: u32,
    /// How they are compared.
    pub rule: Rule,
}

/// A row of the oldest GPU.
pub fn row(name: impl Into<String>, result: char, rust: impl Into<String>, cuda: impl Into<String>) -> Row {
    Row { name: name.into(), result, rust: rust.into(), cuda: cuda.into(), min_sm: 70, rule: Rule::Same }
}

impl Row {
    /// The same from that GPU on.
    pub fn from(self, min_sm: u32) -> Self {
        Self { min_sm, ..self }
    }

    /// The same by another rule.
    pub fn by(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }

    /// How the row holds, or why it does not.
    pub fn judge(&self, ours: &Code, theirs: &Code) -> Result<&'static str, String> {
        let [our_ptx, their_ptx] = [ours, theirs].map(|code| code.ptx(&self.name));
        let [our_sass, their_sass] = [ours, theirs].map(|code| code.sass(&self.name));
        if our_ptx == their_ptx {
            return Ok("the same PTX");
        }
        if our_sass == their_sass {
            return Ok("the same machine code");
        }
        if let Rule::Others(more, reason) = self.rule
            && our_sass.len() <= their_sass.len() + more
        {
            return Ok(reason);
        }
        Err(format!(
            "{} ({:?}): ours {} | nvcc {}\n    ours {} | nvcc {}",
            self.name,
            self.rule,
            our_ptx.join(" "),
            their_ptx.join(" "),
            our_sass.join(" "),
            their_sass.join(" ")
        ))
    }
}
