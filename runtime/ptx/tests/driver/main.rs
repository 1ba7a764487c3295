//! The host's side against a driver without a device: what a launch costs, what is left alive, and what each error says.

#![cfg(target_os = "linux")]

mod adopt;
mod bound;
mod branches;
mod driver;
mod errors;
mod graphs;
mod launches;
mod leaks;
mod memories;
mod modules;
mod refusals;
mod timeline;
mod waits;
