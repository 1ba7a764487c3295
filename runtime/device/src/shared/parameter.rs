//! What `#[kernel]` makes for its `#[shared]` parameters.

use ptx_abi::DeviceParam;

/// A kernel's parameter with `#[shared]`: an object that each thread of a block gets once, of memory that they share.
///
/// # Safety
/// Threads must be able to do nothing but safe things with what they got by [`make`](Self::make), whatever they do with
/// it and in whichever order, and however they diverge.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a `#[shared]` parameter",
    label = "no object that the threads of a block share",
    note = "a kernel takes `#[shared] tile: ptx::shared::SharedTile<[f32; 256]>` and its kin, of types any bits are a value of"
)]
pub unsafe trait SharedParam {
    /// What lies in shared memory.
    type Storage: 'static;
    /// Barriers of the block that the object needs for itself.
    const BARRIERS: u32 = 1;

    /// The object of this thread.
    ///
    /// # Safety
    /// Each thread of the block must call it at most once with this `storage`, which lives as long as the object and which
    /// nothing else uses; nothing else may use the barriers from `barrier` on, [`BARRIERS`](Self::BARRIERS) of them.
    unsafe fn make(storage: *mut Self::Storage, barrier: u32) -> Self;
}

/// A kernel's parameter with `#[shared(dynamic)]`: the same of memory as long as the launch says.
///
/// # Safety
/// As for [`SharedParam`]; and [`bytes`](Self::bytes) must be what the object uses.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a `#[shared(dynamic)]` parameter",
    label = "its size is not the launch's to say",
    note = "a kernel takes `#[shared(dynamic)] tile: ptx::shared::SharedTile<[f32]>`, or `SharedTile<Slices<(f32, u32)>>` of two parts"
)]
pub unsafe trait DynamicParam {
    /// What the host passes: how many elements each part has.
    type Lengths: DeviceParam + Copy;
    /// Barriers of the block that the object needs for itself.
    const BARRIERS: u32 = 1;

    /// The bytes of dynamic shared memory that a launch needs with these lengths.
    fn bytes(lengths: Self::Lengths) -> u64;

    /// The object of this thread.
    ///
    /// # Safety
    /// As for [`SharedParam::make`], of the block's dynamic shared memory; all threads must have the same lengths, and the
    /// launch as many bytes.
    unsafe fn make(lengths: Self::Lengths, barrier: u32) -> Self;
}

/// Barriers of a block that have a number of their own beside that of `sync_threads`.
const BARRIERS: u32 = 15;

/// The first barrier of each object, of which `needs` says how many it has.
///
/// # Panics
/// If they are more than a block has; the macro calls it in a constant.
pub const fn barriers<const N: usize>(needs: [u32; N]) -> [u32; N] {
    let (mut first, mut at, mut next) = ([0; N], 0, 1);
    while at < N {
        first[at] = next;
        next += needs[at];
        at += 1;
    }
    assert!(
        next <= BARRIERS + 1,
        "a block has 15 barriers for its `#[shared]` parameters: put several arrays into one"
    );
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_own_barriers() {
        assert_eq!(barriers([1, 2, 0, 1]), [1, 2, 4, 4]);
        assert_eq!(barriers([1; 15])[14], 15);
        assert!(std::panic::catch_unwind(|| barriers([1; 16])).is_err());
    }
}
