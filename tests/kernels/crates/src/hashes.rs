//! Checksums and hashes, cryptographic or not.

use core::hash::{BuildHasher, Hash, Hasher};

use crate::data::{Digest, Random};

/// Hashes in three parts of random lengths.
fn with_digest<D: sha2::Digest>(random: &mut Random, digest: &mut Digest) {
    let mut hasher = D::new();
    for _ in 0..3 {
        let len = random.below(90);
        hasher.update(random.bytes(len));
    }
    digest.add(hasher.finalize().as_slice());
}

/// Hashes values of several types, as a map's keys.
fn with_hasher(random: &mut Random, digest: &mut Digest, hasher: impl BuildHasher) {
    for _ in 0..4 {
        let word = random.word();
        digest.add(hasher.hash_one(word));
        digest.add(hasher.hash_one((word as u8, word as u16, word as i128)));
        let len = random.below(70);
        let mut state = hasher.build_hasher();
        random.bytes(len).hash(&mut state);
        "text".hash(&mut state);
        digest.add(state.finish());
    }
}

#[inline(never)]
pub fn adler2(random: &mut Random, digest: &mut Digest) {
    let data = random.bytes(300);
    digest.add(adler2::adler32_slice(&data));
    let mut adler = adler2::Adler32::from_checksum(adler2::adler32_slice(&data[..50]));
    adler.write_slice(&data[50..]);
    digest.add(adler.checksum());
}

#[inline(never)]
pub fn ahash(random: &mut Random, digest: &mut Digest) {
    let keys: [u64; 4] = core::array::from_fn(|_| random.word());
    with_hasher(random, digest, ahash::RandomState::with_seeds(keys[0], keys[1], keys[2], keys[3]));
}

#[inline(never)]
pub fn blake2(random: &mut Random, digest: &mut Digest) {
    with_digest::<blake2::Blake2b512>(random, digest);
    with_digest::<blake2::Blake2s256>(random, digest);
}

#[inline(never)]
pub fn blake3(random: &mut Random, digest: &mut Digest) {
    let data = random.bytes(1500);
    digest.add(blake3::hash(&data).as_bytes());
    let mut hasher = blake3::Hasher::new_keyed(&random.array());
    hasher.update(&data[..700]).update(&data[700..1100]);
    let mut output = [0; 100];
    hasher.finalize_xof().fill(&mut output);
    digest.add(output);
}

#[inline(never)]
pub fn crc(random: &mut Random, digest: &mut Digest) {
    use crc::{CRC_16_XMODEM, CRC_32_ISCSI, CRC_64_XZ, Crc, NoTable, Table};

    const SHORT: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);
    const LONG: Crc<u64, Table<1>> = Crc::<u64, Table<1>>::new(&CRC_64_XZ);
    const BARE: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISCSI);
    let data = random.bytes(100);
    digest.add(SHORT.checksum(&data));
    digest.add(LONG.checksum(&data));
    let mut parts = BARE.digest();
    parts.update(&data[..33]);
    parts.update(&data[33..]);
    digest.add(parts.finalize());
}

#[inline(never)]
pub fn crc32fast(random: &mut Random, digest: &mut Digest) {
    let data = random.bytes(300);
    digest.add(crc32fast::hash(&data));
    let [mut first, mut second] = [crc32fast::Hasher::new(), crc32fast::Hasher::new()];
    first.update(&data[..123]);
    second.update(&data[123..]);
    first.combine(&second);
    digest.add(first.finalize());
}

#[inline(never)]
pub fn fnv(random: &mut Random, digest: &mut Digest) {
    with_hasher(random, digest, fnv::FnvBuildHasher::default());
}

#[inline(never)]
pub fn foldhash(random: &mut Random, digest: &mut Digest) {
    let key = random.word();
    with_hasher(random, digest, foldhash::fast::FixedState::with_seed(key));
    with_hasher(random, digest, foldhash::quality::FixedState::with_seed(key));
}

#[inline(never)]
pub fn md5(random: &mut Random, digest: &mut Digest) {
    with_digest::<md5::Md5>(random, digest);
}

#[inline(never)]
pub fn rustc_hash(random: &mut Random, digest: &mut Digest) {
    with_hasher(random, digest, rustc_hash::FxBuildHasher);
}

#[inline(never)]
pub fn sha1(random: &mut Random, digest: &mut Digest) {
    with_digest::<sha1::Sha1>(random, digest);
}

#[inline(never)]
pub fn sha2(random: &mut Random, digest: &mut Digest) {
    with_digest::<sha2::Sha224>(random, digest);
    with_digest::<sha2::Sha256>(random, digest);
    with_digest::<sha2::Sha512>(random, digest);
}

#[inline(never)]
pub fn sha3(random: &mut Random, digest: &mut Digest) {
    with_digest::<sha3::Sha3_256>(random, digest);
}

#[inline(never)]
pub fn siphasher(random: &mut Random, digest: &mut Digest) {
    use siphasher::sip::{SipHasher13, SipHasher24};
    use siphasher::sip128::{Hasher128, SipHasher13 as SipHasher13Of128};

    let [one, two] = [random.word(), random.word()];
    let data = random.bytes(77);
    for part in [&data[..0], &data[..8], &data[..]] {
        digest.add(SipHasher13::new_with_keys(one, two).hash(part));
        digest.add(SipHasher24::new_with_keys(two, one).hash(part));
    }
    let mut hasher = SipHasher13Of128::new_with_keys(one, two);
    hasher.write(&data);
    digest.add(hasher.finish128().as_u128());
}

#[inline(never)]
pub fn twox_hash(random: &mut Random, digest: &mut Digest) {
    let seed = random.word();
    let data = random.bytes(400);
    for len in [0, 3, 15, 100, 400] {
        digest.add(twox_hash::XxHash32::oneshot(seed as u32, &data[..len]));
        digest.add(twox_hash::XxHash64::oneshot(seed, &data[..len]));
        digest.add(twox_hash::XxHash3_64::oneshot_with_seed(seed, &data[..len]));
    }
    with_hasher(random, digest, twox_hash::xxhash64::State::with_seed(seed));
}

#[inline(never)]
pub fn xxhash_rust(random: &mut Random, digest: &mut Digest) {
    let seed = random.word();
    let data = random.bytes(400);
    for len in [0, 3, 15, 100, 400] {
        digest.add(xxhash_rust::xxh32::xxh32(&data[..len], seed as u32));
        digest.add(xxhash_rust::xxh64::xxh64(&data[..len], seed));
        digest.add(xxhash_rust::xxh3::xxh3_64_with_seed(&data[..len], seed));
        digest.add(xxhash_rust::xxh3::xxh3_128(&data[..len]));
    }
}
