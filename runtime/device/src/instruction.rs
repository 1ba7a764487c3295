//! How an operation becomes one instruction.

/// An instruction's value on the GPU, by its symbol, and the last argument's on the host.
macro_rules! instruction {
    ($symbol:literal, ($($operand:ident: $from:ty),*) -> $to:ty, $host:expr) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            unsafe extern "C" {
                #[link_name = $symbol]
                safe fn instruction($(_: $from),*) -> $to;
            }
            instruction($($operand),*)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        $host
    }};
}

/// Inline PTX, as `ptx_codegen::intrinsics::assembly` reads it: `kind; results; operands; text`, then results as
/// pointers behind the operands.
#[cfg(target_arch = "nvptx64")]
macro_rules! assembly {
    ($name:expr; ($($operand:expr => $ty:ty),* $(,)?)) => {{
        unsafe extern "C" {
            #[link_name = $name]
            fn assembly($(_: $ty),*);
        }
        assembly($($operand),*)
    }};
}
