//! SHA-256: the vectors that NIST published, and random messages.

use anyhow::Result;
use crates::{Message, sha256};
use ptx::prelude::*;
use sha2::{Digest, Sha256};

use crate::Check;
use crate::random::Random;

/// NIST, "Secure Hashing" examples for SHA-256 (FIPS 180-2, appendix B, and the empty and the 896-bit message).
const PUBLISHED: [(&str, &str, usize, &str); 5] = [
    ("empty", "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        "448 bits",
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
    (
        "896 bits",
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        1,
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
    ),
    ("a million a's", "a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
];

const RANDOM_MESSAGES: usize = 20_000;
const LONGEST: usize = 300;

/// A row for every published vector, and with a device one for the random messages, which the CPU hashes too.
pub fn check(module: Option<&Module>) -> Result<Vec<Check>> {
    let mut random = Random::new(0x5eed);
    let mut messages: Vec<Vec<u8>> =
        PUBLISHED.iter().map(|(_, text, times, _)| text.repeat(*times).into_bytes()).collect();
    messages.extend((0..RANDOM_MESSAGES).map(|_| {
        let len = random.below(LONGEST + 1);
        (0..len).map(|_| random.bits() as u8).collect()
    }));

    let on_cpu: Vec<[u8; 32]> = messages.iter().map(|m| Sha256::digest(m).into()).collect();
    let on_device = module.map(|module| on_device(module, &messages)).transpose()?;
    let digests = on_device.as_ref().unwrap_or(&on_cpu);
    let mut checks: Vec<Check> = PUBLISHED
        .iter()
        .zip(digests)
        .map(|((name, _, _, published), digest)| {
            let digest = hex(digest);
            Check { name: format!("sha256 {name}"), passed: digest == *published, detail: digest }
        })
        .collect();
    if let Some(on_device) = &on_device {
        let wrong = on_device.iter().zip(&on_cpu).skip(PUBLISHED.len()).filter(|(device, cpu)| device != cpu).count();
        checks.push(Check {
            name: "sha256 random".to_owned(),
            passed: wrong == 0 && on_device.len() == messages.len(),
            detail: format!("{RANDOM_MESSAGES} messages of 0 to {LONGEST} bytes, {wrong} differ from the CPU's"),
        });
    }
    Ok(checks)
}

fn on_device(module: &Module, messages: &[Vec<u8>]) -> Result<Vec<[u8; 32]>> {
    let device = module.device();
    let mut end = 0;
    let places: Vec<Message> = messages
        .iter()
        .map(|message| {
            let start = end;
            end += message.len();
            Message { start, end }
        })
        .collect();
    let bytes = device.upload(&messages.concat())?;
    let places = device.upload(&places)?;
    let mut digests = device.zeroed::<[u8; 32]>(messages.len())?;
    sha256(&bytes, &places, &mut digests).launch(module, Grid::cover(messages.len(), 128))?;
    Ok(device.download(&digests)?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
