//! The errors that LLVM reports beside a function's result; its own handler would end the process.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::rc::Rc;

use inkwell::context::AsContextRef;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef};

/// Collects LLVM's error messages while it lives.
pub struct Errors<'ctx> {
    context: LLVMContextRef,
    messages: Rc<RefCell<Vec<String>>>,
    /// It takes its handler from the context again when it is dropped.
    lives: PhantomData<&'ctx ()>,
}

impl<'ctx> Errors<'ctx> {
    /// From now on.
    pub fn collect(context: impl AsContextRef<'ctx>) -> Self {
        let context = context.as_ctx_ref();
        let messages = Rc::new(RefCell::new(Vec::new()));
        // SAFETY: `messages` lives until `drop` takes the handler away.
        unsafe {
            let target = Rc::as_ptr(&messages).cast_mut().cast();
            LLVMContextSetDiagnosticHandler(context, Some(on_diagnostic), target);
        }
        Self { context, messages, lives: PhantomData }
    }

    /// What there was so far; a sentence where there was nothing.
    pub fn text(&self) -> String {
        let messages = self.messages.borrow();
        if messages.is_empty() { "no reason given".into() } else { messages.join("; ") }
    }

    /// The result, unless LLVM reported errors: then it is not to be trusted.
    pub fn or<T>(self, result: Result<T, String>) -> Result<T, String> {
        if self.messages.borrow().is_empty() { result } else { Err(self.text()) }
    }
}

impl Drop for Errors<'_> {
    fn drop(&mut self) {
        // SAFETY: the context lives; a handler with no target is always valid.
        unsafe { LLVMContextSetDiagnosticHandler(self.context, Some(on_diagnostic), std::ptr::null_mut()) };
    }
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, target: *mut c_void) {
    // SAFETY: LLVM passes a live record; the target is null or the list of a living `Errors`, which nobody borrows now.
    unsafe {
        if target.is_null() || LLVMGetDiagInfoSeverity(info) != LLVMDiagnosticSeverity::LLVMDSError {
            return;
        }
        let text = LLVMGetDiagInfoDescription(info);
        let messages = &*target.cast::<RefCell<Vec<String>>>();
        messages.borrow_mut().push(CStr::from_ptr(text).to_string_lossy().into_owned());
        LLVMDisposeMessage(text);
    }
}
