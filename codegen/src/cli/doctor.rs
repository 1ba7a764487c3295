//! `cargo ptx doctor`: what was found on this machine, what is missing, and what to do.
