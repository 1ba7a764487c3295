//! What Nsight Compute measured, read from the tables that its command line prints, and shown by source line.
//!
//! The tables are those of `ncu --import FILE --csv` with `--page details` and with `--page source --print-source cuda,sass`
//! (Nsight Compute CLI, "Output Pages"; Nsight Compute, "Source Page", has the columns).

mod command;
mod kernel;
mod read;
mod stalls;
mod text;

pub use command::{DETAILS, NO_PERMISSION, SOURCE, TABLE, measured};
pub use kernel::Kernel;
pub use read::{details, lines};
pub use text::text;
