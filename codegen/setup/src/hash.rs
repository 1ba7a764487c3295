//! Hashes that name folders: the same for every build of this crate. `ptx_codegen::hash` is as this one; neither crate is to
//! wait for the other.

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
    fn hashes_are_those_of_the_compiler() {
        // By another implementation of SipHash 1-3, as in `ptx_codegen::hash`.
        assert_eq!(stable::<&str>([]), 0xd1fb_a762_150c_532c);
        assert_eq!(stable(["ab", "c"]), 0x0f0f_94cf_c92f_e732);
    }
}
