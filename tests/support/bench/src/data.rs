//! Memory of numbers of one type, and inputs that look random and are the same every time.

/// Numbers of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Bytes.
    U8(Vec<u8>),
    /// Table entries.
    U16(Vec<u16>),
    /// Most integers.
    U32(Vec<u32>),
    /// Hashes and states.
    U64(Vec<u64>),
    /// Most numbers.
    F32(Vec<f32>),
    /// Numbers of double precision.
    F64(Vec<f64>),
}

/// The expression for the vector, whatever its type is.
#[macro_export]
macro_rules! with_vector {
    ($data:expr, $vector:ident => $result:expr) => {
        match $data {
            $crate::Data::U8($vector) => $result,
            $crate::Data::U16($vector) => $result,
            $crate::Data::U32($vector) => $result,
            $crate::Data::U64($vector) => $result,
            $crate::Data::F32($vector) => $result,
            $crate::Data::F64($vector) => $result,
        }
    };
}

macro_rules! from_vector {
    ($($variant:ident, $ty:ty;)*) => {$(
        impl From<Vec<$ty>> for Data {
            fn from(vector: Vec<$ty>) -> Self {
                Self::$variant(vector)
            }
        }
    )*};
}
from_vector! { U8, u8; U16, u16; U32, u32; U64, u64; F32, f32; F64, f64; }

impl Data {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(vector) => vector.len(),
            Self::U16(vector) => vector.len(),
            Self::U32(vector) => vector.len(),
            Self::U64(vector) => vector.len(),
            Self::F32(vector) => vector.len(),
            Self::F64(vector) => vector.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their type in Rust.
    pub fn rust_type(&self) -> &'static str {
        match self {
            Self::U8(_) => "u8",
            Self::U16(_) => "u16",
            Self::U32(_) => "u32",
            Self::U64(_) => "u64",
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
        }
    }

    /// Numbers of the same type, which no kernel computes: what is left of them was not written.
    pub fn unwritten(&self) -> Self {
        const BITS: u64 = 0xa5a5_a5a5_a5a5_a5a5;
        match self {
            Self::U8(vector) => vec![BITS as u8; vector.len()].into(),
            Self::U16(vector) => vec![BITS as u16; vector.len()].into(),
            Self::U32(vector) => vec![BITS as u32; vector.len()].into(),
            Self::U64(vector) => vec![BITS; vector.len()].into(),
            Self::F32(vector) => vec![f32::from_bits(BITS as u32); vector.len()].into(),
            Self::F64(vector) => vec![f64::from_bits(BITS); vector.len()].into(),
        }
    }

    /// The number at `index`, as a wide float.
    pub(crate) fn number(&self, index: usize) -> f64 {
        match self {
            Self::U8(vector) => f64::from(vector[index]),
            Self::U16(vector) => f64::from(vector[index]),
            Self::U32(vector) => f64::from(vector[index]),
            Self::U64(vector) => vector[index] as f64,
            Self::F32(vector) => f64::from(vector[index]),
            Self::F64(vector) => vector[index],
        }
    }
}

/// Numbers that look random (SplitMix64).
pub(crate) fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

/// `n` numbers from `low` up to `high`.
pub(crate) fn floats(n: usize, low: f32, high: f32, seed: u64) -> Vec<f32> {
    random(seed).take(n).map(|bits| low + (high - low) * ((bits >> 40) as f32 / 16_777_216.0)).collect()
}

/// The same in double precision.
pub(crate) fn doubles(n: usize, low: f64, high: f64, seed: u64) -> Vec<f64> {
    random(seed).take(n).map(|bits| low + (high - low) * ((bits >> 11) as f64 / 9_007_199_254_740_992.0)).collect()
}

/// `n` numbers below `limit`.
pub(crate) fn below(n: usize, limit: u32, seed: u64) -> Vec<u32> {
    random(seed).take(n).map(|bits| (((bits >> 32) * u64::from(limit)) >> 32) as u32).collect()
}

/// `n` words of random bits.
pub(crate) fn words(n: usize, seed: u64) -> Vec<u32> {
    random(seed).take(n).map(|bits| (bits >> 32) as u32).collect()
}

/// `n` bytes below `limit`.
pub(crate) fn bytes(n: usize, limit: u16, seed: u64) -> Vec<u8> {
    random(seed).take(n).map(|bits| (((bits >> 48) * u64::from(limit)) >> 16) as u8).collect()
}

/// The numbers below `n`, a power of two, each once, in an order that looks random: every step can be undone.
pub(crate) fn permutation(n: usize) -> Vec<u32> {
    assert!(n.is_power_of_two(), "only then are all steps permutations");
    let mask = n as u32 - 1;
    let scatter = |i: u32| {
        let i = i.wrapping_mul(0x9e37_79b1) & mask;
        let i = i ^ (i >> (n.ilog2() / 2));
        i.wrapping_mul(0x85eb_ca77) & mask
    };
    (0..n as u32).map(scatter).collect()
}

/// A sparse matrix or a graph in CSR form: offsets of `rows` rows of `least` to `most` entries, and the entries' columns
/// below `columns`, each row in order.
pub(crate) fn csr(rows: usize, columns: u32, (least, most): (u32, u32), seed: u64) -> (Vec<u32>, Vec<u32>) {
    let (mut offsets, mut entries) = (vec![0], Vec::new());
    let mut bits = random(seed);
    let mut next = |limit: u32| (((bits.next().unwrap_or(0) >> 32) * u64::from(limit)) >> 32) as u32;
    for _ in 0..rows {
        let begin = entries.len();
        let count = least + next(most - least + 1);
        entries.extend((0..count).map(|_| next(columns)));
        entries[begin..].sort_unstable();
        offsets.push(entries.len() as u32);
    }
    (offsets, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_inputs_are_in_their_ranges_and_the_same_every_time() {
        assert_eq!(floats(100, -1.0, 2.0, 7), floats(100, -1.0, 2.0, 7));
        assert!(floats(10_000, -1.0, 2.0, 7).iter().all(|x| (-1.0..2.0).contains(x)));
        assert!(doubles(10_000, 3.0, 4.0, 7).iter().all(|x| (3.0..4.0).contains(x)));
        let counts = below(10_000, 5, 1).iter().fold([0; 5], |mut counts, x| {
            counts[*x as usize] += 1;
            counts
        });
        assert!(counts.iter().all(|count| *count > 1_800), "{counts:?}");
        assert!(bytes(10_000, 4, 1).iter().all(|x| *x < 4) && bytes(10_000, 256, 1).contains(&255));
    }

    #[test]
    fn a_permutation_has_each_number_once() {
        let mut order = permutation(1024);
        assert_ne!(order, (0..1024).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..1024).collect::<Vec<_>>());
    }

    #[test]
    fn a_sparse_matrix_is_in_csr_form() {
        let (offsets, columns) = csr(100, 50, (2, 6), 9);
        assert_eq!((offsets.len(), offsets[100] as usize), (101, columns.len()));
        assert!(offsets.windows(2).all(|row| (2..=6).contains(&(row[1] - row[0]))));
        assert!(columns.iter().all(|column| *column < 50));
        assert!(columns[..offsets[1] as usize].is_sorted());
    }

    #[test]
    fn unwritten_memory_has_the_same_type() {
        let data = Data::from(vec![1.0_f32; 3]);
        assert_eq!((data.unwritten().rust_type(), data.unwritten().len()), ("f32", 3));
        assert_ne!(data.unwritten(), data);
    }
}
