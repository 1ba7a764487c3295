//! A tile of shared memory that threads fill and read in several arrangements.

use super::memory::{Value, get, set};
use super::threads::{MOST_WARPS, WARP};

/// Memory for `ITEMS` values of each of `THREADS` threads, and for what is left free between them. Its alignment allows
/// vectors.
#[repr(C, align(16))]
pub struct Memory<T, const THREADS: usize, const ITEMS: usize> {
    items: [[T; ITEMS]; THREADS],
    /// After every 32 values one is free, if `ITEMS` is even: at most so many.
    free: [[T; ITEMS]; MOST_WARPS],
}

/// The place of such memory.
pub(super) struct Tile<T, const THREADS: usize, const ITEMS: usize> {
    memory: *mut Memory<T, THREADS, ITEMS>,
}

impl<T, const THREADS: usize, const ITEMS: usize> Clone for Tile<T, THREADS, ITEMS> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const THREADS: usize, const ITEMS: usize> Copy for Tile<T, THREADS, ITEMS> {}

impl<T: Value, const THREADS: usize, const ITEMS: usize> Tile<T, THREADS, ITEMS> {
    /// Values of the tile.
    pub const LEN: usize = {
        assert!(ITEMS > 0, "a thread has at least one item");
        THREADS * ITEMS
    };
    /// Threads whose items begin an even number apart meet in the same banks, unless a value is left free now and then.
    const HAS_FREE: bool = ITEMS.is_multiple_of(2);

    /// The tile in this memory.
    ///
    /// # Safety
    /// The memory must live as long as the tile is used, and be accessed by such tiles alone.
    #[inline(always)]
    pub const unsafe fn new(memory: *mut Memory<T, THREADS, ITEMS>) -> Self {
        Self { memory }
    }

    /// Where value `index` lies.
    #[inline(always)]
    fn place(self, index: u32) -> *mut T {
        let free = if Self::HAS_FREE { index / WARP as u32 } else { 0 };
        self.memory.cast::<T>().wrapping_add((index + free) as usize)
    }

    /// Value `index`.
    ///
    /// # Safety
    /// `index` must be less than `LEN`.
    #[inline(always)]
    pub unsafe fn get(self, index: u32) -> T {
        // SAFETY: within the memory: at most `LEN / 32` are free before it, which is at most 32 `ITEMS`.
        unsafe { get(self.place(index)) }
    }

    /// Sets value `index`.
    ///
    /// # Safety
    /// As for [`get`](Self::get).
    #[inline(always)]
    pub unsafe fn set(self, index: u32, value: T) {
        // SAFETY: as in `get`.
        unsafe { set(self.place(index), value) };
    }

    /// Sets value `index`, or that of the last index.
    #[inline(always)]
    pub fn put(self, index: u32, value: T) {
        let index =
            if Self::LEN.is_power_of_two() { index & (Self::LEN as u32 - 1) } else { index.min(Self::LEN as u32 - 1) };
        // SAFETY: less than `LEN`.
        unsafe { self.set(index, value) };
    }

    /// Reads the values of a thread, which has a number below `THREADS`.
    ///
    /// # Safety
    /// The number must be.
    #[inline(always)]
    pub unsafe fn read(self, arrangement: Arrangement, thread: u32) -> [T; ITEMS] {
        // SAFETY: the caller's promise, with which every index is less than `LEN`.
        core::array::from_fn(|item| unsafe { get(self.place_of(arrangement, thread, item)) })
    }

    /// Writes the values of a thread.
    ///
    /// # Safety
    /// As for [`read`](Self::read).
    #[inline(always)]
    pub unsafe fn write(self, arrangement: Arrangement, thread: u32, values: [T; ITEMS]) {
        for (item, value) in values.into_iter().enumerate() {
            // SAFETY: as in `read`.
            unsafe { set(self.place_of(arrangement, thread, item), value) };
        }
    }

    /// Where an item of a thread lies: for all items at constant distances from one address, if there is such a form.
    #[inline(always)]
    fn place_of(self, arrangement: Arrangement, thread: u32, item: usize) -> *mut T {
        match arrangement.first_and_step::<THREADS, ITEMS>(thread, Self::HAS_FREE) {
            Some((first, step)) => self.memory.cast::<T>().wrapping_add(first as usize).wrapping_add(item * step),
            None => self.place(arrangement.index::<THREADS, ITEMS>(thread, item)),
        }
    }
}

/// Which values of a tile are a thread's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// Neighbours.
    Blocked,
    /// Those that are as far apart as the block has threads.
    Striped,
    /// Those of the warp's part that are 32 apart.
    WarpStriped,
}

impl Arrangement {
    /// The index of an item of a thread in the tile.
    #[inline(always)]
    pub const fn index<const THREADS: usize, const ITEMS: usize>(self, thread: u32, item: usize) -> u32 {
        let (items, item, warp) = (ITEMS as u32, item as u32, WARP as u32);
        match self {
            Self::Blocked => thread * items + item,
            Self::Striped => item * THREADS as u32 + thread,
            Self::WarpStriped => thread / warp * (warp * items) + item * warp + thread % warp,
        }
    }

    /// Where a thread's first item is and how far each is from the one before, with one place free after every 32 if
    /// the tile `has_free`: `index + index / 32`. `None` if the distances differ.
    #[inline(always)]
    pub const fn first_and_step<const THREADS: usize, const ITEMS: usize>(
        self,
        thread: u32,
        has_free: bool,
    ) -> Option<(u32, usize)> {
        let (items, warp) = (ITEMS as u32, WARP as u32);
        let first = self.index::<THREADS, ITEMS>(thread, 0);
        Some(match self {
            Self::Blocked if !has_free => (first, 1),
            // A thread's items are all before a free place, or behind it.
            Self::Blocked if warp.is_multiple_of(items) => (first + thread / (warp / items), 1),
            Self::Blocked => return None,
            Self::Striped if has_free => (first + thread / warp, THREADS + THREADS / WARP),
            Self::Striped => (first, THREADS),
            Self::WarpStriped if has_free => (thread / warp * ((warp + 1) * items) + thread % warp, WARP + 1),
            Self::WarpStriped => (first, WARP),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Arrangement;

    /// Wherever an item is, one place is free before it for every 32 values, or none.
    fn places<const THREADS: usize, const ITEMS: usize>() {
        for arrangement in [Arrangement::Blocked, Arrangement::Striped, Arrangement::WarpStriped] {
            for (thread, item) in (0..THREADS as u32).flat_map(|thread| (0..ITEMS).map(move |item| (thread, item))) {
                let index = arrangement.index::<THREADS, ITEMS>(thread, item);
                for (has_free, place) in [(false, index), (true, index + index / 32)] {
                    match arrangement.first_and_step::<THREADS, ITEMS>(thread, has_free) {
                        Some((first, step)) => {
                            assert_eq!(
                                first + (item * step) as u32,
                                place,
                                "{arrangement:?} {thread} {item} {has_free}"
                            );
                        }
                        None => assert!(has_free && arrangement == Arrangement::Blocked && 32 % ITEMS != 0),
                    }
                }
            }
        }
    }

    #[test]
    fn one_place_in_33_is_free() {
        places::<32, 1>();
        places::<32, 6>();
        places::<96, 4>();
        places::<160, 2>();
        places::<256, 3>();
        places::<256, 4>();
        places::<1024, 8>();
        places::<64, 64>();
    }
}
