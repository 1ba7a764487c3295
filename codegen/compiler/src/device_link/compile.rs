//! CUDA C++ and PTX to relocatable device objects.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::step::{Step, tool};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Result, Span};
use crate::files;
use crate::ptxas::Job;
use crate::request::{DebugLevel, OptLevel};
use crate::tool::{Name, Tools};

/// What nvcc made of a file.
pub struct Compiled {
    /// The files that it includes, without the system's and CUDA's.
    pub headers: Vec<PathBuf>,
    /// What nvcc said.
    pub warning: Option<Diagnostic>,
}

/// Has nvcc compile a `.cu` file for the job's arch. Only device code is made of it; of the host compiler nvcc needs the
/// preprocessor.
pub fn cuda(source: &Path, output: &Path, step: &Step<'_>, tools: &Tools, flags: &[String]) -> Result<Compiled> {
    let job = &step.job;
    let nvcc = tool(tools, Name::Nvcc, &format!("compiling {}", source.display()))?;
    let dependencies = output.with_extension("d");
    let mut command = Command::new(&nvcc);
    command.args(["-dc", "-cubin", &format!("-arch={}", job.arch)]);
    command.args(match (job.debug, job.level) {
        (DebugLevel::None, _) => &[][..],
        (DebugLevel::Full, OptLevel::O0) => &["-G", "-g"],
        _ => &["-lineinfo"],
    });
    command.args(flags).arg("-MMD").arg("-MF").arg(&dependencies).arg("-o").arg(output).arg(source);
    step.folder.confine(&mut command);
    let run = command.output().map_err(|e| {
        Diagnostic::error(Code::LinkTool, format!("cannot run {}: {e}", nvcc.display()))
            .help("`cargo ptx doctor` shows what was found, `cargo ptx setup` installs NVIDIA's tools")
    })?;
    let log = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    if !run.status.success() || !output.is_file() {
        return Err(cuda_failure(source, job, &log).into());
    }
    let headers = std::fs::read_to_string(&dependencies).map(|text| headers(&text)).unwrap_or_default();
    // CUDA's own headers lie beside nvcc, and are none of the system's to nvcc.
    let toolkit = nvcc.parent().and_then(Path::parent).map(files::normalized).unwrap_or_default();
    let is_own = |file: &PathBuf| file != source && !file.starts_with(&toolkit);
    let first = Message::first(&log, "warning");
    let warning = first.map(|message| {
        Diagnostic::warning(Code::CudaCompile, format!("nvcc warns about {}: {}", source.display(), message.text))
            .at(Some(message.span), "in CUDA C++")
            .note(log.trim().to_string())
    });
    Ok(Compiled { headers: headers.into_iter().filter(is_own).collect(), warning })
}

/// Has ptxas assemble PTX that is not ours.
pub fn ptx(source: &Path, output: &Path, step: &Step<'_>, tools: &Tools) -> Result<()> {
    let job = &step.job;
    let ptxas = tool(tools, Name::Ptxas, &format!("assembling {}", source.display()))?;
    let cannot = |e: &dyn std::fmt::Display| {
        Diagnostic::error(Code::LinkTool, format!("cannot run {}: {e}", ptxas.display()))
            .help("`cargo ptx doctor` shows what was found")
    };
    let mut command = Command::new(&ptxas);
    command.args(["-c", &format!("-arch={}", job.arch)]).arg(source).arg("-o").arg(output);
    step.folder.confine(&mut command);
    let run = command.output().map_err(|e| cannot(&e))?;
    if run.status.success() {
        return Ok(());
    }
    let log = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    let first = log.lines().find(|line| line.contains("error") || line.contains("fatal")).unwrap_or("it said nothing");
    let reason = first.split_once(": ").map_or(first, |(_, reason)| reason).trim();
    // "ptxas /a/foo.ptx, line 12; error   : …"
    let line = first.split(", line ").nth(1).and_then(|rest| rest.split(';').next()?.trim().parse().ok());
    let span = line.map(|line| Span { file: source.to_path_buf(), line, column: 0 });
    Err(Diagnostic::error(Code::CudaCompile, format!("ptxas rejected {} for {}: {reason}", source.display(), job.arch))
        .at(span, "in this PTX")
        .note(log.trim().to_string())
        .help("make the PTX for this arch or an older one, or give the source that it comes from")
        .into())
}

fn cuda_failure(source: &Path, job: &Job<'_>, log: &str) -> Diagnostic {
    let note = log.trim().to_string();
    if let Some(message) = Message::first(log, "error") {
        return Diagnostic::error(
            Code::CudaCompile,
            format!("{} does not compile for {}: {}", source.display(), job.arch, message.text),
        )
        .at(Some(message.span), "in CUDA C++")
        .note(note)
        .help("nvcc's own options can be given as `nvcc-flags = [\"-I…\"]` or `--nvcc-flag`");
    }
    // nvcc runs the host compiler first, and says in these words that it cannot.
    let host = ["host compiler", "cc1plus", "gcc: ", "g++: ", "unsupported GNU version"];
    if host.iter().any(|words| log.contains(words)) {
        return Diagnostic::error(
            Code::LinkTool,
            format!("nvcc cannot compile {} without a host compiler", source.display()),
        )
        .note(note)
        .help("install g++ (on Debian and Ubuntu `apt install g++`), or name another one by the variable NVCC_CCBIN")
        .help("PTX and objects that are made elsewhere (`nvcc -dc`) need no host compiler here");
    }
    let reason = log.lines().find(|line| line.contains("fatal")).or(log.lines().next());
    let reason = reason.and_then(|line| line.split_once(": ")).map_or("it said nothing", |(_, reason)| reason.trim());
    Diagnostic::error(Code::CudaCompile, format!("nvcc rejected {} for {}: {reason}", source.display(), job.arch))
        .note(note)
        .help("`cargo ptx doctor` shows which nvcc was found; leave out archs that it does not know")
}

/// One message of nvcc's.
struct Message {
    span: Span,
    text: String,
}

impl Message {
    /// The first of that level: `twin.cu(2): error: expected an expression` by the CUDA front end,
    /// `twin.cu:1:10: fatal error: foo.h: No such file or directory` by the host's preprocessor.
    fn first(log: &str, level: &str) -> Option<Self> {
        log.lines().find_map(|line| {
            let (place, text) = [format!("{level} #"), format!("{level}: ")]
                .iter()
                .find_map(|word| line.split_once(word.as_str()))
                .or_else(|| line.split_once(&format!("fatal {level}: ")))?;
            let place = place.trim_end().trim_end_matches("fatal").trim_end().strip_suffix(':')?;
            let text = text.split_once("-D: ").map_or(text, |(_, text)| text).trim().to_string();
            let (file, line, column) = match place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
                Some((file, line)) => (file, line, "0"),
                None => {
                    let (rest, column) = place.rsplit_once(':')?;
                    let (file, line) = rest.rsplit_once(':')?;
                    (file, line, column)
                }
            };
            let (line, column) = (line.parse().ok()?, column.parse().ok()?);
            Some(Self { span: Span { file: file.into(), line, column }, text })
        })
    }
}

/// The prerequisites in make's syntax, one or more a line.
fn headers(text: &str) -> Vec<PathBuf> {
    let Some((_, list)) = text.split_once(" : ").or_else(|| text.split_once(": ")) else { return vec![] };
    let list = list.replace("\\\n", " ").replace("\\ ", "\0");
    list.split_whitespace()
        .map(|path| PathBuf::from(path.replace('\0', " ")))
        .filter_map(|path| Some(files::normalized(&files::absolute(&path).ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_nvcc_have_a_place() {
        let first = |log: &str, level: &str| Message::first(log, level).map(|m| (m.span.to_string(), m.text));
        let place = |span: &str, text: &str| Some((span.to_string(), text.to_string()));
        let log = "In file included from a.cu:1:\nbad.cu(2): error: expected an expression\n  int a = ;\n";
        assert_eq!(first(log, "error"), place("bad.cu:2", "expected an expression"));
        let log = "a.cu:1:10: fatal error: foo.h: No such file or directory\n";
        assert_eq!(first(log, "error"), place("a.cu:1:10", "foo.h: No such file or directory"));
        let log = "warn.cu(2): warning #177-D: variable \"unused\" was declared but never referenced\n";
        assert_eq!(first(log, "warning"), place("warn.cu:2", "variable \"unused\" was declared but never referenced"));
        assert_eq!(first(log, "error"), None);
        assert_eq!(first("1 error detected in the compilation of \"bad.cu\".", "error"), None);
    }

    #[test]
    fn headers_are_read() {
        let text = "/t/0.cubin : /a/warn.cu \\\n    /a/my\\ foo.h \\\n    /b/x.h\n";
        assert_eq!(headers(text), ["/a/warn.cu", "/a/my foo.h", "/b/x.h"].map(PathBuf::from));
        assert!(headers("").is_empty());
    }
}
