//! Format strings: the grammar of `std::fmt`.
//!
//! What is not understood here is `None`, and rustc's own `format_args!` says what is wrong with it.

/// A piece of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text, without its doubled braces.
    Text(String),
    /// `{…}`
    Placeholder(Placeholder),
}

/// `{argument:spec}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// What is printed.
    pub argument: Argument,
    /// How.
    pub spec: Spec,
}

/// An argument of the macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// By number, given or counted.
    Index(usize),
    /// By name, given or captured.
    Name(String),
}

/// What stands behind the colon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub fill: char,
    /// `<`, `^` or `>`
    pub align: Option<char>,
    pub plus: bool,
    pub minus: bool,
    pub alternate: bool,
    pub zero: bool,
    pub width: Option<Count>,
    pub precision: Option<Count>,
    /// As in `x?`; empty for `Display`.
    pub letter: String,
}

/// A width or precision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    Literal(u16),
    Argument(Argument),
}

/// The pieces of `format`; none if it is wrong.
pub fn parse(format: &str) -> Option<Vec<Piece>> {
    let mut parser = Parser { rest: format, next: 0 };
    let mut pieces = Vec::new();
    let mut text = String::new();
    while let Some(c) = parser.rest.chars().next() {
        parser.rest = &parser.rest[c.len_utf8()..];
        match c {
            '{' | '}' if parser.eat(c) => text.push(c),
            '{' => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Placeholder(parser.placeholder()?));
            }
            '}' => return None,
            _ => text.push(c),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Some(pieces)
}

struct Parser<'a> {
    rest: &'a str,
    /// The next argument that is not named or numbered.
    next: usize,
}

impl Parser<'_> {
    fn eat(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Behind the opening brace, through the closing one.
    fn placeholder(&mut self) -> Option<Placeholder> {
        self.blanks();
        let argument = self.argument()?;
        self.blanks();
        let (spec, counted) = if self.eat(':') { self.spec()? } else { (self.empty_spec(), None) };
        self.blanks();
        if !self.eat('}') {
            return None;
        }
        // `.*` takes an argument before the value does.
        let mut spec = spec;
        if counted.is_some() {
            spec.precision = Some(Count::Argument(Argument::Index(self.count())));
        }
        let argument = argument.unwrap_or_else(|| Argument::Index(self.count()));
        Some(Placeholder { argument, spec })
    }

    fn count(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(char::is_whitespace);
    }

    /// A number or name, if one stands here; `None` for a number that is too large.
    #[expect(clippy::option_option, reason = "nothing there, and something wrong there")]
    fn argument(&mut self) -> Option<Option<Argument>> {
        let first = self.rest.chars().next();
        if first.is_some_and(|c| c.is_ascii_digit()) {
            return self.number().map(|number| Some(Argument::Index(number)));
        }
        if !first.is_some_and(|c| c.is_alphabetic() || c == '_') {
            return Some(None);
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Some(Argument::Name(name.to_string())))
    }

    fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().ok()
    }

    fn empty_spec(&self) -> Spec {
        Spec {
            fill: ' ',
            align: None,
            plus: false,
            minus: false,
            alternate: false,
            zero: false,
            width: None,
            precision: None,
            letter: String::new(),
        }
    }

    /// Behind the colon; and whether the precision is `.*`.
    fn spec(&mut self) -> Option<(Spec, Option<()>)> {
        let mut spec = self.empty_spec();
        let is_align = |c: &char| matches!(c, '<' | '^' | '>');
        let mut chars = self.rest.chars();
        if let (Some(fill), Some(align)) = (chars.next(), chars.next().filter(is_align)) {
            (spec.fill, spec.align) = (fill, Some(align));
            self.rest = chars.as_str();
        } else if let Some(align) = self.rest.chars().next().filter(is_align) {
            spec.align = Some(align);
            self.rest = &self.rest[1..];
        }
        spec.plus = self.eat('+');
        spec.minus = !spec.plus && self.eat('-');
        spec.alternate = self.eat('#');
        // `0$` is a width by the argument 0.
        if !self.rest.starts_with("0$") {
            spec.zero = self.eat('0');
        }
        spec.width = self.width()?;
        let mut counted = None;
        if self.eat('.') {
            if self.eat('*') {
                counted = Some(());
            } else {
                spec.precision = Some(self.width()??);
            }
        }
        let end = self.rest.find(|c: char| c == '}' || c.is_whitespace()).unwrap_or(self.rest.len());
        let (letter, rest) = self.rest.split_at(end);
        self.rest = rest;
        if !matches!(letter, "" | "?" | "x?" | "X?" | "x" | "X" | "o" | "b" | "e" | "E" | "p") {
            return None;
        }
        spec.letter = letter.to_string();
        Some((spec, counted))
    }

    /// A number, or an argument and `$`; `Some(None)` if there is neither.
    #[expect(clippy::option_option, reason = "nothing there, and something wrong there")]
    fn width(&mut self) -> Option<Option<Count>> {
        let before = self.rest;
        if let Some(argument) = self.argument()?
            && self.eat('$')
        {
            return Some(Some(Count::Argument(argument)));
        }
        self.rest = before;
        if before.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number().map(|number| Some(Count::Literal(number)));
        }
        Some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(letter: &str) -> Spec {
        Spec { letter: letter.into(), ..Parser { rest: "", next: 0 }.empty_spec() }
    }

    fn one(format: &str) -> Placeholder {
        match parse(format).as_deref() {
            Some([Piece::Placeholder(placeholder)]) => placeholder.clone(),
            other => panic!("{format}: {other:?}"),
        }
    }

    #[test]
    fn text_and_braces() {
        assert_eq!(parse(""), Some(vec![]));
        assert_eq!(parse("a {{b}} %"), Some(vec![Piece::Text("a {b} %".into())]));
        let pieces = parse("x{}y{{{}").unwrap();
        assert_eq!(pieces.len(), 4);
        assert_eq!(pieces[2], Piece::Text("y{".into()));
        assert!(matches!(&pieces[3], Piece::Placeholder(p) if p.argument == Argument::Index(1)));
    }

    #[test]
    fn specs() {
        let name = |name: &str| Argument::Name(name.into());
        let argument = |argument| Some(Count::Argument(argument));
        let literal = |count| Some(Count::Literal(count));
        let cases: [(&str, Argument, Spec); 19] = [
            ("{}", Argument::Index(0), spec("")),
            ("{ }", Argument::Index(0), spec("")),
            ("{7}", Argument::Index(7), spec("")),
            ("{x}", name("x"), spec("")),
            ("{_x1:?}", name("_x1"), spec("?")),
            ("{:#x?}", Argument::Index(0), Spec { alternate: true, ..spec("x?") }),
            ("{:5}", Argument::Index(0), Spec { width: literal(5), ..spec("") }),
            ("{:05}", Argument::Index(0), Spec { zero: true, width: literal(5), ..spec("") }),
            ("{:0$}", Argument::Index(0), Spec { width: argument(Argument::Index(0)), ..spec("") }),
            ("{:00$}", Argument::Index(0), Spec { zero: true, width: argument(Argument::Index(0)), ..spec("") }),
            ("{:w$}", Argument::Index(0), Spec { width: argument(name("w")), ..spec("") }),
            ("{:.p$}", Argument::Index(0), Spec { precision: argument(name("p")), ..spec("") }),
            ("{:.*}", Argument::Index(1), Spec { precision: argument(Argument::Index(0)), ..spec("") }),
            ("{:<<5}", Argument::Index(0), Spec { fill: '<', align: Some('<'), width: literal(5), ..spec("") }),
            ("{:€^9}", Argument::Index(0), Spec { fill: '€', align: Some('^'), width: literal(9), ..spec("") }),
            (
                "{:>+#08.3e}",
                Argument::Index(0),
                Spec {
                    align: Some('>'),
                    plus: true,
                    alternate: true,
                    zero: true,
                    width: literal(8),
                    precision: literal(3),
                    ..spec("e")
                },
            ),
            ("{:-X}", Argument::Index(0), Spec { minus: true, ..spec("X") }),
            ("{x:w$.3 }", name("x"), Spec { width: argument(name("w")), precision: literal(3), ..spec("") }),
            ("{:}>3}", Argument::Index(0), Spec { fill: '}', align: Some('>'), width: literal(3), ..spec("") }),
        ];
        for (format, argument, spec) in cases {
            assert_eq!(one(format), Placeholder { argument, spec }, "{format}");
        }
    }

    #[test]
    fn what_is_wrong_is_left_to_rustc() {
        for format in [
            "{",
            "}",
            "{0",
            "{:",
            "{:y}",
            "{:.}",
            "{:99999}",
            "{a b}",
            "{:?x}",
            "{a.b}",
            "{:x$",
            "{0x}",
            "{:5.5.5}",
            "{:d}",
            "{99999999999999999999999}",
            "a}",
            "{{}",
            "{:.3$*}",
            "{::}",
        ] {
            assert_eq!(parse(format), None, "{format}");
        }
    }
}
