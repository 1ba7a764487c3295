//! Makes a failing case small: drops parameters, fields, nesting and attributes as long as it still fails.

use std::path::Path;

use crate::model::{Arg, Body, Case, Linkage, Scalar, Ty};
use crate::ptx::Module;
use crate::{compare, compile};

/// What is wrong with each case.
///
/// If a compiler fails on all of them together, the guilty ones are found by halves.
pub fn judge(cases: &[Case], folder: &Path, arch: &str) -> Vec<Vec<String>> {
    if cases.is_empty() {
        return Vec::new();
    }
    let compiled = compile::both(cases, folder, true, arch);
    match (&compiled.rust, &compiled.cxx) {
        (Ok(rust), Ok(cxx)) => {
            let (rust, cxx) = (Module::parse(rust), Module::parse(cxx));
            cases.iter().map(|case| compare::differences(case, &rust, &cxx)).collect()
        }
        (rust, cxx) if cases.len() == 1 => {
            let complaint = |who: &str, result: &Result<String, String>| {
                result.as_ref().err().map(|error| format!("{who} does not compile it:\n{error}"))
            };
            vec![complaint("rust-ptx", rust).into_iter().chain(complaint("nvcc", cxx)).collect()]
        }
        _ => {
            let (first, second) = cases.split_at(cases.len() / 2);
            [judge(first, folder, arch), judge(second, folder, arch)].concat()
        }
    }
}

/// The smallest case found that still fails, and how.
pub fn smallest(case: &Case, differences: Vec<String>, folder: &Path, arch: &str) -> (Case, Vec<String>) {
    let (mut case, mut differences) = (case.clone(), differences);
    for round in 0..60 {
        let mut candidates = candidates(&case);
        candidates.iter_mut().enumerate().for_each(|(index, candidate)| candidate.id = index as u32);
        let judged = judge(&candidates, folder, arch);
        let failing = candidates.into_iter().zip(judged).find(|(_, differences)| !differences.is_empty());
        let Some((smaller, found)) = failing else { break };
        eprintln!("shrinking, round {}: {} parameters", round + 1, smaller.params.len());
        (case, differences) = (smaller, found);
    }
    (case, differences)
}

/// Smaller cases, the smallest first.
fn candidates(case: &Case) -> Vec<Case> {
    let mut list = Vec::new();
    let mut with = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        let smaller = smaller.tidied();
        if smaller != *case && !list.contains(&smaller) {
            list.push(smaller);
        }
    };
    let count = case.params.len();
    if count > 2 {
        with(&|case| drop(case.params.drain(..count / 2)));
        with(&|case| drop(case.params.drain(count / 2..)));
    }
    with(&|case| case.params.clear());
    with(&|case| case.result = None);
    for index in 0..count {
        with(&|case| drop(case.params.remove(index)));
    }
    match case.linkage {
        Linkage::Cxx("") => with(&|case| case.linkage = Linkage::C),
        Linkage::Cxx(_) => with(&|case| case.linkage = Linkage::Cxx("")),
        Linkage::C => {}
    }
    for (index, param) in case.params.iter().enumerate() {
        for simpler in simpler(case, param) {
            with(&|case| case.params[index] = simpler.clone());
        }
    }
    for simpler in case.result.iter().flat_map(|result| simpler(case, result)) {
        with(&|case| case.result = Some(simpler.clone()));
    }
    for (index, def) in case.defs.iter().enumerate() {
        with(&|case| case.defs[index].packed = 0);
        with(&|case| case.defs[index].align = 0);
        with(&|case| case.defs[index].namespace = "");
        match &def.body {
            Body::Struct(fields) | Body::Union(fields) => {
                for field in 0..fields.len() {
                    let each = |case: &mut Case, change: &dyn Fn(&mut Vec<Ty>)| {
                        if let Body::Struct(fields) | Body::Union(fields) = &mut case.defs[index].body {
                            change(fields);
                        }
                    };
                    if fields.len() > 1 {
                        with(&|case| each(case, &|fields| drop(fields.remove(field))));
                    }
                    // Fields of a template may be its parameters.
                    for simpler in simpler(case, &fields[field]) {
                        with(&|case| each(case, &|fields| fields[field] = simpler.clone()));
                    }
                }
            }
            Body::Enum(repr, values) if values.len() > 1 => {
                let smaller = Body::Enum(*repr, vec![values[0]]);
                with(&|case| case.defs[index].body = smaller.clone());
            }
            Body::Enum(..) => {}
        }
    }
    list
}

/// What may stand in the type's place.
fn simpler(case: &Case, ty: &Ty) -> Vec<Ty> {
    let byte = Ty::Scalar(Scalar::U8);
    match ty {
        Ty::Scalar(Scalar::U8) | Ty::Param(_) | Ty::Void => Vec::new(),
        Ty::Scalar(_) | Ty::Foreign(_) => vec![byte],
        Ty::Array(element, _) if matches!(**element, Ty::Param(_)) => Vec::new(),
        Ty::Array(inner, _) | Ty::Reference { to: inner, .. } | Ty::Slice { of: inner, .. } => {
            let mut list = vec![byte];
            // No array stands alone.
            list.extend((!matches!(**inner, Ty::Array(..))).then(|| (**inner).clone()));
            list
        }
        Ty::Pointer { to, is_const } => {
            let pointer = |to: Ty| Ty::Pointer { to: Box::new(to), is_const: *is_const };
            let mut list = vec![byte.clone()];
            list.extend((**to != byte).then(|| pointer(byte)));
            list
        }
        Ty::Function { params, .. } => {
            let mut list = vec![byte];
            list.extend((!params.is_empty()).then(|| Ty::Function { params: Vec::new(), result: None }));
            list
        }
        Ty::Named { def, args } => {
            let mut list = vec![byte];
            if !matches!(case.defs[*def].body, Body::Enum(..)) {
                let fields = case.record(*def, args).1.into_iter().map(|(field, _)| field);
                list.extend(fields.filter(|field| matches!(field, Ty::Named { .. })));
            }
            for (index, arg) in args.iter().enumerate() {
                if let Arg::Type(argument) = arg {
                    for simpler in simpler(case, argument) {
                        let mut args = args.clone();
                        args[index] = Arg::Type(simpler);
                        list.push(Ty::Named { def: *def, args });
                    }
                }
            }
            list
        }
    }
}
