//! Machine code as nvdisasm lists it: how many instructions a kernel has, and how many of them are in innermost loops.
//!
//! ```text
//! //--------------------- .text.sum --------------------------
//! sum:
//! .text.sum:
//!         /*0000*/                   MOV R1, c[0x0][0x28] ;
//! .L_x_1:
//!         /*0010*/                   FADD R2, R2, R3 ;
//!         /*0020*/               @P0 BRA `(.L_x_1) ;
//!         /*0030*/                   EXIT ;
//! ```

mod flow;
mod listing;

pub use flow::loops;
pub use listing::Listing;
