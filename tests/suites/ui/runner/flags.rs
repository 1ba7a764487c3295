//! The directives of ours made known to ui_test, and what is done with the output of a case that compiles.

use std::path::PathBuf;
use std::process::{Command, Output};

use ptx_codegen::driver::LINKER_VARIABLE;
use ptx_test_cases::checks::{Checks, Text};
use ptx_test_cases::directives::{self, DIRECTIVES, Emit, REFUSED, Settings};
use ui_test::build_manager::BuildManager;
use ui_test::custom_flags::Flag;
use ui_test::per_test_config::{Comments, TestConfig};
use ui_test::spanned::{Span, Spanned};
use ui_test::{CommentParser, Config, Errored, Revisioned};

use crate::cubin;
use crate::outcome::{compare, failed, read};

/// What every folder of cases refuses.
pub fn refuse(config: &mut Config) {
    for name in REFUSED {
        config.custom_comments.insert(name, |parser, _, span| parser.error(span, "this directive is of no use here"));
    }
    config.custom_comments.insert("run", |parser, _, span| {
        parser.error(span, "only cases that compile for the device run, and not this one");
    });
    config.comment_defaults.base().set_custom("case", Case { on_device: false, compiles: false });
}

/// This program is the linker of the cases in `config`.
pub fn compile_for_device(config: &mut Config, compiles: bool) {
    let linker = std::env::current_exe().expect("a running program has a path");
    config.program.envs.push((LINKER_VARIABLE.into(), Some(linker.clone().into())));
    config.program.args.push(format!("-Clinker={}", linker.display()).into());
    config.program.args.extend(["-Clink-arg=--message-format=json", "-Clink-arg=--ptxas=off"].map(Into::into));
    config.comment_defaults.base().set_custom("case", Case { on_device: true, compiles });
    macro_rules! known {
        ($($name:literal)*) => {$(
            config.custom_comments.insert($name, |parser, value, span| take(parser, $name, value.content, span));
        )*};
    }
    known!("arch" "debug" "float" "link-arg" "needs-gpu" "needs-ptxas" "opt-level");
    if compiles {
        known!("build-pass" "emit" "expect" "run");
        let unknown = DIRECTIVES.iter().find(|known| known.ours && !config.custom_comments.contains_key(known.name));
        assert!(unknown.is_none(), "ui_test was not told of {unknown:?}");
        let defaults = config.comment_defaults.base();
        defaults.exit_status = Spanned::dummy(0).into();
        defaults.require_annotations = Spanned::dummy(false).into();
    }
}

/// Says whether a directive's value is one, and that it stands there once.
fn take(parser: &mut CommentParser<&mut Revisioned>, name: &'static str, value: &str, span: Span) {
    if let Err(what) = Settings::default().take(name, value) {
        parser.error(span, what);
        return;
    }
    match name {
        // These may stand there again.
        "expect" | "float" | "link-arg" => {}
        "needs-ptxas" => parser.set_custom_once(name, Needs(|| cubin::ptxas().is_some()), span),
        "needs-gpu" => parser.set_custom_once(name, Needs(cubin::has_gpu), span),
        _ => parser.set_custom_once(name, (), span),
    }
}

/// `//@ needs-…`
#[derive(Clone, Debug)]
struct Needs(fn() -> bool);

impl Flag for Needs {
    fn clone_inner(&self) -> Box<dyn Flag> {
        Box::new(self.clone())
    }

    fn must_be_unique(&self) -> bool {
        true
    }

    fn test_condition(&self, _: &Config, _: &Comments, _: &str) -> bool {
        !self.0()
    }
}

/// The directives of ours and the checks of a case.
#[derive(Clone, Copy, Debug)]
struct Case {
    on_device: bool,
    /// Then its output is checked.
    compiles: bool,
}

impl Flag for Case {
    fn clone_inner(&self) -> Box<dyn Flag> {
        Box::new(*self)
    }

    fn must_be_unique(&self) -> bool {
        true
    }

    fn apply(&self, command: &mut Command, test: &TestConfig, _: &BuildManager) -> Result<(), Errored> {
        let path = test.status.path();
        let source = read(path)?;
        let (settings, checks) = parse(test, &source)?;
        // ui_test keeps parts of cases in folders of this name.
        let is_part = path.parent().is_some_and(|folder| folder.ends_with("auxiliary"));
        if self.compiles && !is_part {
            if checks.is_empty(test.status.revision()) && !settings.build_pass && settings.launch().is_none() {
                return Err(bad_case(test, "nothing is checked; if it must only build, say `//@ build-pass`"));
            }
        } else if !checks.is_empty(test.status.revision()) {
            return Err(bad_case(test, "nobody looks at the checks of a case that does not compile, or of a part"));
        }
        if !self.on_device {
            return Ok(());
        }
        command.args(settings.rustc_args());
        let emit = match settings.emit {
            Emit::Ptx => return Ok(()),
            Emit::LlvmIr => "llvm-ir",
            Emit::Header => "header",
        };
        command.arg(format!("-Clink-arg=--emit={emit}"));
        command.arg(format!("-Clink-arg=--out-dir={}", test.config.out_dir.display()));
        command
            .arg(format!("-Clink-arg=--name={}", output(test, "").file_stem().unwrap_or_default().to_string_lossy()));
        Ok(())
    }

    fn post_test_action(&self, test: &TestConfig, _: &Output, builds: &BuildManager) -> Result<(), Errored> {
        if !self.compiles {
            return Ok(());
        }
        let ptx = output(test, "ptx");
        let (settings, checks) = parse(test, &read(test.status.path())?)?;
        let checked = match settings.emit {
            Emit::Ptx => ptx.clone(),
            Emit::LlvmIr => ptx.with_extension(format!("{}.ll", settings.arch())),
            Emit::Header => ptx.with_extension("h"),
        };
        compare(test.status.path(), &checks.of(Text::Main, test.status.revision()), &read(&checked)?)?;
        cubin::examine(test, ptx, settings, &checks, builds);
        Ok(())
    }
}

/// What the case says of itself.
fn parse(test: &TestConfig, source: &str) -> Result<(Settings, Checks), Errored> {
    let settings = Settings::parse(source, test.status.revision()).map_err(|what| bad_case(test, &what))?;
    let checks = Checks::parse(source, &directives::revisions(source)).map_err(|what| bad_case(test, &what))?;
    Ok((settings, checks))
}

fn bad_case(test: &TestConfig, what: &str) -> Errored {
    failed("case", format!("{}: {what}", test.status.path().display()))
}

/// The file that rustc was told to write, by its naming rules.
fn output(test: &TestConfig, extension: &str) -> PathBuf {
    let stem = test.status.path().file_stem().unwrap_or_default().to_string_lossy().replace('-', "_");
    test.config.out_dir.join(format!("{stem}{}", test.status.revision())).with_extension(extension)
}
