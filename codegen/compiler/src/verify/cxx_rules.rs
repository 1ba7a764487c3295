//! What chapter 7 of NVIDIA's PTX Writer's Guide to Interoperability leaves out of C++ on the device, by the symbols that
//! programs which use it anyway refer to.

/// A feature that device code does not have.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What is missing, as a sentence.
    pub excluded: &'static str,
    /// What to do.
    pub instead: &'static str,
    names: &'static [&'static str],
    prefixes: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule {
        excluded: "device code has no C standard input and output but printf",
        instead: "print with `ptx::println!`, which calls the driver's vprintf; files are the host's business",
        names: &[
            "printf",
            "puts",
            "putchar",
            "putc",
            "fputc",
            "fputs",
            "fprintf",
            "vfprintf",
            "sprintf",
            "snprintf",
            "vsprintf",
            "vsnprintf",
            "fopen",
            "freopen",
            "fclose",
            "fread",
            "fwrite",
            "fflush",
            "fseek",
            "ftell",
            "rewind",
            "feof",
            "ferror",
            "scanf",
            "fscanf",
            "sscanf",
            "getchar",
            "getc",
            "fgetc",
            "gets",
            "fgets",
            "ungetc",
            "perror",
            "remove",
            "rename",
            "tmpfile",
            "setvbuf",
            "stdin",
            "stdout",
            "stderr",
            "__stdoutp",
            "__stderrp",
        ],
        // `std::ostream`, `std::cout` and kin.
        prefixes: &["_ZNSo", "_ZNSi", "_ZSt4cout", "_ZSt4cerr", "_ZSt3cin", "_ZStls", "_ZNSt8ios_base"],
    },
    Rule {
        excluded: "device code has no C++ exceptions and no stack unwinding",
        instead: "return a `Result`, or panic, which ends the launch with a message; compile C++ with -fno-exceptions",
        names: &[
            "__cxa_throw",
            "__cxa_rethrow",
            "__cxa_allocate_exception",
            "__cxa_free_exception",
            "__cxa_begin_catch",
            "__cxa_end_catch",
            "__cxa_get_exception_ptr",
            "__cxa_call_unexpected",
            "_ZSt9terminatev",
            "rust_eh_personality",
        ],
        prefixes: &["_Unwind_", "__gxx_personality", "__gcc_personality", "_ZSt17__throw_", "_ZSt20__throw_"],
    },
    Rule {
        excluded: "device code has no run-time type information",
        instead: "use an enum, or a `dyn` trait object, whose table of functions is Rust's own; compile C++ with -fno-rtti",
        names: &["__dynamic_cast", "__cxa_bad_cast", "__cxa_bad_typeid"],
        // type_info objects, their names, and the classes of the ABI that they are made of.
        prefixes: &["_ZTI", "_ZTS", "_ZTVN10__cxxabiv1", "_ZNSt9type_info"],
    },
    Rule {
        excluded: "tables of virtual functions are not shared between host and device, nor between programs",
        instead: "make the object on the device, in the code that knows its class; in Rust, use an enum or a `dyn` trait object",
        names: &["__cxa_pure_virtual", "__cxa_deleted_virtual"],
        prefixes: &["_ZTV", "_ZTT"],
    },
    Rule {
        excluded: "nothing runs before or after a kernel: device code has no constructors and destructors of globals",
        instead: "initialise with a constant, or in a kernel",
        names: &["__cxa_atexit", "__cxa_finalize", "__dso_handle", "atexit"],
        prefixes: &["__cxa_guard_", "_GLOBAL__sub_I_"],
    },
    Rule {
        excluded: "device code has no C++ `new` and `delete` of the host's library",
        instead: "allocate in Rust (`Box`, `Vec`), or by the driver's malloc and free",
        // new, new[], delete, delete[], and delete with a size.
        names: &["_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "calloc", "realloc", "posix_memalign"],
        prefixes: &[],
    },
    Rule {
        excluded: "device code has nothing of the C++ runtime library",
        instead: "do it in Rust; the host's C++ library is not linked here",
        names: &[],
        prefixes: &["__cxa_", "_ZNSt", "_ZNKSt"],
    },
];

/// The rule that a symbol breaks; the first that names it.
pub fn find(symbol: &str) -> Option<&'static Rule> {
    RULES
        .iter()
        .find(|rule| rule.names.contains(&symbol) || rule.prefixes.iter().any(|prefix| symbol.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_what_they_stand_for() {
        for (symbol, words) in [
            ("printf", "println!"),
            ("fopen", "println!"),
            ("scanf", "println!"),
            ("_ZSt4cout", "println!"),
            ("__cxa_throw", "Result"),
            ("_Unwind_Resume", "Result"),
            ("__gxx_personality_v0", "Result"),
            ("__dynamic_cast", "enum"),
            ("_ZTI4Base", "-fno-rtti"),
            ("_ZTVN10__cxxabiv117__class_type_infoE", "-fno-rtti"),
            ("_ZTV4Base", "on the device"),
            ("__cxa_pure_virtual", "on the device"),
            ("__cxa_atexit", "constant"),
            ("__cxa_guard_acquire", "constant"),
            ("_Znwm", "Box"),
            ("realloc", "Box"),
            ("__cxa_demangle", "in Rust"),
            ("_ZNSt6vectorIiE4pushE", "in Rust"),
        ] {
            let rule = find(symbol).unwrap_or_else(|| panic!("{symbol}"));
            assert!(rule.instead.contains(words), "{symbol}: {rule:?}");
        }
    }

    #[test]
    fn the_driver_and_other_symbols_break_no_rule() {
        for symbol in
            ptx_abi::SYSTEM_CALLS.iter().chain(&["host_function", "_Z3fooii", "_ZN4core3fmtE", "sinf", "cudaMalloc"])
        {
            assert!(find(symbol).is_none(), "{symbol}");
        }
    }

    #[test]
    fn no_symbol_stands_twice() {
        let names: Vec<_> = RULES.iter().flat_map(|rule| rule.names).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(names.len(), unique.len());
    }
}
