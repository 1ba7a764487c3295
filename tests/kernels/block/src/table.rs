//! Which kernels there are: of each, its type, the threads of a block, and items of a thread.

macro_rules! reductions {
    ($callback:ident) => {
        $callback! {
            reduce_u8_32 u8 32 4;
            reduce_u32_64 u32 64 1;
            reduce_u32_96 u32 96 2;
            reduce_i32_256 i32 256 4;
            reduce_u64_128 u64 128 2;
            reduce_f32_256 f32 256 8;
            reduce_f32_512 f32 512 1;
            reduce_f64_384 f64 384 1;
            reduce_i32_1024 i32 1024 1;
        }
    };
}

macro_rules! scans {
    ($callback:ident) => {
        $callback! {
            scan_u8_32 u8 32 4;
            scan_u32_64 u32 64 1;
            scan_u32_96 u32 96 2;
            scan_i32_256 i32 256 4;
            scan_u64_128 u64 128 2;
            scan_f32_256 f32 256 8;
            scan_f32_512 f32 512 1;
            scan_f64_384 f64 384 1;
            scan_i32_1024 i32 1024 1;
        }
    };
}

macro_rules! exchanges {
    ($callback:ident) => {
        $callback! {
            exchange_u8_32 u8 32 8;
            exchange_u32_64 u32 64 1;
            exchange_u32_96 u32 96 3;
            exchange_i32_256 i32 256 4;
            exchange_u64_128 u64 128 2;
            exchange_f32_512 f32 512 4;
            exchange_f64_1024 f64 1024 1;
        }
    };
}

macro_rules! sorts {
    ($callback:ident) => {
        $callback! {
            sort_u8_32 u8 32 4;
            sort_u32_64 u32 64 1;
            sort_u32_96 u32 96 3;
            sort_i32_256 i32 256 4;
            sort_u64_128 u64 128 2;
            sort_f32_256 f32 256 8;
            sort_f64_512 f64 512 1;
            sort_i16_128 i16 128 4;
            sort_u32_1024 u32 1024 1;
        }
    };
}

macro_rules! orders {
    ($callback:ident) => {
        $callback! {
            order_u8_32 u8 32 4;
            order_u32_64 u32 64 1;
            order_i32_256 i32 256 4;
            order_u64_128 u64 128 2;
            order_u32_512 u32 512 1;
            order_u32_128 u32 128 6;
        }
    };
}
