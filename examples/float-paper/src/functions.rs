//! Chapter 4: functions that are not correctly rounded.

use anyhow::Result;
use float_paper::{cosine, cosine_single};

use crate::gpu::Gpu;
use crate::table::{Number, Row, Section};

/// §4.1: the cosine of figure 6. The value is close to 0, where the argument's reduction shows.
pub fn accuracy(gpu: Option<&Gpu>) -> Result<Section> {
    const X: f64 = 5_992_555.0;
    // The correctly rounded cosines, by arithmetic of arbitrary precision.
    let (double, single) = (f64::from_bits(0x3E96_4945_4BAD_E22A), f32::from_bits(0x34B2_4A2A));
    let on_gpu = Gpu::one(gpu, |r| cosine(X, r))?;
    // CUDA C++ Programming Guide, "Mathematical Functions": within 2 ULP, as `cosf` and as the paper says of `sin`.
    let rows = vec![
        Row::new("cos(5992555.0), -m64", "3.320904615e-07", double).within(2).cpu(X.cos()).gpu(on_gpu),
        Row::new("the same, as C prints it", "3.320904615e-07", double)
            .within(2)
            .shown(Number::ten_digits)
            .cpu(X.cos())
            .gpu(on_gpu),
        Row::new("cosf(5992555.0f)", "", single)
            .within(2)
            .cpu((X as f32).cos())
            .gpu(Gpu::one(gpu, |r| cosine_single(X as f32, r))?),
    ];
    // gcc -m32 takes x87's own instruction, which reduces the argument with too few digits of pi.
    let x87 = 3.320_904_692e-07;
    Ok(Section::new("4.1 Mathematical Function Accuracy, figure 6", rows).note(
        format!("The paper's other value, of gcc -m32, is {x87:e}: wrong from the ninth digit on."),
        Number::Double(x87).ten_digits() != Number::Double(double).ten_digits(),
    ))
}
