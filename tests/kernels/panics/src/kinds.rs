//! The kinds of panics: each is a closure over the numbers 0, 1, 2, 3, which the compiler does not know.

use core::cell::RefCell;
use core::fmt;

/// Calls a macro that says of code that it is not there.
macro_rules! missing {
    ($name:ident $($arguments:tt)*) => { $name!($($arguments)*) };
}

macro_rules! kinds {
    ($($name:literal => $body:expr;)*) => {
        /// What panics, by number.
        pub const NAMES: &[&str] = &[$($name),*];

        /// Does what panics.
        pub fn run(kind: u32, values: &[u32]) -> u32 {
            let mut number = 0;
            $(
                if kind == number {
                    let body: fn(&[u32]) -> u32 = $body;
                    return body(values);
                }
                number += 1;
            )*
            number
        }
    };
}

/// Shows itself in a panic.
#[derive(Debug)]
#[expect(dead_code, reason = "`Debug` reads it, which does not count")]
struct Problem {
    code: u32,
    at: Option<(i8, char)>,
}

/// Why something fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    Missing,
    Crowded,
    Broken,
}

/// Shows itself in several ways.
#[derive(Debug)]
#[expect(dead_code, reason = "`Debug` reads it, which does not count")]
enum Trouble<'a> {
    None,
    At(u32),
    Between { first: &'a u32, last: Option<i64> },
    Of(Reason),
}

/// Shows its fields, which are shown in as many ways.
#[derive(Debug)]
#[expect(dead_code, reason = "`Debug` reads it, which does not count")]
struct Fault<'a> {
    at: &'a u32,
    value: f64,
    reason: Reason,
    level: Level,
}

/// Shows what is in it.
#[derive(Debug)]
#[expect(dead_code, reason = "`Debug` reads it, which does not count")]
struct Level(i8, bool);

/// Shows itself by one `write!`.
struct Place {
    at: u32,
    len: usize,
}

impl Place {
    fn of(values: &[u32]) -> Self {
        Self { at: values[1], len: values.len() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} of {}>", self.at, self.len.wrapping_sub(1))
    }
}

/// Fails to show itself.
struct Unshowable;

impl fmt::Display for Unshowable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as far as it goes")?;
        Err(fmt::Error)
    }
}

fn problem(values: &[u32]) -> Result<u32, Problem> {
    Err(Problem { code: values[3], at: Some((-7, 'ß')) })
}

fn reason(values: &[u32]) -> Reason {
    match values[2] {
        0 => Reason::Missing,
        1 => Reason::Broken,
        _ => Reason::Crowded,
    }
}

fn trouble(values: &[u32], kind: u32) -> Result<u32, Trouble<'_>> {
    Err(match kind {
        0 => Trouble::None,
        1 => Trouble::At(values[3] + 7),
        2 => Trouble::Between { first: &values[1], last: values.get(2).map(|last| -i64::from(*last)) },
        _ => Trouble::Of(reason(values)),
    })
}

fn refused(values: &[u32]) -> Result<u32, Reason> {
    Err(reason(values))
}

fn coloured(values: &[u32]) -> Result<u32, &'static str> {
    Err(if values[3] == 3 { "grün\0\n" } else { "blau" })
}

fn fault(values: &[u32]) -> Result<u32, Fault<'_>> {
    let level = Level(-3 - values[1] as i8, values[3] == 3);
    Err(Fault { at: &values[3], value: f64::from(values[1]) / 8.0, reason: reason(values), level })
}

fn none(values: &[u32]) -> Option<u32> {
    values.get(40).copied()
}

/// The panic is the caller's.
#[track_caller]
fn checked(value: u32) -> u32 {
    assert!(value == 40, "the caller gave {value}");
    value
}

const TEXT: &str = "grüße";

/// Longer than the buffers of old.
const LONG: &str = "a text of thirty-two characters.a text of thirty-two characters.a text of thirty-two characters.\
                    a text of thirty-two characters.a text of thirty-two characters.a text of thirty-two characters.\
                    a text of thirty-two characters.a text of thirty-two characters.a text of thirty-two characters.";

kinds! {
    "index" => |v| v[v[3] as usize + 4];
    "index of an array" => |v| [1, 2, 3][v[3] as usize];
    "index to write" => |v| {
        let mut array = [0_u32; 3];
        array[v[3] as usize] = 1;
        array[v[0] as usize]
    };
    "range end" => |v| v[2..v[3] as usize + 9].len() as u32;
    "range start" => |v| v[v[3] as usize + 9..].len() as u32;
    "range order" => |v| v[v[3] as usize..v[1] as usize].len() as u32;
    "range to" => |v| v[..=v[3] as usize + 1].len() as u32;
    "add" => |v| u32::MAX - 2 + v[3];
    "sub" => |v| v[2] - v[3];
    "mul" => |v| (i32::MAX - 3).cast_unsigned() * v[3];
    "mul, signed" => |v| ((i32::MAX - 3) * v[3].cast_signed()).cast_unsigned();
    "neg" => |v| (-(i32::MIN + v[0].cast_signed())).cast_unsigned();
    "shl" => |v| 1 << (v[3] + 29);
    "shr" => |v| u32::MAX >> (v[3] + 29);
    "add, 8 bits" => |v| u32::from(v[3] as u8 + 254);
    "add, 64 bits" => |v| (u64::MAX - 2 + u64::from(v[3])) as u32;
    "add, 128 bits" => |v| (u128::MAX - 2 + u128::from(v[3])) as u32;
    "add and assign" => |v| {
        let mut sum = u32::MAX;
        sum += v[1];
        sum
    };
    "abs" => |v| (i32::MIN + v[0].cast_signed()).abs().cast_unsigned();
    "pow" => |v| v[3].pow(v[3] + 30);
    "sum" => |v| v.iter().map(|value| value + (u32::MAX - 3)).sum();
    "div by zero" => |v| v[3] / v[0];
    "div overflow" => |v| ((i32::MIN + v[0].cast_signed()) / (v[0].cast_signed() - 1)).cast_unsigned();
    "rem by zero" => |v| v[3] % v[0];
    "rem overflow" => |v| ((i32::MIN + v[0].cast_signed()) % (v[0].cast_signed() - 1)).cast_unsigned();
    "div_euclid" => |v| v[3].div_euclid(v[0]);
    "ilog2" => |v| v[0].ilog2();
    "next multiple" => |v| v[3].next_multiple_of(v[0]);
    "unwrap of None" => |v| none(v).unwrap();
    "expect of None" => |v| none(v).expect("there is an element 40");
    "unwrap of Err" => |v| problem(v).unwrap();
    "expect of Err" => |v| problem(v).expect("no problem");
    "unwrap of a derived struct" => |v| fault(v).unwrap();
    "expect of a derived enum" => |v| refused(v).expect("no reason");
    "unwrap of an enum without a field" => |v| trouble(v, v[0]).unwrap();
    "unwrap of an enum with a number" => |v| trouble(v, v[1]).unwrap();
    "unwrap of an enum with fields" => |v| trouble(v, v[2]).unwrap();
    "expect of an enum with an enum" => |v| trouble(v, v[3]).expect("no trouble");
    "unwrap of a text" => |v| coloured(v).unwrap();
    "unwrap_err" => |v| v.first().copied().ok_or(v[1]).unwrap_err();
    "panic" => |v| if v[3] == 3 { panic!("a constant text") } else { 0 };
    "panic with values" => |v| panic!("value {} of {:?}, {:>5}|{:#x}", v[3], &v[..2], v[1], v[2]);
    "panic with a user's Display" => |v| if v[3] == 3 { panic!("at {}!", Place::of(v)) } else { 0 };
    "panic with options" => |v| panic!("{:?} or {:?} of {}", v.get(v[3] as usize), v.get(v[3] as usize + 1), v.len());
    "panic, long text" => |v| if v[3] == 3 { panic!("{}", LONG) } else { 0 };
    "panic, long values" => |v| panic!("{LONG} {} {LONG}", v[3]);
    "panic, what fails to show" => |v| if v[3] == 3 { panic!("shown {}.", Unshowable) } else { 0 };
    "assert" => |v| {
        assert!(v[3] < v[2]);
        0
    };
    "assert with text" => |v| {
        assert!(v[3] < v[2], "{} is not less than {}", v[3], v[2]);
        0
    };
    "assert_eq" => |v| {
        assert_eq!(v[3], v[2]);
        0
    };
    "assert_eq with text" => |v| {
        assert_eq!(v[3], v[2], "of {} values", v.len());
        0
    };
    "assert_ne" => |v| {
        assert_ne!(v[3], v[2] + 1);
        0
    };
    "assert_eq of floats" => |v| {
        assert_eq!(v[3] as f32 / 8.0, v[2] as f32 * 1e10, "at {}", Place::of(v));
        0
    };
    "assert_eq of enums" => |v| {
        assert_eq!(reason(v), Reason::Broken);
        0
    };
    "assert_ne of characters" => |v| {
        assert_ne!(char::from(v[3] as u8 + 36), '\'', "{:?} {}", v[3] == 3, i128::MIN + i128::from(v[3]));
        0
    };
    "assert_eq of options" => |v| {
        assert_eq!(v.get(40), v.get(2));
        0
    };
    "assert_eq of slices" => |v| {
        assert_eq!(v[..2], v[2..]);
        0
    };
    "debug_assert_eq of strings" => |v| {
        assert_eq!(TEXT, if v[3] == 3 { "Grüße\n" } else { TEXT });
        0
    };
    "unreachable" => |v| if v[3] == 3 { unreachable!() } else { 0 };
    "unreachable with text" => |v| if v[3] == 3 { unreachable!("value {}", v[3]) } else { 0 };
    "todo" => |v| if v[3] == 3 { missing!(todo "value {}", v[3]) } else { 0 };
    "unimplemented" => |v| if v[3] == 3 { missing!(unimplemented) } else { 0 };
    "already borrowed" => |v| {
        let cell = RefCell::new(v[3]);
        let first = cell.borrow_mut();
        let second = *cell.borrow_mut();
        second + *first
    };
    "already mutably borrowed" => |v| {
        let cell = RefCell::new(v[3]);
        let first = cell.borrow_mut();
        let second = *cell.borrow();
        second + *first
    };
    "character boundary" => |v| TEXT[..v[3] as usize].len() as u32;
    "string range" => |v| TEXT[v[3] as usize + 20..].len() as u32;
    "from_digit" => |v| char::from_digit(1, v[3] + 40).map_or(0, u32::from);
    "to_digit" => |v| char::from(v[3] as u8).to_digit(v[0]).unwrap_or(0);
    "copy_from_slice" => |v| {
        let mut array = [0; 3];
        array[..v[2] as usize].copy_from_slice(&v[..v[3] as usize]);
        array[0]
    };
    "split_at" => |v| v.split_at(v[3] as usize + 2).1.len() as u32;
    "chunks" => |v| v.chunks(v[0] as usize).count() as u32;
    "windows" => |v| v.windows(v[0] as usize).count() as u32;
    "step_by" => |v| v.iter().step_by(v[0] as usize).sum();
    "clamp" => |v| v[1].clamp(v[3], v[2]);
    "swap" => |v| {
        let mut array = [v[0], v[1]];
        array.swap(0, v[3] as usize);
        array[0]
    };
    "rotate" => |v| {
        let mut array = [v[0], v[1]];
        array.rotate_left(v[3] as usize);
        array[0]
    };
    "array of a slice" => |v| <[u32; 3]>::try_from(&v[..v[2] as usize]).unwrap()[0];
    "number of text" => |v| TEXT[..v[1] as usize].parse::<u32>().unwrap();
    "conversion" => |v| u32::from(u8::try_from(v[3] + 400).unwrap());
    "a caller's" => |v| checked(v[3]);
}
