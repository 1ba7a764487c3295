//! The values of a launch's parameters: in the launch itself, without the heap, where they are few and small.

use std::ffi::c_void;
use std::mem::MaybeUninit;

/// Bytes that a launch has room for.
const ROOM: usize = 256;

/// What a value's alignment is at most in that room.
const ALIGN: usize = 16;

/// Values of any types.
#[repr(C, align(16))]
pub(crate) struct Values {
    room: MaybeUninit<[u8; ROOM]>,
    used: usize,
    boxed: Vec<Box<dyn Value>>,
}

/// Where a value is. It moves with the launch, so this is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// So many bytes from the start of the room.
    Room(usize),
    /// By number.
    Boxed(usize),
}

/// A value of any type, in a box that has its size and alignment.
trait Value {
    fn address(&self) -> *const c_void;
}

impl<T: Copy> Value for T {
    fn address(&self) -> *const c_void {
        (&raw const *self).cast()
    }
}

impl Values {
    /// None.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { room: MaybeUninit::uninit(), used: 0, boxed: Vec::new() }
    }

    /// Keeps a value.
    #[inline]
    pub(crate) fn push<T: Copy + 'static>(&mut self, value: T) -> At {
        let at = self.used.next_multiple_of(align_of::<T>());
        if align_of::<T>() > ALIGN || at + size_of::<T>() > ROOM {
            self.boxed.push(Box::new(value));
            return At::Boxed(self.boxed.len() - 1);
        }
        // SAFETY: the room has so many bytes from there, and is aligned as the largest type that it takes.
        unsafe { self.room.as_mut_ptr().cast::<u8>().add(at).cast::<T>().write(value) };
        self.used = at + size_of::<T>();
        At::Room(at)
    }

    /// Where the value is now.
    #[inline]
    pub(crate) fn address(&self, at: At) -> *const c_void {
        match at {
            At::Room(at) => self.room.as_ptr().cast::<u8>().wrapping_add(at).cast(),
            At::Boxed(at) => self.boxed[at].address(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Wide([u8; 64]);

    #[test]
    fn values_stay_what_they_are_wherever_they_are() {
        let mut values = Values::new();
        let byte = values.push(7_u8);
        let number = values.push(0x0123_4567_89AB_CDEF_u64);
        let wide = values.push(Wide([3; 64]));
        let long = values.push(1_u128 << 100);
        let many: Vec<At> = (0..100_u32).map(|number| values.push(number)).collect();
        let moved = Box::new(values);
        // SAFETY: what was pushed at each place.
        unsafe {
            assert_eq!(moved.address(byte).cast::<u8>().read(), 7);
            assert_eq!(moved.address(number).cast::<u64>().read(), 0x0123_4567_89AB_CDEF);
            assert_eq!(moved.address(wide).cast::<Wide>().read().0, [3; 64]);
            assert_eq!(moved.address(long).cast::<u128>().read(), 1 << 100);
            for (number, at) in (0..).zip(&many) {
                assert_eq!(moved.address(*at).cast::<u32>().read(), number);
            }
        }
        assert_eq!((byte, wide), (At::Room(0), At::Boxed(0)));
        assert!(matches!(many[0], At::Room(_)) && matches!(many[99], At::Boxed(_)));
    }
}
