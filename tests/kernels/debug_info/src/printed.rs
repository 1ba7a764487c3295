//! A value of every type that the pretty printers know, as statics, which a debugger reads without a GPU.
extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::mem::{ManuallyDrop, MaybeUninit};
use core::num::{NonZeroU32, NonZeroU128, Wrapping};
use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use core::sync::atomic::{AtomicBool, AtomicU32};

use ptx::atomic::{Atomic, Block};
use ptx::float::{Bf16x2, F8E4M3, F8E4M3x2, F8E5M2, F8E5M2x2, F16x2};
use ptx::prelude::*;
use ptx::vec::{Double2, Float4, Int3};
use ptx::{bf16, f16};

use crate::shapes::Wrapper;

/// Variants of every form.
#[derive(Clone, Copy)]
pub enum Message {
    Quit,
    Move { x: i32, y: i32 },
    Write(&'static str),
    Nested(Option<Inner>),
    List([u8; 3]),
}

/// Of fields that are plain and of one that is not.
#[derive(Clone, Copy)]
pub enum Inner {
    Pair(u8, f32),
    Slice(&'static [i16]),
}

/// Without data.
#[derive(Clone, Copy)]
pub enum Colour {
    Red,
    Green = 5,
}

/// An owner in a static: layout as the owner's, made of the parts that `new` would allocate.
///
/// # Safety
/// `Parts` must have the layout of `Owner`.
const unsafe fn owner<Parts, Owner>(parts: Parts) -> Owner {
    assert!(size_of::<Parts>() == size_of::<Owner>(), "the library has other parts now");
    // SAFETY: the caller's promise.
    unsafe { core::mem::transmute_copy(&ManuallyDrop::new(parts)) }
}

/// `Vec`, as rustc lays it out: capacity, pointer, length.
#[repr(C)]
struct Parts<T>(usize, *const T, usize);

/// `VecDeque`: capacity, pointer, first, length.
#[repr(C)]
struct Ring<T>(usize, *const T, usize, usize);

/// What `Rc` points to.
#[repr(C)]
struct Counted<T>(usize, usize, T);

static NUMBERS: [u32; 4] = [3, 1, 4, 1];
static mut CHANGING: [u16; 2] = [5, 6];
static BYTES: [u8; 9] = *b"h\xc3\xa9llo\n\0!";
static ONCE: Counted<i32> = Counted(2, 1, 42);
static GONE: Counted<i32> = Counted(0, 1, 0);
static TEXT: Counted<[u8; 4]> = Counted(1, 2, *b"text");
static MANY: Counted<[u16; 3]> = Counted(1, 1, [7, 8, 9]);

macro_rules! statics {
    ($($name:ident: $ty:ty = $value:expr;)*) => {
        $(static mut $name: $ty = $value;)*

        /// A number that depends on the address of every static, so that none is removed.
        fn addresses() -> usize {
            0 $(+ (&raw const $name).addr())*
        }
    };
}

statics! {
    SLICE: &[u32] = &NUMBERS;
    SLICE_MUT: &mut [i8] = &mut [-1, 2];
    SLICE_EMPTY: &[f32] = &[];
    SLICES: [&[u16]; 2] = [&[1], &[2, 3]];
    SLICE_POINTER: *const [u32] = &NUMBERS;
    STR: &str = "grüße \"\\\n";
    STR_EMPTY: &str = "";
    STRS: [&str; 2] = ["one", "two"];
    QUIT: Message = Message::Quit;
    MOVE: Message = Message::Move { x: -3, y: 4 };
    WRITE: Message = Message::Write("text");
    NESTED: Message = Message::Nested(Some(Inner::Pair(9, 0.5)));
    NESTED_SLICE: Message = Message::Nested(Some(Inner::Slice(&[-5, 6])));
    NESTED_NONE: Message = Message::Nested(None);
    LIST: Message = Message::List([1, 2, 3]);
    MESSAGES: [Message; 2] = [Message::Quit, Message::Move { x: 1, y: 2 }];
    COLOUR: [Colour; 2] = [Colour::Red, Colour::Green];
    SOME: Option<u8> = Some(7);
    NONE: Option<u8> = None;
    NICHE: Option<&u32> = Some(&NUMBERS[2]);
    NICHE_NONE: Option<&u32> = None;
    NICHE_BOOL: Option<Option<bool>> = Some(Some(true));
    NICHE_BOOL_INNER: Option<Option<bool>> = Some(None);
    NICHE_BOOL_NONE: Option<Option<bool>> = None;
    OPTION_STR: Option<&str> = Some("abc");
    OK: Result<u32, i8> = Ok(5);
    ERR: Result<u32, i8> = Err(-3);
    RESULT_UNIT: Result<(), &str> = Err("no");
    WRAPPED: Wrapper<Option<i32>> = Wrapper { inner: Some(-4), count: 5 };
    RANGE: Range<usize> = 1..5;
    RANGE_CLOSED: RangeInclusive<i32> = -1..=5;
    RANGE_FROM: RangeFrom<u8> = 3..;
    RANGE_TO: RangeTo<i64> = ..9;
    RANGE_TO_CLOSED: RangeToInclusive<char> = ..='z';
    RANGE_FULL: (RangeFull, u8) = (.., 1);
    FLOAT4: Float4 = Float4::new(1.0, -2.5, 3.0, 0.125);
    INT3: Int3 = Int3::new(1, -2, 3);
    DOUBLE2: [Double2; 2] = [Double2::new(0.5, 1.5), Double2::new(2.5, 3.5)];
    HALF: f16 = f16::from_f32_const(-1.5);
    HALF_TINY: f16 = f16::from_bits(1);
    HALF_INFINITE: f16 = f16::NEG_INFINITY;
    BRAIN: bf16 = bf16::from_f32_const(3.140625);
    BRAIN_NAN: bf16 = bf16::NAN;
    F16X2: F16x2 = F16x2::new(f16::from_f32_const(0.5), f16::from_f32_const(-65504.0));
    BF16X2: Bf16x2 = Bf16x2::new(bf16::from_f32_const(2.0), bf16::INFINITY);
    E4M3: [F8E4M3; 5] = [F8E4M3(0x38), F8E4M3(0x7e), F8E4M3(0x7f), F8E4M3(0x81), F8E4M3(0x00)];
    E5M2: [F8E5M2; 5] = [F8E5M2(0x3c), F8E5M2(0x7b), F8E5M2(0x7c), F8E5M2(0x81), F8E5M2(0xff)];
    E4M3X2: F8E4M3x2 = F8E4M3x2::new(F8E4M3(0x40), F8E4M3(0xb8));
    E5M2X2: F8E5M2x2 = F8E5M2x2::new(F8E5M2(0x40), F8E5M2(0xbc));
    NONZERO: NonZeroU32 = NonZeroU32::new(17).unwrap();
    NONZERO_OPTION: Option<NonZeroU32> = NonZeroU32::new(18);
    NONZERO_NONE: Option<NonZeroU32> = None;
    NONZERO_WIDE: Option<NonZeroU128> = NonZeroU128::new(1 << 100);
    WRAPPING: Wrapping<u8> = Wrapping(255);
    CELL: Cell<i16> = Cell::new(-7);
    CELL_SLICE: Cell<&[u32]> = Cell::new(&NUMBERS);
    REFCELL: RefCell<u64> = RefCell::new(1 << 40);
    REFCELL_OPTION: RefCell<Option<&str>> = RefCell::new(Some("in"));
    ATOMIC: AtomicU32 = AtomicU32::new(12);
    ATOMIC_BOOL: AtomicBool = AtomicBool::new(true);
    SCOPED: Atomic<i64, Block> = Atomic::new(-12);
    MAYBE: MaybeUninit<u16> = MaybeUninit::new(3);
    DROPLESS: ManuallyDrop<u16> = ManuallyDrop::new(4);
    BOXED: Box<[u16]> = unsafe { owner(&raw mut CHANGING as *mut [u16]) };
    VEC: Vec<u32> = unsafe { owner(Parts(10, (&raw const NUMBERS).cast::<u32>(), 3)) };
    VEC_EMPTY: Vec<u32> = Vec::new();
    VEC_BROKEN: Vec<u32> = unsafe { owner(Parts(10, core::ptr::without_provenance::<u32>(64), 3)) };
    VEC_LONG: Vec<u32> = unsafe { owner(Parts(10, core::ptr::without_provenance::<u32>(64), 1 << 60)) };
    STRING: String = unsafe { owner(Parts(9, (&raw const BYTES).cast::<u8>(), 9)) };
    STRING_BROKEN: String = unsafe { owner(Parts(8, core::ptr::without_provenance::<u8>(64), 8)) };
    DEQUE: VecDeque<u32> = unsafe { owner(Ring(4, (&raw const NUMBERS).cast::<u32>(), 3, 3)) };
    DEQUE_EMPTY: VecDeque<u8> = VecDeque::new();
    RC: Rc<i32> = unsafe { owner(&raw const ONCE) };
    RC_SLICE: Rc<[u16]> = unsafe { owner(Fat(&raw const MANY, 3)) };
    RC_STR: Rc<str> = unsafe { owner(Fat(&raw const TEXT, 4)) };
    ARC: Arc<i32> = unsafe { owner(&raw const ONCE) };
    WEAK: alloc::rc::Weak<i32> = unsafe { owner(&raw const ONCE) };
    WEAK_DANGLING: alloc::rc::Weak<i32> = alloc::rc::Weak::new();
    WEAK_OF_NOTHING: alloc::rc::Weak<i32> = unsafe { owner(&raw const GONE) };
    ITERATOR: core::slice::Iter<'static, u32> = unsafe { owner(NUMBERS.as_ptr_range()) };
}

/// A pointer and a length.
#[repr(C)]
struct Fat<T>(*const T, usize);

#[kernel]
pub fn printed(mut out: DisjointSlice<usize>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = addresses();
    }
}
