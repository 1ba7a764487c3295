//! Under construction.

pub mod doctor;
pub mod setup;
