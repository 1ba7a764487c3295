//! The CUDA C++ side, in every form that nvcc makes of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use ptx_codegen::tool::Name;
use ptx_project::tools;
use ptx_tests::{Scratch, trial};

/// What the Rust side calls, and a function and a kernel that call the Rust side.
pub const TWIN: &str = "#include \"twin.cuh\"
extern \"C\" __device__ int rust_twice(int x);
extern \"C\" __device__ int cpp_scale(int x, int by) { return x * by + rust_twice(x); }
namespace cpp { __device__ int add(int a, int b) { return a + b + MORE; } }
extern \"C\" __global__ void cpp_kernel(int *p) { *p = rust_twice(*p); }
";

/// What `TWIN` includes.
pub const HEADER: &str = "#define MORE 7\n";

/// NVIDIA's tools and a host compiler.
pub struct Cuda {
    nvcc: PathBuf,
    cuobjdump: PathBuf,
}

/// A test that needs the tools, and is skipped where one is missing.
pub fn test(name: &str, body: fn(&Cuda)) -> Trial {
    trial(name, move || match Cuda::find() {
        Ok(cuda) => {
            body(&cuda);
            None
        }
        Err(reason) => Some(reason),
    })
}

impl Cuda {
    /// The tools, or why a test cannot run.
    pub fn find() -> Result<Self, String> {
        let tools = tools::find();
        let path = |name: Name| {
            let tool = tools.get(name).ok_or(format!("{name} was not found; `cargo xtask setup` installs it"))?;
            Ok::<_, String>(tool.path.clone())
        };
        for name in [Name::Ptxas, Name::Nvlink, Name::Fatbinary] {
            path(name)?;
        }
        if Command::new("g++").arg("--version").output().is_err() {
            return Err("g++ was not found, and nvcc needs it".into());
        }
        Ok(Self { nvcc: path(Name::Nvcc)?, cuobjdump: path(Name::Cuobjdump)? })
    }

    /// Writes the twin's sources.
    pub fn twin(&self, scratch: &Scratch) -> PathBuf {
        scratch.write("twin.cuh", HEADER);
        scratch.write("twin.cu", TWIN)
    }

    /// Compiles `source` to `name` in the scratch folder.
    #[track_caller]
    pub fn nvcc(&self, scratch: &Scratch, source: &Path, name: &str, args: &[&str]) -> PathBuf {
        let output = scratch.path().join(name);
        let run = Command::new(&self.nvcc).args(args).arg("-o").arg(&output).arg(source).output().expect("nvcc starts");
        assert!(run.status.success(), "nvcc {args:?}: {}", String::from_utf8_lossy(&run.stderr));
        output
    }

    /// Relocatable code for those archs in a host object, as `sm_75,sm_90`.
    pub fn object(&self, scratch: &Scratch, source: &Path, name: &str, archs: &str) -> PathBuf {
        let codes: Vec<String> = archs.split(',').map(|arch| code(arch, "sm")).collect();
        let mut args = vec!["-dc"];
        args.extend(codes.iter().flat_map(|code| ["-gencode", code]));
        self.nvcc(scratch, source, name, &args)
    }

    /// The symbols of a cubin, by cuobjdump: `STT_FUNC STB_GLOBAL STO_ENTRY k`; `U` before a name: undefined.
    pub fn symbols(&self, cubin: &Path) -> Vec<String> {
        let run =
            Command::new(&self.cuobjdump).arg("--dump-elf-symbols").arg(cubin).output().expect("cuobjdump starts");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let lines = text.lines().filter(|line| line.starts_with("STT_FUNC"));
        lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// What cuobjdump lists with these options.
    pub fn list(&self, option: &str, file: &Path) -> String {
        let run = Command::new(&self.cuobjdump).arg(option).arg(file).output().expect("cuobjdump starts");
        String::from_utf8_lossy(&run.stdout).into_owned()
    }

    /// The linked code has both sides, and nothing is left undefined.
    #[track_caller]
    pub fn has_both_sides(&self, cubin: &Path) {
        let symbols = self.symbols(cubin);
        for kernel in ["k", "cpp_kernel"] {
            let entry = format!("STO_ENTRY {kernel}");
            assert!(symbols.iter().any(|symbol| symbol.ends_with(&entry)), "no {entry} in {symbols:#?}");
        }
        let undefined: Vec<_> = symbols.iter().filter(|symbol| symbol.contains(" U ")).collect();
        assert!(undefined.is_empty(), "undefined: {undefined:#?}");
    }

    /// Whether the function is in the cubin.
    pub fn defines(&self, cubin: &Path, name: &str) -> bool {
        self.symbols(cubin).iter().any(|symbol| symbol.ends_with(&format!(" {name}")) && !symbol.contains(" U "))
    }
}

/// nvcc's `-gencode` value: `arch=compute_90,code=sm_90`.
pub fn code(arch: &str, kind: &str) -> String {
    let number = arch.trim_start_matches("sm_");
    format!("arch=compute_{number},code={kind}_{number}")
}
