//! Hashes: [`stable`] ones are written to disk or name files there, the same for every build of this program, and
//! [`Quick`] ones are for maps that are asked for every word of a program.
//!
//! `std::hash::DefaultHasher` may change with every release of Rust, and so may what `derive(Hash)` feeds it. It also withstands
//! keys that were chosen to collide, which costs more than what it is asked for here, and which the author of a program
//! gains nothing by.

use std::hash::{BuildHasherDefault, Hasher};

use siphasher::sip::SipHasher13;

/// A map with [`Quick`] hashes.
pub type QuickMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Quick>>;

/// A set of the same kind.
pub type QuickSet<T> = std::collections::HashSet<T, BuildHasherDefault<Quick>>;

/// A hasher for short keys: a multiplication for every eight bytes.
pub struct Quick(u64);

impl Default for Quick {
    fn default() -> Self {
        // With 0, leading zeros would not count.
        Self(Self::FACTOR)
    }
}

impl Quick {
    /// An odd number whose bits are without pattern.
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(Self::FACTOR);
        // The upper half depends on all bits of the number, the lower half only on lower ones.
        self.0 = product ^ (product >> 32);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        // The map looks at the uppermost bits, too.
        self.0.wrapping_mul(Self::FACTOR)
    }
}

/// The hash of some byte strings in their order: SipHash 1-3 without a key, of each one's length and bytes.
pub fn stable<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> u64 {
    let mut hasher = SipHasher13::new();
    for part in parts {
        let part = part.as_ref();
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::{BuildHasherDefault, Quick, stable};

    #[test]
    fn quick_hashes_differ_where_a_map_looks() {
        let hash = |number: usize| BuildHasherDefault::<Quick>::default().hash_one(number);
        // Addresses are multiples of eight.
        let hashes: Vec<u64> = (0..4_096).map(|number| hash(number * 8)).collect();
        for look in [|hash: u64| hash >> 57, |hash| hash % 128] {
            assert_eq!(hashes.iter().map(|hash| look(*hash)).collect::<HashSet<_>>().len(), 128);
        }
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), 4_096);
        let names: Vec<String> = (0..4_096).map(|number| format!("%rd{number}")).collect();
        let hash = |name: &String| BuildHasherDefault::<Quick>::default().hash_one(name.as_str());
        assert_eq!(names.iter().map(hash).collect::<HashSet<_>>().len(), 4_096);
    }

    #[test]
    fn hashes_stay_what_they_are() {
        // By another implementation of SipHash 1-3.
        assert_eq!(stable::<&str>([]), 0xd1fb_a762_150c_532c);
        assert_eq!(stable(["ab", "c"]), 0x0f0f_94cf_c92f_e732);
    }

    #[test]
    fn where_a_part_ends_matters() {
        assert_ne!(stable(["ab", "c"]), stable(["a", "bc"]));
        assert_ne!(stable(["a", ""]), stable(["a"]));
    }
}
