//! Reads what NVIDIA's tools print about themselves.

/// `13.0.88` from the text of `--version`, whose third line ends with `release 13.0, V13.0.88`.
pub fn parse(text: &str) -> Option<String> {
    let (_, after) = text.split_once("release ")?;
    let (_, version) = after.split_once(", V")?;
    let version = version.split_whitespace().next()?;
    let numbers = version.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    numbers.then(|| version.to_string())
}

/// `sm_75`, `sm_90a` and so on from the text of `ptxas --help`, in its order: the allowed values of `--gpu-name`. Other
/// options name archs only as examples.
pub fn archs(help: &str) -> Vec<String> {
    let values = help.split_once("--gpu-name").and_then(|(_, rest)| rest.split_once("Allowed values"));
    let values = values.map_or("", |(_, rest)| rest.split("Default value").next().unwrap_or_default());
    let quoted = values.split('\'').skip(1).step_by(2);
    quoted.filter(|name| name.starts_with("sm_")).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let text = "ptxas: NVIDIA (R) Ptx optimizing assembler\nCopyright (c) 2005-2025 NVIDIA Corporation\n\
                    Built on Wed_Aug_20_01:55:12_PM_PDT_2025\nCuda compilation tools, release 13.0, V13.0.88\n\
                    Build cuda_13.0.r13.0/compiler.36424714_0\n";
        assert_eq!(parse(text).as_deref(), Some("13.0.88"));
        assert_eq!(parse("Cuda compilation tools, release 12.9, V12.9.86").as_deref(), Some("12.9.86"));
        assert_eq!(parse("GNU ld 2.40"), None);
        assert_eq!(parse("release 13.0, Vnext"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn archs_are_read() {
        let text = "--gpu-name <gpu name>  (-arch)\n  PTX for .target sm_XY can be compiled to sm_MN.\n\
                    Allowed values for this option:  'compute_75','lto_75','sm_75','sm_90',\n  'sm_90a','sm_100f'.\n\
                    Default value:  'sm_52'.\n\n--legacy\n Needed below sm_70. Allowed values: 'sm_60'\n";
        assert_eq!(archs(text), ["sm_75", "sm_90", "sm_90a", "sm_100f"]);
        assert!(archs("GNU ld").is_empty());
    }
}
