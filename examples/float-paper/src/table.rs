//! Rows of the paper's tables: its value, the CPU's and the GPU's.

use std::fmt;

use serde_json::{Value, json};

use crate::gpu::OPTIMISED;

/// A number in one of the two formats.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Single(f32),
    Double(f64),
}

impl From<f32> for Number {
    fn from(value: f32) -> Self {
        Self::Single(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl Number {
    fn bits(self) -> u64 {
        match self {
            Self::Single(value) => value.to_bits().into(),
            Self::Double(value) => value.to_bits(),
        }
    }

    /// Sign, exponent and fraction, as §1.1 prints them.
    pub fn fields(self) -> String {
        let (bits, exponent, fraction) = match self {
            Self::Single(value) => (u64::from(value.to_bits()), 8, 23),
            Self::Double(value) => (value.to_bits(), 11, 52),
        };
        let field = |from: usize, len: usize| format!("{:0len$b}", bits >> from & ((1 << len) - 1));
        format!("{} {} .{}", field(exponent + fraction, 1), field(fraction, exponent), field(0, fraction))
    }

    /// As `2^1 x 1.10000000000000000000010`, as §1.2 prints them.
    pub fn powers(self) -> String {
        let fields = self.fields();
        let (exponent, bias) = match self {
            Self::Single(value) => (i64::from(value.to_bits() >> 23 & 0xff), 127),
            Self::Double(value) => ((value.to_bits() >> 52 & 0x7ff).cast_signed(), 1023),
        };
        format!("2^{} x 1{}", exponent - bias, fields.rsplit(' ').next().unwrap_or_default())
    }

    /// As C's `%.10g` prints small numbers.
    pub fn ten_digits(self) -> String {
        let value = match self {
            Self::Single(value) => value.into(),
            Self::Double(value) => value,
        };
        let text = format!("{value:.9e}");
        match text.split_once("e-") {
            Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
            None => text,
        }
    }

    /// All bits, and the number.
    pub fn hex(self) -> String {
        match self {
            Self::Single(value) => format!("0x{:08X} {value:?}", value.to_bits()),
            Self::Double(value) => format!("0x{:016X} {value:?}", value.to_bits()),
        }
    }

    /// Units in the last place between two numbers of one format.
    fn distance(self, other: Self) -> u64 {
        match (self, other) {
            (Self::Single(a), Self::Single(b)) => ptx::compare::ulp_distance(a, b),
            (Self::Double(a), Self::Double(b)) => ptx::compare::ulp_distance(a, b),
            _ => u64::MAX,
        }
    }
}

/// What was computed in one place.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// The row is not about this place.
    Absent,
    /// There is no GPU.
    Skipped,
    Is(Number),
}

/// One value of the paper.
pub struct Row {
    what: String,
    paper: String,
    /// What CPU and GPU must compute, and how many units in the last place it may be off.
    want: (Number, u64),
    show: fn(Number) -> String,
    is_paper_notation: bool,
    cpu: Cell,
    gpu: Cell,
}

impl Row {
    /// A row for the text that the paper has, or "" if it has none, and the value that it stands for.
    pub fn new(what: impl Into<String>, paper: impl Into<String>, want: impl Into<Number>) -> Self {
        let (what, paper) = (what.into(), paper.into());
        let want = (want.into(), 0);
        Self { what, paper, want, show: Number::hex, is_paper_notation: false, cpu: Cell::Absent, gpu: Cell::Absent }
    }

    /// In the paper's own notation: the wanted value must then be the paper's text.
    pub fn shown(mut self, show: fn(Number) -> String) -> Self {
        self.show = show;
        self.is_paper_notation = true;
        self
    }

    pub fn within(mut self, ulps: u64) -> Self {
        self.want.1 = ulps;
        self
    }

    pub fn cpu(mut self, value: impl Into<Number>) -> Self {
        self.cpu = Cell::Is(value.into());
        self
    }

    /// `None` where there is no GPU.
    pub fn gpu(mut self, value: Option<impl Into<Number>>) -> Self {
        self.gpu = value.map_or(Cell::Skipped, |value| Cell::Is(value.into()));
        self
    }

    /// The largest distance of what was computed from what the paper says.
    fn distance(&self) -> u64 {
        let distance = |cell: &Cell| match cell {
            Cell::Is(number) if number.bits() == self.want.0.bits() => 0,
            // Zeros of both signs are no distance apart, but are not the same.
            Cell::Is(number) => number.distance(self.want.0).max(1),
            Cell::Absent | Cell::Skipped => 0,
        };
        distance(&self.cpu).max(distance(&self.gpu))
    }

    fn passed(&self) -> bool {
        let is_papers = !self.is_paper_notation || (self.show)(self.want.0) == self.paper;
        is_papers && self.distance() <= self.want.1
    }

    fn verdict(&self) -> String {
        let ran = [self.cpu, self.gpu].iter().any(|cell| matches!(cell, Cell::Is(_)));
        match self.distance() {
            _ if !self.passed() => "DIFFERS".to_owned(),
            _ if !ran => "not run".to_owned(),
            0 => "same".to_owned(),
            distance => format!("{distance} ULP apart, {} allowed", self.want.1),
        }
    }

    /// What, paper, CPU, GPU and verdict.
    fn columns(&self) -> [String; 5] {
        let show = |cell: Cell| match cell {
            Cell::Absent | Cell::Skipped => String::new(),
            Cell::Is(number) => (self.show)(number),
        };
        [self.what.clone(), self.paper.clone(), show(self.cpu), show(self.gpu), self.verdict()]
    }
}

const HEADINGS: [&str; 5] = ["", "paper", "CPU", "GPU", ""];

/// One table, or one statement, of the paper.
pub struct Section {
    pub title: &'static str,
    pub rows: Vec<Row>,
    /// Statements about the rows: whether each holds.
    pub notes: Vec<(String, bool)>,
}

impl Section {
    pub fn new(title: &'static str, rows: Vec<Row>) -> Self {
        Self { title, rows, notes: Vec::new() }
    }

    pub fn note(mut self, text: impl Into<String>, holds: bool) -> Self {
        self.notes.push((text.into(), holds));
        self
    }

    /// The compiler's part in it takes an optimised build.
    pub fn optimised(self) -> Self {
        const WHY: &str =
            "This build is not optimised: as with `nvcc -G`, nothing is fused or inlined. See `--release`.";
        if OPTIMISED { self } else { self.note(WHY, true) }
    }

    pub fn passed(&self) -> bool {
        self.rows.iter().all(Row::passed) && self.notes.iter().all(|(_, holds)| *holds)
    }

    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            let mut object = json!({ "what": row.what, "verdict": row.verdict() });
            for (heading, text) in HEADINGS.into_iter().zip(row.columns()) {
                if !heading.is_empty() && !text.is_empty() {
                    object[heading] = text.into();
                }
            }
            object
        };
        let notes = self.notes.iter().map(|(text, holds)| json!({ "text": text, "holds": holds }));
        json!({
            "name": self.title,
            "passed": self.passed(),
            "detail": { "rows": self.rows.iter().map(row).collect::<Vec<_>>(), "notes": notes.collect::<Vec<_>>() },
        })
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{}", self.title)?;
        let rows: Vec<[String; 5]> = self.rows.iter().map(Row::columns).collect();
        let width = |i: usize| rows.iter().map(|row| row[i].len()).max().unwrap_or(0);
        // A column without anything is left out.
        let filled: Vec<(usize, usize)> = (0..5).map(|i| (i, width(i))).filter(|(_, width)| *width > 0).collect();
        let headings = HEADINGS.map(str::to_owned);
        for row in rows.first().map(|_| &headings).into_iter().chain(&rows) {
            let cells: Vec<String> = filled.iter().map(|(i, width)| format!("{:width$}", row[*i])).collect();
            writeln!(f, "  {}", cells.join("  ").trim_end())?;
        }
        for (text, holds) in &self.notes {
            writeln!(f, "  {}{text}", if *holds { "" } else { "WRONG: " })?;
        }
        Ok(())
    }
}
