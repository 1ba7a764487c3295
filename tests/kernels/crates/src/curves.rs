//! Elliptic curves.

use crate::data::{Digest, Random};

#[inline(never)]
pub fn curve25519_dalek(random: &mut Random, digest: &mut Digest) {
    use curve25519_dalek::Scalar;
    use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
    use curve25519_dalek::edwards::CompressedEdwardsY;

    let [a, b] = core::array::from_fn(|_| Scalar::from_bytes_mod_order(random.array()));
    digest.add((a * b + a.invert()).to_bytes());
    let point = ED25519_BASEPOINT_POINT * a;
    let compressed = point.compress();
    digest.add(compressed.as_bytes());
    let read = CompressedEdwardsY(compressed.to_bytes()).decompress();
    digest.add(read == Some(point));
    digest.add((point + ED25519_BASEPOINT_POINT).compress().as_bytes());
}

#[inline(never)]
pub fn k256(random: &mut Random, digest: &mut Digest) {
    use k256::ecdsa::signature::{Signer, Verifier};
    use k256::ecdsa::{Signature, SigningKey, VerifyingKey};

    // All but a handful of the 2^256 numbers are keys.
    let Ok(key) = SigningKey::from_slice(&random.array::<32>()) else { return digest.add(0_u8) };
    let message = random.bytes(50);
    let signature: Signature = key.sign(&message);
    digest.add(signature.to_bytes().as_slice());
    let public = VerifyingKey::from(&key);
    digest.add(public.to_encoded_point(true).as_bytes());
    digest.add(public.verify(&message, &signature).is_ok());
    digest.add(public.verify(&message[1..], &signature).is_ok());
}

#[inline(never)]
pub fn x25519_dalek(random: &mut Random, digest: &mut Digest) {
    let [a, b] = [random.array(), random.array()];
    let [public_a, public_b] = [a, b].map(|key| x25519_dalek::x25519(key, x25519_dalek::X25519_BASEPOINT_BYTES));
    digest.add(public_a);
    let shared = x25519_dalek::x25519(a, public_b);
    digest.add(shared);
    digest.add(shared == x25519_dalek::x25519(b, public_a));
}
