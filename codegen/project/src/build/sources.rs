//! Which files a device build was made from, so that a build script runs again only when one of them changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::messages::Artifact;
use super::package::Package;

/// Source files of the library and of its local dependencies, their manifests, and the lock file.
pub fn of(package: &Package, device_manifest: &Path, target_dir: &Path, artifacts: &[Artifact]) -> Vec<PathBuf> {
    let mut files = BTreeSet::from([package.manifest.clone(), package.root_manifest.clone()]);
    files.extend(package.lock());
    for artifact in artifacts.iter().filter(|artifact| artifact.is_local) {
        if artifact.manifest != device_manifest {
            files.insert(artifact.manifest.clone());
        } else if let Some(file) = artifact.files.first()
            && let Ok(text) = std::fs::read_to_string(file.with_extension("d"))
        {
            files.extend(parse(&text));
        }
    }
    files.retain(|file| !file.starts_with(target_dir) && file.is_file());
    files.into_iter().collect()
}

/// The prerequisites in make's syntax; a space in a name is escaped.
fn parse(text: &str) -> Vec<PathBuf> {
    let Some((_, list)) = text.lines().next().and_then(|line| line.split_once(": ")) else { return vec![] };
    let mut paths = Vec::new();
    let mut path = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&' ') => path.extend(chars.next()),
            ' ' => paths.push(std::mem::take(&mut path)),
            c => path.push(c),
        }
    }
    paths.push(path);
    paths.into_iter().filter(|path| !path.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dep_info_is_read() {
        let text = "/t/app.ptx: /ws/app/src/lib.rs /ws/my\\ crate/src/lib.rs\n\n/other: /x\n";
        assert_eq!(parse(text), [PathBuf::from("/ws/app/src/lib.rs"), "/ws/my crate/src/lib.rs".into()]);
        assert_eq!(parse("/t/app.ptx: \n"), Vec::<PathBuf>::new());
        assert_eq!(parse(""), Vec::<PathBuf>::new());
    }
}
