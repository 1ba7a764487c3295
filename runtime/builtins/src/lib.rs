//! The functions that compiled device code calls without naming them: `memcpy` and its kin.
#![cfg_attr(target_arch = "nvptx64", feature(compiler_builtins), compiler_builtins, no_builtins)]
#![no_std]
