//! What the host tells device code about the stack of its threads.
//!
//! Functions that a kernel can come back to (recursion) compare the stack pointer with [`Bounds::least`] when they begin. The
//! host alone knows where the stack ends: below the pointer that every thread starts with by `CU_LIMIT_STACK_SIZE` bytes.

/// The global of device code that holds [`Bounds`]: `.weak .const`, so that code of several crates can be linked into one
/// module. Modules without recursion have none.
pub const SYMBOL: &str = "__ptx_stack";

/// Stack pointers count from the start of local memory: what PTX's `stacksave` gives.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The lowest stack pointer with which a check passes: the stack's end, and above it what is needed until the next
    /// check. 0 until the host knows better; every check passes then.
    pub least: u64,
    /// Bytes of stack that each thread has, for the message.
    pub size: u64,
    /// What is needed until the next check, by the variables of the functions alone. The host takes it where ptxas did not
    /// say how large their frames are.
    pub reserve: u64,
}

const _: () = {
    assert!(core::mem::offset_of!(Bounds, least) == 0);
    assert!(core::mem::offset_of!(Bounds, size) == 8);
    assert!(core::mem::offset_of!(Bounds, reserve) == 16);
};
