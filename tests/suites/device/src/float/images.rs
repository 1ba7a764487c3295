//! What the tests of floating point load: the kernels of functions by their modes, and nvcc's twins of them.

use ptx::Image;

/// The kernels of functions, by the modes they were compiled with.
pub static SINGLE: [(&str, Image); 5] = [
    ("default", ptx::image!("float_single_default")),
    ("ftz", ptx::image!("float_single_ftz")),
    ("fast", ptx::image!("float_single_fast")),
    ("approximate", ptx::image!("float_single_approximate")),
    ("unfused", ptx::image!("float_single_unfused")),
];

/// The same in double precision.
pub static DOUBLE: [(&str, Image); 3] = [
    ("default", ptx::image!("float_double_default")),
    ("fast", ptx::image!("float_double_fast")),
    ("unfused", ptx::image!("float_double_unfused")),
];

/// What nvcc's options are called here, for the record.
pub fn flags(modes: &str) -> &str {
    match modes {
        "ftz" => "-ftz=true",
        "fast" => "-use_fast_math",
        "approximate" => "-prec-div=false -prec-sqrt=false",
        "unfused" => "-fmad=false",
        _ => "none",
    }
}

/// Loads an image once.
macro_rules! loaded {
    ($images:expr) => {{
        static MODULES: [std::sync::OnceLock<ptx::Module>; $images.len()] =
            [const { std::sync::OnceLock::new() }; $images.len()];
        |gpu: &$crate::gpu::Gpu, index: usize| -> &'static ptx::Module {
            let image = &$images[index].1;
            MODULES[index].get_or_init(|| gpu.device.load(image).unwrap_or_else(|error| panic!("{error}")))
        }
    }};
}
pub(super) use loaded;

/// Loads nvcc's twins once; an error is why they cannot run here.
macro_rules! twins {
    ($images:expr, $file:literal) => {{
        static TWINS: [std::sync::OnceLock<Result<$crate::float::launch::Twin, String>>; $images.len()] =
            [const { std::sync::OnceLock::new() }; $images.len()];
        |gpu: &$crate::gpu::Gpu, index: usize| -> Result<&'static $crate::float::launch::Twin, String> {
            #[cfg(twin)]
            const CUBINS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), $file));
            #[cfg(not(twin))]
            const CUBINS: &[(&str, &[u8])] = &[];
            let load = || {
                let missing = option_env!("TWIN_MISSING").unwrap_or("nvcc was not there");
                let (_, cubin) = CUBINS.get(index).ok_or_else(|| missing.to_string())?;
                if gpu.device.capability().0 != 9 {
                    return Err(format!("nvcc's code is for sm_90, this is {}", gpu.device.arch()));
                }
                $crate::float::launch::Twin::load(gpu, cubin)
            };
            TWINS[index].get_or_init(load).as_ref().map_err(Clone::clone)
        }
    }};
}
pub(super) use twins;
