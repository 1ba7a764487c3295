//! How a function or a block gets modes of its own: what `#[ptx::float]` writes.

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// Says which modes ([`ptx_abi::float::Overrides::encode`]) hold in the function that calls this first, and in all that
    /// it calls. The compiler takes the call away ([`ptx_abi::float::MARKER`]).
    ///
    /// Callers name it themselves: a wrapper that rustc did not inline would have the modes instead of them.
    pub safe fn __ptx_float_modes(modes: u32);
}

/// A block's value. The closure that a block becomes has this result, so that a `return` which a macro hides in the block
/// is a type error, not one that leaves the block instead of the function.
#[derive(Debug)]
pub struct Scoped<R>(pub R);

/// Runs a block under modes of its own. A function, because modes belong to functions; the compiler inlines it afterwards.
#[cfg_attr(target_arch = "nvptx64", inline(never))]
pub fn scope<const MODES: u32, R>(block: impl FnOnce() -> Scoped<R>) -> R {
    #[cfg(target_arch = "nvptx64")]
    __ptx_float_modes(MODES);
    block().0
}
