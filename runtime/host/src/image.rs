//! Embedded device code, as `ptx-build` writes it, and which of its objects fits a device.

use crate::error::Error;

/// The device code of one crate: `ptx::image!()`, or [`Image::new`] for code from elsewhere.
///
/// Whoever has an image can load and launch its kernels without `unsafe`. So no safe code makes one:
///
/// ```compile_fail,E0451
/// use ptx_host::{Image, Linking};
///
/// let image = Image { name: "mine", linking: Linking::None, objects: &[], kernels: &[] };
/// ```
///
/// ```compile_fail,E0133
/// use ptx_host::{Image, Linking};
///
/// let image = Image::new("mine", Linking::None, &[], &[]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Image {
    name: &'static str,
    linking: Linking,
    objects: &'static [Object],
    kernels: &'static [KernelRecord],
}

/// When device code is linked with other device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    /// Never: PTX and cubins are complete.
    None,
    /// When the program was built: the cubins are linked, and the PTX alone is incomplete.
    AtBuild,
    /// When the program runs, by [`Device::linker`](crate::Device::linker): both are incomplete.
    AtLoad,
}

/// The code for one architecture. Several of one architecture are parts of a program: their cubins have its kernels between
/// them, so that few of them are made again after a change. Each has the PTX of the whole.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// The architecture, such as `sm_90` or `sm_90a`.
    pub arch: &'static str,
    /// The PTX text.
    pub ptx: &'static str,
    /// The path of the PTX as a file.
    pub ptx_path: &'static str,
    /// The machine code, if ptxas was found.
    pub cubin: Option<&'static [u8]>,
}

/// What an image says about one of its kernels.
#[derive(Clone, Copy, Debug)]
pub struct KernelRecord {
    /// Its name in the PTX.
    pub name: &'static str,
    /// Its path in the source.
    pub path: &'static str,
    /// Its signature, for messages.
    pub signature: &'static str,
    /// `ptx_abi::Descriptor::abi_hash` as the compiler saw it.
    pub abi_hash: u64,
    /// The resources that it uses, by architecture; empty if ptxas was not found.
    pub resources: &'static [ResourceRecord],
}

/// The resources that a kernel uses, as ptxas reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceRecord {
    /// The architecture, such as `sm_90`.
    pub arch: &'static str,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of stack of a thread, with all that the kernel calls and one turn of its recursion.
    pub stack: u32,
    /// What recursion needs beside that; none without.
    pub recursion: Option<Recursion>,
    /// Bytes of registers stored to memory.
    pub spill_stores: u32,
    /// Bytes of registers loaded back.
    pub spill_loads: u32,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
    /// Bytes of constant memory; ptxas 13 does not report it for sm_90 and later.
    pub constant: Option<u32>,
}

/// What recursion needs of the stack, in bytes a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recursion {
    /// One more turn, at most. 0 where only calls through pointers come back to a function.
    pub level: u32,
    /// What must be free where a function looks for the stack's end.
    pub reserve: u32,
}

/// The part of an image that the driver or a linker takes.
pub(crate) enum Code<'a> {
    /// PTX text, for the driver's just-in-time compiler.
    Ptx(&'a str),
    /// Machine code.
    Cubin(&'a [u8]),
}

/// A compute capability, with the letter that limits where code for it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arch {
    pub(crate) major: u32,
    minor: u32,
    feature: Option<char>,
}

impl Arch {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"))?;
        let number = digits.trim_end_matches(['a', 'f']);
        let feature = digits[number.len()..].chars().next();
        let number: u32 = number.parse().ok()?;
        Some(Self { major: number / 10, minor: number % 10, feature })
    }

    /// Whether machine code for it runs there: same major, same or lower minor (CUDA programming guide, "Binary
    /// compatibility"); with `a` that one only.
    fn cubin_runs_on(self, (major, minor): (u32, u32)) -> bool {
        match self.feature {
            Some('a') => (self.major, self.minor) == (major, minor),
            _ => self.major == major && self.minor <= minor,
        }
    }

    /// Whether PTX for it can be compiled there: same or lower; `a` that one only, `f` in one major only.
    fn ptx_compiles_on(self, device: (u32, u32)) -> bool {
        match self.feature {
            Some(_) => self.cubin_runs_on(device),
            None => (self.major, self.minor) <= device,
        }
    }
}

impl Image {
    /// An image of code that does not come from `ptx-build`: PTX or machine code from a file, from another compiler or
    /// from a generator. `name` is for messages.
    ///
    /// ```no_run
    /// use ptx_host::{Device, Image, Linking, Object};
    ///
    /// # fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// // An image lives as long as the program.
    /// let cubin: &'static [u8] = std::fs::read("k.cubin")?.leak();
    /// let objects = vec![Object { arch: "sm_90", ptx: "", ptx_path: "", cubin: Some(cubin) }].leak();
    /// // SAFETY: the file is what `ptxas -arch=sm_90` wrote. No kernel is described, so that none is launched safely.
    /// let image = unsafe { Image::new("k", Linking::None, objects, &[]) };
    /// let module = Device::first()?.load(&image)?;
    /// let function = module.function("k")?; // for `cudarc::driver::result::launch_kernel`
    /// # Ok(()) }
    /// ```
    ///
    /// # Safety
    /// - Every [`Object::cubin`] must be a whole cubin (an ELF file of CUDA's) for its arch: the driver
    ///   (`cuModuleLoadDataEx`) believes what it says of itself. [`Object::ptx`] must be PTX for its arch, or empty
    ///   where the cubin is what is loaded; errors in it are the driver's to find.
    /// - `linking` must say what the objects lack.
    /// - Every object, or those of one arch between them, must have every kernel of `kernels` as an entry of that
    ///   [`name`](KernelRecord::name), with the parameters whose layout the [`abi_hash`](KernelRecord::abi_hash) stands
    ///   for. It must be sound to launch it with any arguments of those types and with any grid, unless the Rust function
    ///   of that name is `unsafe`.
    /// - Where several objects of one arch name the same static, it must do no harm that each has its own.
    pub const unsafe fn new(
        name: &'static str,
        linking: Linking,
        objects: &'static [Object],
        kernels: &'static [KernelRecord],
    ) -> Self {
        Self { name, linking, objects, kernels }
    }

    /// Whether it is the same code: one image may stand in a program several times.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let code = |object: &Object| (object.arch, object.ptx, object.cubin);
        let kernel = |kernel: &KernelRecord| (kernel.name, kernel.abi_hash);
        self.name == other.name
            && (std::ptr::eq(self.objects, other.objects)
                || self.objects.iter().map(code).eq(other.objects.iter().map(code))
                    && self.kernels.iter().map(kernel).eq(other.kernels.iter().map(kernel)))
    }

    /// The name of the crate.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// When the code is linked with other code.
    pub const fn linking(&self) -> Linking {
        self.linking
    }

    /// The code for each architecture; several objects of one are parts of a program.
    pub const fn objects(&self) -> &'static [Object] {
        self.objects
    }

    /// The records of the kernels.
    pub const fn kernels(&self) -> &'static [KernelRecord] {
        self.kernels
    }

    /// What to load on a device of this compute capability: the cubin that fits best, otherwise the PTX that fits best.
    pub(crate) fn pick(&self, device: (u32, u32)) -> Option<(&'static Object, Code<'static>)> {
        let cubin = self.best(&|object, arch| object.cubin.is_some() && arch.cubin_runs_on(device));
        if let Some(object) = cubin
            && let Some(bytes) = object.cubin
        {
            return Some((object, Code::Cubin(bytes)));
        }
        if self.linking == Linking::AtBuild {
            return None;
        }
        self.best(&|_, arch| arch.ptx_compiles_on(device)).map(|object| (object, Code::Ptx(object.ptx)))
    }

    /// The cubins for the arch of an object, which are parts of a program if there are several.
    pub(crate) fn cubins(&self, arch: &str) -> impl Iterator<Item = &'static [u8]> {
        self.objects.iter().filter(move |object| object.arch == arch).filter_map(|object| object.cubin)
    }

    /// What to link for such a device: cubins only if they are relocatable.
    pub(crate) fn pick_to_link(&self, device: (u32, u32)) -> Option<(&'static Object, Code<'static>)> {
        match self.linking {
            Linking::AtLoad => self.pick(device),
            Linking::AtBuild => None,
            Linking::None => self.best(&|_, arch| arch.ptx_compiles_on(device)).map(|o| (o, Code::Ptx(o.ptx))),
        }
    }

    /// The error that nothing fits the device of this name and arch.
    pub(crate) fn nothing_for(&self, device: &str, arch: String) -> Error {
        let compiled: Vec<_> = self.objects.iter().map(|o| o.arch).collect();
        Error::NoObject {
            image: self.name,
            device: device.to_owned(),
            arch,
            compiled: if compiled.is_empty() { "nothing".to_owned() } else { compiled.join(", ") },
            older: match self.linking {
                Linking::AtBuild => {
                    " (it is linked with other code, so only machine code of the same major version fits)"
                }
                _ => " or older",
            },
        }
    }

    fn best(&self, fits: &dyn Fn(&Object, Arch) -> bool) -> Option<&'static Object> {
        self.objects
            .iter()
            .filter_map(|object| Arch::parse(object.arch).map(|arch| (arch, object)))
            .filter(|(arch, object)| fits(object, *arch))
            .max_by_key(|(arch, _)| *arch)
            .map(|(_, object)| object)
    }

    /// The record of the kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&'static KernelRecord> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn object(arch: &'static str, cubin: bool) -> Object {
        Object { arch, ptx: "", ptx_path: "", cubin: if cubin { Some(&[0]) } else { None } }
    }

    const fn image(linking: Linking, objects: &'static [Object]) -> Image {
        // SAFETY: nothing of it is loaded.
        unsafe { Image::new("test", linking, objects, &[]) }
    }

    fn pick(objects: &'static [Object], device: (u32, u32)) -> Option<(&'static str, bool)> {
        let image = image(Linking::None, objects);
        image.pick(device).map(|(object, code)| (object.arch, matches!(code, Code::Cubin(_))))
    }

    #[test]
    fn an_image_of_other_code_says_what_it_was_given() {
        static OBJECTS: [Object; 1] = [object("sm_90", true)];
        static KERNELS: [KernelRecord; 1] =
            [KernelRecord { name: "k", path: "mine::k", signature: "k()", abi_hash: 7, resources: &[] }];
        // SAFETY: nothing of it is loaded.
        static IMAGE: Image = unsafe { Image::new("mine", Linking::AtLoad, &OBJECTS, &KERNELS) };
        assert_eq!((IMAGE.name(), IMAGE.linking()), ("mine", Linking::AtLoad));
        assert_eq!((IMAGE.objects()[0].arch, IMAGE.objects()[0].cubin), ("sm_90", Some(&[0][..])));
        assert_eq!(IMAGE.kernels().len(), 1);
        assert_eq!(IMAGE.kernel("k").map(|kernel| (kernel.path, kernel.abi_hash)), Some(("mine::k", 7)));
        assert!(IMAGE.kernel("l").is_none());
    }

    #[test]
    fn the_same_code_is_one_image_wherever_it_stands() {
        static FIRST: [Object; 2] = [object("sm_80", true), object("sm_90", false)];
        static SECOND: [Object; 2] = [object("sm_80", true), object("sm_90", false)];
        static OTHER: [Object; 2] = [object("sm_80", true), object("sm_90", true)];
        let of = |objects| image(Linking::None, objects);
        assert!(of(&FIRST).is_same(&of(&FIRST)) && of(&FIRST).is_same(&of(&SECOND)));
        assert!(!of(&FIRST).is_same(&of(&OTHER)) && !of(&FIRST).is_same(&of(&FIRST[..1])));
        static KERNELS: [KernelRecord; 1] =
            [KernelRecord { name: "k", path: "k", signature: "k()", abi_hash: 7, resources: &[] }];
        // SAFETY: nothing of it is loaded.
        let described = unsafe { Image::new("test", Linking::None, &SECOND, &KERNELS) };
        assert!(!of(&FIRST).is_same(&described), "its kernels are others");
    }

    #[test]
    fn architectures_are_read() {
        assert_eq!(Arch::parse("sm_90a"), Some(Arch { major: 9, minor: 0, feature: Some('a') }));
        assert_eq!(Arch::parse("sm_120"), Some(Arch { major: 12, minor: 0, feature: None }));
        assert_eq!(Arch::parse("sm_100f"), Some(Arch { major: 10, minor: 0, feature: Some('f') }));
        assert_eq!(Arch::parse("gfx90a"), None);
        assert_eq!(Arch::parse("sm_"), None);
    }

    #[test]
    fn the_cubins_of_an_arch_are_parts() {
        static OBJECTS: [Object; 4] =
            [object("sm_80", true), object("sm_90", true), object("sm_90", true), object("sm_75", false)];
        let image = image(Linking::None, &OBJECTS);
        let count = |arch| image.cubins(arch).count();
        assert_eq!([count("sm_80"), count("sm_90"), count("sm_75")], [1, 2, 0]);
        assert_eq!(pick(&OBJECTS, (9, 0)), Some(("sm_90", true)));
    }

    #[test]
    fn the_best_cubin_wins_then_the_best_ptx() {
        static OBJECTS: [Object; 4] =
            [object("sm_80", true), object("sm_86", true), object("sm_90a", true), object("sm_70", false)];
        assert_eq!(pick(&OBJECTS, (9, 0)), Some(("sm_90a", true)));
        assert_eq!(pick(&OBJECTS, (8, 9)), Some(("sm_86", true)));
        assert_eq!(pick(&OBJECTS, (8, 0)), Some(("sm_80", true)));
        assert_eq!(pick(&OBJECTS, (7, 5)), Some(("sm_70", false)));
        // sm_90a runs on nothing but 9.0.
        assert_eq!(pick(&OBJECTS, (10, 0)), Some(("sm_86", false)));
        assert_eq!(pick(&OBJECTS, (6, 1)), None);
        // PTX of linked code lacks what it was linked with.
        let linked = image(Linking::AtBuild, &OBJECTS);
        assert!(linked.pick((8, 9)).is_some() && linked.pick((10, 0)).is_none() && linked.pick((7, 5)).is_none());
    }
}
