//! What a failed link says: the symbols that nothing defines, by the linker's log, and what to do.

use crate::device::Device;
use crate::error::Error;

/// The error of a failed link: the undefined symbols that the linker's log names, and what to do.
pub(super) fn failure(linker: &'static str, target: &str, reason: String, log: &str) -> Error {
    let mut undefined: Vec<String> = Vec::new();
    for line in log.lines() {
        // "error   : Undefined reference to '_Z3fooii' in 'k.ptx'"
        let symbol = line.split_once("Undefined reference to '").and_then(|(_, rest)| rest.split('\'').next());
        undefined.extend(symbol.map(str::to_owned).filter(|symbol| !undefined.contains(symbol)));
    }
    let remedy = if !undefined.is_empty() {
        "\nAdd the code that defines it; in C++ names the types are a part (`_Z3fooii` is `foo(int, int)`)."
    } else if log.contains("Multiple definition") {
        "\nLeave one of the pieces out, or rename the function in one of them."
    } else if log.contains("rototype") {
        "\nGive the declaration and the definition the same parameters and result."
    } else {
        ""
    };
    let reason = if undefined.is_empty() {
        reason
    } else {
        let names: Vec<_> = undefined.iter().map(|symbol| format!("`{symbol}`")).collect();
        format!("nothing defines {}", names.join(", "))
    };
    let log = if log.trim().is_empty() { String::new() } else { format!("\n{}", log.trim()) };
    Error::Link { linker, target: target.to_owned(), reason, undefined: undefined.into(), log: log.into(), remedy }
}

/// The error that `linker` cannot even begin.
pub(super) fn refused(device: &Device, linker: &'static str, reason: &str, remedy: &'static str) -> Error {
    Error::Link {
        linker,
        target: device.name().to_owned(),
        reason: reason.to_owned(),
        undefined: Box::default(),
        log: Box::default(),
        remedy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_symbols_are_named_once() {
        let log = "error   : Undefined reference to 'cfoo' in 'k.ptx'\nerror   : Undefined reference to 'cfoo' in 'b'\n\
                   error   : Undefined reference to '_Z3fooii' in 'k.ptx'\nERROR 9: finish\n";
        let error = failure("nvJitLink", "sm_90", "ERROR_INTERNAL".into(), log);
        let text = error.to_string();
        assert!(text.contains("nothing defines `cfoo`, `_Z3fooii`") && text.contains("Add the code"), "{text}");
        let Error::Link { undefined, .. } = error else { panic!("{error}") };
        assert_eq!(*undefined, ["cfoo", "_Z3fooii"]);
        let text = failure("the driver's linker", "x", "invalid image".into(), "").to_string();
        assert!(text.ends_with("invalid image"), "{text}");
    }
}
