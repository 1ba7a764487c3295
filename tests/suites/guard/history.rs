//! The record before the last change to it, from git.

use std::process::Command;

use ptx_bench_table::guard::Record;
use ptx_tests::folders::root;

use crate::record;

/// What is known of it.
pub enum Before {
    /// The record was this.
    Was(Record),
    /// There was none, or none that can be read.
    Nothing,
    /// git does not say, for this reason.
    Unknown(String),
}

/// The record of the last commit, if the working tree has another; otherwise the one before the commit that changed it last.
pub fn before() -> Before {
    let Ok(committed) = git(&["show", &format!("HEAD:{}", record::PATH)]) else {
        return match git(&["rev-parse", "HEAD"]) {
            Ok(_) => Before::Nothing,
            Err(error) => Before::Unknown(format!("git knows no history: {error}")),
        };
    };
    if Record::parse(&committed) != record::read() {
        return parsed(&committed);
    }
    let commit = git(&["rev-list", "-1", "HEAD", "--", record::PATH]).unwrap_or_default();
    let parent = format!("{}^", commit.trim());
    if git(&["rev-parse", "--verify", "--quiet", &parent]).is_err() {
        return Before::Unknown("this clone does not have the commit before the record's last change".into());
    }
    match git(&["show", &format!("{parent}:{}", record::PATH)]) {
        Ok(text) => parsed(&text),
        Err(_) => Before::Nothing,
    }
}

fn parsed(text: &str) -> Before {
    Record::parse(text).map_or(Before::Nothing, Before::Was)
}

fn git(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").arg("-C").arg(root()).args(arguments).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr).trim().into()) }
}
