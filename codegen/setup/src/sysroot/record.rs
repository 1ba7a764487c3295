//! What a sysroot in the cache was made of, in a file of it.

use std::fs;
use std::path::Path;

use super::Source;
use crate::Failure;
use crate::rustc::field;

/// Written last, but before the folder gets its name.
const FILE: &str = "rust-ptx.txt";

/// A sysroot in the cache, as `cargo ptx doctor` lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// rustc's release, as in `1.97.0-nightly`.
    pub release: String,
    /// rustc's commit, where it knows it.
    pub commit_hash: Option<String>,
    /// What it was built from.
    pub source: Source,
    /// How long the build took.
    pub seconds: f64,
}

impl Record {
    /// Of the sysroot in that folder, if it has one.
    pub fn read(sysroot: &Path) -> Option<Self> {
        let text = fs::read_to_string(sysroot.join(FILE)).ok()?;
        Some(Self {
            release: field(&text, "release")?,
            commit_hash: field(&text, "commit-hash"),
            source: Source::of_name(&field(&text, "source")?)?,
            seconds: field(&text, "seconds")?.parse().ok()?,
        })
    }

    /// As `rustc -vV` writes.
    pub(crate) fn write(&self, sysroot: &Path) -> Result<(), Failure> {
        let mut text = format!("release: {}\nsource: {}\nseconds: {:.1}\n", self.release, self.source, self.seconds);
        if let Some(hash) = &self.commit_hash {
            text += &format!("commit-hash: {hash}\n");
        }
        let file = sysroot.join(FILE);
        fs::write(&file, text).map_err(Failure::cache("write", &file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let temp = tempfile::tempdir().unwrap();
        for (source, commit_hash) in
            [(Source::RustSrc, Some("e50aa6f".to_string())), (Source::RustDocs, None), (Source::Explicit, None)]
        {
            let record = Record { release: "1.97.0-nightly".into(), commit_hash, source, seconds: 21.5 };
            record.write(temp.path()).unwrap();
            assert_eq!(Record::read(temp.path()), Some(record));
        }
        fs::write(temp.path().join(FILE), "release: 1\nsource: elsewhere\nseconds: 1\n").unwrap();
        assert_eq!(Record::read(temp.path()), None);
    }
}
