//! Random expressions of a given type. Each is safe to put anywhere an operand stands, reads variables only by copying, and
//! neither panics nor leaves anything undefined.

use super::generator::{Generator, Variable};
use super::tables::{COMPARISONS, FLOAT_COMPARISONS, FLOATS, INTEGERS, SIGNED, UNSIGNED};
use super::types::{self, Int, Ty, U32, USIZE};

impl Generator<'_> {
    /// An expression of the type, of at most this depth.
    pub fn expr(&mut self, ty: &Ty, depth: u32) -> String {
        if !self.take_fuel() || depth == 0 {
            return self.leaf(ty);
        }
        // The weights of: leaf, what the type alone has, choice, block, part of something, call, option, closure.
        match self.choices.weighted(&[20, 50, 6, 4, 8, 8, 3, 2]) {
            0 => self.leaf(ty),
            1 => self.own(ty, depth - 1),
            2 => self.alternative(ty, depth - 1),
            3 => self.block(ty, depth - 1),
            4 => self.part(ty, depth - 1),
            5 => self.call(ty, depth - 1),
            6 => self.unwrapped(ty, depth - 1),
            _ => self.called_closure(ty, depth - 1),
        }
    }

    /// A variable or a literal.
    pub fn leaf(&mut self, ty: &Ty) -> String {
        if self.choices.below(8) > 0
            && let Some(variable) = self.variable(|variable| variable.ty == *ty)
        {
            return variable.name;
        }
        // Rather something from the inputs than what the compiler knows.
        if let Ty::Int(int) = ty
            && self.choices.below(3) > 0
            && let Some(Variable { name, ty: Ty::Int(_) | Ty::Bool, .. }) =
                self.variable(|variable| matches!(variable.ty, Ty::Int(_) | Ty::Bool))
        {
            return format!("({name} as {})", int.name);
        }
        self.literal(ty)
    }

    /// A constant of the type, rather one at which something ends.
    pub fn literal(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => if self.choices.chance(50) { "true" } else { "false" }.into(),
            Ty::Char => self.choices.pick(&["'a'", "'Z'", "'7'", "'\\n'", "'ß'", "'€'", "'\\u{10ffff}'"]).to_string(),
            Ty::Int(int) => self.integer(*int),
            Ty::Float(bits) => {
                let list = ["0.0", "1.0", "-2.5", "0.1", "-0.0", "1e10", "3.4e38", "1e-40", "16777217.0", "255.5"];
                let constants = ["INFINITY", "NAN", "MIN_POSITIVE", "EPSILON"];
                match self.choices.below(list.len() + constants.len()) {
                    place if place < list.len() => format!("({}f{bits})", list[place]),
                    place => format!("f{bits}::{}", constants[place - list.len()]),
                }
            }
            Ty::Array(element, len) if self.choices.chance(30) => format!("[{}; {len}]", self.leaf(element)),
            Ty::Array(element, len) => self.list(element, *len, 0),
            Ty::Pair(both) => format!("({}, {})", self.leaf(&both.0), self.leaf(&both.1)),
            Ty::Option(inner) if self.choices.chance(70) => format!("Some({})", self.leaf(inner)),
            Ty::Option(inner) => format!("None::<{}>", inner.name()),
            Ty::Struct(_) | Ty::Enum(_) => self.own(ty, 0),
        }
    }

    fn integer(&mut self, int: Int) -> String {
        let name = int.name;
        match self.choices.weighted(&[10, 3, 3, 3, 4, 2]) {
            0 => format!("{}{name}", self.choices.below(128)),
            1 => format!("{name}::MAX"),
            2 => format!("{name}::MIN"),
            3 if int.signed => format!("(-{}{name})", 1 + self.choices.below(127)),
            4 => {
                let word = (self.choices.word() as u64) << 32 | self.choices.word() as u64;
                format!("(0x{word:x}_u64 as {name})")
            }
            _ => format!("(1{name} << {})", self.choices.below(int.bits as usize)),
        }
    }

    fn list(&mut self, element: &Ty, len: usize, depth: u32) -> String {
        let elements: Vec<_> = (0..len).map(|_| self.expr(element, depth)).collect();
        format!("[{}]", elements.join(", "))
    }

    /// What only this type has: its operations, or its parts put together.
    fn own(&mut self, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Bool => self.condition(depth),
            Ty::Char => self.character(depth),
            Ty::Int(int) => self.int(*int, depth),
            Ty::Float(bits) => self.float(*bits, depth),
            Ty::Array(element, len) => self.array(element, *len, depth),
            Ty::Pair(both) => format!("({}, {})", self.expr(&both.0, depth), self.expr(&both.1, depth)),
            Ty::Option(inner) => self.option(inner, depth),
            Ty::Struct(number) => {
                let fields = self.structs[*number].clone();
                let fields: Vec<_> =
                    fields.iter().zip(0..).map(|(ty, n)| format!("f{n}: {}", self.expr(ty, depth))).collect();
                format!("(S{number} {{ {} }})", fields.join(", "))
            }
            Ty::Enum(number) => {
                let variants = self.enums[*number].clone();
                let variant = self.choices.below(variants.len());
                let values: Vec<_> = variants[variant].iter().map(|ty| self.expr(ty, depth)).collect();
                let values = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
                format!("E{number}::V{variant}{values}")
            }
        }
    }

    /// A row with its operands.
    fn filled(&mut self, row: &str, ty: &Ty, depth: u32) -> String {
        let mut text = row.to_string();
        for (place, operand) in [("{a}", 0), ("{b}", 1), ("{c}", 2), ("{s}", 3), ("{u}", 4), ("{i}", 5)] {
            if !text.contains(place) {
                continue;
            }
            let operand = match (operand, ty) {
                (0..3, _) => self.expr(ty, depth),
                (3, _) => self.expr(&Ty::Int(U32), depth),
                (4, Ty::Int(int)) => self.expr(&Ty::Int(int.with_sign(false)), depth),
                (_, Ty::Int(int)) => self.expr(&Ty::Int(int.with_sign(true)), depth),
                _ => unreachable!("only rows of integers name these"),
            };
            text = text.replace(place, &operand);
        }
        if let Ty::Int(int) = ty {
            text = text.replace("{t}", int.name).replace("{n}", &int.bits.to_string());
            text = text.replace("{m}", &(int.bits - 1).to_string());
        }
        if text.starts_with('{') { format!("({text})") } else { text }
    }

    fn int(&mut self, int: Int, depth: u32) -> String {
        let ty = Ty::Int(int);
        match self.choices.weighted(&[50, 12, 14, 4, 4]) {
            0 => {
                let row = *self.choices.pick(INTEGERS);
                self.filled(row, &ty, depth)
            }
            1 => {
                let row = *self.choices.pick(if int.signed { SIGNED } else { UNSIGNED });
                self.filled(row, &ty, depth)
            }
            2 => self.cast(int, depth),
            3 => self.iterated(int, depth),
            _ => self.bytes_or_text(int, depth),
        }
    }

    fn cast(&mut self, int: Int, depth: u32) -> String {
        let name = int.name;
        match self.choices.weighted(&[10, 3, 3, 2, 2]) {
            0 => {
                let from = self.known_int();
                format!("({} as {name})", self.expr(&Ty::Int(from), depth))
            }
            1 => {
                let bits = if self.choices.chance(50) { 32 } else { 64 };
                format!("({} as {name})", self.expr(&Ty::Float(bits), depth))
            }
            2 => {
                let bits = if self.choices.chance(50) { 32 } else { 64 };
                format!("({}.bits() as {name})", self.expr(&Ty::Float(bits), depth))
            }
            3 => format!("({} as {name})", self.expr(&Ty::Bool, depth)),
            _ => format!("({} as u32 as {name})", self.expr(&Ty::Char, depth)),
        }
    }

    fn bytes_or_text(&mut self, int: Int, depth: u32) -> String {
        let name = int.name;
        match self.choices.below(4) {
            0 => format!("{name}::try_from({}).unwrap_or({})", self.known_expr(depth), self.leaf(&Ty::Int(int))),
            1 => {
                let text = self.choices.pick(&["kernel", "größer", "0123456789", "a b c"]).to_string();
                let at = self.expr(&Ty::Int(USIZE), depth);
                format!("(b{text:?}[..][{at} % 5] as {name})").replace("b\"größer\"", "\"größer\".as_bytes()")
            }
            2 => format!("({}.to_digit(36).unwrap_or(40) as {name})", self.expr(&Ty::Char, depth)),
            _ => format!("({}.len_utf8() as {name})", self.expr(&Ty::Char, depth)),
        }
    }

    /// An expression of some integer that is in scope.
    fn known_expr(&mut self, depth: u32) -> String {
        let int = self.known_int();
        self.expr(&Ty::Int(int), depth)
    }

    fn float(&mut self, bits: u32, depth: u32) -> String {
        let other = 96 - bits;
        match self.choices.weighted(&[12, 3, 3, 2]) {
            0 => {
                let row = *self.choices.pick(FLOATS);
                self.filled(row, &Ty::Float(bits), depth)
            }
            1 => format!("({} as f{bits})", self.known_expr(depth)),
            2 => {
                let int = if bits == 32 { U32 } else { types::U64 };
                format!("f{bits}::of({})", self.expr(&Ty::Int(int), depth))
            }
            _ => format!("({} as f{bits})", self.expr(&Ty::Float(other), depth)),
        }
    }

    /// Something that is true or false.
    pub fn condition(&mut self, depth: u32) -> String {
        match self.choices.weighted(&[10, 2, 2, 1, 1, 1]) {
            0 => {
                let row = *self.choices.pick(COMPARISONS);
                let ty = Ty::Int(self.known_int());
                self.filled(row, &ty, depth)
            }
            1 => {
                let row = *self.choices.pick(FLOAT_COMPARISONS);
                let ty = Ty::Float(if self.choices.chance(50) { 32 } else { 64 });
                self.filled(row, &ty, depth)
            }
            2 => {
                let operator = *self.choices.pick(&["&&", "||", "^", "==", "&", "|", "!="]);
                format!("({} {operator} {})", self.expr(&Ty::Bool, depth), self.expr(&Ty::Bool, depth))
            }
            3 => format!("(!{})", self.expr(&Ty::Bool, depth)),
            4 => {
                let test =
                    *self.choices.pick(&["is_ascii_digit", "is_ascii_alphabetic", "is_ascii_uppercase", "is_ascii"]);
                format!("{}.{test}()", self.expr(&Ty::Char, depth))
            }
            _ => {
                // Whole values, by the equality that the compiler derives.
                let ty = self.any_type();
                format!("({} == {})", self.expr(&ty, depth), self.expr(&ty, depth))
            }
        }
    }

    fn character(&mut self, depth: u32) -> String {
        match self.choices.below(4) {
            0 => format!("char::from_u32({} & 0x1fffff).unwrap_or('?')", self.expr(&Ty::Int(U32), depth)),
            1 => format!("({} as char)", self.expr(&Ty::Int(types::INTS[2]), depth)),
            2 => format!("{}.to_ascii_uppercase()", self.expr(&Ty::Char, depth)),
            _ => format!("char::from_digit({} % 36, 36).unwrap_or('!')", self.expr(&Ty::Int(U32), depth)),
        }
    }

    fn array(&mut self, element: &Ty, len: usize, depth: u32) -> String {
        let ty = Ty::Array(Box::new(element.clone()), len);
        match self.choices.below(6) {
            0 => self.list(element, len, depth),
            1 => {
                let index = self.fresh("i");
                let body = self.within(|this| {
                    this.declare(&index, Ty::Int(USIZE), false);
                    this.repeated(len, |this| this.expr(element, depth))
                });
                format!("core::array::from_fn::<{}, {len}, _>(|{index}: usize| {body})", element.name())
            }
            2 => {
                let from = types::scalar(self.choices);
                let array = self.leaf(&Ty::Array(Box::new(from.clone()), len));
                let (value, body) = self.lambda(&from, element, len, depth);
                format!("({array}.map(|{value}: {}| {body}))", from.name())
            }
            3 => {
                let change = match self.choices.below(3) {
                    0 => "reverse()".to_string(),
                    1 => format!("rotate_left({})", self.choices.below(len)),
                    _ => format!("swap({}, {})", self.choices.below(len), self.choices.below(len)),
                };
                format!("({{ let mut list: {} = {}; list.{change}; list }})", ty.name(), self.expr(&ty, depth))
            }
            4 if matches!(element, Ty::Int(_)) && self.affords(40) && self.choices.chance(10) => {
                self.pay(40);
                format!("({{ let mut list: {} = {}; list.sort_unstable(); list }})", ty.name(), self.expr(&ty, depth))
            }
            _ => self.leaf(&ty),
        }
    }

    /// A closure's parameter and body, for something that calls it so many times.
    pub fn lambda(&mut self, from: &Ty, to: &Ty, trips: usize, depth: u32) -> (String, String) {
        let value = self.fresh("v");
        let body = self.within(|this| {
            this.declare(&value, from.clone(), false);
            this.repeated(trips, |this| this.expr(to, depth))
        });
        (value, body)
    }

    fn option(&mut self, inner: &Ty, depth: u32) -> String {
        let ty = Ty::Option(Box::new(inner.clone()));
        match (self.choices.below(6), inner) {
            (0, _) => format!("Some({})", self.expr(inner, depth)),
            (1, _) => format!("({}).then(|| {})", self.expr(&Ty::Bool, depth), self.expr(inner, depth)),
            (2, Ty::Int(_)) => {
                let operation = *self.choices.pick(&["add", "sub", "mul", "div", "rem"]);
                format!("{}.checked_{operation}({})", self.expr(inner, depth), self.expr(inner, depth))
            }
            (3, _) => {
                let (value, body) = self.lambda(inner, &Ty::Bool, 1, depth);
                format!("{}.filter(|{value}| {{ let {value} = *{value}; {body} }})", self.expr(&ty, depth))
            }
            (4, _) => {
                let from = types::scalar(self.choices);
                let option = self.expr(&Ty::Option(Box::new(from.clone())), depth);
                let (value, body) = self.lambda(&from, &ty, 1, depth);
                format!("{option}.and_then(|{value}: {}| {body})", from.name())
            }
            _ => format!("{}.or({})", self.expr(&ty, depth), self.expr(&ty, depth)),
        }
    }

    /// `if`, or `match`.
    fn alternative(&mut self, ty: &Ty, depth: u32) -> String {
        match self.choices.below(3) {
            0 => {
                let (condition, yes) = (self.expr(&Ty::Bool, depth), self.expr(ty, depth));
                format!("(if {condition} {{ {yes} }} else {{ {} }})", self.expr(ty, depth))
            }
            1 => {
                let int = self.known_int();
                let on = self.expr(&Ty::Int(int), depth);
                let name = self.fresh("m");
                let (first, second) = (self.choices.below(60), 60 + self.choices.below(60));
                let arms: Vec<_> = (0..3).map(|_| self.expr(ty, depth)).collect();
                let guarded = self.within(|this| {
                    this.declare(&name, Ty::Int(int), false);
                    (this.condition(depth.min(1)), this.expr(ty, depth))
                });
                format!(
                    "(match {on} {{ {first} => {}, {second}..=125 => {}, {name} if {} => {}, _ => {} }})",
                    arms[0], arms[1], guarded.0, guarded.1, arms[2]
                )
            }
            _ if !self.enums.is_empty() => {
                let number = self.choices.below(self.enums.len());
                let on = self.expr(&Ty::Enum(number), depth);
                let arms = self.arms(number, |this| this.expr(ty, depth));
                format!("(match {on} {{ {arms} }})")
            }
            _ => {
                let from = types::scalar(self.choices);
                let on = self.expr(&Ty::Option(Box::new(from.clone())), depth);
                let (value, some) = self.lambda(&from, ty, 1, depth);
                format!("(if let Some({value}) = {on} {{ {some} }} else {{ {} }})", self.expr(ty, depth))
            }
        }
    }

    /// The arms of a `match` on an enum.
    pub fn arms(&mut self, number: usize, mut body: impl FnMut(&mut Self) -> String) -> String {
        let mut arms = String::new();
        for (variant, fields) in self.enums[number].clone().iter().enumerate() {
            let names: Vec<String> = fields.iter().map(|_| self.fresh("e")).collect();
            let pattern = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
            let body = self.within(|this| {
                for (name, ty) in names.iter().zip(fields) {
                    this.declare(name, ty.clone(), false);
                }
                body(this)
            });
            arms += &format!("E{number}::V{variant}{pattern} => {{ {body} }} ");
        }
        arms
    }

    /// A block with a variable, or one that is left early.
    fn block(&mut self, ty: &Ty, depth: u32) -> String {
        let inner = self.any_type();
        let value = self.expr(&inner, depth);
        let name = self.fresh("b");
        self.within(|this| {
            this.declare(&name, inner.clone(), false);
            let start = format!("let {name}: {} = {value};", inner.name());
            if this.choices.chance(50) {
                let label = this.fresh("'l");
                let (condition, early) = (this.expr(&Ty::Bool, depth), this.expr(ty, depth));
                let late = this.expr(ty, depth);
                return format!("({label}: {{ {start} if {condition} {{ break {label} {early}; }} {late} }})");
            }
            format!("({{ {start} {} }})", this.expr(ty, depth))
        })
    }

    /// An element of an array, a field of a struct, half of a pair.
    fn part(&mut self, ty: &Ty, depth: u32) -> String {
        let has = |variable: &Variable| match &variable.ty {
            Ty::Array(element, _) => **element == *ty,
            Ty::Pair(both) => both.0 == *ty || both.1 == *ty,
            _ => false,
        };
        if self.choices.below(3) == 0
            && let Some(number) = self.structs.iter().position(|fields| fields.contains(ty))
        {
            let field = self.structs[number].iter().position(|field| field == ty).expect("it was just found");
            return format!("{}.f{field}", self.expr(&Ty::Struct(number), depth));
        }
        let tables: Vec<Variable> = self.tables.iter().filter(|table| has(table)).cloned().collect();
        let whole = match self.variable(has) {
            _ if !tables.is_empty() && self.choices.chance(40) => self.choices.pick(&tables).clone(),
            Some(variable) => variable,
            None => return self.own(ty, depth),
        };
        match &whole.ty {
            Ty::Array(_, len) => {
                let index = self.index(*len, depth);
                match self.choices.below(4) {
                    0 if self.choices.chance(50) => {
                        let (at, otherwise) = (self.expr(&Ty::Int(USIZE), depth), self.leaf(ty));
                        format!("{}.get({at}).copied().unwrap_or({otherwise})", whole.name)
                    }
                    _ => format!("{}[{index}]", whole.name),
                }
            }
            Ty::Pair(both) if both.0 == *ty => format!("{}.0", whole.name),
            _ => format!("{}.1", whole.name),
        }
    }

    /// An index below the length.
    pub fn index(&mut self, len: usize, depth: u32) -> String {
        let int = self.known_int();
        let index = self.expr(&Ty::Int(int), depth.min(2));
        let index = if int == USIZE { index } else { format!("({index} as usize)") };
        if len.is_power_of_two() { format!("{index} & {}", len - 1) } else { format!("{index} % {len}") }
    }

    /// A call of a function or method.
    fn call(&mut self, ty: &Ty, depth: u32) -> String {
        if let Some(found) = self.traits.iter().find(|found| found.result == *ty).cloned()
            && self.affords(found.cost)
        {
            self.pay(found.cost);
            let argument = self.expr(&found.param, depth);
            let first = self.choices.pick(&found.implementors).clone();
            let second = self.choices.pick(&found.implementors).clone();
            return match self.choices.below(3) {
                0 => format!("(&{first}).method({argument})"),
                1 => format!("generic(&{first}, &{second}, {argument})"),
                _ => {
                    let condition = self.expr(&Ty::Bool, depth);
                    format!("dynamic(if {condition} {{ &{first} }} else {{ &{second} }}, {argument})")
                }
            };
        }
        let fits = |function: &&super::generator::Function| function.result == *ty && self.affords(function.cost);
        let functions: Vec<_> = self.functions.iter().filter(fits).cloned().collect();
        if functions.is_empty() {
            return self.own(ty, depth);
        }
        let function = self.choices.pick(&functions).clone();
        self.pay(function.cost);
        let mut arguments: Vec<_> = function.params.iter().map(|param| self.expr(param, depth)).collect();
        if function.changes_first {
            arguments[0] = format!("&mut {{ {} }}", arguments[0]);
        }
        format!("{}({})", function.name, arguments.join(", "))
    }

    /// What an option holds, or something else.
    fn unwrapped(&mut self, ty: &Ty, depth: u32) -> String {
        let option = self.expr(&Ty::Option(Box::new(ty.clone())), depth);
        match self.choices.below(3) {
            0 => format!("{option}.unwrap_or({})", self.expr(ty, depth)),
            1 => format!("{option}.unwrap_or_else(|| {})", self.expr(ty, depth)),
            _ => {
                let (value, body) = self.lambda(ty, ty, 1, depth);
                format!("{option}.map_or({}, |{value}: {}| {body})", self.leaf(ty), ty.name())
            }
        }
    }

    /// A closure, called once or twice.
    fn called_closure(&mut self, ty: &Ty, depth: u32) -> String {
        let from = types::scalar(self.choices);
        let moved = if self.choices.chance(40) { "move " } else { "" };
        let outer = self.scope.clone();
        if !moved.is_empty() {
            // A `&mut` would be gone afterwards.
            self.scope.retain(|variable| !variable.name.starts_with("(*"));
        }
        let (value, body) = self.lambda(&from, ty, 2, depth);
        self.scope = outer;
        // So would the `&mut` of a chunk, whose elements are variables.
        let takes_chunk = |variable: &Variable| variable.name.ends_with("[0]") && body.contains(&variable.name);
        let moved = if self.scope.iter().any(takes_chunk) { "" } else { moved };
        let name = self.fresh("f");
        let argument = self.expr(&from, depth);
        let start = format!("let {name} = {moved}|{value}: {}| -> {} {{ {body} }};", from.name(), ty.name());
        if self.choices.chance(50) && from == *ty {
            return format!("({{ {start} {name}({name}({argument})) }})");
        }
        format!("({{ {start} {name}({argument}) }})")
    }
}
