//! Hashes that name folders: the same for every build of this crate.

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
