//! A value moved by one instruction, in whichever space.

/// Whether one instruction moves a value.
pub(crate) const fn has_word<T>() -> bool {
    matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16)
}

/// Loads a `T`: when it is volatile and since when, the register of the address, the instruction up to its type, the
/// address. With a policy behind that, `.L2::cache_hint`'s.
macro_rules! load {
    ($kind:literal $class:literal, $instruction:literal, $from:ident => $address:ty) => {
        $crate::memory::load!(@ $kind $class "" "" "", $instruction, $from => $address,)
    };
    ($kind:literal $class:literal, $instruction:literal, $from:ident => $address:ty, $policy:ident) => {
        $crate::memory::load!(@ $kind $class ",l" ", $2" ", $3", $instruction, $from => $address, $policy => u64,)
    };
    (@ $kind:literal $class:literal $also:literal $tail:literal $tail_of_two:literal, $instruction:literal,
        $from:ident => $address:ty, $($policy:ident => $policy_ty:ty,)?
    ) => {{
        const { assert!($crate::memory::has_word::<T>(), "a value has 1, 2, 4, 8 or 16 bytes here") };
        // `$policy` is none or one operand, which the macro within could not repeat.
        macro_rules! word {
            ($word:ty, $of:literal, $ty:literal) => {{
                let mut word = core::mem::MaybeUninit::<$word>::uninit();
                assembly!(
                    concat!("__ptx_asm:", $kind, ":=", $of, ":", $class, $also, ":", $instruction, $ty, " $0, [$1]", $tail, ";");
                    ($from => $address, $($policy => $policy_ty,)? word.as_mut_ptr() => *mut $word)
                );
                word.assume_init()
            }};
        }
        // SAFETY: the caller's promise; the bytes are those of a `T`.
        unsafe {
            match size_of::<T>() {
                1 => core::mem::transmute_copy(&(word!(u16, "h", ".b8") as u8)),
                2 => core::mem::transmute_copy(&word!(u16, "h", ".b16")),
                4 => core::mem::transmute_copy(&word!(u32, "r", ".b32")),
                8 => core::mem::transmute_copy(&word!(u64, "l", ".b64")),
                _ => {
                    let mut low = core::mem::MaybeUninit::<u64>::uninit();
                    let mut high = core::mem::MaybeUninit::<u64>::uninit();
                    assembly!(
                        concat!(
                            "__ptx_asm:", $kind, ":=l,=l:", $class, $also, ":", $instruction, ".v2.b64 {$0, $1}, [$2]",
                            $tail_of_two, ";"
                        );
                        (
                            $from => $address, $($policy => $policy_ty,)?
                            low.as_mut_ptr() => *mut u64, high.as_mut_ptr() => *mut u64
                        )
                    );
                    core::mem::transmute_copy(&[low.assume_init(), high.assume_init()])
                }
            }
        }
    }};
}

/// Stores a `T`, as `load!` loads one.
macro_rules! store {
    ($kind:literal $class:literal, $instruction:literal, $to:ident => $address:ty, $value:ident) => {
        $crate::memory::store!(@ $kind $class "" "" "", $instruction, $to => $address, $value,)
    };
    ($kind:literal $class:literal, $instruction:literal, $to:ident => $address:ty, $value:ident, $policy:ident) => {
        $crate::memory::store!(@ $kind $class ",l" ", $2" ", $3", $instruction, $to => $address, $value, $policy => u64,)
    };
    (@ $kind:literal $class:literal $also:literal $tail:literal $tail_of_two:literal, $instruction:literal,
        $to:ident => $address:ty, $value:ident, $($policy:ident => $policy_ty:ty,)?
    ) => {{
        const { assert!($crate::memory::has_word::<T>(), "a value has 1, 2, 4, 8 or 16 bytes here") };
        macro_rules! word {
            ($value_of:ty, $word:ty, $of:literal, $ty:literal) => {
                assembly!(
                    concat!("__ptx_asm:", $kind, "::", $class, ",", $of, $also, ":", $instruction, $ty, " [$0], $1", $tail, ";");
                    (
                        $to => $address,
                        <$word>::from(core::mem::transmute_copy::<T, $value_of>(&$value)) => $word,
                        $($policy => $policy_ty)?
                    )
                )
            };
        }
        // SAFETY: the caller's promise; the bytes are those of a `T`.
        unsafe {
            match size_of::<T>() {
                1 => word!(u8, u16, "h", ".b8"),
                2 => word!(u16, u16, "h", ".b16"),
                4 => word!(u32, u32, "r", ".b32"),
                8 => word!(u64, u64, "l", ".b64"),
                _ => {
                    let [low, high] = core::mem::transmute_copy::<T, [u64; 2]>(&$value);
                    assembly!(
                        concat!(
                            "__ptx_asm:", $kind, "::", $class, ",l,l", $also, ":", $instruction, ".v2.b64 [$0], {$1, $2}",
                            $tail_of_two, ";"
                        );
                        ($to => $address, low => u64, high => u64, $($policy => $policy_ty)?)
                    )
                }
            }
        }
    }};
}

pub(crate) use {load, store};
