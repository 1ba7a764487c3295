//! Reads PTX text: signatures of functions and kernels, and the call sequences in their bodies.

use std::collections::BTreeMap;
use std::fmt;

use ptx_codegen::ptx_text;

use crate::extension::{Range, Registers};

/// A parameter or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// `.param .b32`, `.param .u64`: passed in a register of so many bits; floats of kernels are told apart.
    Register {
        /// In bits.
        bits: u32,
        /// `.f32`, `.f64`
        is_float: bool,
    },
    /// `.param .align A .b8 name[N]`
    Bytes {
        /// In bytes.
        size: u64,
        /// In bytes.
        align: u64,
    },
}

/// What a function takes and returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// None for no result.
    pub result: Option<Param>,
    /// In order.
    pub params: Vec<Param>,
}

/// How a function is known outside of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// Nothing.
    Internal,
}

/// An `.entry` or `.func`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// `.entry`
    pub is_kernel: bool,
    /// How it is known outside.
    pub linking: Linking,
    /// What it takes and returns.
    pub signature: Signature,
    /// What is known of the 32 bits that it returns; none if it has no body or no such result.
    pub returned: Option<Range>,
}

/// A call sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// As declared at the call.
    pub signature: Signature,
    /// What is known of the 32 bits that each parameter is given.
    pub given: Vec<Option<Range>>,
}

/// What is in a module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// By name.
    pub functions: BTreeMap<String, Function>,
    /// By the called function's name; indirect calls are not in it.
    pub calls: BTreeMap<String, Vec<Call>>,
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register { bits, is_float } => write!(f, ".{}{bits}", if *is_float { 'f' } else { 'b' }),
            Self::Bytes { size, align } => write!(f, ".align {align} .b8[{size}]"),
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<String> = self.params.iter().map(ToString::to_string).collect();
        write!(f, "({})", params.join(", "))?;
        match self.result {
            None => Ok(()),
            Some(result) => write!(f, " -> {result}"),
        }
    }
}

impl Module {
    /// Reads PTX as LLVM and nvcc write it.
    pub fn parse(ptx: &str) -> Self {
        let mut module = Self::default();
        let words: Vec<&str> = ptx_text::words(ptx).collect();
        let mut at = 0;
        let mut linking = Linking::Internal;
        while at < words.len() {
            match words[at] {
                ".visible" => linking = Linking::Visible,
                ".extern" => linking = Linking::Extern,
                ".weak" => linking = Linking::Weak,
                ".entry" | ".func" => {
                    at = module.function(&words, at, linking);
                    linking = Linking::Internal;
                    continue;
                }
                ";" => linking = Linking::Internal,
                "{" => {
                    // An initializer, or a section of debug information.
                    at = closing(&words, at);
                }
                _ => {}
            }
            at += 1;
        }
        module
    }

    /// Reads the function at `.entry` or `.func`; returns where it ends.
    fn function(&mut self, words: &[&str], start: usize, linking: Linking) -> usize {
        let is_kernel = words[start] == ".entry";
        let mut at = start + 1;
        let mut signature = Signature::default();
        if words[at] == "(" {
            let end = closing(words, at);
            signature.result = params(&words[at + 1..end]).first().map(|param| param.1);
            at = end + 1;
        }
        let name = words[at].to_string();
        at += 1;
        if words.get(at) == Some(&"(") {
            let end = closing(words, at);
            signature.params = params(&words[at + 1..end]).into_iter().map(|param| param.1).collect();
            at = end + 1;
        }
        // Directives such as `.maxntid`, then a body or the end of a declaration.
        while at < words.len() && words[at] != "{" && words[at] != ";" {
            at += 1;
        }
        let mut function = Function { is_kernel, linking, signature, returned: None };
        if words.get(at) == Some(&"{") {
            let end = closing(words, at);
            function.returned = self.body(&words[at + 1..end]);
            at = end;
        }
        // A declaration may come before the definition, as `.visible`.
        let known = self.functions.get(&name).is_some_and(|known| known.linking != Linking::Extern);
        if !known || function.returned.is_some() {
            self.functions.insert(name, function);
        }
        at + 1
    }

    /// Reads the calls of a body; returns what is known of the result.
    fn body(&mut self, words: &[&str]) -> Option<Range> {
        let statements: Vec<Statement<'_, '_>> = words.split(|word| *word == ";").map(Statement::parse).collect();
        let mut registers = Registers::of_body(statements.iter().map(|statement| statement.instruction));
        let mut declared: BTreeMap<&str, Param> = BTreeMap::new();
        let mut stored: BTreeMap<&str, Option<Range>> = BTreeMap::new();
        // What was declared before each brace that is open: a block within a call sequence sees the call's parameters.
        let mut outer = Vec::new();
        let mut returned = None;
        for Statement { braces, after_label, instruction } in statements {
            for brace in braces {
                match brace {
                    "{" => outer.push(declared.clone()),
                    _ => declared = outer.pop().unwrap_or_default(),
                }
            }
            if after_label {
                registers.join();
            }
            match instruction {
                [".param", ..] => {
                    for (name, param) in params(instruction) {
                        declared.insert(name, param);
                        stored.remove(name);
                    }
                }
                [op, "[", place, rest @ ..] if op.starts_with("st.param") => {
                    let value = rest.iter().rev().find(|word| **word != "]" && **word != "}");
                    let range = value.and_then(|value| registers.of(value));
                    if *place == "func_retval0" {
                        returned = range;
                    } else {
                        stored.insert(place, range);
                    }
                }
                [op, rest @ ..] if op.starts_with("call") => self.call(rest, &declared, &stored),
                other => registers.step(other),
            }
        }
        returned
    }

    fn call(&mut self, words: &[&str], declared: &BTreeMap<&str, Param>, stored: &BTreeMap<&str, Option<Range>>) {
        let mut groups: Vec<Vec<&str>> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            match words[at] {
                "(" => {
                    let end = closing(words, at);
                    groups.push(words[at + 1..end].iter().copied().filter(|word| *word != ",").collect());
                    at = end;
                }
                "," => {}
                name => groups.push(vec![name]),
            }
            at += 1;
        }
        // `(result), name, (params)`, without what there is none of.
        let (result, name, arguments) = match (&groups[..], words.first()) {
            ([result, name, rest @ ..], Some(&"(")) => (result.first(), name[0], rest.first()),
            ([name, rest @ ..], _) => (None, name[0], rest.first()),
            _ => return,
        };
        let arguments = arguments.cloned().unwrap_or_default();
        let find = |name: &str| declared.get(name).copied();
        let call = Call {
            signature: Signature {
                result: result.and_then(|name| find(name)),
                params: arguments.iter().filter_map(|name| find(name)).collect(),
            },
            given: arguments.iter().map(|name| stored.get(name).copied().flatten()).collect(),
        };
        self.calls.entry(name.to_string()).or_default().push(call);
    }
}

/// What is between two semicolons: braces and labels may stand before an instruction.
struct Statement<'w, 'a> {
    braces: Vec<&'a str>,
    after_label: bool,
    instruction: &'w [&'a str],
}

impl<'w, 'a> Statement<'w, 'a> {
    fn parse(words: &'w [&'a str]) -> Self {
        let mut statement = Self { braces: Vec::new(), after_label: false, instruction: words };
        loop {
            statement.instruction = match statement.instruction {
                [brace @ ("{" | "}"), rest @ ..] => {
                    statement.braces.push(brace);
                    rest
                }
                [_, ":", rest @ ..] => {
                    statement.after_label = true;
                    rest
                }
                _ => return statement,
            };
        }
    }
}

/// Names and kinds of a list of `.param`s.
fn params<'a>(words: &[&'a str]) -> Vec<(&'a str, Param)> {
    let mut list = Vec::new();
    for param in words.split(|word| *word == ",") {
        let (mut align, mut is_pointee, mut found) = (1, false, None);
        let mut name = "";
        let mut rest = param.iter();
        while let Some(word) = rest.next() {
            match *word {
                ".ptr" => is_pointee = true,
                ".align" => {
                    let value = rest.next().and_then(|value| value.parse().ok()).unwrap_or(0);
                    if !is_pointee {
                        align = value;
                    }
                }
                "[" => {
                    let size = rest.next().and_then(|size| size.parse().ok()).unwrap_or(0);
                    found = Some(Param::Bytes { size, align });
                }
                word if word.starts_with('.') => found = scalar(word).or(found),
                "]" => {}
                word => name = word,
            }
        }
        list.extend(found.map(|param| (name, param)));
    }
    list
}

fn scalar(word: &str) -> Option<Param> {
    let bits = word.get(2..)?.parse().ok()?;
    match word.as_bytes()[1] {
        b'b' | b'u' | b's' => Some(Param::Register { bits, is_float: false }),
        b'f' => Some(Param::Register { bits, is_float: true }),
        _ => None,
    }
}

/// The index of the bracket that closes the one at `open`.
fn closing(words: &[&str], open: usize) -> usize {
    let mut depth = 0;
    for (index, word) in words.iter().enumerate().skip(open) {
        match *word {
            "(" | "{" => depth += 1,
            ")" | "}" => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    words.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of what nvcc writes.
    const PTX: &str = r#"
.extern .func  (.param .b32 func_retval0) _Z2g1abS
(
	.param .b32 _Z2g1abS_param_0,
	.param .align 4 .b8 _Z2g1abS_param_1[8]
)
;
.visible .global .align 1 .u8 v = {1, 2};
.visible .func  (.param .b32 func_retval0) caller()
{
	ld.global.u8 	%r1, [ve];
	ld.global.s8 	%r3, [v];
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.b32 	[param0+0], %r3;
	.param .align 4 .b8 param1[8];
	{ .reg .b16 %part<1>; cvt.u16.u32 %part0, %r5; st.param.b8 [param1+3], %part0; }
	st.param.v4.b8 	[param1+4], {2, %rs1, %rs2, %rs3};
	.param .b32 retval0;
	call.uni (retval0), 
	_Z2g1abS, 
	(
	param0, 
	param1
	);
	ld.param.b32 	%r4, [retval0+0];
	} // callseq 0
	cvt.u16.u32 	%rs4, %r4;
	cvt.s32.s8 	%r5, %rs4;
	st.param.b32 	[func_retval0+0], %r5;
	ret;
}
.visible .entry k(
	.param .u64 .ptr .global .align 4 k_param_0,
	.param .f32 k_param_1
)
.maxntid 256
{
	{ call.uni caller2, (); }
	ret;
}
"#;

    #[test]
    fn signatures_and_calls_are_read() {
        let module = Module::parse(PTX);
        let text: Vec<String> =
            module.functions.iter().map(|(name, f)| format!("{:?} {name}{}", f.linking, f.signature)).collect();
        assert_eq!(
            text,
            ["Extern _Z2g1abS(.b32, .align 4 .b8[8]) -> .b32", "Visible caller() -> .b32", "Visible k(.b64, .f32)"]
        );
        let call = &module.calls["_Z2g1abS"][0];
        assert_eq!(call.signature, module.functions["_Z2g1abS"].signature);
        assert_eq!(call.given[0], Some(Range { bits: 8, is_signed: true }));
        assert_eq!(module.functions["caller"].returned, Some(Range { bits: 8, is_signed: true }));
        assert!(module.calls.contains_key("caller2"));
    }

    /// What the function with this body is known to return.
    fn returned(body: &str) -> Option<Range> {
        let ptx = format!(
            ".visible .func (.param .b32 func_retval0) f() {{ {body} st.param.b32 [func_retval0], %r1; ret; }}"
        );
        Module::parse(&ptx).functions["f"].returned
    }

    #[test]
    fn a_register_written_once_is_known_after_a_label() {
        // A loop that copies a struct stands between the load and the store of a small integer (seed 7, signature 195).
        let copy = "mov.b64 %rd1, 0; $L__BB0_1: add.s64 %rd1, %rd1, 1; setp.lt.u64 %p1, %rd1, 72; @%p1 bra $L__BB0_1;";
        let unsigned = |bits| Some(Range { bits, is_signed: false });
        assert_eq!(returned(&format!("ld.b8 %r1, [%rd2]; {copy}")), unsigned(8));
        assert_eq!(returned(&format!("ld.b8 %rs1, [%rd2]; {copy} cvt.u32.u16 %r1, %rs1;")), unsigned(8));
        // Another path may have written the register.
        assert_eq!(returned(&format!("ld.b8 %r1, [%rd2]; {copy} ld.b32 %r2, [%rd2]; $L__BB0_2:")), unsigned(8));
        assert_eq!(
            returned(&format!("ld.b8 %r1, [%rd2]; {copy} @%p1 bra $L__BB0_3; ld.b32 %r1, [%rd3]; $L__BB0_3:")),
            None
        );
        assert_eq!(returned("ld.b32 %r1, [%rd2]; bra $L__BB0_2; ld.b8 %r1, [%rd2]; $L__BB0_2:"), None);
        assert_eq!(returned(&format!("ld.b8 %r1, [%rd2]; {copy} @%p1 ld.b32 %r1, [%rd3]; $L__BB0_2:")), None);
        assert_eq!(returned(&format!("ld.b8 %r1, [%rd2]; {copy} ld.v2.b32 {{%r1, %r2}}, [%rd3]; $L__BB0_2:")), None);
    }
}
