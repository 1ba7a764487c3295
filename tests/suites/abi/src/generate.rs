//! Random cases.

use crate::foreign::FOREIGN;
use crate::model::{Arg, Body, Case, Def, Generic, Len, Linkage, Scalar, Ty};
use crate::random::Random;

/// The most bytes of one value: two dozen of them fit into a kernel's parameters.
const MAX_SIZE: u64 = 160;

/// The most bytes of all parameters together, which every version of PTX takes.
const MAX_PARAMS: u64 = 3000;

/// How deep structs nest.
const DEPTH: u32 = 3;

const NAMESPACES: [&str; 6] = ["", "", "a", "a::b", "outer::inner::deep", "std"];

/// Case number `index` of that seed.
pub fn case(seed: u64, index: u32) -> Case {
    let mut generator = Generator {
        random: Random::of_item(seed, u64::from(index)),
        case: Case { id: index, defs: Vec::new(), params: Vec::new(), result: None, linkage: Linkage::C },
    };
    generator.run();
    generator.case.tidied()
}

struct Generator {
    random: Random,
    case: Case,
}

impl Generator {
    fn run(&mut self) {
        self.case.linkage = if self.random.chance(30) {
            Linkage::C
        } else {
            // Nobody may add functions to `std`.
            Linkage::Cxx(self.random.pick(&NAMESPACES[..5]))
        };
        let count = self.random.below(13);
        let mut bytes = 0;
        for _ in 0..count {
            let param = self.param();
            let layout = self.case.layout(&param);
            if bytes + layout.size + layout.align < MAX_PARAMS {
                bytes += layout.size + layout.align;
                self.case.params.push(param);
            }
        }
        self.case.result = match self.random.below(10) {
            0 | 1 => None,
            2..=5 => Some(self.scalar()),
            _ => Some(self.value(0)),
        };
    }

    fn param(&mut self) -> Ty {
        match self.random.below(100) {
            0..=5 => {
                let is_mut = self.random.chance(40);
                let to = Box::new(self.field(1));
                Ty::Reference { to, is_mut }
            }
            6..=11 => {
                let is_mut = self.random.chance(40);
                let of = Box::new(self.field(1));
                Ty::Slice { of, is_mut }
            }
            _ => self.value(0),
        }
    }

    /// What may be passed by value.
    fn value(&mut self, depth: u32) -> Ty {
        match self.random.below(100) {
            0..=39 => self.scalar(),
            40..=49 => self.pointer(),
            50..=53 => self.function(),
            54..=61 => Ty::Foreign(self.random.pick(FOREIGN)),
            62..=65 => self.empty(),
            _ => self.named(depth),
        }
    }

    fn scalar(&mut self) -> Ty {
        Ty::Scalar(*self.random.pick(&Scalar::ALL))
    }

    /// A struct without fields.
    fn empty(&mut self) -> Ty {
        let namespace = self.random_namespace();
        let align = *self.random.pick(&[0, 0, 0, 8, 64]);
        self.define(Def { namespace, body: Body::Struct(Vec::new()), packed: 0, align, generics: Vec::new() })
    }

    fn random_namespace(&mut self) -> &'static str {
        self.random.pick(&NAMESPACES)
    }

    fn define(&mut self, def: Def) -> Ty {
        self.case.defs.push(def);
        Ty::Named { def: self.case.defs.len() - 1, args: Vec::new() }
    }

    /// What may be a field: it has bytes.
    fn field(&mut self, depth: u32) -> Ty {
        let ty = match self.random.below(100) {
            0..=49 => self.scalar(),
            50..=59 => self.pointer(),
            60..=61 => self.function(),
            62..=79 => {
                let element = if self.random.chance(70) || depth >= DEPTH { self.scalar() } else { self.named(depth) };
                Ty::Array(Box::new(element), Len::Fixed(1 + self.random.below(7)))
            }
            80..=85 => Ty::Foreign(self.random.pick(FOREIGN)),
            _ if depth < DEPTH => self.named(depth),
            _ => self.scalar(),
        };
        if self.case.is_empty(&ty) || self.case.layout(&ty).size > MAX_SIZE { self.scalar() } else { ty }
    }

    /// A struct, union or enum: one that is there already, or a new one.
    fn named(&mut self, depth: u32) -> Ty {
        let there: Vec<usize> = (0..self.case.defs.len()).filter(|def| self.is_plain(*def)).collect();
        if !there.is_empty() && self.random.chance(25) {
            return Ty::Named { def: *self.random.pick(&there), args: Vec::new() };
        }
        let namespace = self.random_namespace();
        match self.random.below(100) {
            0..=14 => {
                let body = self.enumeration();
                self.define(Def { namespace, body, packed: 0, align: 0, generics: Vec::new() })
            }
            15..=34 => self.template(namespace, depth),
            35..=49 => {
                let count = 1 + self.random.below(4);
                let fields = (0..count).map(|_| self.field(depth + 1)).collect();
                self.record(namespace, Body::Union(fields))
            }
            _ => {
                let count = 1 + self.random.below(6);
                let fields = (0..count).map(|_| self.field(depth + 1)).collect();
                self.record(namespace, Body::Struct(fields))
            }
        }
    }

    fn is_plain(&self, def: usize) -> bool {
        let Def { body, generics, .. } = &self.case.defs[def];
        generics.is_empty() && !matches!(body, Body::Struct(fields) if fields.is_empty())
    }

    fn record(&mut self, namespace: &'static str, body: Body) -> Ty {
        let (Body::Struct(fields) | Body::Union(fields)) = &body else { unreachable!("enums are made elsewhere") };
        let mut def = Def { namespace, body: body.clone(), packed: 0, align: 0, generics: Vec::new() };
        match self.random.below(100) {
            0..=14 if !fields.iter().any(|field| self.case.asks_for_alignment(field)) => {
                def.packed = *self.random.pick(&[1, 2, 4]);
            }
            15..=34 => def.align = *self.random.pick(&[1, 2, 4, 8, 16, 32, 64, 128]),
            _ => {}
        }
        let ty = self.define(def);
        if self.case.layout(&ty).size > MAX_SIZE.max(128) {
            self.case.defs.pop();
            return self.scalar();
        }
        ty
    }

    fn enumeration(&mut self) -> Body {
        let repr = *self.random.pick(&Scalar::REPRS);
        let bits = repr.size() * 8;
        let (least, most) = if repr.is_signed() {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        } else {
            (0, (1_i128 << bits) - 1)
        };
        let mut values = vec![least, most];
        for _ in 0..self.random.below(4) {
            let value = least + i128::from(self.random.number()) % (most - least);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let start = self.random.below(values.len() as u64) as usize;
        values.rotate_left(start);
        Body::Enum(repr, values)
    }

    /// A class template and an instance of it.
    fn template(&mut self, namespace: &'static str, depth: u32) -> Ty {
        let (mut generics, mut args, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..1 + self.random.below(3) as usize {
            match self.random.below(4) {
                0 | 1 => {
                    generics.push(Generic::Type);
                    args.push(Arg::Type(self.field(depth + 1)));
                    fields.push(Ty::Param(index));
                    if self.random.chance(50) {
                        fields.push(Ty::Pointer { to: Box::new(Ty::Param(index)), is_const: self.random.chance(50) });
                    }
                }
                2 => {
                    generics.push(Generic::Value(Scalar::Usize));
                    args.push(Arg::Value(i128::from(1 + self.random.below(6))));
                    let element = generics.iter().position(|generic| *generic == Generic::Type);
                    let element = element
                        .filter(|index| !matches!(&args[*index], Arg::Type(ty) if self.case.layout(ty).size > 16));
                    fields.push(Ty::Array(
                        Box::new(element.map_or(Ty::Scalar(Scalar::U16), Ty::Param)),
                        Len::Param(index),
                    ));
                }
                _ => {
                    let ty = *self.random.pick(&[
                        Scalar::I32,
                        Scalar::U8,
                        Scalar::I64,
                        Scalar::Bool,
                        Scalar::Char,
                        Scalar::I16,
                    ]);
                    generics.push(Generic::Value(ty));
                    args.push(Arg::Value(match ty {
                        Scalar::Bool => i128::from(self.random.below(2)),
                        Scalar::Char | Scalar::U8 => i128::from(self.random.below(200)),
                        _ => i128::from(self.random.below(2000)) - 1000,
                    }));
                }
            }
        }
        if fields.is_empty() {
            fields.push(self.scalar());
        }
        let align = if self.random.chance(20) { *self.random.pick(&[4, 16, 32]) } else { 0 };
        let def = Def { namespace, body: Body::Struct(fields), packed: 0, align, generics };
        self.case.defs.push(def);
        let ty = Ty::Named { def: self.case.defs.len() - 1, args };
        if self.case.layout(&ty).size > MAX_SIZE { self.scalar() } else { ty }
    }

    fn pointer(&mut self) -> Ty {
        let to = match self.random.below(10) {
            0 => Ty::Void,
            1 | 2 => self.pointer(),
            3 => Ty::Array(Box::new(self.scalar()), Len::Fixed(1 + self.random.below(9))),
            4 => self.function(),
            5 | 6 if !self.case.defs.is_empty() => self.named(DEPTH),
            _ => self.scalar(),
        };
        Ty::Pointer { to: Box::new(to), is_const: self.random.chance(50) }
    }

    fn function(&mut self) -> Ty {
        let count = self.random.below(4);
        let params = (0..count).map(|_| self.simple()).collect();
        let result = if self.random.chance(60) { Some(Box::new(self.simple())) } else { None };
        Ty::Function { params, result }
    }

    /// A parameter of a function behind a pointer.
    fn simple(&mut self) -> Ty {
        match self.random.below(4) {
            0 => Ty::Pointer { to: Box::new(self.scalar()), is_const: self.random.chance(50) },
            1 if !self.case.defs.is_empty() => self.named(DEPTH),
            _ => self.scalar(),
        }
    }
}
