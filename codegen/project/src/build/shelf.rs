//! What device builds compiled of the crate `ptx` and all that it needs, kept in the cache for other target folders.
//!
//! cargo compiles a package's dependencies anew for every target folder, and for the device these are nearly always the
//! same: the macros with their parser, and the library of the device. So the first build of a kind puts them on a shelf,
//! and a build whose target folder is new begins with a copy. cargo decides as ever whether it may use what lies there,
//! by its own fingerprints, with files' times: a new folder is as good as one that has been built in.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ptx_codegen::files;
use ptx_codegen::hash;
use ptx_codegen::request::TARGET;
use ptx_setup::cache::Partial;
use toml::{Table, Value};

use crate::cache;
use crate::sysroot::Rustc;

/// The package whose dependencies are kept, with itself.
const ROOT: &str = "ptx";

/// Folders of a profile, in an order in which a copy that is given up half-way is of no harm: without its fingerprint, cargo
/// compiles a crate again.
const PARTS: [&str; 3] = ["deps", "build", FINGERPRINTS];

/// Has a folder for every crate.
const FINGERPRINTS: &str = ".fingerprint";

/// In it, when cargo last had the crate compiled, by the file's time.
const INVOKED: &str = "invoked.timestamp";

/// In a target folder, what rustc answered cargo, which asks again only if the file is not of this rustc.
const ANSWERS: &str = ".rustc_info.json";

/// The most shelves; what was not used for longest goes first.
const MOST: usize = 8;

/// What is kept of builds that are alike in all that these crates depend on.
#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
    /// The packages' names.
    packages: BTreeSet<String>,
    /// The folder of the profile, below a target folder and in the shelf.
    profile: &'static str,
}

impl Shelf {
    /// The one for a device manifest, by the lock file beside it; `None` where that is not there yet, or has no `ptx`.
    pub fn of(manifest: &Path, profile: &str, rustc: &Rustc, sysroot: &Path) -> Option<Self> {
        let read = |path: &Path| fs::read_to_string(path).ok()?.parse::<Table>().ok();
        // The folder's name is the profile's, but for this one; others are too rare to keep 80 MB for each.
        let folder_of_profile = match profile {
            "release" => "release",
            "dev" => "debug",
            _ => return None,
        };
        let (table, lock) = (read(manifest)?, read(&manifest.with_file_name("Cargo.lock"))?);
        let (packages, versions) = needed(&lock)?;
        // Features are asked for where the dependency is named; it may have another name there.
        let dependencies = table.get("dependencies").and_then(Value::as_table).into_iter().flatten();
        let is_root =
            |(name, of): &(&String, &Value)| of.get("package").and_then(Value::as_str).unwrap_or(name) == ROOT;
        let asked: Vec<String> = dependencies.filter(is_root).map(|(_, of)| of.to_string()).collect();
        let settings = table.get("profile").map(ToString::to_string).unwrap_or_default();
        let [release, commit] = [&rustc.release, rustc.commit_hash.as_ref()?];
        let texts = [release, commit, profile, &settings, &asked.join("\n"), &versions.join("\n")];
        let key =
            hash::stable(texts.iter().map(|text| text.as_bytes()).chain([sysroot.as_os_str().as_encoded_bytes()]));
        let folder = cache::root().ok()?.join(cache::CRATES).join(format!("{key:016x}"));
        Some(Self { folder, packages, profile: folder_of_profile })
    }

    /// Puts a copy into a target folder that is new. What goes wrong leaves work for cargo.
    pub fn fill(&self, target_dir: &Path) {
        if !self.folder.is_dir() {
            return;
        }
        let _ = self.copy(&self.folder, target_dir);
        let _ = copy(&self.folder.join(ANSWERS), &target_dir.join(ANSWERS));
        let _ = File::open(&self.folder).and_then(|folder| folder.set_modified(std::time::SystemTime::now()));
    }

    /// Keeps what a target folder has that was new, unless it has no more than a copy of what is kept. What goes wrong leaves
    /// nothing.
    pub fn keep(&self, target_dir: &Path) {
        if self.folder.is_dir() && self.is_outdated(target_dir) {
            let _ = fs::remove_dir_all(&self.folder);
        }
        if let Ok(Some(partial)) = Partial::begin(&self.folder, || {})
            && self.copy(target_dir, partial.path()).is_ok()
            && partial.publish().is_ok()
        {
            self.clear();
        }
        // Another rustc, or another version of ours that calls it, is asked anew; the crates may be the same.
        if let Ok(answers) = fs::read_to_string(target_dir.join(ANSWERS))
            && self.folder.is_dir()
        {
            let _ = files::write_if_changed(&self.folder.join(ANSWERS), &answers);
        }
    }

    /// Whether cargo compiled a crate into a target folder that began with a copy, as it does where sources of `ptx` have
    /// changed that are in a folder of the user's.
    fn is_outdated(&self, target_dir: &Path) -> bool {
        let time = |crate_: PathBuf| fs::metadata(crate_.join(INVOKED)).and_then(|file| file.modified()).ok();
        self.places(&self.folder).iter().zip(self.places(target_dir)).any(|(kept, own)| {
            let own = entries(&own.join(FINGERPRINTS)).unwrap_or_default().into_iter();
            let mut crates =
                own.filter(|entry| entry.file_name().to_str().is_some_and(|name| self.is_of_package(name)));
            crates.any(|entry| time(entry.path()) != time(kept.join(FINGERPRINTS).join(entry.file_name())))
        })
    }

    /// For the host, whose the macros are, and for the device.
    fn places(&self, target_dir: &Path) -> [PathBuf; 2] {
        [target_dir.join(self.profile), target_dir.join(TARGET).join(self.profile)]
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        for part in PARTS {
            for (from, to) in self.places(from).iter().zip(self.places(to)) {
                let (from, to) = (from.join(part), to.join(part));
                for entry in entries(&from)? {
                    let name = entry.file_name();
                    if name.to_str().is_some_and(|name| self.is_of_package(name)) {
                        copy(&entry.path(), &to.join(&name))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether cargo gave that name to a file or folder of one of the packages: `name-0123456789abcdef`, of a library
    /// `libname-0123456789abcdef.rlib`.
    fn is_of_package(&self, name: &str) -> bool {
        let stem = name.split('.').next().unwrap_or(name);
        let Some((name, hash)) = stem.rsplit_once('-') else { return false };
        let is_known = |name: &str| self.packages.iter().any(|package| package.replace('-', "_") == name);
        let name = name.replace('-', "_");
        hash.len() == 16 && (is_known(&name) || name.strip_prefix("lib").is_some_and(is_known))
    }

    /// Removes what was not used for longest.
    fn clear(&self) {
        let Some(shelves) = self.folder.parent().and_then(|parent| entries(parent).ok()) else { return };
        let folders = shelves.into_iter().filter(|entry| entry.path().is_dir());
        let mut by_age: Vec<_> =
            folders.filter_map(|of| Some((of.metadata().ok()?.modified().ok()?, of.path()))).collect();
        by_age.sort();
        let surplus = by_age.len().saturating_sub(MOST);
        for (_, folder) in &by_age[..surplus] {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// The names of `ptx` and of what it needs, and which versions of them a lock file has.
fn needed(lock: &Table) -> Option<(BTreeSet<String>, Vec<String>)> {
    let all: Vec<&Table> = lock.get("package")?.as_array()?.iter().filter_map(Value::as_table).collect();
    let text = |package: &Table, key| package.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let (mut names, mut rest) = (BTreeSet::new(), vec![ROOT.to_string()]);
    while let Some(name) = rest.pop() {
        if !names.insert(name.clone()) {
            continue;
        }
        // All of that name: where there are several, a dependency says which by its version, which others may need.
        for package in all.iter().filter(|package| text(package, "name") == name) {
            let below = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
            let below = below.filter_map(|of| of.as_str()?.split(' ').next());
            rest.extend(below.map(str::to_string));
        }
    }
    let kept = all.iter().filter(|package| names.contains(&text(package, "name")));
    let versions: Vec<String> =
        kept.map(|package| ["name", "version", "source", "checksum"].map(|key| text(package, key)).join(" ")).collect();
    all.iter().any(|package| text(package, "name") == ROOT).then_some((names, versions))
}

/// A file, or a folder with all that is in it; with the times of the files, by which cargo tells what is older.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        return entries(from)?.iter().try_for_each(|entry| copy(&entry.path(), &to.join(entry.file_name())));
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(fs::metadata(from)?.modified()?)
}

/// Of a folder; none where it is not there.
fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
        [[package]]
        name = "kernels"
        version = "0.1.0"
        dependencies = ["own", "ptx"]
        [[package]]
        name = "own"
        version = "1.0.0"
        [[package]]
        name = "ptx"
        version = "0.1.0"
        dependencies = ["ptx-macros", "syn 2.0.1"]
        [[package]]
        name = "ptx-macros"
        version = "0.1.0"
        dependencies = ["syn 3.0.9"]
        [[package]]
        name = "syn"
        version = "2.0.1"
        checksum = "a"
        [[package]]
        name = "syn"
        version = "3.0.9"
        checksum = "b"
    "#;

    fn shelf(folder: PathBuf) -> Shelf {
        let (packages, _) = needed(&LOCK.parse().unwrap()).unwrap();
        Shelf { folder, packages, profile: "release" }
    }

    #[test]
    fn what_ptx_needs_is_known_from_the_lock_file() {
        let (names, versions) = needed(&LOCK.parse().unwrap()).unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["ptx", "ptx-macros", "syn"]);
        assert_eq!(versions.len(), 4);
        assert!(versions.iter().any(|version| version == "syn 3.0.9  b"), "{versions:?}");
        assert!(needed(&"[[package]]\nname = \"own\"\n".parse().unwrap()).is_none());
    }

    #[test]
    fn files_are_told_by_their_names() {
        let shelf = shelf(PathBuf::new());
        for name in [
            "libptx_macros-0123456789abcdef.so",
            "ptx_macros-0123456789abcdef.d",
            "ptx-macros-0123456789abcdef",
            "syn-0123456789abcdef",
        ] {
            assert!(shelf.is_of_package(name), "{name}");
        }
        for name in [
            "kernels-0123456789abcdef",
            "libown-0123456789abcdef.rlib",
            "kernels.ptx",
            "syn-0123",
            "ptx_kernels-0123456789abcdef.d",
        ] {
            assert!(!shelf.is_of_package(name), "{name}");
        }
    }

    #[test]
    fn a_new_target_folder_begins_with_what_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let (first, second, shelf) = (temp.path().join("a"), temp.path().join("b"), shelf(temp.path().join("kept/x")));
        let file = "release/deps/libsyn-0123456789abcdef.rlib";
        let own = "release/deps/libown-0123456789abcdef.rlib";
        let mark = format!("{TARGET}/release/.fingerprint/ptx-0123456789abcdef/invoked.timestamp");
        for name in [file, own, &mark] {
            let path = first.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, name).unwrap();
            let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
            File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        }
        shelf.fill(&second);
        assert!(!second.exists());
        shelf.keep(&first);
        shelf.fill(&second);
        for name in [file, &mark] {
            assert_eq!(fs::read_to_string(second.join(name)).unwrap(), name);
            let time = |folder: &Path| fs::metadata(folder.join(name)).unwrap().modified().unwrap();
            assert_eq!(time(&second), time(&first));
        }
        assert!(!second.join(own).exists());

        // A copy is kept no second time; what was compiled into one is.
        fs::write(second.join(file), "touched").unwrap();
        shelf.keep(&second);
        let kept = || fs::read_to_string(shelf.folder.join(file)).unwrap();
        assert_eq!(kept(), file);
        fs::write(second.join(&mark), "now").unwrap();
        shelf.keep(&second);
        assert_eq!(kept(), "touched");
        let other = mark.replace("0123", "3210");
        fs::create_dir_all(second.join(&other).parent().unwrap()).unwrap();
        fs::write(second.join(&other), "other sources").unwrap();
        shelf.keep(&second);
        assert!(shelf.folder.join(&other).exists());

        // What rustc answered goes with the crates, and is kept as it was last.
        fs::write(second.join(ANSWERS), "{}").unwrap();
        shelf.keep(&second);
        shelf.fill(&first);
        assert_eq!(fs::read_to_string(first.join(ANSWERS)).unwrap(), "{}");
    }
}
