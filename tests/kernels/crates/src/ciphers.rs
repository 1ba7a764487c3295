//! Ciphers and what they are made with.

use generic_array::GenericArray;

use crate::data::{Digest, Random};

#[inline(never)]
pub fn aes(random: &mut Random, digest: &mut Digest) {
    use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};

    let blocks: [GenericArray<u8, _>; 9] = core::array::from_fn(|_| random.array::<16>().into());
    let short = aes::Aes128::new(&random.array().into());
    let long = aes::Aes256::new(&random.array().into());
    let mut changed = blocks;
    short.encrypt_blocks(&mut changed);
    digest.add(changed);
    long.decrypt_blocks(&mut changed);
    digest.add(changed);
    long.encrypt_blocks(&mut changed);
    short.decrypt_blocks(&mut changed);
    digest.add(changed == blocks);
}

#[inline(never)]
pub fn chacha20(random: &mut Random, digest: &mut Digest) {
    use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};

    let mut data = random.bytes(300);
    let [key, nonce] = [random.array::<32>(), random.array::<32>()];
    let mut cipher = chacha20::ChaCha20::new(&key.into(), nonce[..12].into());
    cipher.apply_keystream(&mut data[..100]);
    cipher.apply_keystream(&mut data[100..]);
    digest.add(&data);
    let mut long = chacha20::XChaCha8::new(&key.into(), nonce[..24].into());
    long.seek(1000_u32);
    long.apply_keystream(&mut data);
    digest.add(&data);
}

#[inline(never)]
pub fn crypto_bigint(random: &mut Random, digest: &mut Digest) {
    use crypto_bigint::modular::runtime_mod::{DynResidue, DynResidueParams};
    use crypto_bigint::{Encoding, NonZero, U256};

    let [a, b, c] = core::array::from_fn(|_| U256::from_be_slice(&random.array::<32>()));
    let odd = c | U256::ONE;
    let (low, high) = a.mul_wide(&b);
    digest.add((low.to_be_bytes(), high.to_be_bytes()));
    let (quotient, rest) = a.div_rem(&NonZero::new(odd >> 70).unwrap());
    digest.add((quotient.to_be_bytes(), rest.to_be_bytes()));
    let params = DynResidueParams::new(&odd);
    let power = DynResidue::new(&a, params).pow(&b);
    digest.add(power.retrieve().to_le_bytes());
    digest.add(a.add_mod(&b, &odd).to_le_bytes());
}

#[inline(never)]
pub fn ctr(random: &mut Random, digest: &mut Digest) {
    use ctr::cipher::{KeyIvInit, StreamCipher};

    let mut data = random.bytes(100);
    let mut cipher = ctr::Ctr64BE::<aes::Aes192>::new(&random.array().into(), &random.array().into());
    cipher.apply_keystream(&mut data[..37]);
    cipher.apply_keystream(&mut data[37..]);
    digest.add(data);
}

#[inline(never)]
pub fn generic_array(random: &mut Random, digest: &mut Digest) {
    use generic_array::functional::FunctionalSequence;
    use generic_array::sequence::{Concat, GenericSequence, Split};
    use generic_array::typenum::{U5, U12};

    let array: GenericArray<u64, U12> = GenericArray::generate(|_| random.word());
    let turned = array.map(|word| word.rotate_left(7));
    digest.add(turned.zip(array, |one, other| one ^ other));
    let (first, second): (GenericArray<_, U5>, _) = turned.split();
    digest.add(second.concat(first));
    digest.add(turned.fold(0, |sum: u64, word| sum.wrapping_mul(3) ^ word));
}

#[inline(never)]
pub fn hkdf(random: &mut Random, digest: &mut Digest) {
    let (prk, hkdf) = hkdf::Hkdf::<sha2::Sha256>::extract(Some(&random.array::<16>()), &random.array::<40>());
    digest.add(prk.as_slice());
    let mut okm = [0; 75];
    digest.add(hkdf.expand(b"context", &mut okm).is_ok());
    digest.add(okm);
    digest.add(hkdf.expand(b"", &mut [0; 9000]).is_err());
}

#[inline(never)]
pub fn hmac(random: &mut Random, digest: &mut Digest) {
    use hmac::{Hmac, Mac};

    for len in [20, 150] {
        let key = random.bytes(len);
        let Ok(mut mac) = Hmac::<sha2::Sha256>::new_from_slice(&key) else { continue };
        mac.update(&random.array::<50>());
        mac.update(b"end");
        let copy = mac.clone();
        let tag = mac.finalize().into_bytes();
        digest.add(tag.as_slice());
        digest.add(copy.verify_slice(&tag).is_ok());
    }
}

#[inline(never)]
pub fn poly1305(random: &mut Random, digest: &mut Digest) {
    use poly1305::universal_hash::{KeyInit, UniversalHash};

    let mut mac = poly1305::Poly1305::new(&random.array().into());
    mac.update_padded(&random.array::<70>());
    digest.add(mac.clone().compute_unpadded(&random.array::<25>()).as_slice());
    digest.add(mac.finalize().as_slice());
}

#[inline(never)]
pub fn subtle(random: &mut Random, digest: &mut Digest) {
    use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater, CtOption};

    let [mut a, mut b] = [random.word(), random.word()];
    let less = b.ct_gt(&a);
    digest.add(less.unwrap_u8());
    u64::conditional_swap(&mut a, &mut b, less);
    digest.add((a, b));
    digest.add(u64::conditional_select(&a, &b, Choice::from((a & 1) as u8)));
    digest.add(random.array::<8>().ct_eq(&a.to_le_bytes()).unwrap_u8());
    let option = CtOption::new(a, less).and_then(|a| CtOption::new(a ^ b, a.ct_eq(&a)));
    digest.add(Option::<u64>::from(option));
}

#[inline(never)]
pub fn zeroize(random: &mut Random, digest: &mut Digest) {
    use zeroize::{Zeroize, Zeroizing};

    let mut key = random.array::<32>();
    let copy = Zeroizing::new(random.bytes(20));
    digest.add(&copy[..]);
    digest.add(key);
    key[3..20].zeroize();
    digest.add(key);
    key.zeroize();
    digest.add(key);
}
