//! One kernel for each function.

#[cfg(not(feature = "double"))]
use ptx::float::Approx;
use ptx::math::Math;
use ptx::prelude::*;

/// The precision of this build.
#[cfg(not(feature = "double"))]
pub type Number = f32;
/// The precision of this build.
#[cfg(feature = "double")]
pub type Number = f64;

/// The number at a place; where there are no numbers, the one with the encoding `first` and so many more.
#[inline]
fn input(first: u32, numbers: &[Number], index: usize) -> Number {
    match numbers.get(index) {
        Some(number) => *number,
        None => Number::from_bits(first.wrapping_add(index as u32).into()),
    }
}

macro_rules! kernels {
    ($($kernel:ident $cuda:literal $arguments:literal |$x:ident $(, $more:ident)*| $body:expr;)*) => {$(
        kernels!(@ $kernel $x [$($more)*] $body);
    )*};
    (@ $kernel:ident $x:ident [$($y:ident $($z:ident $($t:ident)?)?)?] $body:expr) => {
        #[kernel]
        pub fn $kernel(
            first: u32,
            x: &[Number],
            y: &[Number],
            z: &[Number],
            t: &[Number],
            mut results: DisjointSlice<Number>,
        ) {
            let index = thread::index_1d();
            if let Some(result) = results.get_mut(index) {
                let $x = input(first, x, index.get());
                let _unused = (y, z, t);
                $(
                    let $y = input(0, y, index.get());
                    $(
                        let $z = input(0, z, index.get());
                        $(let $t = input(0, t, index.get());)?
                    )?
                )?
                *result = $body;
            }
        }
    };
}
crate::for_each_function!(kernels);

#[cfg(not(feature = "double"))]
macro_rules! approximations {
    ($($kernel:ident $cuda:literal $exact:literal $arguments:literal |$x:ident $(, $more:ident)*| $body:expr;)*) => {$(
        kernels!(@ $kernel $x [$($more)*] $body);
    )*};
}
#[cfg(not(feature = "double"))]
crate::for_each_approximation!(approximations);
