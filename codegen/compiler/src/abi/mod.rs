//! NVIDIA's device ABI: which parameters kernels and device functions have in PTX, and the rewrite that gives them these.

pub mod classify;
mod lower;
pub mod rows;
mod table;

pub use classify::PtxParam;
pub use lower::lower;
pub use table::{FunctionAbi, ParamAbi, Signature, Table};
