//! Arithmetic on vectors, lane by lane.

use core::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Index, IndexMut,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use super::*;
use crate::native_vectors;

macro_rules! binary {
    ($name:ident, $lane:ident, $fields:tt, $($trait:ident $method:ident, $assign:ident $assign_method:ident;)*) => {$(
        binary!(@one $name, $lane, $fields, $trait $method, $assign $assign_method);
    )*};
    (@one $name:ident, $lane:ident, [$($field:ident),*], $trait:ident $method:ident, $assign:ident $assign_method:ident) => {
        impl $trait for $name {
            type Output = Self;
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn $method(self, other: Self) -> Self {
                Self { $($field: $trait::$method(self.$field, other.$field)),* }
            }
        }
        impl $trait<$lane> for $name {
            type Output = Self;
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn $method(self, other: $lane) -> Self {
                Self { $($field: $trait::$method(self.$field, other)),* }
            }
        }
        impl $trait<$name> for $lane {
            type Output = $name;
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn $method(self, other: $name) -> $name {
                $name { $($field: $trait::$method(self, other.$field)),* }
            }
        }
        impl $assign for $name {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn $assign_method(&mut self, other: Self) {
                *self = $trait::$method(*self, other);
            }
        }
        impl $assign<$lane> for $name {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn $assign_method(&mut self, other: $lane) {
                *self = $trait::$method(*self, other);
            }
        }
    };
}

macro_rules! unary {
    ($name:ident, [$($field:ident),*], $trait:ident $method:ident) => {
        impl $trait for $name {
            type Output = Self;
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn $method(self) -> Self {
                Self { $($field: $trait::$method(self.$field)),* }
            }
        }
    };
}

macro_rules! operators {
    ($($name:ident, $make:ident, $cuda:literal, $lane:ident, $kind:ident, $fields:tt, $align:tt;)*) => {$(
        binary! { $name, $lane, $fields,
            Add add, AddAssign add_assign;
            Sub sub, SubAssign sub_assign;
            Mul mul, MulAssign mul_assign;
            Div div, DivAssign div_assign;
            Rem rem, RemAssign rem_assign;
        }
        operators!(@$kind $name, $lane, $fields);
        operators!(@index $name, $lane, $fields);
    )*};
    (@float $name:ident, $lane:ident, [$first:ident $(, $field:ident)*]) => {
        unary!($name, [$first $(, $field)*], Neg neg);

        impl $name {
            /// The dot product: the sum of the products of the lanes.
            #[inline(always)]
            pub const fn dot(self, other: Self) -> $lane {
                self.$first * other.$first $(+ self.$field * other.$field)*
            }
        }
    };
    (@signed $name:ident, $lane:ident, $fields:tt) => {
        unary!($name, $fields, Neg neg);
        operators!(@unsigned $name, $lane, $fields);
    };
    (@unsigned $name:ident, $lane:ident, $fields:tt) => {
        impl Eq for $name {}
        impl core::hash::Hash for $name {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                self.to_array().hash(state);
            }
        }
        unary!($name, $fields, Not not);
        binary! { $name, $lane, $fields,
            BitAnd bitand, BitAndAssign bitand_assign;
            BitOr bitor, BitOrAssign bitor_assign;
            BitXor bitxor, BitXorAssign bitxor_assign;
            Shl shl, ShlAssign shl_assign;
            Shr shr, ShrAssign shr_assign;
        }
    };
    (@index $name:ident, $lane:ident, [$($field:ident),*]) => {
        impl Index<usize> for $name {
            type Output = $lane;
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn index(&self, lane: usize) -> &$lane {
                [$(&self.$field),*][lane]
            }
        }
        impl IndexMut<usize> for $name {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn index_mut(&mut self, lane: usize) -> &mut $lane {
                let lanes: [&mut $lane; $name::LANES] = [$(&mut self.$field),*];
                match lanes.into_iter().nth(lane) {
                    Some(lane) => lane,
                    None => panic!("a vector has no such lane"),
                }
            }
        }
    };
}
native_vectors!(operators);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_by_lane() {
        let v = float4(1.0, 2.0, 3.0, 4.0);
        assert_eq!(2.0 * v - float4(1.0, 0.0, 0.0, 1.0), float4(1.0, 4.0, 6.0, 7.0));
        assert_eq!(8.0 / v, float4(8.0, 4.0, 8.0 / 3.0, 2.0));
        assert_eq!(-v / 2.0 % 1.0, float4(-0.5, 0.0, -0.5, 0.0));
        assert_eq!(v.dot(v), 30.0);
        let mut n = int2(6, -7);
        n *= 2;
        n += int2(1, 1);
        n <<= 1;
        assert_eq!(n, int2(26, -26));
        assert_eq!((!n & 0xff) ^ int2(1, 0), int2(0xe4, 0x19));
        assert_eq!(uchar3(1, 2, 4) | uchar3(2, 2, 2), uchar3(3, 2, 6));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn an_overflow_is_where_the_operator_stands() {
        use std::panic;
        use std::sync::Mutex;

        static LINES: Mutex<std::vec::Vec<(std::string::String, u32)>> = Mutex::new(std::vec::Vec::new());
        let before = panic::take_hook();
        let own = std::thread::current().id();
        panic::set_hook(std::boxed::Box::new(move |info| match info.location() {
            Some(place) if std::thread::current().id() == own => {
                LINES.lock().unwrap().push((place.file().into(), place.line()));
            }
            _ => before(info),
        }));
        let most = std::hint::black_box(uint2(0, u32::MAX));
        let (sum, line) = (panic::catch_unwind(|| most + 1), line!());
        let (index, next) = (panic::catch_unwind(|| most[std::hint::black_box(2)]), line!());
        assert!(sum.is_err() && index.is_err());
        assert_eq!(*LINES.lock().unwrap(), [(file!().into(), line), (file!().into(), next)]);
    }

    #[test]
    fn lanes_by_index() {
        let mut v = double2(1.0, 2.0);
        v[1] += v[0];
        assert_eq!(v, double2(1.0, 3.0));
    }

    #[test]
    #[should_panic(expected = "no such lane")]
    fn lanes_that_are_not_there() {
        Short3::default()[3] = 1;
    }
}
