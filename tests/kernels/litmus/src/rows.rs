//! The rows of the table as code: each operation is that of `ptx::atomic`, in the order that the row names.

use ptx::atomic::{Ordering, Scope, fence};
use ptx::prelude::sync_threads;
use ptx_litmus::READS;

use crate::play::{Launch, Member, play};
use crate::program::{Cell, Locations, Program};

/// What a thread has read so far.
#[derive(Default)]
struct Reads {
    values: [u32; READS],
    count: usize,
}

impl Reads {
    #[inline(always)]
    fn and(mut self, value: u32) -> Self {
        if let Some(place) = self.values.get_mut(self.count) {
            *place = value;
        }
        self.count += 1;
        self
    }
}

macro_rules! step {
    ($at:ident $scope:ident $read:ident, R $place:ident $order:ident) => {
        let $read = $read.and($at.$place.load(Ordering::$order).number());
    };
    ($at:ident $scope:ident $read:ident, W $place:ident $value:literal $order:ident) => {
        $at.$place.store(Cell::of($value), Ordering::$order);
    };
    ($at:ident $scope:ident $read:ident, Add $place:ident $order:ident) => {
        let $read = $read.and($at.$place.fetch_add(Cell::of(1), Ordering::$order).number());
    };
    ($at:ident $scope:ident $read:ident, F $order:ident) => {
        fence::<$scope>(Ordering::$order);
    };
    ($at:ident $scope:ident $read:ident, Barrier) => {
        sync_threads();
    };
}

macro_rules! as_code {
    ($($id:ident $name:literal: $verdict:ident, $([$(($($op:tt)*))*])* => $reads:tt $last:tt;)*) => {
        $(
            struct $id;

            impl Program for $id {
                const THREADS: usize = [$(stringify!($(($($op)*))*)),*].len();
                #[inline(always)]
                fn run<X: Cell, Y: Cell, S: Scope>(role: usize, at: Locations<'_, X, Y, S>) -> [u32; READS] {
                    let mut number = 0..;
                    $(if Some(role) == number.next() {
                        let read = Reads::default();
                        $(step!(at S read, $($op)*);)*
                        return read.values;
                    })*
                    [0; READS]
                }
            }
        )*

        /// Plays the row of that number; every other thread of it in scope `T`.
        #[inline(always)]
        pub fn dispatch<X: Cell, Y: Cell, S: Scope, T: Scope>(launch: Launch<'_, S>, me: Member) {
            let mut number = 0..;
            $(if Some(launch.row) == number.next() {
                return play::<$id, X, Y, S, T>(launch, me);
            })*
        }
    };
}

ptx_litmus::rows!(as_code);
