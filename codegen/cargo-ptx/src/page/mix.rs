//! What a kernel's machine code consists of, by NVIDIA's names of instructions (CUDA Binary Utilities, "Instruction Set
//! Reference").

use serde::Serialize;

/// How many instructions there are of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// As people call it.
    pub kind: &'static str,
    /// In the code, not as they are executed.
    pub count: usize,
}

/// Beginnings of names, the longer ones before those that they begin with.
const KINDS: [(&str, &[&str]); 16] = [
    ("tensor cores", &["HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA", "UTC"]),
    ("shared memory", &["LDS", "STS", "ATOMS", "STAS", "REDAS"]),
    ("local memory", &["LDL", "STL"]),
    ("constant memory", &["LDC", "ULDC"]),
    ("global memory", &["LDG", "STG", "ATOM", "RED.", "REDG", "LD", "ST", "CCTL", "UBLK", "UTMA", "UBLKCP"]),
    ("texture and surface", &["TEX", "TLD", "TXQ", "TXD", "TMML", "SULD", "SUST", "SURED", "SUATOM", "SUQ"]),
    (
        "barriers and fences",
        &["BAR", "B2R", "MEMBAR", "ERRBAR", "DEPBAR", "LDGDEPBAR", "SYNCS", "FENCE", "ARRIVES", "NANOSLEEP", "UCGABAR"],
    ),
    ("warp", &["SHFL", "VOTE", "MATCH", "REDUX", "CREDUX", "ELECT", "R2B"]),
    ("conversions", &["I2F", "F2I", "F2F", "I2I", "FRND", "I2FP", "F2IP", "UI2F", "UF2"]),
    ("special functions", &["MUFU", "FCHK"]),
    ("double precision", &["DADD", "DMUL", "DFMA", "DSETP", "DMNMX"]),
    ("half precision", &["HADD", "HMUL", "HFMA", "HSET", "HMNMX", "HSETP"]),
    (
        "single precision",
        &["FADD", "FMUL", "FFMA", "FSETP", "FSET", "FSEL", "FMNMX", "FSWZADD", "UFADD", "UFMUL", "UFFMA"],
    ),
    (
        "control",
        &[
            "BRA", "BRX", "BSSY", "BSYNC", "BREAK", "BMOV", "CALL", "RET", "EXIT", "JMP", "JMX", "WARPSYNC", "YIELD",
            "BPT", "KILL", "RPCMOV", "RTT", "ACQBULK", "PREEXIT", "UBRA",
        ],
    ),
    (
        "integers and addresses",
        &[
            "IADD", "IMAD", "IMUL", "IABS", "IDP", "ISETP", "ISCADD", "IMNMX", "VI", "LEA", "LOP", "PLOP", "SHF",
            "SHL", "SHR", "BFE", "BFI", "BMSK", "BREV", "FLO", "POPC", "SGXT", "UIADD", "UIMAD", "UISETP", "ULEA",
            "ULOP", "UPLOP", "USHF", "UFLO", "UPOPC", "UBMSK", "UBREV", "USGXT", "UVI",
        ],
    ),
    (
        "moves",
        &[
            "MOV", "SEL", "PRMT", "S2R", "S2UR", "CS2R", "R2UR", "UMOV", "USEL", "UPRMT", "P2R", "R2P", "R2", "UP2UR",
            "UR2UP", "MOVM", "LEPC", "UCLEA",
        ],
    ),
];

/// By kind, most first; what fills the section up is left out.
pub fn of<'a>(opcodes: impl Iterator<Item = &'a str>) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for kind in opcodes.filter(|opcode| *opcode != "NOP").map(kind) {
        match shares.iter_mut().find(|share| share.kind == kind) {
            Some(share) => share.count += 1,
            None => shares.push(Share { kind, count: 1 }),
        }
    }
    shares.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.kind.cmp(b.kind)));
    shares
}

/// By the longest beginning.
fn kind(opcode: &str) -> &'static str {
    let beginnings = KINDS.iter().flat_map(|(kind, names)| names.iter().map(move |name| (name, kind)));
    let fits = beginnings.filter(|(name, _)| opcode.starts_with(name.trim_end_matches('.')));
    fits.max_by_key(|(name, _)| name.len()).map_or("others", |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_a_kind() {
        for (opcode, expected) in [
            ("LDS", "shared memory"),
            ("LDSM", "shared memory"),
            ("LDG", "global memory"),
            ("LD", "global memory"),
            ("ATOMG", "global memory"),
            ("ATOMS", "shared memory"),
            ("RED", "global memory"),
            ("REDUX", "warp"),
            ("LDC", "constant memory"),
            ("LDGDEPBAR", "barriers and fences"),
            ("F2I", "conversions"),
            ("FFMA", "single precision"),
            ("IMAD", "integers and addresses"),
            ("HGMMA", "tensor cores"),
            ("S2R", "moves"),
            ("R2UR", "moves"),
            ("BAR", "barriers and fences"),
            ("BRA", "control"),
            ("WHAT", "others"),
        ] {
            assert_eq!(kind(opcode), expected, "{opcode}");
        }
        let shares = of(["NOP", "FFMA", "FADD", "LDG", "NOP"].into_iter());
        assert_eq!(shares[0], Share { kind: "single precision", count: 2 });
        assert_eq!(shares.len(), 2);
    }
}
