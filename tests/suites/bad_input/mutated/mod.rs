//! Three thousand mutated inputs. Whatever the damage is: an exit code of 0 or 1, a message with a code of ours, no panic, no
//! partial output, nothing left in the folder for temporary files, and no blame on libdevice, which is whole.
//!
//! A case is a kind of input and a seed, which its name holds: `cargo xtask test bad-input -- --exact 'mutated bitcode: 17'`
//! runs one again. The mutated file of a case that failed is kept, and its message says where.

mod killed;
mod left;
mod mutate;
mod seeds;

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use libtest_mimic::Trial;
use ptx_codegen::Diagnostic;
use ptx_project::tools;
use ptx_tests::folders::target_dir;
use ptx_tests::{Sample, Scratch, trial};

use self::left::{files_in, scratch};
use crate::ir;

/// What is mutated, and how often.
const KINDS: [(Kind, u64); 8] = [
    (Kind::Bitcode, 900),
    (Kind::Flipped, 1000),
    (Kind::Archive, 300),
    (Kind::Ir, 150),
    (Kind::Ptx, 120),
    (Kind::Cubin, 80),
    (Kind::Manifest, 150),
    (Kind::CommandLine, 300),
];

/// Of them all, what `cargo xtask test` runs.
const PART: usize = 60;

/// No case takes a tenth of it.
const LIMIT: Duration = Duration::from_secs(60);

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bitcode,
    /// Bitcode of which one bit is another.
    Flipped,
    Archive,
    Ir,
    Ptx,
    Cubin,
    Manifest,
    CommandLine,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Bitcode => "bitcode",
            Self::Flipped => "bit of bitcode",
            Self::Archive => "archive",
            Self::Ir => "IR",
            Self::Ptx => "PTX to link",
            Self::Cubin => "cubin to link",
            Self::Manifest => "manifest",
            Self::CommandLine => "command line",
        }
    }
}

pub fn trials() -> Vec<Trial> {
    let cases = KINDS.into_iter().flat_map(|(kind, count)| (0..count).map(move |seed| (kind, seed)));
    let cases = Sample::asked().of("mutated inputs", cases, PART);
    let mut trials: Vec<Trial> = cases
        .into_iter()
        .map(|(kind, seed)| trial(format!("mutated {}: {seed}", kind.name()), move || case(kind, seed)))
        .collect();
    trials.extend(killed::trials());
    trials
}

fn case(kind: Kind, seed: u64) -> Option<String> {
    let linked_to = matches!(kind, Kind::Ptx | Kind::Cubin);
    if linked_to && (tools::find().ptxas().is_none() || tools::find().nvlink().is_none()) {
        return Some("ptxas or nvlink was not found".into());
    }
    let scratch = scratch();
    let mut rng = Rng::with_seed(seed);
    let files = seeds::files();
    let pick = |rng: &mut Rng, all: &[Vec<u8>]| rng.choice(all).cloned().expect("there are some");
    let mut command = if kind == Kind::CommandLine { scratch.bare_linker() } else { scratch.linker() };
    let plain = ["--arch=sm_80", "--ptxas=off"];
    let good = scratch.write("good.ll", ir::good("k"));
    let path = match kind {
        Kind::Bitcode | Kind::Archive => {
            let all = if kind == Kind::Bitcode { &files.bitcode } else { &files.archives };
            let (one, other) = (pick(&mut rng, all), pick(&mut rng, all));
            let name = if kind == Kind::Bitcode { "a.o" } else { "liba.rlib" };
            let path = scratch.write(name, mutate::bytes(&mut rng, &one, &other));
            command.args(plain).arg(&path);
            path
        }
        Kind::Flipped => {
            let mut bytes = pick(&mut rng, &files.bitcode);
            mutate::flip(&mut rng, &mut bytes);
            let path = scratch.write("a.o", bytes);
            command.args(plain).arg(&path);
            path
        }
        Kind::Ir => {
            let path = scratch.write("a.ll", mutate::text(&mut rng, &ir::undefined(true), &ir::module(seeds::CALLER)));
            command.args(plain).arg(&path);
            path
        }
        Kind::Ptx | Kind::Cubin => {
            let (name, bytes) = match kind {
                Kind::Ptx => ("a.ptx", mutate::text(&mut rng, seeds::PTX, ".reg .f64 %fd<3>;\nbra.uni DONE;\n/* \"")),
                _ => ("a.cubin", seeds::cubin().map(|cubin| mutate::bytes(&mut rng, cubin, cubin)).unwrap_or_default()),
            };
            let path = scratch.write(name, bytes);
            let caller = scratch.write("caller.ll", ir::module(seeds::CALLER));
            command.args(["--arch=sm_90", "--export-symbol=back", "--link"]).arg(&path).arg(caller);
            path
        }
        Kind::Manifest => {
            let text = mutate::text(&mut rng, seeds::MANIFEST, seeds::OTHER_MANIFEST);
            let path = scratch.write("Cargo.toml", text);
            command.env("CARGO_MANIFEST_PATH", &path).arg(good);
            path
        }
        Kind::CommandLine => {
            let args = command_line(&mut rng);
            let path = scratch.write("arguments.txt", format!("{args:?}"));
            command.args(args).arg(good);
            path
        }
    };
    let ended = Ended::of(&mut command, &scratch);
    if let Some(tool) = ended.waits_for {
        return Some(format!("{tool} does not come to an end with it"));
    }
    // Options may name another one.
    let blamed = kind != Kind::CommandLine && kind != Kind::Manifest && ended.text.contains("PTX0038");
    let well = if blamed { Err("libdevice is blamed") } else { ended.is_well(&scratch) };
    if let Err(what) = well {
        let kept = target_dir().join("mutated").join(format!("{}-{seed}", kind.name().replace(' ', "-")));
        let name = path.file_name().unwrap_or_default();
        let copy = fs::create_dir_all(&kept).and_then(|()| fs::copy(&path, kept.join(name)));
        let place = copy.map_or_else(|e| e.to_string(), |_| kept.join(name).display().to_string());
        panic!("{what}\n{command:?}\nthe file is kept: {place}\nexit code {:?}; it said:\n{}", ended.code, ended.text);
    }
    None
}

/// Options in any order, most of them right; some mutated. No path leads out of the folder.
fn command_line(rng: &mut Rng) -> Vec<OsString> {
    let mut args: Vec<Vec<u8>> = Vec::new();
    // What every link has, most of the time.
    let base = &seeds::OPTIONS[..6];
    args.extend(base.iter().filter(|_| rng.u8(0..16) > 0).map(|arg| arg.as_bytes().to_vec()));
    for _ in 0..rng.usize(0..6) {
        args.push(rng.choice(seeds::OPTIONS).expect("there are some").as_bytes().to_vec());
    }
    for _ in 0..rng.usize(0..3) {
        if let Some(at) = (!args.is_empty()).then(|| rng.usize(0..args.len())) {
            let other = rng.choice(seeds::OPTIONS).expect("there are some");
            args[at] = match String::from_utf8(args[at].clone()) {
                Ok(arg) if rng.bool() => mutate::text(rng, &arg, other),
                _ => mutate::bytes(rng, &args[at], other.as_bytes()),
            };
        }
    }
    let leads_out = |arg: &[u8]| {
        let value = arg.split(|byte| *byte == b'=').next_back().unwrap_or_default();
        arg.starts_with(b"/") || value.starts_with(b"/") || arg.windows(2).any(|two| two == b"..") || arg.contains(&0)
    };
    args.into_iter().filter(|arg| !leads_out(arg)).map(OsString::from_vec).collect()
}

/// How a linker ended.
struct Ended {
    /// None if it was killed.
    code: Option<i32>,
    text: String,
    files: Vec<String>,
    /// NVIDIA's tool that it would wait for still.
    waits_for: Option<String>,
}

impl Ended {
    /// Runs it, with a folder of its own for temporary files.
    fn of(command: &mut Command, scratch: &Scratch) -> Self {
        let log = scratch.path().join("log");
        let output = File::create(&log).expect("a fresh file");
        command.env("TMPDIR", scratch.path().join("tmp")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let before = files_in(scratch.path());
        let mut child = command.spawn().expect("the linker starts");
        let begun = Instant::now();
        let mut waits_for = None;
        let code = loop {
            if let Some(status) = child.try_wait().expect("our own child") {
                break status.code();
            }
            if begun.elapsed() > LIMIT {
                waits_for = tool_of(child.id());
                child.kill().and_then(|()| child.wait()).expect("our own child");
                break None;
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let text = String::from_utf8_lossy(&fs::read(&log).expect("our own file")).into_owned();
        let files = files_in(scratch.path()).into_iter().filter(|file| !before.contains(file)).collect();
        Self { code, text, files, waits_for }
    }

    fn is_well(&self, scratch: &Scratch) -> Result<(), &'static str> {
        // As text, or as JSON where that was asked for.
        let is_json = |line: &str| serde_json::from_str::<Diagnostic>(line).is_ok();
        let is_code = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() == 4;
        let has_code = || self.text.split("[PTX").skip(1).any(is_code) || self.text.lines().any(is_json);
        if !matches!(self.code, Some(0 | 1)) {
            return Err("neither 0 nor 1");
        }
        if self.text.contains("panicked") || self.text.contains("stack overflow") {
            return Err("it panicked");
        }
        if self.code == Some(1) && !has_code() {
            return Err("no message of ours");
        }
        if self.code == Some(1) && !self.files.is_empty() {
            return Err("a partial output");
        }
        if self.files.iter().any(|file| file.contains(".ptx-new-")) || !files_in(&scratch.path().join("tmp")).is_empty()
        {
            return Err("temporary files are left");
        }
        Ok(())
    }
}

/// The program that a process has started and that still runs.
fn tool_of(process: u32) -> Option<String> {
    // Any thread may have started it.
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let children = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: String = children.collect();
    let child = children.split_whitespace().next()?;
    Some(fs::read_to_string(format!("/proc/{child}/comm")).ok()?.trim().to_string())
}
