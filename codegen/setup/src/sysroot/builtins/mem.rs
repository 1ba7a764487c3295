//! Copying, filling and comparing memory: by words where both sides have the same alignment, else by bytes, since a GPU
//! faults on a word that is not aligned.

use core::mem::MaybeUninit;

const WORD: usize = size_of::<u64>();

/// What is copied may be padding, which no integer may be made of, and a part of a pointer, which an integer would lose.
type Byte = MaybeUninit<u8>;
/// The same, eight at once.
type Word = MaybeUninit<u64>;

fn aligned(address: usize) -> bool {
    address & (WORD - 1) == 0
}

/// Whether two addresses lie equally in their words, so that both sides become aligned together.
fn alike(a: usize, b: usize) -> bool {
    aligned(a ^ b)
}

/// Copies from the lowest address up, which is right where `dest` overlaps `src` from below.
///
/// # Safety
/// `n` bytes can be read at `src` and written at `dest`.
unsafe fn copy_up(dest: *mut u8, src: *const u8, n: usize) {
    let mut i = 0;
    // SAFETY: `i` stays below `n`, and words are used where both addresses are aligned.
    unsafe {
        if alike(dest.addr(), src.addr()) {
            while i < n && !aligned(dest.addr() + i) {
                *dest.add(i).cast::<Byte>() = *src.add(i).cast::<Byte>();
                i += 1;
            }
            while n - i >= WORD {
                *dest.add(i).cast::<Word>() = *src.add(i).cast::<Word>();
                i += WORD;
            }
        }
        while i < n {
            *dest.add(i).cast::<Byte>() = *src.add(i).cast::<Byte>();
            i += 1;
        }
    }
}

/// Copies from the highest address down, which is right where `dest` overlaps `src` from above.
///
/// # Safety
/// As [`copy_up`].
unsafe fn copy_down(dest: *mut u8, src: *const u8, n: usize) {
    let mut i = n;
    // SAFETY: as in `copy_up`.
    unsafe {
        if alike(dest.addr(), src.addr()) {
            while i > 0 && !aligned(dest.addr() + i) {
                i -= 1;
                *dest.add(i).cast::<Byte>() = *src.add(i).cast::<Byte>();
            }
            while i >= WORD {
                i -= WORD;
                *dest.add(i).cast::<Word>() = *src.add(i).cast::<Word>();
            }
        }
        while i > 0 {
            i -= 1;
            *dest.add(i).cast::<Byte>() = *src.add(i).cast::<Byte>();
        }
    }
}

/// C's `memcpy`.
///
/// # Safety
/// As C's.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub unsafe extern "C" fn memcpy(dest: *mut u8, src: *const u8, n: usize) -> *mut u8 {
    // SAFETY: the caller's.
    unsafe { copy_up(dest, src, n) };
    dest
}

/// C's `memmove`.
///
/// # Safety
/// As C's.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub unsafe extern "C" fn memmove(dest: *mut u8, src: *const u8, n: usize) -> *mut u8 {
    // Below `src` the difference wraps to a large number.
    if dest.addr().wrapping_sub(src.addr()) >= n {
        // SAFETY: the caller's.
        unsafe { copy_up(dest, src, n) };
    } else {
        // SAFETY: the caller's.
        unsafe { copy_down(dest, src, n) };
    }
    dest
}

/// C's `memset`.
///
/// # Safety
/// As C's.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub unsafe extern "C" fn memset(dest: *mut u8, value: i32, n: usize) -> *mut u8 {
    let byte = value as u8;
    let word = u64::from(byte) * 0x0101_0101_0101_0101;
    let mut i = 0;
    // SAFETY: `i` stays below `n`, and words are used where the address is aligned.
    unsafe {
        while i < n && !aligned(dest.addr() + i) {
            *dest.add(i) = byte;
            i += 1;
        }
        while n - i >= WORD {
            *dest.add(i).cast::<u64>() = word;
            i += WORD;
        }
        while i < n {
            *dest.add(i) = byte;
            i += 1;
        }
    }
    dest
}

/// Bytes that are compared before the addresses are looked at: most of what is compared differs early.
const FIRST: u32 = 16;

/// Bytes that are compared at once where they may lie anywhere: their loads wait together.
const GROUP: usize = 4;

/// -1, 0 or 1: how two groups of bytes at the same place of both sides compare.
///
/// # Safety
/// [`GROUP`] bytes can be read at both.
#[inline]
unsafe fn compare_group(a: *const u8, b: *const u8) -> i32 {
    // SAFETY: the caller's; bytes need no alignment.
    let pair = |k| unsafe { (u32::from(*a.add(k)), u32::from(*b.add(k))) };
    let pairs: [(u32, u32); GROUP] = [pair(0), pair(1), pair(2), pair(3)];
    // In 32 bits, as a GPU has them, and joined, so that one branch asks for all.
    if pairs.iter().fold(0, |all, (x, y)| all | (x ^ y)) == 0 {
        return 0;
    }
    // Who only asks whether they differ does not have this computed.
    let (x, y) = *pairs.iter().find(|(x, y)| x != y).unwrap_or(&pairs[0]);
    if x < y { -1 } else { 1 }
}

/// C's `memcmp`. Small enough to be inlined: a kernel that calls nothing needs fewer instructions for every load.
///
/// # Safety
/// As C's.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
#[inline]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // Loops of their own, counted by 32 bits, before anything is computed that only more bytes need.
    let first = if n < FIRST as usize { n as u32 } else { FIRST };
    let (mut k, groups) = (0, first / GROUP as u32 * GROUP as u32);
    while k != groups {
        // SAFETY: so many bytes are left.
        let order = unsafe { compare_group(a.add(k as usize), b.add(k as usize)) };
        if order != 0 {
            return order;
        }
        k += GROUP as u32;
    }
    while k < first {
        // SAFETY: `k` is below `n`.
        let (x, y) = unsafe { (*a.add(k as usize), *b.add(k as usize)) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
        k += 1;
    }
    if n <= FIRST as usize {
        return 0;
    }
    let mut i = FIRST as usize;
    // Where words begin.
    let mut end = n.min(i + (a.addr().wrapping_neg() & (WORD - 1)));
    loop {
        // SAFETY: `i` stays below `n`, and words are used where both addresses are aligned.
        unsafe {
            while i < end {
                let (x, y) = (*a.add(i), *b.add(i));
                if x != y {
                    return i32::from(x) - i32::from(y);
                }
                i += 1;
            }
            if i == n {
                return 0;
            }
            // Up to the first words that differ; their bytes decide.
            if alike(a.addr(), b.addr()) {
                while n - i >= WORD && *a.add(i).cast::<u64>() == *b.add(i).cast::<u64>() {
                    i += WORD;
                }
            }
        }
        end = n;
    }
}

/// BSD's `bcmp`: whether they differ.
///
/// # Safety
/// As C's `memcmp`.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's.
    unsafe { memcmp(a, b, n) }
}

/// C's `strlen`.
///
/// # Safety
/// As C's.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
pub unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut n = 0;
    // SAFETY: all bytes up to the zero can be read.
    while unsafe { *text.add(n) } != 0 {
        n += 1;
    }
    n
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    #[repr(align(8))]
    struct Buffer([u8; 64]);

    fn counting() -> Buffer {
        Buffer(core::array::from_fn(|i| i as u8 ^ 0x5a))
    }

    /// Every offset within a word on both sides, and lengths around words.
    fn cases() -> impl Iterator<Item = (usize, usize, usize)> {
        (0..9).flat_map(|a| (0..9).flat_map(move |b| (0..43).map(move |n| (a, b, n))))
    }

    #[test]
    fn copies_are_copies_also_where_they_overlap() {
        for (to, from, n) in cases() {
            let mut buffer = counting();
            let mut expected = buffer.0;
            expected.copy_within(from..from + n, to);
            let base = buffer.0.as_mut_ptr();
            // SAFETY: both ranges lie in the buffer.
            let result = unsafe { memmove(base.add(to), base.add(from), n) };
            assert_eq!(result.addr(), base.addr() + to);
            assert_eq!(buffer.0, expected, "{to} {from} {n}");

            let (mut dest, src) = (Buffer([0; 64]), counting());
            // SAFETY: both ranges lie in their buffers.
            unsafe { memcpy(dest.0.as_mut_ptr().add(to), src.0.as_ptr().add(from), n) };
            assert_eq!(dest.0[to..to + n], src.0[from..from + n]);
            assert!(dest.0[..to].iter().chain(&dest.0[to + n..]).all(|byte| *byte == 0), "{to} {from} {n}");
        }
    }

    /// Copies by integers made numbers of padding, which is undefined. Miri sees it, where it is installed.
    #[test]
    fn padding_and_pointers_are_copied() {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct Padded<'a> {
            small: u8,
            text: &'a str,
            wide: u64,
        }
        let source = [Padded { small: 1, text: "one", wide: 10 }, Padded { small: 2, text: "two", wide: 20 }];
        for copy in [memcpy, memmove] {
            let mut dest = MaybeUninit::<[Padded<'_>; 2]>::uninit();
            // SAFETY: both are as large as said, and apart; all of it is copied.
            let copied = unsafe {
                copy(dest.as_mut_ptr().cast(), (&raw const source).cast(), size_of_val(&source));
                dest.assume_init()
            };
            assert_eq!(copied.map(|padded| (padded.small, padded.text, padded.wide)), [(1, "one", 10), (2, "two", 20)]);
        }
    }

    #[test]
    fn filling_stays_within_its_bounds() {
        for (at, value, n) in cases() {
            let mut buffer = counting();
            let mut expected = buffer.0;
            expected[at..at + n].fill(value as u8 | 0x80);
            // SAFETY: the range lies in the buffer.
            unsafe { memset(buffer.0.as_mut_ptr().add(at), value as i32 | 0x180, n) };
            assert_eq!(buffer.0, expected, "{at} {n}");
        }
    }

    #[test]
    fn comparing_orders_as_slices_do() {
        for (a, b, n) in cases() {
            let mut left = Buffer([0; 64]);
            let mut right = Buffer([0; 64]);
            left.0[a..a + n].copy_from_slice(&counting().0[..n]);
            right.0[b..b + n].copy_from_slice(&counting().0[..n]);
            let compare = |left: &Buffer, right: &Buffer| {
                // SAFETY: both ranges lie in their buffers.
                unsafe { memcmp(left.0.as_ptr().add(a), right.0.as_ptr().add(b), n) }
            };
            assert_eq!(compare(&left, &right), 0);
            for at in 0..n {
                right.0[b + at] ^= 0x81;
                let expected = left.0[a..a + n].cmp(&right.0[b..b + n]) as i32;
                assert_eq!(compare(&left, &right).signum(), expected, "{a} {b} {n} {at}");
                right.0[b + at] ^= 0x81;
            }
        }
    }

    #[test]
    fn strings_end_at_the_zero() {
        for n in 0..20 {
            let text: Vec<u8> = std::iter::repeat_n(b'x', n).chain([0, b'y', 0]).collect();
            // SAFETY: there is a zero.
            assert_eq!(unsafe { strlen(text.as_ptr()) }, n);
        }
    }
}
