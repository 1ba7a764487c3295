//! Chains of iterators that give an integer.

use super::generator::Generator;
use super::types::{self, Int, Ty};

/// How many elements a chain has at most.
const MOST: usize = 10;

impl Generator<'_> {
    /// A chain from a source through adaptors to one integer.
    pub fn iterated(&mut self, int: Int, depth: u32) -> String {
        let depth = depth.min(2);
        let (mut chain, mut item) = self.source(depth);
        // Only at the front, where the iterator still knows its length.
        match self.choices.below(6) {
            1 => chain += ".rev()",
            2 => chain += &format!(".step_by({})", 1 + self.choices.below(3)),
            3 => chain += &format!(".skip({})", self.choices.below(3)),
            _ => {}
        }
        for _ in 0..self.choices.below(3) {
            let (more, next) = self.adaptor(&item, depth);
            chain += &more;
            item = next;
        }
        self.end(&chain, &item, int, depth)
    }

    fn source(&mut self, depth: u32) -> (String, Ty) {
        let element = Ty::Int(self.known_int());
        let len = types::len(self.choices);
        let array = Ty::Array(Box::new(element.clone()), len);
        match self.choices.below(6) {
            0 => {
                let end = self.expr(&element, depth);
                (format!("(0..({end} & 7))"), element)
            }
            1 => (format!("{}.iter().copied()", self.expr(&array, depth)), element),
            2 => (format!("({}).into_iter()", self.expr(&array, depth)), element),
            3 => {
                let size = 1 + self.choices.below(3);
                let at = self.choices.below(size);
                let chunks = *self.choices.pick(&["chunks", "rchunks"]);
                (format!("{}.{chunks}({size}).map(|c| c[{at} % c.len()])", self.expr(&array, depth)), element)
            }
            4 => {
                let list = self.expr(&array, depth);
                let (first, second) = (self.fresh("w"), self.fresh("w"));
                let body = self.with_two(&first, &second, &element, depth);
                let given = format!("let ({first}, {second}) = (w[0], w[1]);");
                (format!("{list}.windows(2).map(|w| {{ {given} {body} }})"), element)
            }
            _ => {
                let (left, right) = (self.expr(&array, depth), self.expr(&array, depth));
                let (first, second) = (self.fresh("z"), self.fresh("z"));
                let body = self.with_two(&first, &second, &element, depth);
                (format!("{left}.iter().zip({right}.iter()).map(|(&{first}, &{second})| {body})"), element)
            }
        }
    }

    /// An expression of the type with two variables of it.
    fn with_two(&mut self, first: &str, second: &str, ty: &Ty, depth: u32) -> String {
        self.within(|this| {
            this.declare(first, ty.clone(), false);
            this.declare(second, ty.clone(), false);
            this.repeated(MOST, |this| this.expr(ty, depth))
        })
    }

    /// What follows, and the items that it gives.
    fn adaptor(&mut self, item: &Ty, depth: u32) -> (String, Ty) {
        let name = item.name();
        match self.choices.below(10) {
            0 => {
                let to = Ty::Int(self.known_int());
                let (value, body) = self.lambda(item, &to, MOST, depth);
                (format!(".map(|{value}: {name}| {body})"), to)
            }
            1 => {
                let (value, body) = self.lambda(item, &Ty::Bool, MOST, depth);
                let way = *self.choices.pick(&["filter", "take_while", "skip_while"]);
                (format!(".{way}(|{value}| {{ let {value}: {name} = *{value}; {body} }})"), item.clone())
            }
            2 => (format!(".take({})", 1 + self.choices.below(5)), item.clone()),
            3 => (format!(".skip({})", self.choices.below(3)), item.clone()),
            4 => {
                let (value, index) = (self.fresh("v"), self.fresh("i"));
                let body = self.within(|this| {
                    this.declare(&value, item.clone(), false);
                    this.declare(&index, Ty::Int(types::USIZE), false);
                    this.repeated(MOST, |this| this.expr(item, depth))
                });
                (format!(".enumerate().map(|({index}, {value})| {body})"), item.clone())
            }
            5 => {
                let more = self.expr(&Ty::Array(Box::new(item.clone()), 2), depth);
                (format!(".chain({more})"), item.clone())
            }
            6 => {
                let (state, value) = (self.fresh("s"), self.fresh("v"));
                let first = self.leaf(item);
                let body = self.with_two(&state, &value, item, depth);
                let step = format!("*s = {{ let {state}: {name} = *s; {body} }}; Some(*s)");
                (format!(".scan({first}, |s, {value}: {name}| {{ {step} }})"), item.clone())
            }
            7 => {
                let option = Ty::Option(Box::new(item.clone()));
                let (value, body) = self.lambda(item, &option, MOST, depth);
                let way = *self.choices.pick(&["filter_map", "map_while"]);
                (format!(".{way}(|{value}: {name}| {body})"), item.clone())
            }
            8 => {
                let (value, body) = self.lambda(item, item, MOST, depth);
                (format!(".flat_map(|{value}: {name}| [{value}, {body}])"), item.clone())
            }
            _ => (format!(".cycle().take({MOST})"), item.clone()),
        }
    }

    fn end(&mut self, chain: &str, item: &Ty, int: Int, depth: u32) -> String {
        let result = Ty::Int(int);
        let (name, to) = (item.name(), int.name);
        match self.choices.below(8) {
            0 => {
                let first = self.leaf(&result);
                let (sum, value) = (self.fresh("a"), self.fresh("v"));
                let body = self.within(|this| {
                    this.declare(&sum, result.clone(), false);
                    this.declare(&value, item.clone(), false);
                    this.repeated(MOST, |this| this.expr(&result, depth))
                });
                format!("{chain}.fold({first}, |{sum}: {to}, {value}: {name}| -> {to} {{ {body} }})")
            }
            1 => format!("({chain}.count() as {to})"),
            2 => {
                let which = *self.choices.pick(&["max()", "min()", "last()", "nth(2)"]);
                // `nth` changes the iterator, which is then a value of its own; that is fine for a temporary.
                format!("({chain}.{which}.unwrap_or({}) as {to})", self.leaf(item))
            }
            3 => {
                let (value, body) = self.lambda(item, &Ty::Bool, MOST, depth);
                format!("({chain}.position(|{value}: {name}| {body}).unwrap_or(9) as {to})")
            }
            4 => {
                let (value, body) = self.lambda(item, &Ty::Bool, MOST, depth);
                let way = *self.choices.pick(&["any", "all"]);
                format!("({chain}.{way}(|{value}: {name}| {body}) as {to})")
            }
            5 => {
                let (first, second) = (self.fresh("r"), self.fresh("r"));
                let body = self.with_two(&first, &second, item, depth);
                format!(
                    "({chain}.reduce(|{first}: {name}, {second}: {name}| {body}).unwrap_or({}) as {to})",
                    self.leaf(item)
                )
            }
            6 => {
                let key = Ty::Int(self.known_int());
                let (value, body) = self.lambda(item, &key, MOST, depth);
                let way = *self.choices.pick(&["max_by_key", "min_by_key"]);
                let given = format!("let {value}: {name} = *{value};");
                format!("({chain}.{way}(|{value}| {{ {given} {body} }}).unwrap_or({}) as {to})", self.leaf(item))
            }
            _ => {
                // A tuple as the state of a fold.
                let value = self.fresh("v");
                let body = self.within(|this| {
                    this.declare(&value, item.clone(), false);
                    this.repeated(MOST, |this| this.expr(&result, depth))
                });
                let step = format!("(n.wrapping_add(1), d.rotate_left(3) ^ {{ {body} }})");
                format!(
                    "({{ let (n, d) = {chain}.fold((0u32, 0{to}), |(n, d), {value}: {name}| {step}); d ^ n as {to} }})"
                )
            }
        }
    }
}
