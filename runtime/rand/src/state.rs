//! What a generator's state has besides its position: the second number of the last pair of normal ones.

/// Which function the second number is kept for; CURAND's `EXTRA_FLAG_*`.
pub const NORMAL: u32 = 1;

/// As above.
pub const LOG_NORMAL: u32 = 2;

/// A generator, as this crate sees it.
pub trait State: Copy {
    /// The flag and the number that is kept.
    fn kept(&mut self) -> (&mut u32, &mut f32);

    /// The same in double precision.
    fn kept_f64(&mut self) -> (&mut u32, &mut f64);

    /// Two uniform numbers become two normal ones.
    fn pair(&mut self) -> [f32; 2];

    /// The same in double precision.
    fn pair_f64(&mut self) -> [f64; 2];
}

/// The number kept for `flag`, or else the first of a new pair, whose second is kept.
macro_rules! take {
    ($state:ident . $kept:ident, $flag:expr, $pair:expr) => {{
        let (flag, number) = $state.$kept();
        if *flag == $flag {
            *flag = 0;
            return *number;
        }
        let [first, second] = $pair;
        let (flag, number) = $state.$kept();
        (*flag, *number) = ($flag, second);
        first
    }};
}
pub(crate) use take;

/// A generator's struct: its own fields, then what all have, laid out as CURAND's.
macro_rules! state {
    ($(#[$attribute:meta])* $name:ident as $cuda:literal, $size:literal, { $($field:ident: $ty:ty),* $(,)? }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($field: $ty,)*
            kept_for: u32,
            kept_for_f64: u32,
            kept: f32,
            kept_f64: f64,
        }

        const _: () = assert!(size_of::<$name>() == $size, "as large as CURAND's");

        impl $name {
            const fn at($($field: $ty),*) -> Self {
                Self { $($field,)* kept_for: 0, kept_for_f64: 0, kept: 0.0, kept_f64: 0.0 }
            }
        }

        ptx_abi::abi_by_value!(
            $name, Aggregate,
            ptx_abi::cxx::Cxx::Named(ptx_abi::cxx::Name::cuda($cuda, "curand_kernel.h"))
        );

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: the layout is the device's.
        unsafe impl cudarc::driver::DeviceRepr for $name {}

        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: zeros are numbers, though a generator of zeros may give nothing else.
        unsafe impl cudarc::driver::ValidAsZeroBits for $name {}
    };
}
pub(crate) use state;

/// Where the fields are that all have.
macro_rules! kept {
    () => {
        fn kept(&mut self) -> (&mut u32, &mut f32) {
            (&mut self.kept_for, &mut self.kept)
        }

        fn kept_f64(&mut self) -> (&mut u32, &mut f64) {
            (&mut self.kept_for_f64, &mut self.kept_f64)
        }
    };
}
pub(crate) use kept;
