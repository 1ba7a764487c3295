//! Modules that are loaded once for each device, when they are first asked for.

use std::sync::{Mutex, PoisonError};

use crate::device::Device;
use crate::error::Result;
use crate::image::Image;
use crate::module::Module;

/// All that were loaded, for as long as the program runs.
static LOADED: Mutex<Vec<&'static Module>> = Mutex::new(Vec::new());

impl Device {
    /// The module of an image, which is loaded at the first call for this device, and stays loaded: what `ptx::module!` calls.
    ///
    /// Any thread may ask, and all get the same module. It keeps the device open until the program ends. To have memory
    /// back, [`load`](Self::load) a module and drop it.
    ///
    /// # Errors
    /// As of [`load`](Self::load); the next call tries again.
    pub fn module(&self, image: &Image) -> Result<&'static Module> {
        // A thread that panicked while it held the lock left the list whole. Held while one is loaded: nobody loads it twice.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let context = self.context().cu_ctx();
        let known = loaded.iter().find(|module| module.is_of(image) && module.device().context().cu_ctx() == context);
        if let Some(module) = known {
            return Ok(module);
        }
        let module: &'static Module = Box::leak(Box::new(self.load(image)?));
        loaded.push(module);
        Ok(module)
    }
}
