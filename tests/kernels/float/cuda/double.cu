// The twins of Rust's kernels in double precision. The build script writes `double.inc`, a line a function.
#include "judge.cuh"
#include "double.inc"
