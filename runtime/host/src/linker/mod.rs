//! Links device code when the program runs: Rust kernels with CUDA C++, by the driver's linker or by nvJitLink.

mod driver;
mod failure;
mod input;
mod nvjitlink;

use std::fmt;
use std::path::PathBuf;

use failure::refused;

use crate::device::Device;
use crate::error::Result;
use crate::image::{Code, Image, Linking};
use crate::module::Module;

pub use input::{LinkInput, LinkKind};
pub use nvjitlink::{link as link_without_device, version as nvjitlink_version};

/// The linker to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkWith {
    /// The driver's linker, or nvJitLink if there is LTO-IR among the inputs.
    #[default]
    Auto,
    /// The driver's linker (CUDA driver API, `cuLinkCreate`).
    Driver,
    /// NVIDIA's library nvJitLink, which must be on the machine; it optimises LTO-IR across all inputs.
    NvJitLink,
}

/// Pieces of device code to link. [`Device::linker`] makes it.
///
/// ```no_run
/// # fn run(image: &ptx_host::Image, device: &ptx_host::Device) -> ptx_host::Result<()> {
/// // SAFETY: the object is what nvcc made of the functions that the kernels of `image` declare.
/// let linker = unsafe { device.linker().image(image).file("kernels/twin.o") };
/// let module = linker.link()?;
/// # Ok(()) }
/// ```
///
/// # Safety of foreign code
/// Linking images is safe. Adding other code is `unsafe`, because it becomes part of kernels that are launched safely.
/// Whoever adds it promises that
/// - it is undamaged device code of the kind that the function names: linkers and drivers believe what object files say;
/// - it defines what the images declare, with the same names, parameters, results and guarantees to callers.
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

impl Device {
    /// Starts a link of device code at run time: Rust kernels with CUDA C++.
    pub fn linker<'a>(&self) -> Linker<'a> {
        Linker { device: self.clone(), images: vec![], pieces: vec![], with: LinkWith::Auto }
    }
}

impl<'a> Linker<'a> {
    /// Adds Rust device code: an image that was built with `link-at-load`, or a complete one that exports functions.
    /// Its kernels are in the module with their signatures, which launches check.
    pub fn image(mut self, image: &'a Image) -> Self {
        self.images.push(image);
        self
    }

    /// Adds PTX text.
    ///
    /// # Safety
    /// See [foreign code](Self#safety-of-foreign-code).
    pub unsafe fn ptx(self, text: &'a str) -> Self {
        self.add(LinkKind::Ptx, text.as_bytes())
    }

    /// Adds a relocatable device object.
    ///
    /// # Safety
    /// See [foreign code](Self#safety-of-foreign-code).
    pub unsafe fn cubin(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Cubin, bytes)
    }

    /// Adds a fatbin of relocatable code.
    ///
    /// # Safety
    /// See [foreign code](Self#safety-of-foreign-code).
    pub unsafe fn fatbin(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Fatbin, bytes)
    }

    /// Adds a host object with relocatable device code.
    ///
    /// # Safety
    /// See [foreign code](Self#safety-of-foreign-code).
    pub unsafe fn object(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Object, bytes)
    }

    /// Adds an archive of host objects with relocatable device code.
    ///
    /// # Safety
    /// See [foreign code](Self#safety-of-foreign-code).
    pub unsafe fn library(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::Library, bytes)
    }

    /// Adds LTO-IR; nvJitLink is then the linker.
    ///
    /// # Safety
    /// See [foreign code](Self#safety-of-foreign-code).
    pub unsafe fn ltoir(self, bytes: &'a [u8]) -> Self {
        self.add(LinkKind::LtoIr, bytes)
    }

    /// Adds a file; its extension says of which kind it is: `.ptx`, `.cubin`, `.fatbin`, `.o`, `.obj`, `.a`, `.ltoir`.
    /// [`link`](Self::link) reads it.
    ///
    /// # Safety
    /// See [foreign code](Self#safety-of-foreign-code).
    pub unsafe fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.pieces.push(Piece::File(path.into()));
        self
    }

    /// Chooses the linker.
    pub fn with(mut self, with: LinkWith) -> Self {
        self.with = with;
        self
    }

    fn add(mut self, kind: LinkKind, bytes: &'a [u8]) -> Self {
        let name = format!("{} {}", kind.name(), self.pieces.len() + 1);
        self.pieces.push(Piece::Input(LinkInput { kind, bytes: bytes.into(), name }));
        self
    }

    /// Links the code and loads it. Errors name the symbols that nothing defines.
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
                Piece::File(path) => LinkInput::of_file(&path)?,
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
                return Err(refused(&device, driver::NAME, reason, remedy));
            }
            (LinkWith::Driver, _) | (LinkWith::Auto, false) => (driver::link(&device, &inputs)?, driver::NAME),
            (LinkWith::NvJitLink, _) | (LinkWith::Auto, true) => (nvjitlink::link(&arch, &inputs)?, "nvJitLink"),
        };
        let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
        let description = format!("{} (linked for {arch} by {linker})", names.join(" + "));
        // SAFETY: a linker made a whole cubin of undamaged pieces, which their adders promised; it has all kernels of the images,
        // since a kernel that another piece defines, too, is an error.
        unsafe { Module::load_linked(&device, images.into_iter().copied().collect(), &cubin, description) }
    }
}

/// The code of an image that fits the device, and its arch.
fn of_image<'a>(image: &'a Image, device: &Device) -> Result<(LinkInput<'a>, &'static str)> {
    if image.linking() == Linking::AtBuild {
        let reason = format!("`{}` was linked when it was built, and defines nothing for others", image.name());
        return Err(refused(
            device,
            "the linker",
            &reason,
            "\nBuild it with `link-at-load = true` in `[package.metadata.ptx]`.",
        ));
    }
    let (object, code) =
        image.pick_to_link(device.capability()).ok_or_else(|| image.nothing_for(device.name(), device.arch()))?;
    let (kind, bytes) = match code {
        Code::Cubin(bytes) => (LinkKind::Cubin, bytes),
        Code::Ptx(text) => (LinkKind::Ptx, text.as_bytes()),
    };
    Ok((LinkInput { kind, bytes: bytes.into(), name: format!("`{}`", image.name()) }, object.arch))
}

impl fmt::Debug for Linker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.images.len() + self.pieces.len();
        write!(f, "Linker({pieces} pieces for {:?})", self.device)
    }
}
