//! `std::thread`, of which a test has `thread_local!` alone: it is one thread.

use core::cell::{Cell, OnceCell, RefCell};

/// `std::thread::LocalKey`
#[derive(Debug)]
pub struct LocalKey<T: 'static> {
    value: fn() -> &'static T,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(value: fn() -> &'static T) -> Self {
        Self { value }
    }

    /// Calls the function with the value.
    pub fn with<R>(&'static self, function: impl FnOnce(&T) -> R) -> R {
        function((self.value)())
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// Copies the value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes the value and leaves its default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls the function with the value borrowed.
    pub fn with_borrow<R>(&'static self, function: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| function(&cell.borrow()))
    }

    /// Calls the function with the value borrowed mutably.
    pub fn with_borrow_mut<R>(&'static self, function: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| function(&mut cell.borrow_mut()))
    }
}

/// Where the value of a [`LocalKey`] is.
#[doc(hidden)]
#[derive(Debug)]
pub struct Slot<T>(OnceCell<T>);

// SAFETY: a launch has one thread, and launches follow each other (`ptx-test-runner`).
unsafe impl<T> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// Nothing yet.
    #[expect(clippy::new_without_default, reason = "it stands in a static")]
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// The value, made when it is first asked for.
    pub fn get(&'static self, init: fn() -> T) -> &'static T {
        self.0.get_or_init(init)
    }
}

/// `std::thread_local!`
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $ty:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$attribute])* $visibility static $name: $ty = $init; $($($rest)*)?);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $ty:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visibility static $name: $crate::thread::LocalKey<$ty> = {
            static SLOT: $crate::thread::Slot<$ty> = $crate::thread::Slot::new();
            $crate::thread::LocalKey::new(|| SLOT.get(|| $init))
        };
        $($crate::thread_local!($($rest)*);)?
    };
}
