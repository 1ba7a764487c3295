//! Only the types here have the traits of this folder.

/// A supertrait that other crates cannot implement.
pub trait Sealed {}

macro_rules! seal {
    ($($ty:ty),*) => { $(impl Sealed for $ty {})* };
}
seal!(f32, f64, i32, u32, i64, u64);
#[cfg(feature = "half")]
seal!(::half::f16, ::half::bf16);
