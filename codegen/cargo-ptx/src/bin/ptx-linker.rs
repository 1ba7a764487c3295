//! The linker that rustc calls for `nvptx64-nvidia-cuda`.

fn main() -> std::process::ExitCode {
    ptx_project::linker::linker_main(std::env::args_os().skip(1))
}
