//! Whether a row's arguments are what the Rust kernel takes, by the signature that its image has.

use crate::row::{Argument, Role, Row, Style};

/// Compares the arguments with a signature such as `saxpy(a: f32, x: &[f32], y: DisjointSlice<f32>)`.
///
/// Only what the text says is compared: of an array or a vector, the type of its numbers.
pub fn fits(row: &Row, signature: &str) -> Result<(), String> {
    let list = signature.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map_or("", |(list, _)| list);
    let types: Vec<String> = parameters(list).map(|ty| ty.replace(' ', "")).collect();
    let mut rest = types.as_slice();
    for (index, argument) in (row.arguments)().iter().enumerate() {
        let matched = match (argument, row.style, rest) {
            (Argument::Value(name, _), _, [ty, after @ ..]) if ty == name => Some(after),
            (Argument::Slice { data, lanes, role, columns }, Style::Safe, [ty, after @ ..]) => {
                let element = if columns.is_some() { plane_element(ty) } else { element(ty, *role) };
                element.is_some_and(|element| is_of(element, data.rust_type(), *lanes)).then_some(after)
            }
            (Argument::Slice { data, lanes, role, .. }, Style::Raw, [ty, length, after @ ..]) if length == "usize" => {
                let start = if *role == Role::Input { "*const" } else { "*mut" };
                let element = ty.strip_prefix(start);
                element.is_some_and(|element| is_of(element, data.rust_type(), *lanes)).then_some(after)
            }
            _ => None,
        };
        rest = matched.ok_or(format!("argument {index} is not what the kernel takes: {signature}"))?;
    }
    if rest.is_empty() { Ok(()) } else { Err(format!("the kernel takes more arguments: {signature}")) }
}

/// The types of parameters.
fn parameters(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let parts = list.split(move |c: char| {
        depth += i32::from(matches!(c, '<' | '[' | '(')) - i32::from(matches!(c, '>' | ']' | ')'));
        c == ',' && depth == 0
    });
    parts.filter_map(|part| part.split_once(':').map(|(_, ty)| ty.trim()))
}

fn element(ty: &str, role: Role) -> Option<&str> {
    match role {
        Role::Input => ty.strip_prefix("&[")?.strip_suffix(']'),
        Role::Output | Role::Update => {
            let arguments = arguments(ty, &["DisjointSlice", "PerBlock", "PerThread", "AtomicSlice"])?;
            // An array's length has no comma, but a scope follows one.
            Some(if arguments.starts_with('[') { arguments } else { arguments.split(',').next()? })
        }
    }
}

fn plane_element(ty: &str) -> Option<&str> {
    arguments(ty, &["Disjoint2d", "DisjointTiles", "RowsPerBlock"])?.split(',').next()
}

/// What stands between angle brackets after one of these names.
fn arguments<'a>(ty: &'a str, names: &[&str]) -> Option<&'a str> {
    let (name, arguments) = ty.split_once('<')?;
    names.contains(&name).then(|| arguments.strip_suffix('>'))?
}

/// Whether an element, such as `f32`, `[f32;WIDTH]`, `Float4` or `[Float2;POINTS]`, is of such numbers.
fn is_of(element: &str, number: &str, lanes: usize) -> bool {
    let inner = element.strip_prefix('[').map_or(element, |array| array.split(';').next().unwrap_or_default());
    let named = match inner {
        "Float2" => ("f32", 2),
        "Float4" => ("f32", 4),
        scalar => (scalar, 1),
    };
    let is_array = inner.len() != element.len();
    named.0 == number && if is_array { lanes > named.1 && lanes.is_multiple_of(named.1) } else { lanes == named.1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{input, output, row, update, value};

    #[test]
    fn arguments_are_compared_with_the_signature() {
        let row = row("test", "k").takes(|| {
            vec![
                value(2.0_f32),
                input(vec![0_u8; 64]).by(64),
                update(vec![0_u32; 4]),
                output::<f32>(8).by(4),
                value(3_usize),
                output::<f32>(6).plane(3),
            ]
        });
        let good = "k(a: f32, x: &[[u8; 64]], c: AtomicSlice<u32, Device>, y: DisjointSlice<Float4>, n: usize, p: Disjoint2d<f32>)";
        assert_eq!(fits(&row, good), Ok(()));
        assert_eq!(fits(&row, &good.replace("Disjoint2d<f32>", "DisjointTiles<f32, T, R, Transposed>")), Ok(()));
        for (from, to) in [
            ("a: f32", "a: f64"),
            ("&[[u8; 64]]", "&[u8]"),
            ("AtomicSlice<u32", "AtomicSlice<u64"),
            ("Float4", "Float2"),
            (", n: usize", ""),
            ("Disjoint2d", "DisjointSlice"),
            ("DisjointSlice", "Disjoint2d"),
            ("n: usize", "n: usize, m: usize"),
            ("c: AtomicSlice<u32, Device>", "c: &[u32]"),
        ] {
            let bad = good.replace(from, to);
            assert!(fits(&row, &bad).is_err(), "{bad}");
        }
        let raw = row.raw("r");
        let good = "r(a: f32, x: *const [u8; 64], n: usize, c: *mut u32, m: usize, y: *mut Float4, l: usize, n: usize, p: *mut f32, e: usize)";
        assert_eq!(fits(&raw, good), Ok(()));
        assert!(fits(&raw, &good.replace("*mut u32", "*const u32")).is_err());
    }
}
