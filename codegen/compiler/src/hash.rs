//! Hashes that are written to disk or name files there: the same for every build of this program.
//!
//! `std::hash::DefaultHasher` may change with every release of Rust, and so may what `derive(Hash)` feeds it.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

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
    use super::stable;

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
