//! `print!` and its kin, which write to the host's standard output: the runner shows it with the test.

use core::fmt::Arguments;

/// `std::print!`
#[macro_export]
macro_rules! print {
    ($($arguments:tt)*) => { $crate::__print($crate::format_args!($($arguments)*)) };
}

/// `std::println!`
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($arguments:tt)*) => {{
        $crate::print!($($arguments)*);
        $crate::print!("\n");
    }};
}

/// `std::eprint!`: a GPU has one output.
#[macro_export]
macro_rules! eprint {
    ($($arguments:tt)*) => { $crate::print!($($arguments)*) };
}

/// `std::eprintln!`
#[macro_export]
macro_rules! eprintln {
    ($($arguments:tt)*) => { $crate::println!($($arguments)*) };
}

/// `std::dbg!`
#[macro_export]
macro_rules! dbg {
    () => { $crate::println!("[{}:{}:{}]", $crate::file!(), $crate::line!(), $crate::column!()) };
    ($value:expr $(,)?) => {
        match $value {
            value => {
                let (file, line, column) = ($crate::file!(), $crate::line!(), $crate::column!());
                $crate::println!("[{file}:{line}:{column}] {} = {value:#?}", $crate::stringify!($value));
                value
            }
        }
    };
    ($($value:expr),+ $(,)?) => { ($($crate::dbg!($value)),+,) };
}

/// Bytes that one call prints; `ptx::print!` takes at most 1,024.
const PIECE: usize = 1000;

/// Prints a text of any length.
#[doc(hidden)]
pub fn __print(arguments: Arguments<'_>) {
    let text = crate::fmt::format(arguments);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE));
        ptx::print!("{piece}");
        rest = more;
    }
}
