//! Errors of a macro's input.

use syn::spanned::Spanned;

/// Collects errors, so that all of them are shown at once.
#[derive(Default)]
pub struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds an error at this place.
    pub fn add(&mut self, at: impl Spanned + quote::ToTokens, message: &str) {
        self.combine(syn::Error::new_spanned(at, message));
    }

    /// Adds the errors that `error` holds.
    pub fn combine(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns all errors together, if there are any.
    pub fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
