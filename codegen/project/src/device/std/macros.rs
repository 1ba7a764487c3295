//! `print!` and its kin, which write to the host's standard output: the runner shows it with the test.

/// `std::print!`
#[macro_export]
macro_rules! print {
    ($($arguments:tt)*) => { $crate::printing::print($crate::format_args!($($arguments)*)) };
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
