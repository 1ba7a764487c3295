//! The driver's functions are declared as NVIDIA's PTX Writer's Guide to Interoperability 12.8, chapter 3, and nvcc declare
//! them, and `println!` packs its values as nvcc does.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Trial;
use ptx_codegen::ptx_text;
use ptx_project::tools;
use ptx_tests::folders::root;
use ptx_tests::trial;

use crate::packages::one;

const ARCH: &str = "sm_90";

/// (name, bits of the result or 0, bits of the parameters): the guide's prototypes for 64-bit addresses, and that of
/// `cuda_device_runtime_api.h` for the one that is younger.
const GUIDE: [(&str, u32, &[u32]); 5] = [
    ("__assertfail", 0, &[64, 64, 32, 64, 64]),
    ("cudaGraphSetConditional", 0, &[64, 32]),
    ("free", 0, &[64]),
    ("malloc", 64, &[64]),
    ("vprintf", 32, &[64, 64]),
];

/// The widths of result and parameters, by name.
type Prototypes = BTreeMap<String, (u32, Vec<u32>)>;

pub fn trials() -> Vec<Trial> {
    let guide =
        || GUIDE.map(|(name, result, params)| (name.to_string(), (result, params.to_vec()))).into_iter().collect();
    vec![
        trial("system calls are declared as in the guide".to_string(), move || {
            let expected: Prototypes = guide();
            assert_eq!(prototypes(ours()), expected);
            None
        }),
        trial("system calls are declared as by nvcc".to_string(), || {
            let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
            assert_eq!(prototypes(ours()), prototypes(&theirs), "ours, nvcc's");
            None
        }),
        trial("values are packed as by nvcc".to_string(), || {
            let Some(theirs) = theirs() else { return Some("nvcc was not found".into()) };
            let (ours, theirs) = (local_stores(ours(), "packs"), local_stores(&theirs, "packs"));
            assert_eq!(theirs.len(), 7, "{theirs:?}");
            assert_eq!(ours, theirs, "ours, nvcc's: bits by offset");
            None
        }),
    ]
}

fn ours() -> &'static str {
    static OURS: OnceLock<String> = OnceLock::new();
    OURS.get_or_init(|| fs::read_to_string(one("tests/kernels/syscalls", ARCH).ptx(ARCH)).expect("just written"))
}

fn theirs() -> Option<String> {
    let tools = tools::find();
    let nvcc = tools.nvcc()?;
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let output = scratch.path().join("syscalls.ptx");
    let mut command = Command::new(&nvcc.path);
    command
        .args(["-ptx", &format!("-arch={ARCH}"), "-o"])
        .arg(&output)
        .arg(root().join("tests/kernels/syscalls/syscalls.cu"));
    let run = command.output().expect("nvcc starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(fs::read_to_string(output).expect("just written"))
}

/// Every `.extern .func`.
fn prototypes(ptx: &str) -> Prototypes {
    let declarations = ptx.split(".extern .func").skip(1).filter_map(|rest| rest.split(';').next());
    declarations
        .map(|declaration| {
            // `(.param .b32 func_retval0) vprintf ( … )` or `free ( … )`.
            let text = declaration.trim();
            let (result, rest) = match text.strip_prefix('(') {
                Some(rest) => rest.split_once(')').expect("a result ends"),
                None => ("", text),
            };
            let (name, params) = rest.split_once('(').expect("parameters begin");
            (name.trim().to_string(), (widths(result).first().copied().unwrap_or(0), widths(params)))
        })
        .collect()
}

/// Of every `.param .b64 name`.
fn widths(params: &str) -> Vec<u32> {
    let words = params.split_whitespace().filter_map(|word| word.strip_prefix('.'));
    words.filter_map(|word| word.strip_prefix(['b', 'u', 's'])?.parse().ok()).collect()
}

/// Bits by offset of every `st.local` in a kernel, which must have no other use for local memory than the valist.
fn local_stores(ptx: &str, kernel: &str) -> BTreeMap<u32, u32> {
    let body = ptx_text::definitions(ptx).find(|definition| definition.function.name == kernel);
    let lines = body.expect("the kernel is there").body.lines().map(str::trim);
    let mut stores = BTreeMap::new();
    for store in lines.filter_map(|line| line.strip_prefix("st.local.")) {
        let (ty, rest) = store.split_once(char::is_whitespace).expect("a type and an address");
        let (lanes, ty) = match ty.strip_prefix('v').and_then(|ty| ty.split_once('.')) {
            Some((lanes, ty)) => (lanes.parse().expect("a number of lanes"), ty),
            None => (1, ty),
        };
        let bits: u32 = ty[1..].parse().expect("a width after the letter");
        let address = rest.split(['[', ']']).nth(1).expect("an address in brackets");
        let offset: u32 = address.split_once('+').map_or(0, |(_, offset)| offset.parse().expect("a number"));
        stores.extend((0..lanes).map(|lane| (offset + lane * bits / 8, bits)));
    }
    stores
}
