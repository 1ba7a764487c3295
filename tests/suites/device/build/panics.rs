//! Compiles what panics in debug and in release, with every strategy; and what goes on when a thread has panicked.

use ptx_build::{AfterPanic, Builder, DebugLevel, PanicStrategy};

pub fn build() {
    for (profile, name) in [("dev", "debug"), ("release", "release")] {
        for strategy in [PanicStrategy::Full, PanicStrategy::Location, PanicStrategy::Trap] {
            let image = format!("panics_{name}_{}", strategy.name());
            Builder::new()
                .kernels("../../kernels/panics")
                .profile(profile)
                .panic(strategy)
                .after_panic(AfterPanic::Trap)
                .name(image)
                .build();
        }
    }
    for (profile, name, strategy) in [
        ("dev", "debug", PanicStrategy::Full),
        ("release", "release", PanicStrategy::Full),
        ("release", "release", PanicStrategy::Location),
    ] {
        let build = |folder: &str, image: String| {
            let builder = Builder::new().kernels(folder).profile(profile).panic(strategy);
            builder.after_panic(AfterPanic::Exit).name(image).build();
        };
        build("../../kernels/panics", format!("panics_{name}_{}_exit", strategy.name()));
        build("../../kernels/survive", format!("survive_{name}_{}", strategy.name()));
    }
    // For profilers.
    let lines = Builder::new().kernels("../../kernels/survive").profile("release").debug_level(DebugLevel::LineTables);
    lines.after_panic(AfterPanic::Exit).name("survive_lines").build();
    let stack = Builder::new().kernels("../../kernels/stack").profile("release").after_panic(AfterPanic::Exit);
    stack.name("stack_release_exit").build();
}
