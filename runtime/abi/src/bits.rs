//! Where C++ puts bit-fields (guide §1.3), and reading and writing them in a struct's bytes.
//!
//! The guide's rules are the Itanium C++ ABI's, as GCC and Clang apply them on x86-64; nvcc follows them on both sides.

use crate::types::{AbiType, CxxType};

/// A member of a struct or union, as far as layout is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// An ordinary one.
    Plain {
        /// In bytes.
        size: usize,
        /// In bytes.
        align: usize,
    },
    /// A bit-field, which can share its storage unit with others.
    Bits {
        /// Size of its declared type, and that type's alignment, in bytes.
        unit: usize,
        /// In bits; 0 ends a run.
        width: usize,
        /// Unnamed ones do not affect the alignment.
        named: bool,
    },
}

/// Where a member lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// In bytes; of a bit-field, that of its storage unit.
    pub offset: usize,
    /// Of a bit-field, from the unit's least significant bit.
    pub start: usize,
}

/// The layout of a struct or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout<const N: usize> {
    /// In bytes, at least 1 as in C++.
    pub size: usize,
    /// In bytes.
    pub align: usize,
    /// One for each member.
    pub places: [Place; N],
}

/// The layout of these members; `align` is the least that the type asks for.
pub const fn layout<const N: usize>(members: &[Member; N], is_union: bool, align: usize) -> Layout<N> {
    let mut layout = Layout { size: 0, align, places: [Place { offset: 0, start: 0 }; N] };
    // The first free bit, and the largest there was.
    let (mut bit, mut end) = (0_usize, 0);
    let mut i = 0;
    while i < N {
        if is_union {
            bit = 0;
        }
        match members[i] {
            Member::Plain { size, align } => {
                let offset = round_up(bit.div_ceil(8), align);
                layout.places[i].offset = offset;
                bit = 8 * (offset + size);
                layout.align = max(layout.align, align);
            }
            Member::Bits { unit, width, named } => {
                // "A bit field should never cross its unit boundary"; one of length zero moves to the next boundary.
                if width == 0 || bit % (8 * unit) + width > 8 * unit {
                    bit = round_up(bit, 8 * unit);
                }
                layout.places[i] = Place { offset: bit / (8 * unit) * unit, start: bit % (8 * unit) };
                bit += width;
                if named {
                    layout.align = max(layout.align, unit);
                }
            }
        }
        end = max(end, bit);
        i += 1;
    }
    layout.size = max(1, round_up(end.div_ceil(8), layout.align));
    layout.size = round_up(layout.size, layout.align);
    layout
}

const fn round_up(value: usize, to: usize) -> usize {
    value.div_ceil(to) * to
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// The field's bits, in the least significant ones of the result.
#[inline(always)]
pub const fn get(bytes: &[u8], place: Place, width: usize) -> u64 {
    let (first, shift) = (place.offset + place.start / 8, place.start % 8);
    let mut value: u128 = 0;
    let mut i = 0;
    while i < (shift + width).div_ceil(8) {
        value |= (bytes[first + i] as u128) << (8 * i);
        i += 1;
    }
    (value >> shift) as u64 & mask(width)
}

/// The same, its highest bit being the sign.
#[inline(always)]
pub const fn get_signed(bytes: &[u8], place: Place, width: usize) -> i64 {
    let unused = 64 - width as u32;
    ((get(bytes, place, width) << unused) as i64) >> unused
}

/// Sets the field's bits to the least significant ones of `value`, and no others.
#[inline(always)]
pub const fn set(bytes: &mut [u8], place: Place, width: usize, value: u64) {
    let (first, shift) = (place.offset + place.start / 8, place.start % 8);
    let (value, mask) = (((value & mask(width)) as u128) << shift, (mask(width) as u128) << shift);
    let mut i = 0;
    while i < (shift + width).div_ceil(8) {
        let byte = bytes[first + i];
        bytes[first + i] = byte & !((mask >> (8 * i)) as u8) | (value >> (8 * i)) as u8;
        i += 1;
    }
}

const fn mask(width: usize) -> u64 {
    if width == 0 { 0 } else { u64::MAX >> (64 - width) }
}

/// A type that any bytes are a value of, and that has no padding, so that it can share bytes with bit-fields.
///
/// # Safety
/// Both must hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand beside bit-fields",
    label = "not any bytes are a value of this type, or it has padding",
    note = "numbers, raw pointers, vectors, arrays of these and other `#[ptx::bitfields]` types can; \
            `unsafe impl ptx::Plain` says so of a type of your own"
)]
pub unsafe trait Plain: AbiType + core::fmt::Debug {}

macro_rules! plain {
    ($([$($generics:tt)*] $ty:ty),*) => {$(
        // SAFETY: a number or an address.
        unsafe impl<$($generics)*> Plain for $ty {}
    )*};
}
plain!([] u8, [] u16, [] u32, [] u64, [] u128, [] usize, [] i8, [] i16, [] i32, [] i64, [] i128, [] isize, [] f32, [] f64);
plain!([T: CxxType + 'static] *const T, [T: CxxType + 'static] *mut T, [T: Plain, const N: usize] [T; N]);

/// Gives a struct an alignment that only a constant knows: `[<Aligned<A> as Carrier>::Type; 0]`.
#[derive(Debug)]
pub struct Aligned<const A: usize>;

/// See [`Aligned`].
pub trait Carrier {
    /// A type of that alignment.
    type Type: Copy;
}

macro_rules! carriers {
    ($($align:literal $name:ident),*) => {$(
        #[doc = concat!("Aligned to ", $align, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(align($align))]
        pub struct $name;

        impl Carrier for Aligned<$align> {
            type Type = $name;
        }
    )*};
}
carriers!(1 Align1, 2 Align2, 4 Align4, 8 Align8, 16 Align16, 32 Align32, 64 Align64, 128 Align128);

#[cfg(test)]
mod tests {
    use super::*;

    const fn bits(unit: usize, width: usize) -> Member {
        Member::Bits { unit, width, named: true }
    }

    const fn plain(size: usize) -> Member {
        Member::Plain { size, align: size }
    }

    /// Size, alignment, and each member's first bit.
    fn check<const N: usize>(members: [Member; N], is_union: bool, size: usize, align: usize, starts: [usize; N]) {
        let layout = layout(&members, is_union, 1);
        assert_eq!((layout.size, layout.align), (size, align));
        assert_eq!(layout.places.map(|place| 8 * place.offset + place.start), starts);
    }

    // The expected layouts are those of the guide's figures 2 to 6. `cargo xtask test layout` compares many with g++.

    #[test]
    fn allocation_from_the_right() {
        check([bits(4, 5), bits(4, 6), bits(4, 7)], false, 4, 4, [0, 5, 11]);
    }

    #[test]
    fn no_field_crosses_its_unit() {
        check(
            [bits(2, 9), bits(4, 9), plain(1), bits(2, 9), bits(2, 9), plain(1)],
            false,
            12,
            4,
            [0, 9, 24, 32, 48, 64],
        );
    }

    #[test]
    fn ordinary_members_share_units() {
        check([plain(1), bits(2, 8)], false, 2, 2, [0, 8]);
    }

    #[test]
    fn unions_begin_at_zero() {
        check([plain(1), bits(2, 8)], true, 2, 2, [0, 0]);
    }

    #[test]
    fn unnamed_fields_do_not_align() {
        let unnamed = |unit, width| Member::Bits { unit, width, named: false };
        check(
            [plain(1), unnamed(4, 0), plain(1), unnamed(2, 9), plain(1), unnamed(4, 0)],
            false,
            12,
            1,
            [0, 32, 32, 48, 64, 96],
        );
        check([unnamed(4, 0)], false, 1, 1, [0]);
    }

    #[test]
    fn values() {
        let mut bytes = [0xff_u8; 9];
        let place = Place { offset: 0, start: 5 };
        set(&mut bytes, place, 59, 0x0123_4567_89ab_cdef);
        assert_eq!(get(&bytes, place, 59), 0x0123_4567_89ab_cdef);
        assert_eq!((bytes[0] & 0x1f, bytes[8]), (0x1f, 0xff));
        set(&mut bytes, Place { offset: 8, start: 1 }, 3, -3_i64 as u64);
        assert_eq!(bytes[8], 0b1111_1011);
        assert_eq!(get_signed(&bytes, Place { offset: 8, start: 1 }, 3), -3);
        set(&mut bytes, Place { offset: 0, start: 0 }, 64, u64::MAX);
        assert_eq!(get_signed(&bytes, Place { offset: 0, start: 0 }, 64), -1);
    }
}
