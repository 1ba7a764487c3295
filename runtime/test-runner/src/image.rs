//! What the build left of a crate's tests: the list of them and the code, by the linker's `report.json`.

use std::path::{Path, PathBuf};

use ptx_host::{Image, Linking, Object};
use serde::Deserialize;

/// File name of the linker's report.
const REPORT: &str = "report.json";

/// A `#[test]`, as the linker reports it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Test {
    /// Its path in the crate: `tests::adds`.
    pub name: String,
    /// Where it is defined.
    pub span: Span,
    /// `#[ignore]`
    pub ignored: bool,
    /// `#[ignore = "…"]`
    pub ignore_message: Option<String>,
    /// `#[should_panic]`
    pub should_panic: ShouldPanic,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Span {
    /// Relative to the workspace.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// Whether a test has to panic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShouldPanic {
    /// It must not.
    #[default]
    No,
    /// With any message.
    Yes,
    /// With a message that contains this.
    With(String),
}

/// The tests of one crate.
#[derive(Clone, Debug, Deserialize)]
pub struct Tests {
    /// Of the crate that they are in.
    pub name: String,
    /// In the order by which the kernel numbers them.
    pub tests: Vec<Test>,
    outputs: Vec<Output>,
    #[serde(skip)]
    folder: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
struct Output {
    kind: String,
    arch: Option<String>,
    path: PathBuf,
}

impl Tests {
    /// Reads what the linker wrote into a folder, which may lie elsewhere by now.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join(REPORT);
        let failed = |error: String| format!("cannot read {}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let tests: Self = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        Ok(Self { folder: folder.to_path_buf(), ..tests })
    }

    /// Where they lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The code, which stays as long as the process.
    pub(crate) fn image(&self) -> Result<Image, String> {
        let read = |output: &Output| {
            let path = self.folder.join(output.path.file_name().unwrap_or_default());
            std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        let mut objects = Vec::new();
        for ptx in self.outputs.iter().filter(|output| output.kind == "ptx") {
            let Some(arch) = &ptx.arch else { continue };
            let text = String::from_utf8(read(ptx)?).map_err(|error| error.to_string())?;
            let cubin = self
                .outputs
                .iter()
                .find(|output| output.kind == "cubin" && output.arch == ptx.arch)
                .map(read)
                .transpose()?;
            objects.push(Object {
                arch: arch.clone().leak(),
                ptx: text.leak(),
                ptx_path: "",
                cubin: cubin.map(|bytes| &*bytes.leak()),
            });
        }
        // SAFETY: the linker wrote the files for those archs, complete. No kernel is described, so that none is launched
        // safely.
        Ok(unsafe { Image::new(self.name.clone().leak(), Linking::None, objects.leak(), &[]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linkers_report_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{
            "name": "demo", "version": "0.1.0", "kernels": [],
            "tests": [
                {"name": "a::b", "span": {"file": "src/lib.rs", "line": 3, "column": 4}, "ignored": false,
                 "ignore_message": null, "should_panic": {"with": "boom"}},
                {"name": "c", "span": {"file": "src/lib.rs", "line": 5, "column": 4}, "ignored": true,
                 "ignore_message": "slow", "should_panic": "no"}
            ],
            "outputs": [{"kind": "ptx", "arch": "sm_90", "path": "/elsewhere/demo.sm_90.ptx"}]
        }"#;
        std::fs::write(folder.path().join(REPORT), text).unwrap();
        let tests = Tests::read(folder.path()).unwrap();
        assert_eq!(tests.tests[0].should_panic, ShouldPanic::With("boom".into()));
        assert_eq!((tests.tests[1].ignored, tests.tests[1].ignore_message.as_deref()), (true, Some("slow")));
        let error = tests.image().unwrap_err();
        assert!(error.contains("demo.sm_90.ptx") && !error.contains("elsewhere"), "{error}");
        std::fs::write(folder.path().join("demo.sm_90.ptx"), ".version 7.8").unwrap();
        assert_eq!(tests.image().unwrap().objects()[0].ptx, ".version 7.8");
    }
}
