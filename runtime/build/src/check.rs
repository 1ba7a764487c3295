//! What cargo's command line says and cargo does not: whether it only checks, and how it prints messages; and the image that
//! stands in for a check.
//!
//! cargo runs build scripts for `cargo check` too, which an editor calls at every save.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The environment variable that decides, where it is set.
pub const VARIABLE: &str = "RUST_PTX_CHECK_ONLY";

/// Commands of cargo's that make no program: `cargo clippy` and editors call `cargo check`.
const CHECKS: [&str; 6] = ["check", "c", "clippy", "doc", "d", "rustdoc"];

/// Options of cargo's before the command that have a value of their own.
const WITH_VALUE: [&str; 4] = ["--color", "--config", "-C", "-Z"];

/// Whether no program comes of this.
pub fn is_only_a_check() -> bool {
    match std::env::var(VARIABLE).as_deref() {
        Ok("") | Err(_) => {}
        Ok(value) => return value != "0",
    }
    is_check(&cargos_line())
}

/// Whether cargo was asked for messages in one line each, as by `--message-format short`.
pub fn wants_short_messages() -> bool {
    is_short(&cargos_line())
}

/// cargo's command line as Linux shows it: each argument ends with a zero. Nothing without a `/proc`, or where it cannot be read:
/// then everything is compiled, and messages are whole.
fn cargos_line() -> Vec<u8> {
    fs::read(format!("/proc/{}/cmdline", std::os::unix::process::parent_id())).unwrap_or_default()
}

/// The arguments, if the program is cargo.
fn arguments(line: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let mut args = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let is_cargo = args.next().is_some_and(|program| Path::new(&*program).file_stem() == Some(OsStr::new("cargo")));
    args.filter(move |_| is_cargo)
}

fn is_check(line: &[u8]) -> bool {
    let mut args = arguments(line);
    while let Some(arg) = args.next() {
        if WITH_VALUE.contains(&&*arg) {
            args.next();
        } else if !arg.starts_with(['-', '+']) {
            return CHECKS.contains(&&*arg);
        }
    }
    false
}

fn is_short(line: &[u8]) -> bool {
    // What stands behind `--` is for the program.
    let mut args = arguments(line).take_while(|arg| arg != "--");
    let mut formats = Vec::new();
    while let Some(arg) = args.next() {
        match arg.strip_prefix("--message-format") {
            Some("") => formats.extend(args.next()),
            Some(value) => formats.push(Cow::Owned(value.trim_start_matches('=').to_owned())),
            None => {}
        }
    }
    formats
        .iter()
        .flat_map(|format| format.split(','))
        .any(|format| ["short", "json-diagnostic-short"].contains(&format))
}

/// Writes an image without code, unless there is one already, and has cargo run the script again for whatever comes next:
/// what a check found fresh would be fresh for a build as well.
pub fn stand_in(package: &Path, name: Option<String>, out_dir: &Path) -> Result<(), String> {
    let name = match name {
        Some(name) => name,
        None => {
            let manifest = package.join("Cargo.toml");
            let text =
                fs::read_to_string(&manifest).map_err(|e| format!("cannot read `{}`: {e}", manifest.display()))?;
            package_name(&text).ok_or_else(|| format!("`{}` has no package's name", manifest.display()))?
        }
    };
    let name = name.replace('-', "_");
    let file = out_dir.join(format!("{name}.image.rs"));
    if !file.exists() {
        let image = format!(
            "// Written by ptx-build for a check.\n::ptx::Image::new({name:?}, ::ptx::Linking::None, &[], &[])\n"
        );
        fs::write(&file, image).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    }
    // It is not there, which cargo takes for a change.
    println!("cargo::rerun-if-changed={}", out_dir.join("checked-only").display());
    Ok(())
}

/// The name in `[package]`, which cargo has read already: this line has one form.
fn package_name(manifest: &str) -> Option<String> {
    let table = manifest.lines().skip_while(|line| line.trim() != "[package]").skip(1);
    table.take_while(|line| !line.trim_start().starts_with('[')).find_map(|line| {
        let value = line.trim().strip_prefix("name")?.trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|c| ['"', '\''].contains(c))?;
        Some(value[1..].split_once(quote)?.0.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_command_is_found() {
        for (line, expected) in [
            ("/t/bin/cargo check --workspace --message-format=json", true),
            ("cargo --color always -Zunstable +nightly --config a=\"b\" c", true),
            ("cargo clippy", true),
            ("cargo doc --no-deps", true),
            ("cargo build --bin check", false),
            ("cargo --config check run", false),
            ("cargo", false),
            ("make check", false),
            ("", false),
        ] {
            assert_eq!(is_check(line.replace(' ', "\0").as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn the_format_of_messages_is_found() {
        for (line, expected) in [
            ("cargo build --message-format short", true),
            ("cargo run --message-format=json,json-diagnostic-short -p a", true),
            ("cargo build --message-format json", false),
            ("cargo run -- --message-format short", false),
            ("cargo build --message-format", false),
            ("make --message-format=short", false),
            ("", false),
        ] {
            assert_eq!(is_short(line.replace(' ', "\0").as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn the_packages_name_is_found() {
        let manifest = "[workspace]\nname = \"w\"\n\n[package]\n# name = \"c\"\nversion = \"1\"\nname= 'my-k' # it\n[lib]\nname = \"l\"\n";
        assert_eq!(package_name(manifest).as_deref(), Some("my-k"));
        assert_eq!(package_name("[package]\nversion = \"1\"\n[lib]\nname = \"l\"\n"), None);
    }

    #[test]
    fn an_image_that_is_there_stays() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("Cargo.toml"), "[package]\nname = \"a-b\"\n").unwrap();
        stand_in(temp.path(), None, temp.path()).unwrap();
        let image = temp.path().join("a_b.image.rs");
        assert!(fs::read_to_string(&image).unwrap().contains("Image::new(\"a_b\""));
        fs::write(&image, "real").unwrap();
        stand_in(temp.path(), None, temp.path()).unwrap();
        assert_eq!(fs::read_to_string(&image).unwrap(), "real");
        assert!(!temp.path().join("checked-only").exists());
    }
}
