//! How a function or a block gets modes of its own: what `#[ptx::float]` writes.

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// Says which modes ([`ptx_abi::float::Overrides::encode`]) hold in the function that calls this first, and in
    /// everything that it calls. The compiler removes the call ([`ptx_abi::float::MARKER`]).
    ///
    /// Callers call it directly: a wrapper that rustc did not inline would get the modes instead of them.
    pub safe fn __ptx_float_modes(modes: u32);
}

/// A block's value. The closure that a block becomes has this result, so that a `return` which a macro hides in the
/// block is a type error; it would otherwise leave the block instead of the function.
#[derive(Debug)]
pub struct Scoped<R>(pub R);

/// Runs a block under its own modes. It is a function because modes belong to functions; the compiler inlines it.
#[cfg_attr(target_arch = "nvptx64", inline(never))]
pub fn scope<const MODES: u32, R>(block: impl FnOnce() -> Scoped<R>) -> R {
    #[cfg(target_arch = "nvptx64")]
    __ptx_float_modes(MODES);
    block().0
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    #[ptx::float(fmad = false)]
    fn twice<T: core::ops::Add<Output = T> + Copy>(value: T) -> T {
        value + value
    }

    /// On the host the attribute changes nothing: blocks move, borrow and change what stands around, as blocks do.
    #[test]
    #[ptx::float(ftz = true)]
    fn blocks_are_blocks() {
        let (mut sum, name) = (0.0_f32, String::from("x"));
        let moved = #[ptx::float(fmad = false)]
        {
            sum += twice(0.5);
            #[ptx::float(fmad = true, use_fast_math)]
            {
                sum += 1.0;
            }
            name
        };
        let found = #[ptx::float(prec_div = false)]
        'found: {
            for i in 0_i16.. {
                if f32::from(i) / 2.0 > sum {
                    break 'found i;
                }
            }
            0
        };
        assert_eq!((sum, moved.as_str(), found), (2.0, "x", 5));
    }

    #[ptx::float(use_fast_math)]
    impl super::Scoped<f32> {
        fn ratio(&self, by: f32) -> Option<f32> {
            (by != 0.0).then(|| self.0 / by)
        }
    }

    #[test]
    fn methods_and_closures() {
        let ratios: Vec<_> = [0.0, 2.0].iter().map(|by| super::Scoped(1.0).ratio(*by)).collect();
        assert_eq!(ratios, [None, Some(0.5)]);
    }
}
