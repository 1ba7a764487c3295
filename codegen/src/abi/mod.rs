//! NVIDIA's device ABI: which parameters a kernel has in PTX, and the rewrite that gives it them.

pub mod classify;
mod lower;
mod table;

pub use classify::PtxParam;
pub use lower::lower;
pub use table::{KernelAbi, ParamAbi, Signature, Table};
