//! Links device code when the program runs: Rust kernels with CUDA C++, by the driver's linker or by nvJitLink.

mod driver;
mod nvjitlink;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Image, Linking};
use crate::module::Module;

pub use nvjitlink::{link as link_without_device, version as nvjitlink_version};

/// What a piece of code to link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// PTX text.
    Ptx,
    /// A relocatable device object: `nvcc -dc -cubin`, `ptxas -c`.
    Cubin,
    /// Several of those and PTX: `nvcc -dc -fatbin`.
    Fatbin,
    /// A host object with relocatable device code: `nvcc -dc`.
    Object,
    /// An archive of those.
    Library,
    /// LTO-IR: `nvcc -dc -dlto -ltoir`. Only nvJitLink takes it.
    LtoIr,
}

/// One piece of code to link.
#[derive(Clone)]
pub struct LinkInput<'a> {
    /// What it is.
    pub kind: LinkKind,
    /// Its contents; PTX without a NUL at its end.
    pub bytes: Cow<'a, [u8]>,
    /// For messages.
    pub name: String,
}

/// Who links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkWith {
    /// The driver, or nvJitLink if there is LTO-IR among the inputs.
    #[default]
    Auto,
    /// The driver's linker (CUDA driver API, `cuLinkCreate`).
    Driver,
    /// NVIDIA's library nvJitLink, which must be on the machine; it optimises LTO-IR across all inputs.
    NvJitLink,
}

/// Pieces of device code that are to be linked. Made by [`Device::linker`].
///
/// ```no_run
/// # fn run(image: &ptx_host::Image, device: &ptx_host::Device) -> ptx_host::Result<()> {
/// let module = device.linker().image(image).file("kernels/twin.o").link()?;
/// # Ok(()) }
/// ```
#[must_use = "nothing is linked until `.link()` is called"]
pub struct Linker<'a> {
    device: Device,
    images: Vec<&'a Image>,
    pieces: Vec<Piece<'a>>,
    with: LinkWith,
}

enum Piece<'a> {
    Input(LinkInput<'a>),
    File(PathBuf),
}

impl<'a> Linker<'a> {
    pub(crate) fn new(device: &Device) -> Self {
        Self { device: device.clone(), images: vec![], pieces: vec![], with: LinkWith::Auto }
    }

    /// Adds Rust's device code: an image that was built with `link-at-load`, or one that needs nothing and exports
    /// functions. Its kernels are in the module with their signatures, which launches check.
    pub fn image(mut self, image: &'a Image) -> Self {
        self.images.push(image);
        self
    }

    /// Adds PTX text.
    pub fn ptx(self, text: &'a str) -> Self {
        self.add(LinkKind::Ptx, text.as_bytes())
    }

    /// Adds a relocatable device object.
    pub fn cubin(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Cubin, bytes)
    }

    /// Adds a fatbin of relocatable code.
    pub fn fatbin(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Fatbin, bytes)
    }

    /// Adds a host object with relocatable device code.
    pub fn object(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Object, bytes)
    }

    /// Adds an archive of host objects with relocatable device code.
    pub fn library(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Library, bytes)
    }

    /// Adds LTO-IR; nvJitLink then links.
    pub fn ltoir(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::LtoIr, bytes)
    }

    /// Adds a file, which its extension says the kind of: `.ptx`, `.cubin`, `.fatbin`, `.o`, `.obj`, `.a`, `.ltoir`. It is
    /// read by [`link`](Self::link).
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.pieces.push(Piece::File(path.into()));
        self
    }

    /// Decides who links.
    pub fn with(mut self, with: LinkWith) -> Self {
        self.with = with;
        self
    }

    fn add(mut self, kind: LinkKind, bytes: &'a [u8]) -> Self {
        let name = format!("{} {}", kind.name(), self.pieces.len() + 1);
        self.pieces.push(Piece::Input(LinkInput { kind, bytes: bytes.into(), name }));
        self
    }

    /// Links and loads. Errors name the symbols that nobody defines.
    pub fn link(self) -> Result<Module> {
        let Self { device, images, pieces, with } = self;
        let mut arch = device.arch();
        let mut inputs = Vec::new();
        for image in &images {
            let (input, of) = of_image(image, &device)?;
            // Code for sm_90a is linked as such, or not at all.
            if of.ends_with('a') && of.trim_end_matches('a') == arch {
                arch = of.to_owned();
            }
            inputs.push(input);
        }
        for piece in pieces {
            inputs.push(match piece {
                Piece::Input(input) => input,
                Piece::File(path) => of_file(&path)?,
            });
        }
        if inputs.is_empty() {
            return Err(refused(&device, "the linker", "there is nothing to link", "\nAdd an image or a file."));
        }
        let lto = inputs.iter().any(|input| input.kind == LinkKind::LtoIr);
        let (cubin, linker) = match (with, lto) {
            (LinkWith::Driver, true) => {
                let (reason, remedy) =
                    ("it takes no LTO-IR", "\nLet nvJitLink link, or give code that nvcc made without `-dlto`.");
                return Err(refused(&device, DRIVER, reason, remedy));
            }
            (LinkWith::Driver, _) | (LinkWith::Auto, false) => (driver::link(&device, &inputs)?, DRIVER),
            (LinkWith::NvJitLink, _) | (LinkWith::Auto, true) => (nvjitlink::link(&arch, &inputs)?, "nvJitLink"),
        };
        let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
        let description = format!("{} (linked for {arch} by {linker})", names.join(" + "));
        Module::load_linked(&device, images.into_iter().copied().collect(), &cubin, description)
    }
}

/// As messages name it.
const DRIVER: &str = "the driver's linker";

fn refused(device: &Device, linker: &'static str, reason: &str, remedy: &'static str) -> Error {
    Error::Link {
        linker,
        target: device.name().to_owned(),
        reason: reason.to_owned(),
        undefined: Box::default(),
        log: Box::default(),
        remedy,
    }
}

/// The code of an image that fits the device, and its arch.
fn of_image<'a>(image: &'a Image, device: &Device) -> Result<(LinkInput<'a>, &'static str)> {
    if image.linking == Linking::AtBuild {
        let reason = format!("`{}` was linked when it was built, and defines nothing for others", image.name);
        return Err(refused(
            device,
            "the linker",
            &reason,
            "\nBuild it with `link-at-load = true` in `[package.metadata.ptx]`.",
        ));
    }
    let (object, code) = image.pick_to_link(device.capability()).ok_or_else(|| image.nothing_for(device))?;
    let (kind, bytes) = match code {
        crate::driver::Code::Cubin(bytes) => (LinkKind::Cubin, bytes),
        crate::driver::Code::Ptx(text) => (LinkKind::Ptx, text.as_bytes()),
    };
    Ok((LinkInput { kind, bytes: bytes.into(), name: format!("`{}`", image.name) }, object.arch))
}

fn of_file(path: &Path) -> Result<LinkInput<'static>> {
    let fail = |reason: String| Error::LinkInput { path: path.to_path_buf(), reason };
    let kind = LinkKind::of_extension(path).map_err(fail)?;
    let bytes = std::fs::read(path).map_err(|e| fail(e.to_string()))?;
    Ok(LinkInput { kind, bytes: bytes.into(), name: path.display().to_string() })
}

impl LinkKind {
    /// In words.
    fn name(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Cubin => "cubin",
            Self::Fatbin => "fatbin",
            Self::Object => "object",
            Self::Library => "library",
            Self::LtoIr => "LTO-IR",
        }
    }

    fn of_extension(path: &Path) -> Result<Self, String> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        Ok(match extension {
            "ptx" => Self::Ptx,
            "cubin" => Self::Cubin,
            "fatbin" => Self::Fatbin,
            "o" | "obj" => Self::Object,
            "a" | "lib" => Self::Library,
            "ltoir" => Self::LtoIr,
            "cu" => {
                return Err(
                    "CUDA C++ is not compiled at run time here: compile it with `nvcc -dc`, or name it when the \
                            kernels are built (`link = [\"…\"]`)"
                        .to_owned(),
                );
            }
            _ => return Err("what can be linked ends in .ptx, .cubin, .fatbin, .o, .obj, .a or .ltoir".to_owned()),
        })
    }
}

impl LinkInput<'_> {
    /// With contents of its own.
    fn owned(&self) -> LinkInput<'static> {
        LinkInput { kind: self.kind, bytes: self.bytes.to_vec().into(), name: self.name.clone() }
    }
}

impl fmt::Debug for LinkInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.name, self.kind.name(), self.bytes.len())
    }
}

impl fmt::Debug for Linker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.images.len() + self.pieces.len();
        write!(f, "Linker({pieces} pieces for {:?})", self.device)
    }
}

/// Text with a NUL at its end, which is how both linkers take PTX.
fn with_nul(bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    if text.last() != Some(&0) {
        text.push(0);
    }
    text
}

/// The error of a failed link: what is undefined, by the linker's log, and what to do.
fn failure(linker: &'static str, target: &str, reason: String, log: &str) -> Error {
    let mut undefined: Vec<String> = Vec::new();
    for line in log.lines() {
        // "error   : Undefined reference to '_Z3fooii' in 'k.ptx'"
        let symbol = line.split_once("Undefined reference to '").and_then(|(_, rest)| rest.split('\'').next());
        undefined.extend(symbol.map(str::to_owned).filter(|symbol| !undefined.contains(symbol)));
    }
    let remedy = if !undefined.is_empty() {
        "\nAdd the code that defines it; in C++ names the types are a part (`_Z3fooii` is `foo(int, int)`)."
    } else if log.contains("Multiple definition") {
        "\nLeave one of the pieces out, or rename the function in one of them."
    } else if log.contains("rototype") {
        "\nGive the declaration and the definition the same parameters and result."
    } else {
        ""
    };
    let reason = if undefined.is_empty() {
        reason
    } else {
        let names: Vec<_> = undefined.iter().map(|symbol| format!("`{symbol}`")).collect();
        format!("nothing defines {}", names.join(", "))
    };
    let log = if log.trim().is_empty() { String::new() } else { format!("\n{}", log.trim()) };
    Error::Link { linker, target: target.to_owned(), reason, undefined: undefined.into(), log: log.into(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_symbols_are_named_once() {
        let log = "error   : Undefined reference to 'cfoo' in 'k.ptx'\nerror   : Undefined reference to 'cfoo' in 'b'\n\
                   error   : Undefined reference to '_Z3fooii' in 'k.ptx'\nERROR 9: finish\n";
        let error = failure("nvJitLink", "sm_90", "ERROR_INTERNAL".into(), log);
        let text = error.to_string();
        assert!(text.contains("nothing defines `cfoo`, `_Z3fooii`") && text.contains("Add the code"), "{text}");
        let Error::Link { undefined, .. } = error else { panic!("{error}") };
        assert_eq!(*undefined, ["cfoo", "_Z3fooii"]);
        let text = failure("the driver's linker", "x", "invalid image".into(), "").to_string();
        assert!(text.ends_with("invalid image"), "{text}");
    }

    #[test]
    fn files_are_told_by_their_extension() {
        let fails = |path: &str| of_file(Path::new(path)).unwrap_err().to_string();
        assert!(fails("a.cu").contains("nvcc -dc"));
        assert!(fails("a.so").contains(".ltoir"));
        assert!(fails("/nonexistent/a.ptx").contains("No such file"));
        assert_eq!(LinkKind::of_extension(Path::new("x/liba.a")), Ok(LinkKind::Library));
    }
}
