//! What `println!` and `print!` expand to: a call of the driver's `vprintf` with a constant format and a packed valist.
//!
//! The macro knows the format string, not the types of the arguments; they choose their conversion through [`Arg`]. So
//! the format is put together by constant evaluation (`format`), once for every instance of the code around it. What
//! printf cannot say is written into an [`Arena`] on the stack and passed as `%s`.
//!
//! CUDA's printf takes flags, `*` for the width alone, and at most 32 values, widths among them (CUDA C++ Programming
//! Guide, "Formatted Output"). **Measured** on an H200: `%.*f` comes out as it stands; the 33rd value is garbage.

mod arena;
mod argument;
mod float;
mod format;
mod pad;

pub use arena::{Arena, ROOM, Writer};
pub use argument::{
    Any, Arg, Decimal, Direct, Exponent, Indirect, Pointer, Printed, Radix, Select, SelectText, Star, Tag,
};
pub use format::{Change, Conversion, Piece, Spec, Width, format, rewritten};
pub use pad::{Align, Layout};

/// Prints. `format` is NUL-terminated, and `values` is a `#[repr(C)]` struct of the values that it asks for.
///
/// # Safety
/// The fields of `values` must be what `format` asks for, after C's default argument promotions.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub unsafe fn print<V>(format: &[u8], values: &V) {
    // SAFETY: the caller's promise. The status says how many values there were.
    unsafe { crate::syscalls::vprintf(format.as_ptr(), core::ptr::from_ref(values).cast()) };
}
