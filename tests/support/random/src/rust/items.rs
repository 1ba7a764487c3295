//! What a random program declares: types, tables, functions, a trait.

use super::generator::{Function, Generator, Trait, Variable};
use super::types::{self, Ty, U32};

/// How much fuel a function gets.
const FUNCTION: i32 = 24;

impl Generator<'_> {
    /// All of a program's items.
    pub fn items(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.choices.weighted(&[4, 3, 2]) {
            text += &self.structure();
        }
        for _ in 0..self.choices.weighted(&[4, 3, 2]) {
            text += &self.enumeration();
        }
        for _ in 0..self.choices.weighted(&[4, 3, 2]) {
            text += &self.table();
        }
        if self.choices.chance(25) {
            text += &self.interface();
        }
        for _ in 0..self.choices.weighted(&[2, 4, 3, 2]) {
            text += &match self.choices.weighted(&[5, 3, 2, 2]) {
                0 => self.function(),
                1 => self.fallible(),
                2 => self.recursive(),
                _ => self.generic(),
            };
        }
        text
    }

    fn structure(&mut self) -> String {
        let number = self.structs.len();
        let fields: Vec<Ty> = (0..1 + self.choices.below(4)).map(|_| self.any_type()).collect();
        let list: String = fields.iter().zip(0..).map(|(ty, n)| format!("f{n}: {}, ", ty.name())).collect();
        let mix: String = (0..fields.len()).map(|n| format!("self.f{n}.mix(d); ")).collect();
        let layout = *self.choices.pick(&["", "#[repr(C)] ", "#[repr(align(16))] "]);
        self.structs.push(fields);
        format!(
            "#[derive(Clone, Copy, PartialEq)]\n{layout}struct S{number} {{ {list}}}\n\
             impl Mix for S{number} {{ fn mix(self, d: &mut u64) {{ {mix}}} }}\n"
        )
    }

    fn enumeration(&mut self) -> String {
        let number = self.enums.len();
        let variant = |this: &mut Self| (0..this.choices.below(3)).map(|_| this.any_type()).collect();
        let variants: Vec<Vec<Ty>> = (0..2 + self.choices.below(3)).map(|_| variant(self)).collect();
        let (mut list, mut arms) = (String::new(), String::new());
        for (variant, fields) in variants.iter().enumerate() {
            let names: Vec<String> = (0..fields.len()).map(|n| format!("x{n}")).collect();
            let types: Vec<String> = fields.iter().map(Ty::name).collect();
            let both =
                |parts: &[String]| if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) };
            list += &format!("V{variant}{}, ", both(&types));
            let mix: String = names.iter().map(|name| format!("{name}.mix(d); ")).collect();
            arms += &format!("E{number}::V{variant}{} => {{ {variant}u8.mix(d); {mix}}} ", both(&names));
        }
        self.enums.push(variants);
        format!(
            "#[derive(Clone, Copy, PartialEq)]\nenum E{number} {{ {list}}}\n\
             impl Mix for E{number} {{ fn mix(self, d: &mut u64) {{ match self {{ {arms}}} }} }}\n"
        )
    }

    fn table(&mut self) -> String {
        let ty = Ty::Array(Box::new(Ty::Int(types::any_int(self.choices))), *self.choices.pick(&[4, 8, 16, 5]));
        let name = self.fresh("TABLE");
        let keyword = *self.choices.pick(&["const", "static"]);
        // Nothing is in scope yet: these are literals.
        let value = self.literal(&ty);
        self.tables.push(Variable { name: name.clone(), ty: ty.clone(), mutable: false });
        format!("{keyword} {name}: {} = {value};\n", ty.name())
    }

    /// Writes a function's body, and says what it costs.
    fn body(&mut self, params: &[(String, Ty, bool)], write: impl FnOnce(&mut Self) -> String) -> (String, u32) {
        let outer = std::mem::take(&mut self.scope);
        let before = (std::mem::replace(&mut self.cost, 0), std::mem::replace(&mut self.trips, 1));
        for (name, ty, mutable) in params {
            self.declare(name, ty.clone(), *mutable);
        }
        self.fuel = FUNCTION;
        let text = write(self);
        let cost = self.cost;
        self.scope = outer;
        (self.cost, self.trips) = before;
        (text, cost)
    }

    /// Names and types of parameters.
    fn params(&mut self) -> Vec<(String, Ty, bool)> {
        (0..1 + self.choices.below(3)).map(|_| (self.fresh("p"), self.any_type(), false)).collect()
    }

    fn declare_function(&mut self, name: &str, params: &[(String, Ty, bool)], first: bool, result: Ty, cost: u32) {
        let params = params.iter().map(|(_, ty, _)| ty.clone()).collect();
        self.functions.push(Function { name: name.into(), params, changes_first: first, result, cost });
    }

    fn function(&mut self) -> String {
        let mut params = self.params();
        let first = self.choices.chance(35);
        let result = self.any_type();
        let name = self.fresh("function");
        let mut list: Vec<String> = params.iter().map(|(name, ty, _)| format!("{name}: {}", ty.name())).collect();
        if first {
            let (name, ty, _) = &params[0];
            list[0] = format!("{name}: &mut {}", ty.name());
            params[0].0 = format!("(*{name})");
            params[0].2 = true;
        }
        let (body, cost) = self.body(&params, |this| {
            let statements = this.statements(1 + params.len().min(2), true);
            let early = match this.choices.chance(30) {
                true => format!("if {} {{ return {}; }}\n", this.condition(1), this.expr(&result, 1)),
                false => String::new(),
            };
            format!("{statements}{early}{}", this.expr(&result, 3))
        });
        let inline = *self.choices.pick(&["", "#[inline(never)]\n", "#[inline(always)]\n"]);
        self.declare_function(&name, &params, first, result.clone(), cost);
        format!("{inline}fn {name}({}) -> {} {{\n{body}\n}}\n", list.join(", "), result.name())
    }

    /// A function with `?`.
    fn fallible(&mut self) -> String {
        let int = Ty::Int(self.known_int());
        let params = vec![(self.fresh("p"), int.clone(), false), (self.fresh("p"), int.clone(), false)];
        let name = self.fresh("fallible");
        let is_option = self.choices.chance(50);
        let (body, cost) = self.body(&params, |this| {
            let mut lines = String::new();
            for _ in 0..1 + this.choices.below(3) {
                let local = this.fresh("q");
                let operation = *this.choices.pick(&["add", "sub", "mul", "div", "rem"]);
                let (a, b) = (this.expr(&int, 2), this.expr(&int, 2));
                let error = if is_option { String::new() } else { format!(".ok_or({})", this.expr(&Ty::Int(U32), 1)) };
                lines += &format!("let {local} = {a}.checked_{operation}({b}){error}?;\n");
                this.declare(&local, int.clone(), false);
            }
            let value = this.expr(&int, 2);
            lines + &if is_option { format!("Some({value})") } else { format!("Ok({value})") }
        });
        let (a, b, ty) = (&params[0].0, &params[1].0, int.name());
        if is_option {
            let result = Ty::Option(Box::new(int.clone()));
            self.declare_function(&name, &params, false, result, cost);
            return format!("fn {name}({a}: {ty}, {b}: {ty}) -> Option<{ty}> {{\n{body}\n}}\n");
        }
        // Callers get one value, whichever it is.
        self.declare_function(&name, &params, false, int.clone(), cost);
        format!(
            "fn {name}({a}: {ty}, {b}: {ty}) -> {ty} {{\n\
             let inner = || -> Result<{ty}, u32> {{\n{body}\n}};\nmatch inner() {{ Ok(v) => v, Err(e) => !(e as {ty}) }}\n}}\n"
        )
    }

    fn recursive(&mut self) -> String {
        let result = Ty::Int(self.known_int());
        let params = vec![("n".to_string(), Ty::Int(U32), false), (self.fresh("p"), result.clone(), false)];
        let name = self.fresh("recursive");
        let turns = 2 + self.choices.below(5);
        let (body, cost) = self.body(&params, |this| {
            let (end, next) = (this.expr(&result, 2), this.expr(&result, 2));
            let inner = this.fresh("r");
            this.declare(&inner, result.clone(), false);
            let after = this.expr(&result, 2);
            let ty = result.name();
            format!(
                "if n % {turns} == 0 {{ return {end}; }}\nlet {inner}: {ty} = {name}(n % {turns} - 1, {next});\n{after}"
            )
        });
        let (p, ty) = (&params[1].0, result.name());
        self.declare_function(&name, &params, false, result.clone(), cost * turns as u32);
        format!("fn {name}(n: u32, {p}: {ty}) -> {ty} {{\n{body}\n}}\n")
    }

    /// A generic function, with the operations that its bound gives.
    fn generic(&mut self) -> String {
        let (to, name) = (Ty::Int(self.known_int()), self.fresh("generic"));
        let params = vec![(self.fresh("p"), to.clone(), false)];
        let (body, cost) = self.body(&params, |this| this.expr(&to, 3));
        // Called with two types, so that there are two copies.
        let (first, second) = (Ty::Int(types::any_int(self.choices)), self.any_type());
        let called = self.fresh("called");
        let both = vec![
            (self.fresh("p"), first.clone(), false),
            (self.fresh("p"), second.clone(), false),
            (self.fresh("p"), to.clone(), false),
        ];
        self.declare_function(&called, &both, false, to.clone(), 2 * cost + 10);
        let (p, ty) = (&params[0].0, to.name());
        let [a, b, c] = [0, 1, 2].map(|n| &both[n].0);
        format!(
            "fn {name}<T: Mix + Copy + PartialEq>(x: [T; 2], {p}: {ty}) -> {ty} {{\nlet mut d = 1u64;\nx.mix(&mut d);\n\
             if x[0] == x[1] {{ d as {ty} }} else {{ (d as {ty}) ^ {body} }}\n}}\n\
             fn {called}({a}: {}, {b}: {}, {c}: {ty}) -> {ty} {{\n\
             {name}([{a}, 3 as _], {c}).wrapping_add({name}([{b}; 2], {c}))\n}}\n",
            first.name(),
            second.name()
        )
    }

    /// A trait, two to three types that have it, and functions that call it by a bound and through `dyn`.
    fn interface(&mut self) -> String {
        let (param, result) = (types::scalar(self.choices), Ty::Int(self.known_int()));
        let (p, r) = (param.name(), result.name());
        let (mut text, mut implementors, mut cost) = (String::new(), Vec::new(), 0);
        let ints = [types::INTS[self.choices.below(4)], types::INTS[4 + self.choices.below(4)]];
        let mut types = ints.map(Ty::Int).to_vec();
        types.extend((0..self.structs.len().min(1)).map(Ty::Struct));
        for ty in types {
            let params = [("(*self)".to_string(), ty.clone(), false), ("x".to_string(), param.clone(), false)];
            let (body, of) = self.body(&params, |this| this.expr(&result, 3));
            cost = cost.max(of);
            let name = self.fresh("IMPLEMENTOR");
            let value = self.constant(&ty);
            text += &format!(
                "impl Method for {0} {{ fn method(&self, x: {p}) -> {r} {{ {body} }} }}\nstatic {name}: {0} = {value};\n",
                ty.name()
            );
            implementors.push(name);
        }
        text += &format!(
            "trait Method {{\nfn method(&self, x: {p}) -> {r};\nfn twice(&self, x: {p}) -> {r} {{ \
             self.method(x).wrapping_mul(3) ^ self.method(x) }}\n}}\n\
             fn generic<A: Method, B: Method>(a: &A, b: &B, x: {p}) -> {r} {{ a.twice(x).wrapping_sub(b.method(x)) }}\n\
             #[inline(never)]\nfn dynamic(a: &dyn Method, x: {p}) -> {r} {{ a.method(x).wrapping_add(a.twice(x)) }}\n"
        );
        self.traits.push(Trait { param, result, implementors, cost: 3 * cost + 10 });
        text
    }

    /// A constant whose parts are constants too.
    fn constant(&mut self, ty: &Ty) -> String {
        let depth = std::mem::take(&mut self.scope);
        self.fuel = 0;
        let value = match ty {
            Ty::Struct(number) => {
                let fields = self.structs[*number].clone();
                let fields: Vec<_> =
                    fields.iter().zip(0..).map(|(ty, n)| format!("f{n}: {}", self.constant(ty))).collect();
                format!("S{number} {{ {} }}", fields.join(", "))
            }
            _ => self.literal(ty),
        };
        self.scope = depth;
        value
    }
}
