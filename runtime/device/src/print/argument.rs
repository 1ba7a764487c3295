//! Which conversion of printf an argument takes.

use core::marker::PhantomData;

use super::arena::{Arena, Writer};
use super::float::{Number, Style};
use super::format::{Change, Conversion};
use super::pad::Layout;

/// A type that prints without `core::fmt` for placeholders of the class `C`, one of the classes below.
pub trait Arg<C> {
    /// How.
    const CONVERSION: Conversion;
    /// Whether [`differs`](Self::differs) is ever true.
    const DIFFERS: bool = false;
    /// What a width that is an argument becomes in the valist: `i32` before a number, nothing before text.
    type Star: Star;
    /// The type of the value in the valist, after C's default argument promotions.
    type Slot: Copy;
    /// The value in the valist.
    fn slot(&self, arena: &Arena, layout: &Layout) -> Self::Slot;
    /// Whether this value needs another format than the constant one.
    #[inline(always)]
    fn differs(&self, _: &Layout) -> bool {
        false
    }
    /// What differs from the constant format for this value.
    #[inline(always)]
    fn change(&self, _: &Layout) -> Change {
        Change::None
    }
}

/// `{}` and `{:?}`. `PLUS`: with a sign; `FIXED`: with a precision; `SIMPLE`: padded in a way that printf knows.
#[derive(Debug)]
pub struct Decimal<const DEBUG: bool, const PLUS: bool, const FIXED: bool, const SIMPLE: bool>;
/// `{:x}`, `{:X}` and `{:o}`, by the letter.
#[derive(Debug)]
pub struct Radix<const LETTER: char>;
/// `{:e}` and `{:E}` without a precision.
#[derive(Debug)]
pub struct Exponent<const UPPER: bool>;
/// `{:p}`
#[derive(Debug)]
pub struct Pointer;
/// Placeholders for which printf has no conversion.
#[derive(Debug)]
pub struct Any;

/// Classes in which a reference prints as what it refers to.
pub trait Through {}
impl<const D: bool, const P: bool, const F: bool, const S: bool> Through for Decimal<D, P, F, S> {}
impl<const LETTER: char> Through for Radix<LETTER> {}
impl<const UPPER: bool> Through for Exponent<UPPER> {}

macro_rules! reference {
    ($($reference:ty),*) => {$(
        impl<C: Through, T: Arg<C> + ?Sized> Arg<C> for $reference {
            const CONVERSION: Conversion = T::CONVERSION;
            const DIFFERS: bool = T::DIFFERS;
            type Star = T::Star;
            type Slot = T::Slot;
            #[inline(always)]
            fn slot(&self, arena: &Arena, layout: &Layout) -> T::Slot {
                (**self).slot(arena, layout)
            }
            #[inline(always)]
            fn differs(&self, layout: &Layout) -> bool {
                (**self).differs(layout)
            }
            #[inline(always)]
            fn change(&self, layout: &Layout) -> Change {
                (**self).change(layout)
            }
        }
    )*};
}
reference!(&T, &mut T);

macro_rules! number {
    ($([$($generics:tt)*] $class:ty, $type:ty => $($step:ident)+, $letters:literal;)*) => {$(
        impl<$($generics)*> Arg<$class> for $type {
            const CONVERSION: Conversion = Conversion::Number($letters);
            type Star = i32;
            type Slot = number!(last $($step)+);
            #[inline(always)]
            fn slot(&self, _: &Arena, _: &Layout) -> Self::Slot {
                *self $(as $step)+
            }
        }
    )*};
    (last $only:ident) => { $only };
    (last $first:ident $($rest:ident)+) => { number!(last $($rest)+) };
}

macro_rules! integers {
    ($($signed:ident $unsigned:ident: $slot:ident $unsigned_slot:ident, $d:literal $u:literal $x:literal $upper:literal $o:literal;)*) => {$(
        number! {
            [const D: bool, const P: bool, const F: bool] Decimal<D, P, F, true>, $signed => $slot, $d;
            [const D: bool, const F: bool] Decimal<D, false, F, true>, $unsigned => $unsigned_slot, $u;
            [] Radix<'x'>, $signed => $unsigned $unsigned_slot, $x;
            [] Radix<'x'>, $unsigned => $unsigned_slot, $x;
            [] Radix<'X'>, $signed => $unsigned $unsigned_slot, $upper;
            [] Radix<'X'>, $unsigned => $unsigned_slot, $upper;
            [] Radix<'o'>, $signed => $unsigned $unsigned_slot, $o;
            [] Radix<'o'>, $unsigned => $unsigned_slot, $o;
        }
    )*};
}
integers! {
    i8 u8: i32 u32, "d" "u" "x" "X" "o";
    i16 u16: i32 u32, "d" "u" "x" "X" "o";
    i32 u32: i32 u32, "d" "u" "x" "X" "o";
    i64 u64: i64 u64, "lld" "llu" "llx" "llX" "llo";
    isize usize: i64 u64, "lld" "llu" "llx" "llX" "llo";
}
// printf gives unsigned numbers no sign: those that fit are passed as wider signed ones.
number! {
    [const D: bool, const F: bool] Decimal<D, true, F, true>, u8 => i32, "d";
    [const D: bool, const F: bool] Decimal<D, true, F, true>, u16 => i32, "d";
    [const D: bool, const F: bool] Decimal<D, true, F, true>, u32 => i64, "lld";
}

macro_rules! text {
    ($([$($generics:tt)*] $class:ty, $type:ty: |$value:ident, $out:ident, $layout:ident| $write:expr;)*) => {$(
        impl<$($generics)*> Arg<$class> for $type {
            const CONVERSION: Conversion = Conversion::Text;
            type Star = ();
            type Slot = *const u8;
            #[inline(always)]
            fn slot(&self, arena: &Arena, layout: &Layout) -> *const u8 {
                /// Not inlined, because ptxas compiles it for every placeholder otherwise.
                #[inline(never)]
                fn slot($value: &$type, arena: &Arena, $layout: &Layout) -> *const u8 {
                    arena.text(|$out| $write)
                }
                slot(self, arena, layout)
            }
        }
    )*};
}
text! {
    [const P: bool, const F: bool, const S: bool] Decimal<false, P, F, S>, str:
        |value, out, layout| layout.text(out, value);
    [const P: bool, const F: bool, const S: bool] Decimal<false, P, F, S>, char:
        |value, out, layout| layout.text(out, value.encode_utf8(&mut [0; 4]));
    [const D: bool, const P: bool, const F: bool, const S: bool] Decimal<D, P, F, S>, bool:
        |value, out, layout| layout.text(out, if *value { "true" } else { "false" });
}

macro_rules! floats {
    ($($float:ident),*) => {$(
        impl<const D: bool, const P: bool, const S: bool> Arg<Decimal<D, P, false, S>> for $float {
            const CONVERSION: Conversion = Conversion::Text;
            type Star = ();
            type Slot = *const u8;
            #[inline(always)]
            fn slot(&self, arena: &Arena, layout: &Layout) -> *const u8 {
                shortest(&Number::from(*self), if D { Style::Debug } else { Style::Display }, arena, layout)
            }
        }

        impl<const UPPER: bool> Arg<Exponent<UPPER>> for $float {
            const CONVERSION: Conversion = Conversion::Text;
            type Star = ();
            type Slot = *const u8;
            #[inline(always)]
            fn slot(&self, arena: &Arena, layout: &Layout) -> *const u8 {
                shortest(&Number::from(*self), if UPPER { Style::UpperExp } else { Style::LowerExp }, arena, layout)
            }
        }

        impl<const D: bool, const P: bool> Arg<Decimal<D, P, true, true>> for $float {
            const CONVERSION: Conversion = Conversion::Number("f");
            const DIFFERS: bool = true;
            type Star = i32;
            /// The bits of an `f64`, or the address of `inf` or `NaN`, which C writes otherwise.
            type Slot = u64;
            #[inline(always)]
            fn slot(&self, arena: &Arena, layout: &Layout) -> u64 {
                if self.is_finite() { f64::from(*self).to_bits() } else { not_finite(f64::from(*self), arena, layout) }
            }
            #[inline(always)]
            fn differs(&self, layout: &Layout) -> bool {
                !self.is_finite() || layout.dynamic_precision
            }
            fn change(&self, layout: &Layout) -> Change {
                if !self.is_finite() {
                    Change::Text
                } else if layout.dynamic_precision {
                    // More is a panic in Rust.
                    Change::Precision(layout.precision.unwrap_or(0).min(u16::MAX.into()) as u16)
                } else {
                    Change::None
                }
            }
        }
    )*};
}
floats!(f32, f64);

#[inline(never)]
fn shortest(number: &Number, style: Style, arena: &Arena, layout: &Layout) -> *const u8 {
    arena.text(|out| number.write(out, style, layout))
}

#[cold]
#[inline(never)]
fn not_finite(value: f64, arena: &Arena, layout: &Layout) -> u64 {
    shortest(&Number::not_finite(value), Style::Display, arena, layout).expose_provenance() as u64
}

macro_rules! pointer {
    ($($pointer:ty: |$value:ident| $address:expr;)*) => {$(
        impl<T: ?Sized> Arg<Pointer> for $pointer {
            const CONVERSION: Conversion = Conversion::Number("llx");
            type Star = i32;
            type Slot = u64;
            #[inline(always)]
            fn slot(&self, _: &Arena, _: &Layout) -> u64 {
                let $value = self;
                $address.cast::<u8>().expose_provenance() as u64
            }
        }
    )*};
}
pointer! {
    *const T: |value| *value;
    *mut T: |value| *value;
    &T: |value| core::ptr::from_ref::<T>(value);
    &mut T: |value| core::ptr::from_ref::<T>(value);
}

/// The type of a width in the valist.
pub trait Star: Copy {
    /// The value for `width`, less the characters of `prefix`.
    fn of(width: usize, prefix: &str) -> Self;
}
impl Star for i32 {
    #[inline(always)]
    fn of(width: usize, prefix: &str) -> i32 {
        // More is a panic in Rust.
        width.saturating_sub(prefix.len()).min(u16::MAX.into()) as i32
    }
}
impl Star for () {
    #[inline(always)]
    fn of(_: usize, _: &str) {}
}

/// An argument and its class, out of which `(&tag).select()` makes a [`Printed`]: [`Select`] takes precedence where it
/// applies, because [`SelectText`] needs one reference more.
#[derive(Debug)]
pub struct Tag<'a, C, T: ?Sized> {
    value: &'a T,
    class: PhantomData<C>,
}

impl<'a, C, T: ?Sized> Tag<'a, C, T> {
    /// The pair of `argument` and its class.
    #[inline(always)]
    pub fn new(_: PhantomData<C>, value: &'a T) -> Self {
        Self { value, class: PhantomData }
    }
}

/// For types that print without `core::fmt`.
pub trait Select<'a, C, T: ?Sized> {
    /// How it prints.
    fn select(&self) -> Direct<'a, C, T>;
}
impl<'a, C, T: Arg<C> + ?Sized> Select<'a, C, T> for Tag<'a, C, T> {
    #[inline(always)]
    fn select(&self) -> Direct<'a, C, T> {
        Direct { value: self.value, class: PhantomData }
    }
}

/// For all others.
pub trait SelectText {
    /// By `core::fmt`.
    fn select(&self) -> ByFmt;
}
impl<C, T: ?Sized> SelectText for &Tag<'_, C, T> {
    #[inline(always)]
    fn select(&self) -> ByFmt {
        ByFmt
    }
}

/// A value for the valist.
pub trait Printed {
    /// How.
    const CONVERSION: Conversion;
    /// Whether [`differs`](Self::differs) is ever true.
    const DIFFERS: bool;
    /// See [`Arg::Star`].
    type Star: Star;
    /// See [`Arg::Slot`].
    type Slot: Copy;
    /// The value in the valist.
    fn slot(self, arena: &Arena, layout: &Layout) -> Self::Slot;
    /// See [`Arg::differs`].
    fn differs(&self, layout: &Layout) -> bool;
    /// See [`Arg::change`].
    fn change(&self, layout: &Layout) -> Change;
}

/// Prints as its type's [`Arg`] says.
#[derive(Debug)]
pub struct Direct<'a, C, T: ?Sized> {
    value: &'a T,
    class: PhantomData<C>,
}

impl<C, T: ?Sized> Direct<'_, C, T> {
    /// Leaves `write`, which writes it by `core::fmt`, out of the program.
    #[inline(always)]
    pub fn or(self, _: impl FnOnce(&mut Writer<'_>)) -> Self {
        self
    }
}

impl<C, T: Arg<C> + ?Sized> Printed for Direct<'_, C, T> {
    const CONVERSION: Conversion = T::CONVERSION;
    const DIFFERS: bool = T::DIFFERS;
    type Star = T::Star;
    type Slot = T::Slot;
    #[inline(always)]
    fn slot(self, arena: &Arena, layout: &Layout) -> T::Slot {
        self.value.slot(arena, layout)
    }
    #[inline(always)]
    fn differs(&self, layout: &Layout) -> bool {
        self.value.differs(layout)
    }
    #[inline(always)]
    fn change(&self, layout: &Layout) -> Change {
        self.value.change(layout)
    }
}

/// Prints by `core::fmt`.
#[derive(Debug)]
pub struct ByFmt;

impl ByFmt {
    /// Prints the text that `write` writes.
    #[inline(always)]
    pub fn or<F: FnOnce(&mut Writer<'_>)>(self, write: F) -> Indirect<F> {
        Indirect { write }
    }
}

/// Text that `core::fmt` writes.
#[derive(Debug)]
pub struct Indirect<F> {
    write: F,
}

impl<F: FnOnce(&mut Writer<'_>)> Printed for Indirect<F> {
    const CONVERSION: Conversion = Conversion::Text;
    const DIFFERS: bool = false;
    type Star = ();
    type Slot = *const u8;
    #[inline(always)]
    fn slot(self, arena: &Arena, _: &Layout) -> *const u8 {
        arena.text(self.write)
    }
    #[inline(always)]
    fn differs(&self, _: &Layout) -> bool {
        false
    }
    #[inline(always)]
    fn change(&self, _: &Layout) -> Change {
        Change::None
    }
}
