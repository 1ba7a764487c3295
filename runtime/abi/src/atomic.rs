//! Scoped atomic operations as the crate `ptx` asks the compiler for them: calls with one number that says all.
//!
//! ```text
//! uN   __ptx_atomic_load_N (ptr, code)
//! void __ptx_atomic_store_N(ptr, uN, code)
//! uN   __ptx_atomic_rmw_N  (ptr, uN, code)                    the old value
//! uN   __ptx_atomic_cas_N  (ptr, uN expected, uN new, code)   the old value
//! void __ptx_atomic_fence  (code)
//! ```
//!
//! N is 8, 16, 32, 64 or 128. The code is a constant: operation, ordering, scope, and the ordering of a failure, each
//! in a byte from the lowest on.

/// What the symbols begin with.
pub const PREFIX: &str = "__ptx_atomic_";

macro_rules! numbered {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $name:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $type {
            $($(#[$variant_doc])* $name = $number,)*
        }

        impl $type {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The one of that number.
            pub const fn of(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

numbered! {
    /// What a read-modify-write does; floats travel as their bits.
    Op {
        /// The new value.
        Xchg = 0,
        /// Sum, wrapping.
        Add = 1,
        /// Difference, wrapping.
        Sub = 2,
        /// Bits set in both.
        And = 3,
        /// Bits not set in both.
        Nand = 4,
        /// Bits set in one.
        Or = 5,
        /// Bits that differ.
        Xor = 6,
        /// The larger, signed.
        Max = 7,
        /// The smaller, signed.
        Min = 8,
        /// The larger, unsigned.
        UMax = 9,
        /// The smaller, unsigned.
        UMin = 10,
        /// One more; 0 from the operand on.
        Inc = 11,
        /// One less; the operand from 0 and from above it.
        Dec = 12,
        /// Sum of `f32` or `f64`.
        FAdd = 13,
        /// Difference of `f32` or `f64`.
        FSub = 14,
        /// Sums of two `f16`.
        AddF16x2 = 15,
        /// Sums of two `bf16`.
        AddBf16x2 = 16,
    }
}

numbered! {
    /// `core::sync::atomic::Ordering`
    Order {
        /// Of this memory alone.
        Relaxed = 0,
        /// What comes after stays after.
        Acquire = 1,
        /// What comes before stays before.
        Release = 2,
        /// Both.
        AcqRel = 3,
        /// And one order that all threads agree on.
        SeqCst = 4,
    }
}

impl Order {
    /// Whether loads, and compare-exchanges that fail, can have it.
    pub const fn is_for_loads(self) -> bool {
        matches!(self, Self::Relaxed | Self::Acquire | Self::SeqCst)
    }

    /// Whether stores can have it.
    pub const fn is_for_stores(self) -> bool {
        matches!(self, Self::Relaxed | Self::Release | Self::SeqCst)
    }
}

numbered! {
    /// Which threads an operation orders.
    Scope {
        /// Those of the block: `.cta`.
        Block = 0,
        /// Those of the cluster: `.cluster`.
        Cluster = 1,
        /// Those of the GPU: `.gpu`.
        Device = 2,
        /// All: `.sys`.
        System = 3,
    }
}

/// All of a call's constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Of a read-modify-write; 0 otherwise.
    pub op: Op,
    /// The ordering; of a compare-exchange, where it succeeds.
    pub order: Order,
    /// The threads that the operation orders.
    pub scope: Scope,
    /// The ordering of a compare-exchange that fails; relaxed otherwise.
    pub failure: Order,
}

impl Code {
    /// As a number.
    pub const fn encode(self) -> u32 {
        self.op as u32 | (self.order as u32) << 8 | (self.scope as u32) << 16 | (self.failure as u32) << 24
    }

    /// Out of the number; `None` for what [`Self::encode`] does not give.
    pub const fn decode(code: u32) -> Option<Self> {
        match (Op::of(code & 255), Order::of(code >> 8 & 255), Scope::of(code >> 16 & 255), Order::of(code >> 24)) {
            (Some(op), Some(order), Some(scope), Some(failure)) => Some(Self { op, order, scope, failure }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back() {
        for &op in Op::ALL {
            for &order in Order::ALL {
                for &scope in Scope::ALL {
                    for &failure in Order::ALL {
                        let code = Code { op, order, scope, failure };
                        assert_eq!(Code::decode(code.encode()), Some(code));
                    }
                }
            }
        }
        assert_eq!(Code::decode(255), None);
        assert_eq!(Code::decode(5 << 8), None);
    }
}
