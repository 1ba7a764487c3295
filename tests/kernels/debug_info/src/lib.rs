//! Kernels to be looked at in a debugger.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![expect(missing_docs, reason = "the names say it")]

#[expect(clippy::undocumented_unsafe_blocks, reason = "`owner` says for all what is believed of the layouts")]
pub mod printed;
#[expect(clippy::unnecessary_literal_unwrap, reason = "a debugger sees the values on the way")]
pub mod shapes;
#[expect(
    clippy::let_and_return,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    reason = "each line has its twin in CUDA C++"
)]
pub mod twin;
