//! The directives of ours, and what is done with the output of a case that compiles.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use ptx_codegen::driver::LINKER_VARIABLE;
use ptx_codegen::tools::{Tool, Tools};
use ui_test::build_manager::BuildManager;
use ui_test::custom_flags::Flag;
use ui_test::per_test_config::{Comments, TestConfig};
use ui_test::spanned::Spanned;
use ui_test::status_emitter::RevisionStyle;
use ui_test::{Config, Error, Errored, TestOk};
use ui_tests::filecheck;

/// The ptxas in use.
pub fn ptxas() -> Option<&'static Tool> {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(Tools::find).ptxas()
}

/// This program is the linker of the cases in `config`.
pub fn compile_for_device(config: &mut Config) {
    let linker = std::env::current_exe().expect("a running program has a path");
    config.program.envs.push((LINKER_VARIABLE.into(), Some("1".into())));
    config.program.args.push(format!("-Clinker={}", linker.display()).into());
    let args = ["-Copt-level=3", "-Cdebuginfo=line-tables-only", "-Clink-arg=--message-format=json"];
    config.program.args.extend(args.map(Into::into));
    config.program.args.extend(["-Clink-arg=--ptxas=off", "-Clink-arg=--debug-level=none"].map(Into::into));
    config.comment_defaults.base().set_custom("arch", Arch("sm_80".into()));
    config.custom_comments.insert("arch", |parser, args, span| {
        parser.set_custom_once("arch", Arch(args.content.to_string()), span);
    });
    config.custom_comments.insert("link-arg", |parser, args, span| {
        parser.add_custom_spanned("link-arg", LinkArg(args.content.to_string()), span);
    });
    config.custom_comments.insert("needs-ptxas", |parser, _, span| {
        parser.set_custom_once("needs-ptxas", NeedsPtxas, span);
    });
}

/// The cases in `config` must compile, and their output is checked.
pub fn expect_ptx(config: &mut Config) {
    let defaults = config.comment_defaults.base();
    defaults.exit_status = Spanned::dummy(0).into();
    defaults.require_annotations = Spanned::dummy(false).into();
    defaults.set_custom("emit", Check(Text::Ptx));
    config.custom_comments.insert("emit", |parser, args, span| match args.content {
        "llvm-ir" => parser.set_custom_once("emit", Check(Text::LlvmIr), span),
        other => parser.error(span, format!("`{other}` cannot be checked: llvm-ir can")),
    });
}

/// `//@arch`
#[derive(Clone, Debug)]
struct Arch(String);

impl Flag for Arch {
    fn clone_inner(&self) -> Box<dyn Flag> {
        Box::new(self.clone())
    }

    fn must_be_unique(&self) -> bool {
        true
    }

    fn apply(&self, command: &mut Command, _: &TestConfig, _: &BuildManager) -> Result<(), Errored> {
        command.arg(format!("-Clink-arg=--arch={}", self.0));
        Ok(())
    }
}

/// `//@link-arg`
#[derive(Clone, Debug)]
struct LinkArg(String);

impl Flag for LinkArg {
    fn clone_inner(&self) -> Box<dyn Flag> {
        Box::new(self.clone())
    }

    fn must_be_unique(&self) -> bool {
        false
    }

    fn apply(&self, command: &mut Command, _: &TestConfig, _: &BuildManager) -> Result<(), Errored> {
        command.arg(format!("-Clink-arg={}", self.0));
        Ok(())
    }
}

/// `//@needs-ptxas`
#[derive(Clone, Debug)]
struct NeedsPtxas;

impl Flag for NeedsPtxas {
    fn clone_inner(&self) -> Box<dyn Flag> {
        Box::new(self.clone())
    }

    fn must_be_unique(&self) -> bool {
        true
    }

    fn test_condition(&self, _: &Config, _: &Comments, _: &str) -> bool {
        ptxas().is_none()
    }
}

/// `//@emit`, and the checks of every case that compiles.
#[derive(Clone, Debug)]
struct Check(Text);

/// What `// CHECK` lines are matched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Ptx,
    LlvmIr,
}

impl Flag for Check {
    fn clone_inner(&self) -> Box<dyn Flag> {
        Box::new(self.clone())
    }

    fn must_be_unique(&self) -> bool {
        true
    }

    fn apply(&self, command: &mut Command, test: &TestConfig, _: &BuildManager) -> Result<(), Errored> {
        if self.0 == Text::LlvmIr {
            command.args([
                "-Clink-arg=--emit=llvm-ir".into(),
                format!("-Clink-arg=--out-dir={}", test.config.out_dir.display()),
            ]);
            command.arg(format!(
                "-Clink-arg=--name={}",
                output(test, "").file_stem().unwrap_or_default().to_string_lossy()
            ));
        }
        Ok(())
    }

    fn post_test_action(&self, test: &TestConfig, _: &Output, builds: &BuildManager) -> Result<(), Errored> {
        let ptx = output(test, "ptx");
        let checked = match self.0 {
            Text::Ptx => ptx.clone(),
            Text::LlvmIr => ptx.with_extension(format!("{}.ll", arch(&read(&ptx)?))),
        };
        let source = read(test.status.path())?;
        let text = read(&checked)?;
        filecheck::directives(&source, test.status.revision())
            .and_then(|directives| filecheck::check(&directives, &text))
            .map_err(|what| failed("FileCheck", format!("{}: {what}", test.status.path().display())))?;
        assemble(test, ptx, builds);
        Ok(())
    }
}

/// Adds a test: ptxas accepts the PTX, or is not there.
fn assemble(test: &TestConfig, ptx: PathBuf, builds: &BuildManager) {
    let revision = test.extension("ptxas");
    let mut config = TestConfig::one_off_runner(test.config.clone(), test.status.path().to_path_buf());
    config.status = test.status.for_revision(&revision, RevisionStyle::Show);
    builds.add_new_job(config, move |_| {
        let Some(ptxas) = ptxas() else { return Ok(TestOk::Ignored) };
        let text = read(&ptx)?;
        let mut command = Command::new(&ptxas.path);
        command.args(["--gpu-name", arch(&text), "--output-file"]).arg(ptx.with_extension("cubin")).arg(&ptx);
        match command.output() {
            Ok(output) if output.status.success() => Ok(TestOk::Ok),
            Ok(output) => Err(failed("ptxas", String::from_utf8_lossy(&output.stderr).into_owned())),
            Err(error) => Err(failed("ptxas", error.to_string())),
        }
    });
}

/// The file that rustc was told to write, by its naming rules.
fn output(test: &TestConfig, extension: &str) -> PathBuf {
    let stem = test.status.path().file_stem().unwrap_or_default().to_string_lossy().replace('-', "_");
    test.config.out_dir.join(format!("{stem}{}", test.status.revision())).with_extension(extension)
}

/// The GPU that the PTX is for.
fn arch(ptx: &str) -> &str {
    let target = ptx.lines().find_map(|line| line.strip_prefix(".target ")).unwrap_or_default();
    target.split([',', ' ']).next().unwrap_or_default()
}

fn read(path: &Path) -> Result<String, Errored> {
    std::fs::read_to_string(path).map_err(|error| failed("output", format!("{}: {error}", path.display())))
}

fn failed(what: &str, why: String) -> Errored {
    Errored { command: what.into(), errors: vec![Error::ConfigError(why)], stderr: vec![], stdout: vec![] }
}
