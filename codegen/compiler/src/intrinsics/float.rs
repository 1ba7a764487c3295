//! The floating-point instructions: every rounding and modifier, and the lowest GPU that has it.

use super::row::Row;
use crate::arch::PtxVersion;

const fn row(registers: &'static str, pattern: &'static str) -> Row {
    since(registers, pattern, 0, (7, 0))
}

const fn since(registers: &'static str, pattern: &'static str, min_sm: u32, (major, minor): (u8, u8)) -> Row {
    Row { registers, pattern, min_sm, min_ptx: PtxVersion { major, minor } }
}

/// All, by the chapters of the PTX ISA.
pub const ROWS: &[Row] = &[
    // PTX ISA, "Floating Point Instructions".
    row("f=ff", "{add|sub|mul}{.rn|.rz|.rm|.rp}{|.ftz}{|.sat}.f32"),
    row("f=fff", "fma{.rn|.rz|.rm|.rp}{|.ftz}{|.sat}.f32"),
    row("f=ff", "div{.rn|.rz|.rm|.rp}{|.ftz}.f32"),
    row("f=f", "{rcp|sqrt}{.rn|.rz|.rm|.rp}{|.ftz}.f32"),
    row("d=dd", "{add|sub|mul|div}{.rn|.rz|.rm|.rp}.f64"),
    row("d=ddd", "fma{.rn|.rz|.rm|.rp}.f64"),
    row("d=d", "{rcp|sqrt}{.rn|.rz|.rm|.rp}.f64"),
    row("f=f", "{rcp|sqrt|rsqrt|sin|cos|lg2|ex2}.approx{|.ftz}.f32"),
    row("f=ff", "div{.approx|.full}{|.ftz}.f32"),
    since("f=f", "tanh.approx.f32", 75, (7, 0)),
    row("d=d", "rsqrt.approx{|.ftz}.f64"),
    row("d=d", "rcp.approx.ftz.f64"),
    // PTX ISA, "Half Precision Floating Point Instructions".
    row("h=hh", "{add|sub|mul}.rn{|.ftz}{|.sat}.f16"),
    row("r=rr", "{add|sub|mul}.rn{|.ftz}{|.sat}.f16x2"),
    row("h=hhh", "fma.rn{|.ftz}{|.sat}.f16"),
    row("r=rrr", "fma.rn{|.ftz}{|.sat}.f16x2"),
    since("h=hhh", "fma.rn{|.ftz}.relu.f16", 80, (7, 0)),
    since("r=rrr", "fma.rn{|.ftz}.relu.f16x2", 80, (7, 0)),
    row("h=h", "{abs|neg}.f16"),
    row("r=r", "{abs|neg}.f16x2"),
    since("h=hh", "{min|max}{|.NaN}.f16", 80, (7, 0)),
    since("r=rr", "{min|max}{|.NaN}.f16x2", 80, (7, 0)),
    since("h=h", "{ex2|tanh}.approx.f16", 75, (7, 0)),
    since("r=r", "{ex2|tanh}.approx.f16x2", 75, (7, 0)),
    since("h=hh", "{add|sub|mul}.rn.bf16", 90, (7, 8)),
    since("r=rr", "{add|sub|mul}.rn.bf16x2", 90, (7, 8)),
    since("h=hhh", "fma.rn{|.relu}.bf16", 80, (7, 0)),
    since("r=rrr", "fma.rn{|.relu}.bf16x2", 80, (7, 0)),
    since("h=h", "{abs|neg}.bf16", 80, (7, 0)),
    since("r=r", "{abs|neg}.bf16x2", 80, (7, 0)),
    since("h=hh", "{min|max}{|.NaN}.bf16", 80, (7, 0)),
    since("r=rr", "{min|max}{|.NaN}.bf16x2", 80, (7, 0)),
    since("h=h", "tanh.approx.bf16", 90, (7, 8)),
    since("r=r", "tanh.approx.bf16x2", 90, (7, 8)),
    // PTX ISA, "Data Movement and Conversion Instructions: cvt": single and double precision, and integers.
    row("f=f", "cvt{|.ftz}.sat.f32.f32"),
    row("f=f", "cvt{.rni|.rzi|.rmi|.rpi}.f32.f32"),
    row("d=d", "cvt{.rni|.rzi|.rmi|.rpi}.f64.f64"),
    row("f=d", "cvt{.rn|.rz|.rm|.rp}{|.ftz}{|.sat}.f32.f64"),
    row("r=f", "cvt{.rni|.rzi|.rmi|.rpi}{|.ftz}{.s32|.u32}.f32"),
    row("l=f", "cvt{.rni|.rzi|.rmi|.rpi}{|.ftz}{.s64|.u64}.f32"),
    row("r=d", "cvt{.rni|.rzi|.rmi|.rpi}{.s32|.u32}.f64"),
    row("l=d", "cvt{.rni|.rzi|.rmi|.rpi}{.s64|.u64}.f64"),
    row("f=r", "cvt{.rn|.rz|.rm|.rp}.f32{.s32|.u32}"),
    row("f=l", "cvt{.rn|.rz|.rm|.rp}.f32{.s64|.u64}"),
    row("d=r", "cvt{.rn|.rz|.rm|.rp}.f64{.s32|.u32}"),
    row("d=l", "cvt{.rn|.rz|.rm|.rp}.f64{.s64|.u64}"),
    // The same chapter: 16 bits. ptxas takes `.rm` and `.rp` to bf16 from sm_80; the PTX ISA promises them from sm_90.
    // No `.ftz` to f16: ptxas takes it, and what it makes does not flush.
    row("h=f", "cvt{.rn|.rz|.rm|.rp}{|.sat}.f16.f32"),
    since("h=f", "cvt{.rn|.rz}.relu.f16.f32", 80, (7, 0)),
    since("h=f", "cvt{.rn|.rz}{|.relu}.satfinite.f16.f32", 80, (8, 1)),
    row("h=d", "cvt{.rn|.rz|.rm|.rp}.f16.f64"),
    since("r=ff", "cvt{.rn|.rz}{|.relu}{.f16x2|.bf16x2}.f32", 80, (7, 0)),
    since("r=ff", "cvt{.rn|.rz}{|.relu}.satfinite{.f16x2|.bf16x2}.f32", 80, (8, 1)),
    row("f=h", "cvt.f32.f16"),
    since("h=f", "cvt{.rn|.rz}{|.relu}.bf16.f32", 80, (7, 0)),
    since("h=f", "cvt{.rn|.rz}{|.relu}.satfinite.bf16.f32", 80, (8, 1)),
    since("h=f", "cvt{.rm|.rp}.bf16.f32", 90, (7, 8)),
    since("h=d", "cvt{.rn|.rz|.rm|.rp}.bf16.f64", 90, (7, 8)),
    row("h=h", "cvt{.rni|.rzi|.rmi|.rpi}.f16.f16"),
    row("r=h", "cvt{.rni|.rzi|.rmi|.rpi}{.s32|.u32}.f16"),
    row("l=h", "cvt{.rni|.rzi|.rmi|.rpi}{.s64|.u64}.f16"),
    row("h=r", "cvt{.rn|.rz|.rm|.rp}.f16{.s32|.u32}"),
    row("h=l", "cvt{.rn|.rz|.rm|.rp}.f16{.s64|.u64}"),
    since("h=r", "cvt{.rn|.rz|.rm|.rp}.bf16{.s32|.u32}", 90, (7, 8)),
    since("h=l", "cvt{.rn|.rz|.rm|.rp}.bf16{.s64|.u64}", 90, (7, 8)),
    // The same chapter: 8 bits, and the tensor cores' 19.
    since("h=ff", "cvt.rn.satfinite{|.relu}{.e4m3x2|.e5m2x2}.f32", 89, (8, 1)),
    since("h=r", "cvt.rn.satfinite{.e4m3x2|.e5m2x2}.f16x2", 89, (8, 1)),
    since("r=h", "cvt.rn.f16x2{.e4m3x2|.e5m2x2}", 89, (8, 1)),
    since("r=f", "cvt.rna.tf32.f32", 80, (7, 0)),
    since("r=f", "cvt.rna.satfinite.tf32.f32", 80, (8, 1)),
    since("r=f", "cvt{.rn|.rz}{|.relu}.tf32.f32", 90, (7, 8)),
];
