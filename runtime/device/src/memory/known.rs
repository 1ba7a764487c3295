//! Pointers that know their address space (PTX ISA, "State Spaces"; "Data Movement and Conversion Instructions: cvta").

use core::fmt;
use core::marker::PhantomData;

/// The address spaces that a [`SpacePtr`] can point into.
pub mod space {
    use super::sealed::Sealed;
    use crate::memory;

    /// An address space. The ones below are all.
    pub trait Space: Sealed {}

    /// One that kernels write, too: all but constant memory.
    pub trait Writable: Space {}

    macro_rules! spaces {
        ($($(#[$doc:meta])* $name:ident: $is:ident, $to:ident, $known:literal, $from:literal;)*) => {$(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl Space for $name {}

            impl Sealed for $name {
                const NAME: &'static str = stringify!($name);

                #[inline(always)]
                fn contains(at: *const u8) -> bool {
                    memory::$is(at)
                }

                #[inline(always)]
                unsafe fn to_address(at: *const u8) -> usize {
                    // SAFETY: the caller promises the space.
                    unsafe { memory::$to(at) }
                }

                #[inline(always)]
                unsafe fn known(at: *mut u8) -> *mut u8 {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        unsafe extern "C" {
                            #[link_name = $known]
                            fn known(at: *mut u8) -> *mut u8;
                        }
                        // SAFETY: it gives back what it is given; the caller promises the space.
                        unsafe { known(at) }
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        at
                    }
                }

                #[inline(always)]
                fn from_address(address: usize) -> *mut u8 {
                    #[cfg(target_arch = "nvptx64")]
                    {
                        unsafe extern "C" {
                            #[link_name = $from]
                            safe fn from(address: usize) -> *mut u8;
                        }
                        from(address)
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    {
                        core::ptr::with_exposed_provenance_mut(address)
                    }
                }
            }
        )*};
    }

    spaces! {
        /// Global memory: what the host allocates, statics, the device's heap.
        GlobalSpace: is_global, to_global, "__ptx_known_global", "__ptx_from_global";
        /// The block's shared memory.
        SharedSpace: is_shared, to_shared, "__ptx_known_shared", "__ptx_from_shared";
        /// The thread's own memory: its variables.
        LocalSpace: is_local, to_local, "__ptx_known_local", "__ptx_from_local";
        /// Constant memory: statics with `#[constant]`.
        ConstantSpace: is_constant, to_constant, "__ptx_known_const", "__ptx_from_const";
    }

    impl Writable for GlobalSpace {}
    impl Writable for SharedSpace {}
    impl Writable for LocalSpace {}
}

mod sealed {
    pub trait Sealed {
        const NAME: &'static str;

        fn contains(at: *const u8) -> bool;

        /// # Safety
        /// The pointer must point into the space.
        unsafe fn to_address(at: *const u8) -> usize;

        /// The pointer itself.
        ///
        /// # Safety
        /// As above.
        unsafe fn known(at: *mut u8) -> *mut u8;

        fn from_address(address: usize) -> *mut u8;
    }
}

use self::space::{ConstantSpace, GlobalSpace, LocalSpace, SharedSpace, Space, Writable};

/// A pointer into global memory: `ld.global`, `st.global`.
pub type GlobalPtr<T> = SpacePtr<T, GlobalSpace>;
/// A pointer into the block's shared memory: `ld.shared`, `st.shared`.
pub type SharedPtr<T> = SpacePtr<T, SharedSpace>;
/// A pointer into the thread's own memory: `ld.local`, `st.local`.
pub type LocalPtr<T> = SpacePtr<T, LocalSpace>;
/// A pointer into constant memory: `ld.const`.
pub type ConstantPtr<T> = SpacePtr<T, ConstantSpace>;

/// A raw pointer whose address space is known, so that accesses through it need not find out.
///
/// Rust's pointers are generic: where the compiler does not see what one points to, such as after it was read from memory,
/// a load is `ld`, which looks at run time which memory is meant. Through one of these it is `ld.global`, `ld.shared`,
/// `ld.local` or `ld.const`. Where the compiler does see it, as for a kernel's slices and shared tiles, nothing is gained.
///
/// It is as large as a pointer, and, like one, says nothing of what lies there.
///
/// On the host there are no address spaces: everything counts as global there.
///
/// ```
/// use ptx::memory::{GlobalPtr, SharedPtr};
///
/// let mut value = 5_u32;
/// let at = GlobalPtr::new(&raw mut value).expect("in global memory");
/// // SAFETY: the pointer is that of a variable which nobody else uses.
/// unsafe { at.write(at.read() + 1) };
/// assert_eq!(value, 6);
/// assert!(SharedPtr::new(&raw mut value).is_none());
/// ```
#[repr(transparent)]
pub struct SpacePtr<T, S> {
    /// Points into `S`.
    at: *mut T,
    space: PhantomData<S>,
}

impl<T, S> Clone for SpacePtr<T, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S> Copy for SpacePtr<T, S> {}

impl<T, S> PartialEq for SpacePtr<T, S> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<T, S> Eq for SpacePtr<T, S> {}

impl<T, S: Space> fmt::Debug for SpacePtr<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?})", S::NAME, self.at)
    }
}

impl<T, S: Space> SpacePtr<T, S> {
    /// The pointer, if it points into that space. CUDA: `__isGlobal` and kin; PTX: `isspacep`.
    #[must_use]
    #[inline(always)]
    pub fn new(at: *mut T) -> Option<Self> {
        S::contains(at.cast()).then_some(Self { at, space: PhantomData })
    }

    /// The pointer, which the caller knows to point into that space.
    ///
    /// # Safety
    /// It must point there, also if nothing is read. [`is_global`](super::is_global) and its kin tell.
    #[must_use]
    #[inline(always)]
    pub const unsafe fn assume(at: *mut T) -> Self {
        Self { at, space: PhantomData }
    }

    /// The pointer of an address within the space: for shared memory the offset in the block's. CUDA:
    /// `__cvta_shared_to_generic` and kin; PTX: `cvta.shared`, …
    #[must_use]
    #[inline(always)]
    pub fn from_address(address: usize) -> Self {
        Self { at: S::from_address(address).cast(), space: PhantomData }
    }

    /// The address within the space, such as inline PTX takes. CUDA: `__cvta_generic_to_shared` and kin; PTX:
    /// `cvta.to.shared`, …
    #[must_use]
    #[inline(always)]
    pub fn to_address(self) -> usize {
        // SAFETY: it points into the space.
        unsafe { S::to_address(self.at.cast()) }
    }

    /// The generic pointer. The compiler goes on knowing its space, as far as it sees where it came from.
    #[must_use]
    #[inline(always)]
    pub fn as_ptr(self) -> *const T {
        self.known()
    }

    /// The pointer of another type, to the same place.
    #[must_use]
    #[inline(always)]
    pub const fn cast<U>(self) -> SpacePtr<U, S> {
        SpacePtr { at: self.at.cast(), space: PhantomData }
    }

    /// The pointer so many values further.
    ///
    /// # Safety
    /// As of a raw pointer's `add`: both places must be in one allocation, or one behind it.
    #[must_use]
    #[inline(always)]
    pub const unsafe fn add(self, count: usize) -> Self {
        // SAFETY: the caller promises it.
        Self { at: unsafe { self.at.add(count) }, space: PhantomData }
    }

    /// The value there. PTX: `ld.global`, `ld.shared`, `ld.local`, `ld.const`.
    ///
    /// # Safety
    /// As of [`core::ptr::read`].
    #[must_use]
    #[inline(always)]
    pub unsafe fn read(self) -> T {
        // SAFETY: the caller promises it.
        unsafe { self.known().read() }
    }

    #[inline(always)]
    fn known(self) -> *mut T {
        // SAFETY: it points into the space.
        unsafe { S::known(self.at.cast()) }.cast()
    }
}

impl<T, S: Writable> SpacePtr<T, S> {
    /// The generic pointer, to write through. As [`Self::as_ptr`].
    #[must_use]
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        self.known()
    }

    /// Writes the value there. PTX: `st.global`, `st.shared`, `st.local`.
    ///
    /// # Safety
    /// As of [`core::ptr::write`].
    #[inline(always)]
    pub unsafe fn write(self, value: T) {
        // SAFETY: the caller promises it.
        unsafe { self.known().write(value) };
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    #[test]
    fn on_the_host_everything_is_global() {
        let mut values = [1_u32, 2, 3];
        let at = values.as_mut_ptr();
        let known = GlobalPtr::new(at).expect("global memory");
        // SAFETY: within the array, which nobody else uses meanwhile.
        unsafe {
            known.add(1).write(known.read() + 10);
            assert_eq!(known.add(1).as_ptr().read(), 11);
            assert_eq!(known.cast::<[u32; 3]>().read(), [1, 11, 3]);
            GlobalPtr::<u32>::from_address(known.add(2).to_address()).write(7);
        }
        assert_eq!(values, [1, 11, 7]);
        assert!(SharedPtr::new(at).is_none() && LocalPtr::new(at).is_none() && ConstantPtr::new(at).is_none());
        assert_eq!(size_of::<SharedPtr<u64>>(), size_of::<*mut u64>());
        assert_eq!(format!("{known:?}"), format!("GlobalSpace({at:?})"));
    }
}
