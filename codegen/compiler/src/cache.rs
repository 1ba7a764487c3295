//! Keeps what was made of an input, such as a PTX text by ptxas, so that work is only done where the input has changed.
//!
//! An entry is a file. Its name is the hash of the input; it appears whole under that name, and holds a digest
//! of its content, so that a damaged one is found out. Several processes may use the folder at once: each reads a whole
//! file or none, and a removed entry is only made again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::files;
use crate::hash;

/// The most bytes that all entries may take; those that were not used for longest go first.
pub const MOST_BYTES: u64 = 256 << 20;

/// How many entries are put, in the mean, for one look at all of them: a look takes as long as there are entries, which
/// a full cache has by the ten thousand.
const PUTS_TO_A_LOOK: u64 = 64;

/// How an entry begins; changes with the form.
const HEAD: &[u8; 8] = b"ptxas 1\n";

/// Bytes before the log: the head, the digest of the rest, the second hash of the key, the log's length.
const BEFORE: usize = HEAD.len() + 3 * size_of::<u64>();

/// A folder with entries.
#[derive(Clone, Copy, Debug)]
pub struct Cache<'a> {
    /// It need not exist.
    pub folder: &'a Path,
    /// [`MOST_BYTES`], but in tests.
    pub most_bytes: u64,
}

/// What something was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    name: u64,
    /// Of the same in another order: two texts would have to share both.
    check: u64,
}

impl Key {
    /// Of everything that the output depends on.
    pub fn of(parts: &[&[u8]]) -> Self {
        Self { name: hash::stable(parts), check: hash::stable(parts.iter().rev()) }
    }
}

/// What was made, without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What was said.
    pub log: String,
    /// Machine code, or what else it is.
    pub bytes: Vec<u8>,
}

impl Cache<'_> {
    /// What is kept under the key, if it is whole.
    pub fn get(&self, key: Key) -> Option<Entry> {
        let path = self.path(key);
        let entry = read(&fs::read(&path).ok()?, key)?;
        // The time says when it was used; that it cannot be set does no harm.
        let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(entry)
    }

    /// Keeps an entry. A full disk or a folder that cannot be written is no failure: nothing is kept then.
    pub fn put(&self, key: Key, entry: &Entry) {
        if fs::create_dir_all(self.folder).is_ok() && files::publish(&self.path(key), &bytes(entry, key)).is_ok() {
            // A hash is as good as a die, and no process has to know how many others have put.
            if key.name.is_multiple_of(PUTS_TO_A_LOOK) {
                self.shrink();
            }
        }
    }

    fn path(&self, key: Key) -> PathBuf {
        self.folder.join(format!("{:016x}", key.name))
    }

    /// Removes what was not used for longest until a quarter of the space is free, once there is too much.
    fn shrink(&self) {
        let Ok(entries) = fs::read_dir(self.folder) else { return };
        let mut entries: Vec<_> = entries
            .flatten()
            .filter_map(|entry| entry.metadata().ok().map(|data| (data.modified().ok(), data.len(), entry.path())))
            .collect();
        let mut all: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        if all <= self.most_bytes {
            return;
        }
        entries.sort();
        for (_, bytes, path) in entries {
            if all <= self.most_bytes / 4 * 3 {
                break;
            }
            // Another process may have removed it.
            let _ = fs::remove_file(path);
            all -= bytes;
        }
    }
}

fn bytes(entry: &Entry, key: Key) -> Vec<u8> {
    let mut content = key.check.to_le_bytes().to_vec();
    content.extend((entry.log.len() as u64).to_le_bytes());
    content.extend(entry.log.as_bytes());
    content.extend(&entry.bytes);
    [HEAD.as_slice(), &hash::stable([&content]).to_le_bytes(), &content].concat()
}

fn read(bytes: &[u8], key: Key) -> Option<Entry> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let content = bytes.strip_prefix(HEAD)?.get(8..)?;
    if number(8)? != hash::stable([content]) || number(16)? != key.check {
        return None;
    }
    let (log, bytes) = bytes.get(BEFORE..)?.split_at_checked(number(24)?.try_into().ok()?)?;
    Some(Entry { log: String::from_utf8(log.to_vec()).ok()?, bytes: bytes.to_vec() })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn entry(text: &str) -> Entry {
        Entry { log: format!("ptxas info : {text}\n"), bytes: text.bytes().rev().collect() }
    }

    #[test]
    fn what_was_put_is_found_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("ptxas");
        let cache = Cache { folder: &folder, most_bytes: MOST_BYTES };
        let key = Key::of(&[b"ptx", b"-arch=sm_90"]);
        assert_eq!(cache.get(key), None, "there is no folder yet");
        cache.put(key, &entry("a"));
        assert_eq!(cache.get(key), Some(entry("a")));
        assert_eq!(cache.get(Key::of(&[b"ptx", b"-arch=sm_80"])), None);
        assert_eq!(cache.get(Key { check: key.check ^ 1, ..key }), None, "the same name by chance");
        cache.put(key, &entry("b"));
        assert_eq!(cache.get(key), Some(entry("b")));
    }

    #[test]
    fn a_damaged_entry_is_never_used() {
        let temp = tempfile::tempdir().unwrap();
        let cache = Cache { folder: temp.path(), most_bytes: MOST_BYTES };
        let key = Key::of(&[b"ptx"]);
        cache.put(key, &entry("machine code"));
        let whole = fs::read(cache.path(key)).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert_eq!(read(&damaged, key), None, "byte {at} is another");
            assert_eq!(read(&whole[..at], key), None, "cut off after {at} bytes");
        }
        fs::write(cache.path(key), &whole[..whole.len() / 2]).unwrap();
        assert_eq!(cache.get(key), None);
        cache.put(key, &entry("machine code"));
        assert_eq!(cache.get(key), Some(entry("machine code")), "it is made again");
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let temp = tempfile::tempdir().unwrap();
        let cache = Cache { folder: temp.path(), most_bytes: 4_000 };
        let keys: Vec<Key> = (0_u8..5).map(|number| Key::of(&[&[number]])).collect();
        let large = Entry { log: String::new(), bytes: vec![0; 900] };
        for (key, age) in keys[..4].iter().zip([400, 300, 200, 100]) {
            cache.put(*key, &large);
            let file = File::options().append(true).open(cache.path(*key)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        assert!(cache.get(keys[0]).is_some(), "the oldest is used again");
        cache.put(keys[4], &large);
        cache.shrink();
        let kept = keys.iter().map(|key| cache.get(*key).is_some());
        assert_eq!(Vec::from_iter(kept), [true, false, false, true, true]);
    }

    #[test]
    fn some_of_many_puts_look_whether_there_is_too_much() {
        let temp = tempfile::tempdir().unwrap();
        let cache = Cache { folder: temp.path(), most_bytes: 20_000 };
        let entry = Entry { log: String::new(), bytes: vec![0; 900] };
        for number in 0..40 * PUTS_TO_A_LOOK {
            cache.put(Key::of(&[&number.to_le_bytes()]), &entry);
        }
        let kept = fs::read_dir(temp.path()).unwrap().count();
        assert!(kept < 12 * PUTS_TO_A_LOOK as usize, "{kept} entries of 900 bytes are kept");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_failure() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache { folder: &file, most_bytes: MOST_BYTES };
        cache.put(Key::of(&[b"ptx"]), &entry("a"));
        assert_eq!(cache.get(Key::of(&[b"ptx"])), None);
    }
}
