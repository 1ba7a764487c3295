//! Instances whose arguments are not what the kernel asks of them: the messages are about the arguments.
#![no_std]
use ptx::prelude::*;

pub struct NoLayout;

#[kernel(instantiate(f32, u32))] //~ ERROR: the trait bound `f32: Hash` is not satisfied
pub fn hashes<T: AbiType + core::hash::Hash>(_value: T) {}

#[kernel(instantiate(NoLayout))] //~ ERROR: `NoLayout` has no place in the device ABI
pub fn by_value<T>(_value: T) {}

#[kernel(instantiate(64, 4096), launch_bounds(THREADS))] //~ ERROR: 1024
pub fn bounded<const THREADS: u32>() {}
