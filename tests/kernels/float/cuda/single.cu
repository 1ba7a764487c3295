// The judges of Rust's kernels in single precision. The build script writes `single.inc`, a line a function.
#include "judge.cuh"
#include "single.inc"
