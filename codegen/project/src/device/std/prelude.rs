//! `std::prelude`, and the functions of floats that `std` adds to `core`'s.

/// What all editions have.
pub mod v1 {
    pub use alloc_crate::borrow::ToOwned;
    pub use alloc_crate::boxed::Box;
    pub use alloc_crate::string::{String, ToString};
    pub use alloc_crate::vec::Vec;
    pub use core::prelude::v1::*;
    pub use ptx::math::Math as _;

    pub use self::macros::{panic, vec};
    pub use crate::{dbg, eprint, eprintln, format, print, println, thread_local};

    /// `vec` and `panic` are modules, too, which are hidden here, because the prelude has the macros alone.
    #[expect(hidden_glob_reexports, reason = "that is what it is for")]
    mod macros {
        mod panic {}
        mod vec {}
        pub use crate::*;
    }
}

/// The edition 2015.
pub mod rust_2015 {
    pub use super::v1::*;
}

/// The edition 2018.
pub mod rust_2018 {
    pub use super::v1::*;
}

/// The edition 2021.
pub mod rust_2021 {
    pub use super::v1::*;
    pub use core::prelude::rust_2021::*;
}

/// The edition 2024.
pub mod rust_2024 {
    pub use super::v1::*;
    pub use core::prelude::rust_2024::*;
}
