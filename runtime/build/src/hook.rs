//! Makes the build script rustc's linker where it was started as that, before its `main` does anything.

ctor::declarative::ctor! {
    // SAFETY: the linker's needs are met this early: std has the arguments (it takes them from such a function, too,
    // which the number of its section puts before this one), and LLVM is a shared library, whose own such functions ran
    // when it was loaded. Any other program goes on without std having been asked for a thread or an output.
    #[ctor(unsafe)]
    fn before_main() {
        ptx_project::linker::become_linker_if_asked();
    }
}
