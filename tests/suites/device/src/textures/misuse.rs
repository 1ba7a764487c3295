//! What is refused before the driver sees it, and the store that ends a launch.

use std::process::{Command, ExitCode};

use ptx::prelude::*;
use ptx::texture::{
    Address, Array1d, Array2d, Array3d, ArrayCube, Mipmapped, Sampling, TextureError, TwoD, linear, pitch, pitched,
};
use ptx::{Error, Result};
use ptx_texture_kernels as kernels;

use super::module::load;
use crate::gpu::{Gpu, gpu};
use crate::record::{Test, test};

/// The test that runs in a process of its own.
pub const TRAPPED: &str = "surfaces: store outside that traps";

pub fn tests() -> Vec<Test> {
    vec![
        test("textures: misuse is told of", misuse),
        test(TRAPPED, |_| {
            let program = std::env::current_exe().expect("a running program has a path");
            let output = Command::new(program).args(["--child", TRAPPED]).output().expect("it starts");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("the context is lost"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        }),
    ]
}

/// Why it was refused.
#[track_caller]
fn refused<T>(result: Result<T>) -> TextureError {
    match result {
        Err(Error::Texture(reason)) => reason,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was not refused"),
    }
}

fn misuse(gpu: &Gpu) {
    let device = &gpu.device;
    let nearest = Sampling::nearest();
    let extent = |reason| match reason {
        TextureError::Extent { axis, extent, .. } => (axis, extent),
        other => panic!("{other}"),
    };
    assert_eq!(extent(refused(Array2d::<f32>::zeroed(device, (4, 0)))), ("height", 0));
    assert_eq!(extent(refused(Array1d::<u8>::zeroed(device, 1 << 30))), ("width", 1 << 30));
    assert_eq!(extent(refused(Array3d::<u8>::zeroed(device, (1, 1, 1 << 20)))), ("depth", 1 << 20));
    assert_eq!(extent(refused(ArrayCube::<u8>::zeroed(device, 0))), ("width", 0));
    assert!(matches!(
        refused(Array2d::upload(device, (4, 3), &[0.0_f32; 11])),
        TextureError::Len { needed: 12, found: 11, .. }
    ));
    let integers = Array2d::<u32>::zeroed(device, (4, 4)).unwrap();
    assert_eq!(refused(integers.texture(&Sampling::linear())), TextureError::FilterOfIntegers);
    let wrap = nearest.address(Address::Wrap);
    assert_eq!(refused(integers.texture(&wrap)), TextureError::AddressUnnormalized { mode: "Wrap" });
    assert_eq!(refused(integers.texture(&nearest.srgb())), TextureError::Srgb);
    assert_eq!(refused(integers.texture(&nearest.anisotropy(32))), TextureError::Anisotropy(32));
    let levels = refused(Mipmapped::<TwoD, f32>::zeroed(device, (8, 4), 5));
    assert!(matches!(levels, TextureError::Levels { levels: 5, limit: 4, .. }));
    let mut mipmapped = Mipmapped::<TwoD, f32>::zeroed(device, (8, 4), 2).unwrap();
    assert_eq!(refused(mipmapped.surface(2)), TextureError::Level { level: 2, last: 1 });
    assert_eq!(refused(mipmapped.texture(&nearest)), TextureError::MipmapsUnnormalized);
    let memory = device.upload(&[0_u8; 4096]).unwrap();
    assert!(matches!(refused(linear::<u8>(device, &memory.slice(1..))), TextureError::Alignment { offset: 1, .. }));
    let least = pitch::<u8>(device, 33).unwrap();
    let odd = refused(pitched::<u8>(device, &memory, (33, 4), least + 1, &nearest));
    assert!(matches!(odd, TextureError::Pitch { width: 33, .. }));
    let narrow = refused(pitched::<u8>(device, &memory, (least + 1, 4), least, &nearest));
    assert!(matches!(narrow, TextureError::Pitch { .. }));
    let short = refused(pitched::<u8>(device, &memory, (33, 4097), least, &nearest));
    assert!(matches!(short, TextureError::Len { found: 4096, .. }));
}

/// Prints what a store outside of a surface ends with.
pub fn child() -> ExitCode {
    let Ok(gpu) = gpu() else { return ExitCode::FAILURE };
    let module = load(gpu);
    let mut array = Array2d::<f32>::zeroed(&gpu.device, (4, 4)).expect("it is small");
    let surface = array.surface().expect("it is small");
    let launched = kernels::write_trapped(&surface).launch(&module, Grid::new(1, 1));
    match launched.and_then(|()| gpu.device.synchronize()) {
        Err(Error::ContextLost { .. }) => println!("the context is lost"),
        other => println!("{other:?}"),
    }
    ExitCode::SUCCESS
}
