//! Package and workspace manifests in, device manifests out.

use super::*;

/// The device manifest of a package in `/ws/app` of a workspace in `/ws`.
fn generate(package: &str, root: &str, host_only: &[&str]) -> Result<DeviceManifest, String> {
    generate_for(package, root, host_only, None)
}

fn generate_for(package: &str, root: &str, host_only: &[&str], tests: Option<&str>) -> Result<DeviceManifest, String> {
    let package: Table = package.parse().unwrap();
    let root: Table = root.parse().unwrap();
    let host_only: Vec<String> = host_only.iter().map(ToString::to_string).collect();
    DeviceManifest::generate(&Source {
        package: &package,
        dir: Path::new("/ws/app"),
        root: &root,
        root_dir: Path::new("/ws"),
        library: Path::new("/ws/app/src/lib.rs"),
        host_only: &host_only,
        tests,
    })
}

/// `expected` is TOML of some sections; the generated manifest must have them exactly.
fn check(package: &str, root: &str, host_only: &[&str], expected: &str) {
    let package = format!("[package]\nname = 'app'\n{package}");
    let generated = generate(&package, root, host_only).unwrap().table;
    let expected: Table = expected.parse().unwrap();
    for (section, value) in &expected {
        assert_eq!(generated.get(section), Some(value), "{section} of:\n{package}\n--- generated\n{generated}");
    }
}

#[test]
fn nothing_but_the_library_is_left() {
    let package = r#"
        [package]
        name = "app"
        version = "1.2.0"
        edition = "2024"
        build = "build.rs"
        links = "app"
        default-run = "app"
        metadata.ptx.arch = ["sm_80"]
        [lib]
        name = "kernels"
        path = "src/lib.rs"
        crate-type = ["rlib", "cdylib"]
        [[bin]]
        name = "app"
        [dependencies]
        glam = "0.30"
        [build-dependencies]
        ptx-build = "0.1"
        [dev-dependencies]
        proptest = "1"
    "#;
    let expected: Table = r#"
        [package]
        name = "app"
        version = "1.2.0"
        edition = "2024"
        build = false
        publish = false
        [lib]
        name = "kernels"
        path = "/ws/app/src/lib.rs"
        [dependencies]
        glam = "0.30"
        [profile.dev]
        lto = "off"
        [profile.dev.build-override]
        codegen-units = 16
        [profile.release]
        lto = "off"
        debug = "line-tables-only"
        [profile.release.build-override]
        codegen-units = 16
        [workspace]
        resolver = "3"
    "#
    .parse()
    .unwrap();
    assert_eq!(generate(package, "", &[]).unwrap().table, expected);
}

#[test]
fn package_fields_are_inherited() {
    let root = "[workspace]\nresolver = '2'\n[workspace.package]\nversion = '0.3.1'\nedition = '2021'\nlicense = 'MIT'";
    check(
        "version.workspace = true\nedition = { workspace = true }\ndescription = 'mine'\nlicense.workspace = true",
        root,
        &[],
        "[package]\nname = 'app'\nversion = '0.3.1'\nedition = '2021'\nlicense = 'MIT'\ndescription = 'mine'\n\
         build = false\npublish = false\n[workspace]\nresolver = '2'",
    );
}

#[test]
fn dependencies_are_inherited_and_rebased() {
    let root = r#"
        [workspace.dependencies]
        plain = "1"
        local = { path = "crates/local", default-features = false, features = ["a"] }
        full = { version = "2", default-features = false }
        named = { package = "real-name", git = "https://example.com/x" }
    "#;
    for (own, expected) in [
        ("x = '1.0'", "x = '1.0'"),
        ("x = { path = '../x', version = '1' }", "x = { path = '/ws/x', version = '1' }"),
        ("x = { path = 'sub/./x' }", "x = { path = '/ws/app/sub/x' }"),
        ("x = { path = '/abs/x' }", "x = { path = '/abs/x' }"),
        (
            "x = { package = 'y', path = '../y', optional = true }",
            "x = { package = 'y', path = '/ws/y', optional = true }",
        ),
        ("plain.workspace = true", "plain = { version = '1' }"),
        (
            "local = { workspace = true, features = ['b'], optional = true }",
            "local = { path = '/ws/crates/local', default-features = false, features = ['a', 'b'], optional = true }",
        ),
        ("full = { workspace = true, default-features = true }", "full = { version = '2', default-features = true }"),
        ("plain = { workspace = true, default-features = false }", "plain = { version = '1' }"),
        ("named.workspace = true", "named = { package = 'real-name', git = 'https://example.com/x' }"),
    ] {
        check(&format!("[dependencies]\n{own}"), root, &[], &format!("[dependencies]\n{expected}"));
    }
}

#[test]
fn what_is_inherited_must_exist() {
    for (package, expected) in [
        ("[package]\nname = 'app'\nversion.workspace = true", "`package.version` is inherited"),
        ("[package]\nname = 'app'\n[dependencies]\nx.workspace = true", "`dependencies.x` is inherited"),
        ("[package]\nname = 'app'\n[lib]\nproc-macro = true", "procedural macro"),
        ("[workspace]", "there is no `[package]`"),
    ] {
        let error = generate(package, "[workspace]", &[]).unwrap_err();
        assert!(error.contains(expected), "{package}: {error}");
    }
}

#[test]
fn targets_of_the_host_are_left_out() {
    let package = r#"
        [target.'cfg(not(target_arch = "nvptx64"))'.dependencies]
        cudarc = "1"
        [target.x86_64-unknown-linux-gnu.dependencies]
        libc = "1"
        [target.nvptx64-nvidia-cuda.dependencies]
        here = { path = "../here" }
        [target.'cfg(target_arch = "nvptx64")'.dependencies]
        device = "1"
        [target.'cfg(any(unix, target_arch = "nvptx64"))'.dependencies]
        both = "1"
        [target.'cfg(target_arch = "nvptx64")'.dev-dependencies]
        tests = "1"
    "#;
    let expected = r#"
        [target.nvptx64-nvidia-cuda.dependencies]
        here = { path = "/ws/here" }
        [target.'cfg(target_arch = "nvptx64")'.dependencies]
        device = "1"
        [target.'cfg(any(unix, target_arch = "nvptx64"))'.dependencies]
        both = "1"
    "#;
    check(package, "", &[], expected);
}

#[test]
fn a_target_is_judged_by_what_it_means() {
    for (target, expected) in [
        ("nvptx64-nvidia-cuda", true),
        ("aarch64-apple-darwin", false),
        ("cfg(unix)", false),
        ("cfg(not(unix))", true),
        ("cfg( target_os  =  \"linux\" )", false),
        ("cfg(target_os = \"cuda\")", true),
        ("cfg(target_family = \"wasm\")", false),
        ("cfg(target_pointer_width = \"64\")", true),
        ("cfg(target_pointer_width = \"32\")", false),
        ("cfg(any(unix, windows))", false),
        ("cfg(any(unix, windows, target_vendor = \"nvidia\"))", true),
        ("cfg(all(unix, target_arch = \"x86_64\"))", false),
        ("cfg(all(not(windows), target_arch = \"nvptx64\"))", true),
        ("cfg(not(any(target_os = \"cuda\", target_os = \"linux\")))", false),
        ("cfg(not(all(target_os = \"cuda\", not(target_endian = \"big\"))))", false),
        ("cfg(not(not(any(all(unix), not(target_arch = \"nvptx64\")))))", false),
        ("cfg(any())", false),
        ("cfg(all())", true),
        ("cfg(true)", true),
        ("cfg(false)", false),
        // Something else than the target decides.
        ("cfg(tokio_unstable)", true),
        ("cfg(not(loom))", true),
        ("cfg(all(loom, unix))", false),
        ("cfg(any(loom, unix))", true),
        ("cfg(any(loom, not(unix)))", true),
        ("cfg(not(any(loom, not(unix))))", false),
        ("cfg(target_feature = \"avx2\")", true),
        ("cfg(panic = \"unwind\")", true),
        // cargo refuses these, and says why.
        ("cfg(", true),
        ("cfg(unix", true),
        ("cfg(not(unix, windows))", true),
    ] {
        assert_eq!(may_be_device(target), expected, "{target}");
    }
}

/// As rustc itself has it.
#[test]
fn the_devices_cfgs_are_rustcs() {
    let args = ["--print", "cfg", "--target", ptx_codegen::request::TARGET];
    let output = std::process::Command::new("rustc").args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for (key, value) in DEVICE_CFGS {
        let values: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect();
        assert!(values.is_empty() && value.is_empty() || values == [format!("{value:?}")], "{key}: {values:?}");
    }
    assert!(!text.lines().any(|line| line == "unix" || line == "windows"), "{text}");
}

#[test]
fn features_forget_what_is_dropped() {
    let package = r#"
        [dependencies]
        kept = { version = "1", optional = true }
        clap = { version = "4", optional = true }
        rand = "0.9"
        [build-dependencies]
        ptx-build = "0.1"
        [features]
        default = ["cli", "kept", "clap"]
        cli = ["dep:clap", "clap?/derive", "rand/std", "kept/std", "dep:kept"]
        clap_like = []
        new-llvm = ["ptx-build/llvm-22", "clap_like"]
    "#;
    let expected = r#"
        [dependencies]
        kept = { version = "1", optional = true }
        [features]
        default = ["cli", "kept"]
        cli = ["kept/std", "dep:kept"]
        clap_like = []
        new-llvm = ["clap_like"]
    "#;
    check(package, "", &["clap", "rand"], expected);
    let package = format!("[package]\nname = 'app'\n{package}");
    let dropped = generate(&package, "", &["clap", "rand"]).unwrap().dropped;
    assert_eq!(dropped.into_iter().collect::<Vec<_>>(), ["clap", "ptx-build", "rand"]);
}

#[test]
fn a_dependency_of_device_and_build_script_stays() {
    let package = "[dependencies]\nshared = '1'\n[build-dependencies]\nshared = '1'\n[features]\nf = ['shared/std']";
    check(package, "", &[], "[features]\nf = ['shared/std']");
}

#[test]
fn patches_and_profiles_are_the_workspaces() {
    let root = r#"
        [patch.crates-io]
        glam = { path = "vendor/glam" }
        libm = { git = "https://example.com/libm" }
        [patch."https://example.com/x"]
        x = { path = "../x" }
        [profile.release]
        opt-level = 2
        debug = 1
        [profile.release.package.glam]
        opt-level = 3
    "#;
    let expected = r#"
        [patch.crates-io]
        glam = { path = "/ws/vendor/glam" }
        libm = { git = "https://example.com/libm" }
        [patch."https://example.com/x"]
        x = { path = "/x" }
        [profile.dev]
        lto = "off"
        [profile.dev.build-override]
        codegen-units = 16
        [profile.release]
        opt-level = 2
        debug = 1
        lto = "off"
        [profile.release.build-override]
        codegen-units = 16
        [profile.release.package.glam]
        opt-level = 3
    "#;
    check("[profile.release]\nopt-level = 0", root, &[], expected);
}

#[test]
fn lints_of_rustc_are_kept() {
    let root = "[workspace.lints.rust]\nunused = 'deny'\n[workspace.lints.clippy]\nall = 'warn'";
    check("[lints]\nworkspace = true", root, &[], "[lints.rust]\nunused = 'deny'");
    check("[lints.rust]\nunsafe_code = 'forbid'", root, &[], "[lints.rust]\nunsafe_code = 'forbid'");
}

#[test]
fn a_name_that_is_no_dependency_is_refused() {
    let package =
        "[package]\nname = 'app'\n[dependencies]\nclap = '4'\n[target.'cfg(unix)'.dependencies]\nrand_core = '1'\n";
    let error = generate(package, "", &["clap", "rand-core"]).unwrap_err();
    assert_eq!(
        error,
        "`host-only` names `rand-core`, which is no dependency of the package; it has `clap`, `rand_core`"
    );
    assert!(generate("[package]\nname = 'app'\n", "", &["nobody"]).unwrap_err().ends_with("it has none"));
    assert!(generate(package, "", &["clap", "rand_core"]).is_ok());
}

#[test]
fn the_resolver_is_never_the_first() {
    for (package, root, resolver) in [
        ("edition = '2015'", "", "2"),
        ("", "", "2"),
        ("edition = '2018'", "[workspace]\nresolver = '1'", "2"),
        ("edition = '2021'", "[workspace]", "2"),
        ("edition = '2024'", "[workspace]", "3"),
        ("edition = '2018'", "[workspace]\nresolver = '3'", "3"),
        ("edition = '2024'\nresolver = '2'", "[package]\nresolver = '2'", "2"),
    ] {
        check(package, root, &[], &format!("[workspace]\nresolver = '{resolver}'"));
        let package = format!("[package]\nname = 'app'\n{package}");
        assert!(generate(&package, root, &[]).unwrap().table["package"].get("resolver").is_none());
    }
}

#[test]
fn crates_of_the_workspace_are_found() {
    for (package, root, expected) in [
        ("[dependencies]\nx = '1'", "", false),
        ("[dependencies]\nx = { path = '/wsx/x' }", "", false),
        ("[dependencies]\nx = { path = '../x' }", "", true),
        ("[dependencies]\nx.workspace = true", "[workspace.dependencies]\nx = { path = 'x' }", true),
        ("[target.'cfg(a)'.dependencies]\nx = { path = 'x' }", "", true),
        ("[dependencies]\nx = '1'", "[patch.crates-io]\nx = { path = 'x' }", true),
        ("[build-dependencies]\nx = { path = 'x' }", "", false),
    ] {
        let device = generate(&format!("[package]\nname = 'app'\n{package}"), root, &[]).unwrap();
        assert_eq!(device.has_crates_below(Path::new("/ws")), expected, "{package}\n{root}");
    }
}

#[test]
fn tests_have_their_dependencies_and_the_profile_that_was_asked_for() {
    let package = r#"
        [package]
        name = "app"
        [dependencies]
        a = "1"
        [dev-dependencies]
        a = { version = "1", features = ["extra"] }
        b = "2"
        criterion = "0.5"
    "#;
    let root = "[profile.release]\nopt-level = 2\n[profile.fast]\ninherits = 'release'\noverflow-checks = true";
    let table = generate_for(package, root, &["criterion"], Some("fast")).unwrap().table;
    let expected: Table = "a = { version = '1', features = ['extra'] }\nb = '2'".parse().unwrap();
    assert_eq!(table["dependencies"].as_table(), Some(&expected));
    let test = table["profile"]["test"].as_table().unwrap();
    assert_eq!(test["opt-level"].as_integer(), Some(2));
    assert_eq!((test["overflow-checks"].as_bool(), test["debug-assertions"].as_bool()), (Some(true), Some(false)));
    assert!(!test.contains_key("inherits"));
    let table = generate_for(package, root, &["criterion"], Some("dev")).unwrap().table;
    assert!(
        !table["profile"]["test"].as_table().unwrap().contains_key("opt-level"),
        "the profile `test` inherits `dev`"
    );
    assert_eq!(generate(package, root, &[]).unwrap().table["dependencies"]["a"].as_str(), Some("1"));
}
