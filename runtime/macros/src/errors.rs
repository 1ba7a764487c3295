//! Errors of a macro's input.

use syn::spanned::Spanned;

/// Collects errors, so that all of them are shown at once.
#[derive(Default)]
pub struct Errors(Option<syn::Error>);

impl Errors {
    /// One more.
    pub fn add(&mut self, at: impl Spanned + quote::ToTokens, message: &str) {
        self.combine(syn::Error::new_spanned(at, message));
    }

    /// Those of another.
    pub fn combine(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// All of them, if there are any.
    pub fn finish(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
