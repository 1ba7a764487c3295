//! Bytes and texts for numbers, identifiers and binary data.

use alloc::string::{String, ToString};

use crate::data::{Digest, Random};

#[inline(never)]
pub fn base64(random: &mut Random, digest: &mut Digest) {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    for engine in [STANDARD, URL_SAFE_NO_PAD] {
        let len = random.below(60);
        let data = random.bytes(len);
        let mut text = engine.encode(&data);
        digest.add(&text);
        digest.add(engine.decode(&text) == Ok(data));
        text.push('!');
        digest.add(engine.decode(&text).is_err());
    }
}

#[inline(never)]
pub fn bytemuck(random: &mut Random, digest: &mut Digest) {
    let words: [u64; 6] = core::array::from_fn(|_| random.word());
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    digest.add(bytes);
    let halves: &[[u16; 4]] = bytemuck::cast_slice(&words);
    digest.add(halves);
    digest.add(bytemuck::try_cast_slice::<u8, u32>(&bytes[1..]).is_err());
    digest.add(bytemuck::pod_read_unaligned::<u32>(&bytes[3..7]));
    digest.add(bytemuck::cast::<f32, u32>(random.float() as f32));
}

#[inline(never)]
pub fn byteorder(random: &mut Random, digest: &mut Digest) {
    use byteorder::{BigEndian, ByteOrder, LittleEndian};

    let mut bytes = random.array::<32>();
    digest.add(BigEndian::read_u16(&bytes[1..]));
    digest.add(LittleEndian::read_u24(&bytes[2..]));
    digest.add(BigEndian::read_i48(&bytes[3..]));
    digest.add(LittleEndian::read_u128(&bytes[5..]));
    digest.add(BigEndian::read_uint(&bytes[7..], 5));
    BigEndian::write_f64(&mut bytes[9..], random.float());
    LittleEndian::write_i32(&mut bytes[20..], random.word() as i32);
    let mut words = [0; 8];
    BigEndian::read_u32_into(&bytes, &mut words);
    digest.add(words);
}

#[inline(never)]
pub fn bytes(random: &mut Random, digest: &mut Digest) {
    use bytes::{Buf, BufMut, BytesMut};

    let mut buffer = BytesMut::with_capacity(8);
    for _ in 0..6 {
        buffer.put_u16(random.word() as u16);
        buffer.put_slice(b"frame");
        buffer.put_f32_le(random.float() as f32);
    }
    let mut frozen = buffer.freeze();
    let shared = frozen.slice(4..20);
    let head = frozen.split_to(11);
    while frozen.remaining() >= 3 {
        digest.add(frozen.get_u16());
        digest.add(frozen.get_u8());
    }
    digest.add(&shared[..]);
    digest.add(&head[..]);
    digest.add(shared.clone() == shared);
}

#[inline(never)]
pub fn hex(random: &mut Random, digest: &mut Digest) {
    let data = random.bytes(33);
    let text = hex::encode(&data);
    digest.add(&text);
    digest.add(hex::decode(&text) == Ok(data));
    let mut small = [0; 4];
    digest.add(hex::decode_to_slice("c0ffee99", &mut small).is_ok());
    digest.add(small);
    digest.add(hex::decode("c0ffeg").is_err());
}

#[inline(never)]
pub fn itoa(random: &mut Random, digest: &mut Digest) {
    let mut buffer = itoa::Buffer::new();
    for _ in 0..4 {
        let word = random.word();
        digest.add(buffer.format(word));
        digest.add(buffer.format(word as i32));
        digest.add(buffer.format(word as i8));
        digest.add(buffer.format(i128::from(word as i64) * i128::from(random.word())));
    }
}

#[inline(never)]
pub fn percent_encoding(random: &mut Random, digest: &mut Digest) {
    use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

    const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'/').add(b'%');
    let text = random.text(8);
    let encoded = utf8_percent_encode(&text, PATH).to_string();
    digest.add(&encoded);
    digest.add(percent_decode_str(&encoded).decode_utf8().is_ok_and(|decoded| decoded == text));
}

#[inline(never)]
pub fn ryu(random: &mut Random, digest: &mut Digest) {
    let mut buffer = ryu::Buffer::new();
    for _ in 0..4 {
        digest.add(buffer.format(f64::from_bits(random.word())));
        digest.add(buffer.format(f32::from_bits(random.word() as u32)));
        digest.add(buffer.format(random.float()));
    }
}

#[inline(never)]
pub fn semver(random: &mut Random, digest: &mut Digest) {
    use semver::{Version, VersionReq};

    let text = |random: &mut Random| {
        let [major, minor, patch] = core::array::from_fn(|_| random.below(4));
        let tail = ["", "-rc.1", "-a-long-name.of.a.release.12", "+build.5"][random.below(4)];
        alloc::format!("{major}.{minor}.{patch}{tail}")
    };
    let mut versions: [Option<Version>; 8] = core::array::from_fn(|_| Version::parse(&text(random)).ok());
    versions.sort();
    for requirement in ["^1.2", ">=0.3.1, <3", "~2.1", "=1.1.1", "*"] {
        let requirement = VersionReq::parse(requirement).ok();
        for version in versions.iter().flatten() {
            digest.add(requirement.as_ref().is_some_and(|requirement| requirement.matches(version)));
        }
    }
    for version in versions.iter().flatten() {
        digest.add(version.to_string());
    }
    digest.add(Version::parse("1.02.3").is_err());
}

#[inline(never)]
pub fn uuid(random: &mut Random, digest: &mut Digest) {
    use uuid::{Builder, Uuid};

    let version_4 = Builder::from_random_bytes(random.array()).into_uuid();
    let version_5 = Uuid::new_v5(&Uuid::NAMESPACE_DNS, &random.array::<20>());
    for id in [version_4, version_5] {
        let text: String = id.hyphenated().to_string();
        digest.add(&text);
        digest.add(Uuid::parse_str(&text) == Ok(id));
        digest.add(Uuid::parse_str(&text[1..]).is_err());
        digest.add(id.get_version_num());
        digest.add(id.as_u64_pair());
    }
}

#[inline(never)]
pub fn zerocopy(random: &mut Random, digest: &mut Digest) {
    use zerocopy::byteorder::{BigEndian, I64, LittleEndian, U16, U32};
    use zerocopy::{FromBytes, IntoBytes, Ref};

    let bytes = random.array::<40>();
    if let Ok((words, rest)) = Ref::<_, [U32<BigEndian>; 4]>::from_prefix(&bytes[..]) {
        digest.add(words.map(|word| word.get()));
        digest.add(rest.len());
    }
    digest.add(U16::<LittleEndian>::read_from_suffix(&bytes[..]).map(|(_, word)| word.get()).ok());
    digest.add(<[u64; 5]>::read_from_bytes(&bytes[..]).ok());
    digest.add(<[u64; 4]>::read_from_bytes(&bytes[..]).is_err());
    digest.add(I64::<BigEndian>::new(random.word() as i64).as_bytes());
}
