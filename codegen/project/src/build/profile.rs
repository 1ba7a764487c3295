//! What the device build takes from cargo's profiles.

use toml::{Table, Value};

use ptx_codegen::request::DebugLevel;

/// Settings of a profile that are about host executables. Link-time optimisation is ours: the linker sees all code.
const HOST_KEYS: [&str; 5] = ["lto", "panic", "rpath", "split-debuginfo", "strip"];

/// In how many parts macros are compiled: cargo's own 256 take a fifth longer, and every first device build waits for them.
const MACROS_UNITS: i64 = 16;

/// The workspace's `[profile]` for the device: without [`HOST_KEYS`], and with line tables at least, so that messages
/// of the linker can name source lines. What is left of them in the output is `--debug-level`'s business.
pub fn for_device(root: &Table) -> Table {
    let mut profiles = root.get("profile").and_then(Value::as_table).cloned().unwrap_or_default();
    for name in ["dev", "release"] {
        profiles.entry(name).or_insert_with(|| Value::Table(Table::new()));
    }
    let names: Vec<String> = profiles.keys().cloned().collect();
    for name in names {
        let level = debug_level(root, &name);
        let Some(Value::Table(profile)) = profiles.get_mut(&name) else { continue };
        for key in HOST_KEYS {
            profile.remove(key);
        }
        if level == DebugLevel::None {
            profile.insert("debug".into(), "line-tables-only".into());
        }
        profile.insert("lto".into(), "off".into());
        let own = profile.entry("build-override").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(own) = own {
            own.entry("codegen-units").or_insert(MACROS_UNITS.into());
        }
    }
    profiles
}

/// What `[profile.test]` has to be, of the profiles [`for_device`], for tests to be compiled as the profile `name` says:
/// all that this one sets, and what cargo would give it without that. The profile `test` inherits `dev`.
pub fn of_tests(profiles: &Table, name: &str) -> Table {
    let of = |name: &str| profiles.get(name).and_then(Value::as_table).cloned().unwrap_or_default();
    let settings = match name {
        "dev" => return of("test"),
        "release" => {
            let defaults = [
                ("opt-level", Value::from(3)),
                ("debug-assertions", false.into()),
                ("overflow-checks", false.into()),
                ("incremental", false.into()),
            ];
            let mut settings: Table = defaults.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
            settings.extend(of("release"));
            settings
        }
        _ => {
            let own = of(name);
            let parent = parent(name, profiles.get(name)).unwrap_or("release").to_string();
            let mut settings = of_tests(profiles, &parent);
            settings.extend(own);
            settings
        }
    };
    settings.into_iter().filter(|(key, _)| key != "inherits").collect()
}

/// What a profile's `debug` asks for and its `strip` leaves, by cargo's rules of inheritance.
pub fn debug_level(root: &Table, name: &str) -> DebugLevel {
    if strips(root, name) { DebugLevel::None } else { debug(root, name) }
}

/// Whether the profile has debug information taken out of executables.
fn strips(root: &Table, name: &str) -> bool {
    let variable = format!("CARGO_PROFILE_{}_STRIP", name.to_uppercase().replace('-', "_"));
    let profile = root.get("profile").and_then(|profiles| profiles.get(name));
    let own = std::env::var(variable).ok().map(Value::String);
    match own.as_ref().or_else(|| profile?.get("strip")) {
        Some(Value::Boolean(strip)) => *strip,
        Some(Value::String(strip)) => matches!(strip.as_str(), "true" | "symbols" | "debuginfo"),
        _ => parent(name, profile).is_some_and(|parent| strips(root, parent)),
    }
}

/// The profile that one inherits from.
fn parent<'a>(name: &str, profile: Option<&'a Value>) -> Option<&'a str> {
    match name {
        "dev" | "release" => None,
        "test" => Some("dev"),
        "bench" => Some("release"),
        _ => profile?.get("inherits")?.as_str().filter(|parent| *parent != name),
    }
}

fn debug(root: &Table, name: &str) -> DebugLevel {
    let variable = format!("CARGO_PROFILE_{}_DEBUG", name.to_uppercase().replace('-', "_"));
    if let Some(level) = std::env::var(variable).ok().and_then(|text| parse(&Value::String(text))) {
        return level;
    }
    let profile = root.get("profile").and_then(|profiles| profiles.get(name));
    if let Some(level) = profile.and_then(|profile| profile.get("debug")).and_then(parse) {
        return level;
    }
    match name {
        "dev" => DebugLevel::Full,
        "release" => DebugLevel::None,
        _ => debug(root, parent(name, profile).unwrap_or("release")),
    }
}

fn parse(value: &Value) -> Option<DebugLevel> {
    let text = match value {
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    Some(match text.as_str() {
        "false" | "0" | "none" => DebugLevel::None,
        "line-tables-only" | "line-directives-only" | "limited" | "1" => DebugLevel::LineTables,
        "true" | "full" | "2" => DebugLevel::Full,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn debug_follows_the_profiles_inheritance() {
        for (text, name, expected) in [
            ("", "dev", DebugLevel::Full),
            ("", "release", DebugLevel::None),
            ("", "bench", DebugLevel::None),
            ("", "test", DebugLevel::Full),
            ("profile.release.debug = 1", "release", DebugLevel::LineTables),
            ("profile.release.debug = true", "bench", DebugLevel::Full),
            ("profile.dev.debug = 'line-tables-only'", "dev", DebugLevel::LineTables),
            ("profile.fast.inherits = 'dev'", "fast", DebugLevel::Full),
            ("profile.fast.inherits = 'dev'\nprofile.dev.debug = 'none'", "fast", DebugLevel::None),
            ("profile.odd.inherits = 'odd'", "odd", DebugLevel::None),
            ("profile.dev.strip = true", "dev", DebugLevel::None),
            ("profile.dev.strip = 'symbols'", "test", DebugLevel::None),
            ("profile.dev.strip = 'none'", "dev", DebugLevel::Full),
            ("profile.release.strip = 'debuginfo'\nprofile.release.debug = 1", "release", DebugLevel::None),
            ("profile.fast.inherits = 'dev'\nprofile.dev.strip = true", "fast", DebugLevel::None),
            (
                "profile.fast.inherits = 'dev'\nprofile.dev.strip = true\nprofile.fast.strip = false",
                "fast",
                DebugLevel::Full,
            ),
        ] {
            assert_eq!(debug_level(&table(text), name), expected, "{name} of {text}");
        }
    }

    #[test]
    fn the_device_has_line_tables_and_no_host_settings() {
        let root =
            table("[profile.release]\nlto = 'fat'\nstrip = true\nopt-level = 2\n[profile.fast]\ninherits = 'dev'");
        let profiles = for_device(&root);
        let release = profiles["release"].as_table().unwrap();
        assert_eq!(release["opt-level"].as_integer(), Some(2));
        assert_eq!(release["debug"].as_str(), Some("line-tables-only"));
        assert_eq!(release["lto"].as_str(), Some("off"));
        assert!(!release.contains_key("strip"));
        assert_eq!(release["build-override"]["codegen-units"].as_integer(), Some(16));
        assert!(!profiles["dev"].as_table().unwrap().contains_key("debug"));
        assert!(!profiles["fast"].as_table().unwrap().contains_key("debug"));
    }
}
