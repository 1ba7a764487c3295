//! Compression.

use crate::data::{Digest, Random};

#[inline(never)]
pub fn lz4_flex(random: &mut Random, digest: &mut Digest) {
    let data = random.text(120);
    let compressed = lz4_flex::compress_prepend_size(data.as_bytes());
    digest.add(&compressed);
    digest.add(lz4_flex::decompress_size_prepended(&compressed).is_ok_and(|out| out == data.as_bytes()));
    digest.add(lz4_flex::decompress_size_prepended(&compressed[..20]).is_err());
}

#[inline(never)]
pub fn miniz_oxide(random: &mut Random, digest: &mut Digest) {
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};
    use miniz_oxide::inflate::{decompress_to_vec, decompress_to_vec_zlib};

    let data = random.text(120);
    let compressed = compress_to_vec(data.as_bytes(), 6);
    digest.add(&compressed);
    digest.add(decompress_to_vec(&compressed).is_ok_and(|out| out == data.as_bytes()));
    let mut fast = compress_to_vec_zlib(data.as_bytes(), 1);
    digest.add(decompress_to_vec_zlib(&fast).is_ok_and(|out| out == data.as_bytes()));
    fast[9] ^= 0x10;
    digest.add(decompress_to_vec_zlib(&fast).is_ok());
}
