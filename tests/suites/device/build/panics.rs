//! Compiles what panics in debug and in release, with every strategy.

use ptx_build::{Builder, PanicStrategy};

pub fn build() {
    for (profile, name) in [("dev", "debug"), ("release", "release")] {
        for strategy in [PanicStrategy::Full, PanicStrategy::Location, PanicStrategy::Trap] {
            let image = format!("panics_{name}_{}", strategy.name());
            Builder::new().kernels("../../kernels/panics").profile(profile).panic(strategy).name(image).build();
        }
    }
}
