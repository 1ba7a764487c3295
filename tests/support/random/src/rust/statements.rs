//! Random statements: variables, assignments, loops, closures that change what they capture, and the threads of a block.

use super::generator::{Generator, Sharing, Variable};
use super::types::{self, Ty, U64, USIZE};

impl Generator<'_> {
    /// So many statements; within a function, nothing is mixed into the digest.
    pub fn statements(&mut self, count: usize, in_function: bool) -> String {
        let mut text = String::new();
        for _ in 0..count {
            text += &self.statement(2, in_function);
        }
        text
    }

    /// One statement, with this depth of blocks below it.
    fn statement(&mut self, depth: u32, in_function: bool) -> String {
        // declaration, assignment, digest, if, for, while, over elements, closure, match, call, slices, atomics
        let nested = if depth > 0 && self.fuel > 0 { 3 } else { 0 };
        let digest = if in_function { 0 } else { 5 };
        let atomics = if !in_function && self.sharing == Sharing::Counting { 4 } else { 0 };
        let weights = [8, 7, digest, nested, nested, nested, nested, 2, 2 * nested.min(1), 3, 3, atomics];
        match self.choices.weighted(&weights) {
            0 => self.declaration(),
            1 => self.assignment(),
            2 => {
                let ty = self.any_type();
                format!("{}.mix(&mut d);\n", self.receiver(&ty))
            }
            3 => {
                let condition = self.expr(&Ty::Bool, 2);
                let yes = self.inner(1, depth, in_function);
                let no = if self.choices.chance(50) { self.inner(1, depth, in_function) } else { String::new() };
                format!("if {condition} {{\n{yes}}} else {{\n{no}}}\n")
            }
            4 => self.counted(depth, in_function),
            5 => self.while_loop(depth, in_function),
            6 => self.over_elements(depth, in_function),
            7 => self.changing_closure(in_function),
            8 => self.matched(depth, in_function),
            9 => self.changing_call(),
            10 => self.slice(),
            _ => {
                let (way, ty) =
                    *self.choices.pick(&[("sum", "u32"), ("parity", "u64"), ("most", "i32"), ("least", "u64")]);
                let int = *types::INTS.iter().find(|int| int.name == ty).expect("it is one of them");
                format!("{way}({});\n", self.expr(&Ty::Int(int), 2))
            }
        }
    }

    /// An expression that a method can be called on as a statement.
    fn receiver(&mut self, ty: &Ty) -> String {
        let text = self.expr(ty, 4);
        // A block or an `if` would end the statement.
        format!("({text})")
    }

    fn inner(&mut self, trips: usize, depth: u32, in_function: bool) -> String {
        self.within(|this| {
            this.repeated(trips, |this| {
                (0..1 + this.choices.below(2)).map(|_| this.statement(depth - 1, in_function)).collect()
            })
        })
    }

    fn declaration(&mut self) -> String {
        let ty = self.any_type();
        let value = self.expr(&ty, 4);
        let name = self.fresh("v");
        let mutable = self.choices.chance(60);
        self.declare(&name, ty.clone(), mutable);
        format!("let {}{name}: {} = {value};\n", if mutable { "mut " } else { "" }, ty.name())
    }

    /// A place that can be assigned, and its type.
    fn place(&mut self) -> Option<(String, Ty)> {
        let variable = self.variable(|variable| variable.mutable)?;
        let Variable { name, ty, .. } = variable;
        Some(match ty {
            Ty::Array(element, len) if self.choices.chance(70) => (format!("{name}[{}]", self.index(len, 2)), *element),
            Ty::Struct(number) if self.choices.chance(70) => {
                let field = self.choices.below(self.structs[number].len());
                (format!("{name}.f{field}"), self.structs[number][field].clone())
            }
            Ty::Pair(both) if self.choices.chance(70) => (format!("{name}.1"), both.1),
            _ => (name, ty),
        })
    }

    fn assignment(&mut self) -> String {
        let Some((place, ty)) = self.place() else { return self.declaration() };
        match (&ty, self.choices.below(4)) {
            (Ty::Int(_), 1) => {
                let operator = *self.choices.pick(&["^=", "|=", "&="]);
                format!("{place} {operator} {};\n", self.expr(&ty, 3))
            }
            (Ty::Int(_), 2) => {
                let method = *self.choices.pick(&["wrapping_add", "wrapping_sub", "wrapping_mul", "rotate_left"]);
                let operand = if method == "rotate_left" { Ty::Int(types::U32) } else { ty.clone() };
                let operand = self.expr(&operand, 3);
                format!("{place} = {place}.{method}({operand});\n")
            }
            (Ty::Float(_), 1) => {
                let operator = *self.choices.pick(&["+=", "-=", "*="]);
                format!("{place} {operator} {};\n", self.expr(&ty, 3))
            }
            (_, 3) => {
                let value = self.expr(&ty, 3);
                let (new, name) = (self.fresh("g"), self.fresh("v"));
                let text = format!("let {new}: {} = {value};\n", ty.name());
                self.declare(&name, ty, false);
                format!("{text}let {name} = core::mem::replace(&mut {place}, {new});\n")
            }
            _ => format!("{place} = {};\n", self.expr(&ty, 3)),
        }
    }

    fn counted(&mut self, depth: u32, in_function: bool) -> String {
        let name = self.fresh("i");
        let trips = 1 + self.choices.below(6);
        let (ty, range) = match self.choices.below(4) {
            0 => (Ty::Int(USIZE), format!("0..{trips}usize")),
            1 => {
                let int = self.known_int();
                (Ty::Int(int), format!("0..({} & 7)", self.expr(&Ty::Int(int), 2)))
            }
            2 => (Ty::Int(types::INTS[1]), format!("(-1..={}i32).rev()", trips - 1)),
            _ => (Ty::Int(types::U32), format!("(0..{}u32).step_by(3)", 3 * trips)),
        };
        let label = self.fresh("'l");
        let body = self.within(|this| {
            this.declare(&name, ty, false);
            let leave = this.leave(&label, trips + 2);
            let body = this.inner(trips + 2, depth, in_function);
            format!("{leave}{body}")
        });
        format!("{label}: for {name} in {range} {{\n{body}}}\n")
    }

    /// `break` or `continue`, sometimes.
    fn leave(&mut self, label: &str, trips: usize) -> String {
        if !self.choices.chance(40) {
            return String::new();
        }
        let way = *self.choices.pick(&["continue", "break"]);
        let condition = self.repeated(trips, |this| this.condition(2));
        format!("if {condition} {{ {way} {label}; }}\n")
    }

    fn while_loop(&mut self, depth: u32, in_function: bool) -> String {
        let (count, label) = (self.fresh("n"), self.fresh("'l"));
        let most = 1 + self.choices.below(7);
        let (kind, condition) = match self.choices.chance(50) {
            true => ("while", format!("while {count} < {most} && {}", self.repeated(most, |this| this.condition(2)))),
            false => ("loop", "loop".to_string()),
        };
        let leave = if kind == "loop" { format!("if {count} == {most} {{ break; }}\n") } else { String::new() };
        let body = self.within(|this| {
            this.declare(&count, Ty::Int(types::U32), false);
            let more = this.leave(&label, most);
            let body = this.inner(most, depth, in_function);
            format!("{more}{body}")
        });
        format!("let mut {count} = 0u32;\n{label}: {condition} {{\n{leave}{count} += 1;\n{body}}}\n")
    }

    /// A loop over the elements of an array that changes them.
    fn over_elements(&mut self, depth: u32, in_function: bool) -> String {
        let Some(Variable { name, ty: Ty::Array(element, len), .. }) =
            self.variable(|variable| variable.mutable && matches!(variable.ty, Ty::Array(..)))
        else {
            return self.counted(depth, in_function);
        };
        // It is borrowed meanwhile.
        let hidden: Vec<Variable> = self.scope.iter().filter(|variable| variable.name == name).cloned().collect();
        let borrowed = std::mem::take(&mut self.scope);
        self.scope = borrowed.iter().filter(|variable| variable.name != name).cloned().collect();
        let item = self.fresh("x");
        let text = match self.choices.below(3) {
            0 => {
                let body = self.within(|this| {
                    this.declare(&format!("(*{item})"), (*element).clone(), true);
                    this.repeated(len, |this| this.assignment())
                });
                let way = *self.choices.pick(&["iter_mut()", "iter_mut().rev()", "iter_mut().skip(1)"]);
                format!("for {item} in {name}.{way} {{\n{body}}}\n")
            }
            1 => {
                let value = self.within(|this| {
                    this.declare(&format!("{item}[0]"), (*element).clone(), false);
                    this.repeated(len, |this| this.expr(&element, 2))
                });
                format!("for {item} in {name}.chunks_mut({}) {{ {item}[0] = {value}; }}\n", 1 + self.choices.below(3))
            }
            _ => {
                let (left, right) = (self.fresh("x"), self.fresh("x"));
                let at = 1 + self.choices.below(len - 1);
                let value = self.within(|this| {
                    this.declare(&format!("{left}[0]"), (*element).clone(), false);
                    this.declare(&format!("{right}[0]"), (*element).clone(), false);
                    this.expr(&element, 2)
                });
                format!("{{ let ({left}, {right}) = {name}.split_at_mut({at}); {right}[0] = {value}; }}\n")
            }
        };
        debug_assert!(!hidden.is_empty());
        self.scope = borrowed;
        text
    }

    /// A closure that changes a variable, called twice.
    fn changing_closure(&mut self, in_function: bool) -> String {
        let Some(Variable { name, ty, .. }) = self.variable(|variable| variable.mutable) else {
            return self.declaration();
        };
        let outer = self.scope.clone();
        let (closure, param, result) = (self.fresh("f"), types::scalar(self.choices), types::scalar(self.choices));
        let value = self.fresh("v");
        let (change, body) = self.within(|this| {
            this.declare(&value, param.clone(), false);
            this.repeated(2, |this| (this.expr(&ty, 3), this.expr(&result, 2)))
        });
        // What it captures cannot be named as long as it lives.
        self.scope.retain(|variable| variable.name != name);
        let (first, second) = (self.expr(&param, 2), self.expr(&param, 2));
        self.scope = outer;
        let (from, to) = (param.name(), result.name());
        let define = format!("let mut {closure} = |{value}: {from}| -> {to} {{ {name} = {change}; {body} }};");
        if in_function {
            return format!("{{ {define} {closure}({first}); {closure}({second}); }}\n");
        }
        if self.choices.chance(30) {
            let call = format!("fn apply(f: &mut dyn FnMut({from}) -> {to}, x: {from}) -> {to} {{ f(x) }}");
            return format!(
                "{{ {call} {define} apply(&mut {closure}, {first}).mix(&mut d); {closure}({second}).mix(&mut d); }}\n"
            );
        }
        format!("{{ {define} {closure}({first}).mix(&mut d); {closure}({second}).mix(&mut d); }}\n")
    }

    fn matched(&mut self, depth: u32, in_function: bool) -> String {
        if self.enums.is_empty() {
            return self.assignment();
        }
        let number = self.choices.below(self.enums.len());
        let on = self.expr(&Ty::Enum(number), 3);
        let arms = self.arms(number, |this| this.inner(1, depth, in_function));
        format!("match {on} {{\n{arms}}}\n")
    }

    /// A call with a `&mut` to something that can be assigned.
    fn changing_call(&mut self) -> String {
        let functions: Vec<_> =
            self.functions.iter().filter(|found| found.changes_first && self.affords(found.cost)).cloned().collect();
        for function in functions {
            let first = &function.params[0];
            if let Some(place) = self.variable(|variable| variable.mutable && variable.ty == *first) {
                self.pay(function.cost);
                let rest: Vec<_> = function.params[1..].iter().map(|param| self.fresh_value(param)).collect();
                let (lets, names): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
                let name = self.fresh("v");
                self.declare(&name, function.result.clone(), false);
                let arguments: String = names.iter().map(|name| format!(", {name}")).collect();
                return format!("{}let {name} = {}(&mut {}{arguments});\n", lets.concat(), function.name, place.name);
            }
        }
        self.assignment()
    }

    /// A variable with a value, so that it is computed before what is borrowed.
    fn fresh_value(&mut self, ty: &Ty) -> (String, String) {
        let value = self.expr(ty, 2);
        let name = self.fresh("g");
        (format!("let {name}: {} = {value};\n", ty.name()), name)
    }

    /// Slices and their patterns.
    fn slice(&mut self) -> String {
        let Some(Variable { name, ty: Ty::Array(element, len), .. }) =
            self.variable(|variable| matches!(variable.ty, Ty::Array(..)))
        else {
            return self.declaration();
        };
        let (first, last) = (self.fresh("h"), self.fresh("h"));
        let local = self.fresh("v");
        let count = format!("({} % {})", self.expr(&Ty::Int(USIZE), 2), len + 1);
        let value = self.within(|this| {
            this.declare(&first, (*element).clone(), false);
            this.declare(&last, (*element).clone(), false);
            this.expr(&element, 2)
        });
        let otherwise = self.leaf(&element);
        self.declare(&local, (*element).clone(), true);
        let way = *self.choices.pick(&["[..n]", "[n..]", "[n / 2..n]"]);
        format!(
            "let mut {local}: {} = {{ let n = {count}; match &{name}{way} {{ &[{first}, .., {last}] => {value}, \
             &[one] => one, _ => {otherwise} }} }};\n",
            element.name()
        )
    }

    /// What the threads of the block tell each other: barriers around what each writes and reads.
    pub fn exchange(&mut self) -> String {
        let (value, slot) = (self.expr(&Ty::Int(U64), 3), self.expr(&Ty::Int(USIZE), 3));
        let name = self.fresh("v");
        self.declare(&name, Ty::Int(U64), false);
        format!("sync();\npost({value});\nsync();\nlet {name} = peek({slot});\n")
    }

    /// Statements that count together, between barriers.
    pub fn counting(&mut self) -> String {
        self.sharing = Sharing::Counting;
        // What is declared between stays visible: it is no block.
        let count = 2 + self.choices.below(3);
        let statements = self.statements(count, false);
        self.sharing = Sharing::None;
        let at_least = self.expr(&Ty::Int(types::U32), 2);
        let names = [self.fresh("v"), self.fresh("v"), self.fresh("v"), self.fresh("v")];
        for (name, int) in names.iter().zip([types::U32, U64, types::INTS[1], U64]) {
            self.declare(name, Ty::Int(int), false);
        }
        format!(
            "sync();\nreset();\nsync();\n{statements}sum({at_least});\nsync();\nlet ({}) = counted();\n",
            names.join(", ")
        )
    }
}
