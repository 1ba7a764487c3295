//! `cargo ptx clean`: removes what was compiled for the GPU, in the target folder and in cargo's folder for what is compiled on
//! the way, which several packages may share.

use std::fs;
use std::path::Path;

use ptx_codegen::diagnostic::Result;
use ptx_codegen::files;

use super::arguments::CleanArgs;
use super::{output, select};

/// Removes it and says how much it was. As with `cargo clean`, a build folder that packages share is emptied for all.
pub fn run(args: &CleanArgs) -> Result<()> {
    let targets = match &args.target_dir {
        Some(path) => vec![path.clone()],
        None => select::target_dirs(&args.common)?,
    };
    let verb = if args.dry_run { "Would remove" } else { "Removed" };
    for folder in targets.iter().map(|target| target.join("ptx")) {
        let (number, bytes) = count(&folder);
        if !args.dry_run && folder.exists() {
            let help = "see that nothing uses the folder, and that it may be written";
            fs::remove_dir_all(&folder).map_err(|e| files::failed("remove", &folder, &e, help))?;
        }
        let megabytes = bytes as f64 / 1e6;
        println!("{verb} {number} files, {megabytes:.1} MB, in {}", output::path(&folder));
    }
    Ok(())
}

/// Files below a folder, and their bytes.
fn count(folder: &Path) -> (u64, u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.fold((0, 0), |(number, bytes), entry| match entry.metadata() {
        Ok(data) if data.is_dir() => {
            let (more, larger) = count(&entry.path());
            (number + more, bytes + larger)
        }
        Ok(data) => (number + 1, bytes + data.len()),
        Err(_) => (number, bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_at_every_depth() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/c"), "four").unwrap();
        fs::write(dir.path().join("d"), "1").unwrap();
        assert_eq!(count(dir.path()), (2, 5));
        assert_eq!(count(&dir.path().join("none")), (0, 0));
    }
}
