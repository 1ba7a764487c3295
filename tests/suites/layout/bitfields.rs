//! Where bit-fields lie: ours, g++'s and nvcc's.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use ptx_project::tools;
use ptx_tests::{Sample, Skip, library};

use crate::generate::{Case, Member, cases};

/// What both programs print for each struct: size and alignment; its bytes when one member after the other is all ones;
/// what each bit-field reads in a pattern; and the pattern's bytes after a write to it.
const RUST: &str = r#"
use std::mem::{align_of, size_of, transmute_copy, zeroed};

fn dump<T: Copy>(what: &str, value: T) {
    print!("{what}");
    let start = (&raw const value).cast::<u8>();
    for i in 0..size_of::<T>() {
        print!(" {:02x}", unsafe { start.add(i).read() });
    }
    println!();
}

fn ones<T>() -> T {
    unsafe {
        let mut value: T = zeroed();
        (&raw mut value).cast::<u8>().write_bytes(0xff, size_of::<T>());
        value
    }
}

fn pattern<T>() -> T {
    unsafe {
        let mut value: T = zeroed();
        for i in 0..size_of::<T>() {
            (&raw mut value).cast::<u8>().add(i).write((37 * i + 0x5b) as u8);
        }
        value
    }
}
"#;

const CXX: &str = r#"
#include <cstdio>
#include <cstring>

template<class T> void dump(const char* what, const T& value) {
    printf("%s", what);
    for (size_t i = 0; i < sizeof(T); i++) printf(" %02x", reinterpret_cast<const unsigned char*>(&value)[i]);
    printf("\n");
}

template<class T> void pattern(T& value) {
    for (size_t i = 0; i < sizeof(T); i++) reinterpret_cast<unsigned char*>(&value)[i] = (unsigned char)(37 * i + 0x5b);
}
"#;

fn chosen() -> Vec<Case> {
    let sample = Sample::asked();
    cases(sample.seed, sample.number("structs with bit-fields", 200, 60) as usize)
}

/// The programs print the same.
pub fn gxx() -> Skip {
    if Command::new("g++").arg("--version").output().is_err() {
        return Some("g++ was not found".into());
    }
    let cases = chosen();
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let theirs = run_cxx(scratch.path(), &cases);
    let ours = run_rust(scratch.path(), &cases);
    compare(&cases, &ours, &theirs);
    None
}

fn compare(cases: &[Case], ours: &str, theirs: &str) {
    let sections = |text: &str| text.split("== ").skip(1).map(str::to_string).collect::<Vec<_>>();
    let (ours, theirs) = (sections(ours), sections(theirs));
    assert_eq!((ours.len(), theirs.len()), (cases.len(), cases.len()), "a program stopped early");
    let wrong: Vec<_> = (0..cases.len()).filter(|&i| ours[i] != theirs[i]).collect();
    // The smallest says most.
    let Some(&first) = wrong.iter().min_by_key(|&&i| cases[i].members.len()) else { return };
    panic!(
        "{} of {} differ; the smallest:\n{}{}ours:\n{}theirs:\n{}",
        wrong.len(),
        cases.len(),
        cases[first].rust(),
        cases[first].cxx(),
        ours[first],
        theirs[first]
    );
}

fn rust_program(cases: &[Case]) -> String {
    let mut text = RUST.to_string();
    cases.iter().for_each(|case| text += &case.rust());
    for (index, case) in cases.iter().enumerate() {
        let name = &case.name;
        writeln!(text, "fn check{index}() {{").unwrap();
        writeln!(text, "    println!(\"== {name} {{}} {{}}\", size_of::<{name}>(), align_of::<{name}>());").unwrap();
        for member in case.named() {
            let m = &member.name;
            let Some(width) = member.width else {
                writeln!(text, "    dump(\"{m}\", {name}::new().with_{m}(ones()));").unwrap();
                continue;
            };
            let (write, read) = if member.is_bool() {
                ("true".to_string(), format!("s.{m}() as i64"))
            } else if member.cxx == "char" || member.cxx.ends_with("long long") {
                ("ones()".to_string(), format!("*s.{m}() as i64"))
            } else {
                ("ones()".to_string(), format!("s.{m}() as i64"))
            };
            writeln!(text, "    dump(\"{m}\", {name}::new().with_{m}({write}));").unwrap();
            writeln!(text, "    let mut s: {name} = pattern();").unwrap();
            if !member.is_bool() {
                writeln!(text, "    println!(\"{m} reads {{}}\", {read});").unwrap();
                // Too large on purpose: the lowest bits count.
                writeln!(text, "    s.set_{m}(unsafe {{ transmute_copy(&{}_u64) }});", value(width)).unwrap();
            } else {
                writeln!(text, "    s.set_{m}(true);").unwrap();
            }
            writeln!(text, "    dump(\"{m} written\", s);").unwrap();
        }
        text += "}\n";
    }
    text += "fn main() {\n";
    (0..cases.len()).for_each(|index| writeln!(text, "    check{index}();").unwrap());
    text + "}\n"
}

fn cxx_program(cases: &[Case]) -> String {
    let mut text = CXX.to_string();
    cases.iter().for_each(|case| text += &case.cxx());
    text += "int main() {\n";
    for case in cases {
        let name = &case.name;
        writeln!(text, "    printf(\"== {name} %zu %zu\\n\", sizeof({name}), alignof({name}));").unwrap();
        for member in case.named() {
            let m = &member.name;
            let zero = format!("{name} s; memset(&s, 0, sizeof s)");
            let Some(width) = member.width else {
                writeln!(text, "    {{ {zero}; memset(&s.{m}, 0xff, sizeof s.{m}); dump(\"{m}\", s); }}").unwrap();
                continue;
            };
            let ones = if member.is_bool() { "true".to_string() } else { format!("({})-1", member.cxx) };
            writeln!(text, "    {{ {zero}; s.{m} = {ones}; dump(\"{m}\", s); }}").unwrap();
            let write = if member.is_bool() {
                format!("s.{m} = true")
            } else {
                format!("printf(\"{m} reads %ld\\n\", (long)s.{m}); s.{m} = ({}){}ull", member.cxx, value(width))
            };
            writeln!(text, "    {{ {name} s; pattern(s); {write}; dump(\"{m} written\", s); }}").unwrap();
        }
    }
    text + "}\n"
}

/// What is written to a bit-field: bits of every kind, more than it has.
fn value(width: usize) -> u64 {
    0xa5c3_96f0_1234_5678_u64.rotate_left(width as u32)
}

fn run_cxx(folder: &Path, cases: &[Case]) -> String {
    let source = folder.join("layout.cpp");
    fs::write(&source, cxx_program(cases)).expect("a fresh file");
    let program = folder.join("layout");
    output(Command::new("g++").args(["-w", "-O1", "-o"]).arg(&program).arg(&source));
    output(&mut Command::new(&program))
}

fn run_rust(folder: &Path, cases: &[Case]) -> String {
    let library = library::host().unwrap_or_else(|error| panic!("{error}"));
    let (source, program) = (folder.join("layout.rs"), folder.join("layout-rust"));
    fs::write(&source, rust_program(cases)).expect("a fresh file");
    output(Command::new("rustc").args(["--edition=2024", "-o"]).arg(&program).args(&library.args).arg(&source));
    output(&mut Command::new(&program))
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// nvcc lays the same structs out on the device: a device variable with one member set has the bytes that g++'s has. (It
/// cannot initialise a union's bit-field, so of unions it only says size and alignment.)
pub fn nvcc() -> Skip {
    let tools = tools::find();
    let Some(nvcc) = tools.nvcc() else { return Some("nvcc was not found".into()) };
    let cases = chosen();
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let theirs = run_cxx(scratch.path(), &cases);
    let source = scratch.path().join("layout.cu");
    fs::write(&source, cuda_program(&cases, &theirs)).expect("a fresh file");
    let ptx = scratch.path().join("layout.ptx");
    output(
        Command::new(&nvcc.path)
            .args(["-w", "-std=c++20", "-arch=sm_90", "-ptx", "-rdc=true", "-o"])
            .arg(&ptx)
            .arg(source),
    );
    let ptx = fs::read_to_string(&ptx).expect("just written");
    let mut compared = 0;
    for (case, section) in cases.iter().zip(theirs.split("== ").skip(1)) {
        for member in case.members.iter().filter(|member| is_initialised(case, member)) {
            let name = format!("{}_{}", case.name, member.name);
            let bytes = |text: &str, radix| -> Vec<u8> {
                text.split([' ', ','])
                    .filter(|t| !t.is_empty())
                    .map(|t| u8::from_str_radix(t, radix).expect("bytes"))
                    .collect()
            };
            let prefix = format!("{} ", member.name);
            let line = section.lines().find_map(|line| line.strip_prefix(&prefix)).expect("g++'s bytes");
            let expected = bytes(line, 16);
            let variable = ptx.split(&format!(" {name}[")).nth(1).unwrap_or_else(|| panic!("no variable {name}"));
            let list = variable.split(';').next().and_then(|text| text.split('{').nth(1)).expect("an initialiser");
            let mut found = bytes(list.trim_end_matches('}'), 10);
            found.resize(expected.len(), 0);
            assert_eq!(found, expected, "nvcc's bytes, g++'s, of {} in\n{}", member.name, case.cxx());
            compared += 1;
        }
    }
    assert!(compared >= cases.len(), "only {compared} members were compared");
    None
}

fn is_initialised(case: &Case, member: &Member) -> bool {
    !case.is_union && member.width.is_some() && !member.name.is_empty()
}

fn cuda_program(cases: &[Case], theirs: &str) -> String {
    let mut text = String::new();
    for (case, section) in cases.iter().zip(theirs.split("== ").skip(1)) {
        let (name, first) = (&case.name, section.lines().next().expect("a first line"));
        let mut numbers = first.split(' ').skip(1);
        let (size, align) = (numbers.next().expect("a size"), numbers.next().expect("an alignment"));
        text += &case.cxx();
        writeln!(text, "static_assert(sizeof({name}) == {size} && alignof({name}) == {align}, \"{name}\");").unwrap();
        for member in case.members.iter().filter(|member| is_initialised(case, member)) {
            let (m, width) = (&member.name, member.width.expect("a bit-field"));
            let ones = match (member.is_bool(), member.is_signed) {
                (true, _) => "true".to_string(),
                (false, true) => "-1".to_string(),
                (false, false) => format!("{}ull", u64::MAX >> (64 - width)),
            };
            writeln!(text, "extern \"C\" __device__ {name} {name}_{m} = {{.{m} = {ones}}};").unwrap();
        }
    }
    text
}
