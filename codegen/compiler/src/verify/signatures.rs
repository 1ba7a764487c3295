//! Reads the signatures out of PTX text and compares them with the ABI table.

use std::collections::BTreeMap;
use std::iter::Peekable;

use crate::abi::{FunctionAbi, PtxParam, Signature, Table};
use crate::arch::Arch;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result};
use crate::ptx_text::{self, Words};

/// Refuses PTX in which a signature differs from the table, or a symbol is missing.
pub fn check(ptx: &str, table: &Table, arch: Arch) -> Result<()> {
    let emitted: BTreeMap<String, Signature> = parse(ptx).into_iter().map(|s| (s.name.clone(), s)).collect();
    let mut problems = Vec::new();
    // An import that nothing uses is not declared.
    let imports = table.imports.iter().map(FunctionAbi::signature).filter(|import| emitted.contains_key(&import.name));
    for expected in table.signatures.iter().cloned().chain(imports) {
        let found = emitted.get(&expected.name);
        if found.is_none_or(|found| !same(&expected, found)) {
            problems.push(
                Diagnostic::error(
                    Code::PtxMismatch,
                    format!("`{}` has another signature in the PTX for {arch}", expected.name),
                )
                .note(format!("the ABI asks for {}", expected.describe()))
                .note(
                    found.map_or("the PTX has no such function".into(), |found| {
                        format!("the PTX has {}", found.describe())
                    }),
                )
                .help("this is a bug of rust-ptx: please report it"),
            );
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

fn same(a: &Signature, b: &Signature) -> bool {
    // Registers have no sign in PTX: `.s32` and `.u32` and `.b32` parameters are passed alike.
    let alike = |a: &PtxParam, b: &PtxParam| match (a, b) {
        (PtxParam::Bytes { .. }, _) | (_, PtxParam::Bytes { .. }) => a == b,
        _ => a.size() == b.size(),
    };
    a.is_kernel == b.is_kernel
        && a.params.len() == b.params.len()
        && a.params.iter().zip(&b.params).all(|(a, b)| alike(a, b))
        && match (&a.result, &b.result) {
            (None, None) => true,
            (Some(a), Some(b)) => alike(a, b),
            _ => false,
        }
}

/// Every `.entry` and `.func` that PTX text defines or declares, in order.
pub fn parse(ptx: &str) -> Vec<Signature> {
    let mut signatures = Vec::new();
    let mut words = ptx_text::words(ptx).peekable();
    while let Some(word) = words.next() {
        match word {
            ".entry" => {
                let name = words.next().unwrap_or_default().to_string();
                let params = parenthesised(&mut words);
                signatures.push(Signature { name, is_kernel: true, result: None, params });
            }
            ".func" => {
                let result = parenthesised(&mut words).first().copied();
                let name = words.next().unwrap_or_default().to_string();
                let params = parenthesised(&mut words);
                signatures.push(Signature { name, is_kernel: false, result, params });
            }
            _ => {}
        }
    }
    signatures
}

/// The parameters up to the closing parenthesis; none where no parenthesis opens.
fn parenthesised(words: &mut Peekable<Words<'_>>) -> Vec<PtxParam> {
    let mut params = Vec::new();
    if words.next_if_eq(&"(").is_none() {
        return params;
    }
    let mut current: Option<PtxParam> = None;
    let (mut align, mut is_pointer) = (1, false);
    while let Some(word) = words.next() {
        match word {
            ")" | "," => {
                params.extend(current.take());
                (align, is_pointer) = (1, false);
                if word == ")" {
                    break;
                }
            }
            ".ptr" => is_pointer = true,
            ".align" => {
                let value = words.next().and_then(|value| value.parse().ok()).unwrap_or(1);
                // `.ptr .align` speaks of what is pointed to.
                if !is_pointer {
                    align = value;
                }
            }
            "[" => {
                let size = words.next().and_then(|value| value.parse().ok()).unwrap_or(0);
                current = Some(PtxParam::Bytes { size, align });
            }
            word => current = scalar(word).or(current),
        }
    }
    params
}

fn scalar(word: &str) -> Option<PtxParam> {
    let word = word.strip_prefix('.')?;
    let bits = || word.get(1..)?.parse().ok().filter(|bits| [8, 16, 32, 64].contains(bits));
    Some(match word.as_bytes().first()? {
        b'u' | b'b' => PtxParam::Int { bits: bits()?, signed: false },
        b's' => PtxParam::Int { bits: bits()?, signed: true },
        b'f' => PtxParam::Float { bits: bits()? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As LLVM and nvcc write them.
    const PTX: &str = r#"
.version 7.8
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
	// .globl	k
.visible .entry k(
	.param .u64 .ptr .global .align 4 k_param_0,
	.param .align 32 .b8 k_param_1[48], // a struct
	.param .f32 k_param_2
)
.maxntid 256
{
	call.uni (retval0), vprintf, (param0, param1);
}
.visible .func  (.param .align 16 .b8 func_retval0[16]) f()
{
}
.visible .entry empty()
{ ret; }
"#;

    #[test]
    fn signatures_are_read() {
        let text: Vec<String> = parse(PTX).iter().map(|s| format!("{} {}", s.name, s.describe())).collect();
        assert_eq!(
            text,
            [
                "vprintf .func (.u64, .u64) -> .u32",
                "k .entry (.u64, .align 32 .b8[48], .f32)",
                "f .func () -> .align 16 .b8[16]",
                "empty .entry ()",
            ]
        );
    }

    #[test]
    fn differences_are_found() {
        let signature =
            |params: &[PtxParam]| Signature { name: "k".into(), is_kernel: true, result: None, params: params.into() };
        let table = |params: &[PtxParam]| Table {
            kernels: vec![],
            exports: vec![],
            imports: vec![],
            signatures: vec![signature(params)],
        };
        let struct_of = |size, align| PtxParam::Bytes { size, align };
        let float = PtxParam::Float { bits: 32 };
        let check = |params: &[PtxParam]| check(PTX, &table(params), Arch::portable());
        assert!(check(&[PtxParam::Pointer, struct_of(48, 32), float]).is_ok());
        let error = check(&[PtxParam::Pointer, struct_of(48, 16), float]).unwrap_err().to_string();
        for part in ["PTX0011", "the ABI asks for .entry (.u64, .align 16", "the PTX has .entry (.u64, .align 32"] {
            assert!(error.contains(part), "`{part}` is not in:\n{error}");
        }
        assert!(check(&[PtxParam::Pointer, struct_of(44, 32), float]).is_err());
        assert!(check(&[PtxParam::Pointer, struct_of(48, 32)]).is_err());
        assert!(check(&[PtxParam::Pointer, struct_of(48, 32), PtxParam::Float { bits: 64 }]).is_err());
    }
}
