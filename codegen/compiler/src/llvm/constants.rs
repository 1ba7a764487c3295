//! What lies in the memory of a static that is constant, and how far places in one are from each other.

use inkwell::llvm_sys::core::{
    LLVMConstIntGetSExtValue, LLVMCountStructElementTypes, LLVMGetArrayLength2, LLVMGetAsString, LLVMGetConstOpcode,
    LLVMGetElementType, LLVMGetGEPSourceElementType, LLVMGetIntTypeWidth, LLVMGetNumOperands, LLVMGetOperand,
    LLVMGetTypeKind, LLVMIsAConstantAggregateZero, LLVMIsAConstantDataSequential, LLVMIsAConstantExpr,
    LLVMIsAConstantInt, LLVMIsConstantString, LLVMIsPackedStruct, LLVMIsUndef, LLVMStructGetTypeAtIndex, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};

use super::{AsValueRef, GlobalValue, IntValue, PointerValue, global_of};

/// The initializer of a static as bytes, with what its pointers point to.
#[derive(Debug, Default)]
pub struct Memory<'ctx> {
    /// Zero where there is nothing, and where a pointer is.
    pub bytes: Vec<u8>,
    /// By the offset.
    pub pointers: Vec<(usize, PointerValue<'ctx>)>,
}

impl<'ctx> Memory<'ctx> {
    /// The pointer at an offset.
    pub fn pointer(&self, offset: usize) -> Option<PointerValue<'ctx>> {
        self.pointers.iter().find(|(at, _)| *at == offset).map(|(_, pointer)| *pointer)
    }

    /// The number of so many bytes at an offset, the lowest first.
    pub fn number(&self, offset: usize, bytes: usize) -> Option<u64> {
        let bytes = self.bytes.get(offset..offset + bytes)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The slice at an offset: a pointer, and a length behind it.
    pub fn slice(&self, offset: usize) -> Option<Slice<'ctx>> {
        let len = usize::try_from(self.number(offset + 8, 8)?).ok()?;
        if len == 0 {
            return Some(Slice { global: None, memory: Memory::default(), len });
        }
        let global = self.pointer(offset).and_then(global_of)?;
        Some(Slice { global: Some(global), memory: constant_memory(global)?, len })
    }

    /// # Safety
    /// `value` must be a live constant.
    unsafe fn add(&mut self, value: LLVMValueRef) -> Option<()> {
        // SAFETY: by the caller, and operands and types of what is live are live; LLVM said of a string that it is one.
        unsafe {
            let ty = LLVMTypeOf(value);
            if LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMPointerTypeKind {
                self.pointers.push((self.bytes.len(), PointerValue::new(value)));
                self.bytes.extend([0; 8]);
            } else if !LLVMIsAConstantDataSequential(value).is_null() {
                // LLVM asks without looking whether it is such data.
                (LLVMIsConstantString(value) != 0).then_some(())?;
                let mut len = 0;
                let start = LLVMGetAsString(value, &mut len);
                self.bytes.extend(std::slice::from_raw_parts(start.cast::<u8>(), len));
            } else if LLVMIsUndef(value) != 0 || !LLVMIsAConstantAggregateZero(value).is_null() {
                let len = self.bytes.len().checked_add(size(ty)?).filter(|len| *len <= MOST_BYTES)?;
                self.bytes.resize(len, 0);
            } else {
                // Its size is known if it has elements and no gaps.
                let end = self.bytes.len().checked_add(size(ty)?)?;
                for at in 0..LLVMGetNumOperands(value).cast_unsigned() {
                    self.add(LLVMGetOperand(value, at))?;
                }
                (self.bytes.len() == end).then_some(())?;
            }
        }
        Some(())
    }
}

/// What a slice refers to.
pub struct Slice<'ctx> {
    /// None if the slice is empty.
    pub global: Option<GlobalValue<'ctx>>,
    /// What the static holds.
    pub memory: Memory<'ctx>,
    /// In elements.
    pub len: usize,
}

impl Slice<'_> {
    /// Those of a slice of bytes.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.memory.bytes.get(..self.len)
    }
}

/// No static that is read so is larger; of one of zeros a few bytes of bitcode say that it is.
const MOST_BYTES: usize = 16 << 20;

/// The memory of a static; `None` if it is not what rustc writes: bytes and pointers, one after the other.
pub fn constant_memory(global: GlobalValue<'_>) -> Option<Memory<'_>> {
    let mut memory = Memory::default();
    // SAFETY: an initializer is as live as its static.
    unsafe { memory.add(global.get_initializer()?.as_value_ref())? };
    Some(memory)
}

/// The bytes between two places of one static, if that is what a constant subtracts. LLVM folds it only where the static has
/// the address space of its pointers.
pub fn constant_distance(difference: IntValue<'_>) -> Option<i64> {
    if difference.get_type().get_bit_width() != 64 {
        return None;
    }
    // SAFETY: operands of what is live are live.
    unsafe {
        let [left, right] = operands(difference.as_value_ref(), LLVMOpcode::LLVMSub)?;
        let [[left], [right]] = [operands(left, LLVMOpcode::LLVMPtrToInt)?, operands(right, LLVMOpcode::LLVMPtrToInt)?];
        let ((left, above), (right, below)) = (place(left)?, place(right)?);
        (left == right).then(|| above.checked_sub(below)).flatten()
    }
}

/// What a constant address is counted from, and by how many bytes.
///
/// # Safety
/// `address` must be a live constant.
unsafe fn place(mut address: LLVMValueRef) -> Option<(LLVMValueRef, i64)> {
    let mut offset = 0_i64;
    // SAFETY: by the caller, and operands of what is live are live; each is asked what its kind has.
    unsafe {
        loop {
            if let Some([base, index]) = operands(address, LLVMOpcode::LLVMGetElementPtr) {
                let element = LLVMGetGEPSourceElementType(address);
                let is_byte =
                    LLVMGetTypeKind(element) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 8;
                (is_byte && !LLVMIsAConstantInt(index).is_null()).then_some(())?;
                offset = offset.checked_add(LLVMConstIntGetSExtValue(index))?;
                address = base;
            } else if let Some([base]) = operands(address, LLVMOpcode::LLVMAddrSpaceCast) {
                address = base;
            } else {
                return Some((address, offset));
            }
        }
    }
}

/// The operands of a constant that is computed so.
///
/// # Safety
/// `constant` must be live.
unsafe fn operands<const N: usize>(constant: LLVMValueRef, opcode: LLVMOpcode) -> Option<[LLVMValueRef; N]> {
    // SAFETY: by the caller; LLVM said that it is computed, and how many operands it has.
    unsafe {
        let is_so = !LLVMIsAConstantExpr(constant).is_null()
            && LLVMGetConstOpcode(constant) == opcode
            && usize::try_from(LLVMGetNumOperands(constant)) == Ok(N);
        is_so.then(|| std::array::from_fn(|at| LLVMGetOperand(constant, u32::try_from(at).expect("there are few"))))
    }
}

/// Bytes of a type without gaps.
///
/// # Safety
/// `ty` must be a live type.
unsafe fn size(ty: LLVMTypeRef) -> Option<usize> {
    // SAFETY: by the caller; each is asked what its kind has.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMPointerTypeKind => Some(8),
            LLVMTypeKind::LLVMIntegerTypeKind => Some(LLVMGetIntTypeWidth(ty) as usize / 8),
            LLVMTypeKind::LLVMArrayTypeKind => {
                usize::try_from(LLVMGetArrayLength2(ty)).ok()?.checked_mul(size(LLVMGetElementType(ty))?)
            }
            LLVMTypeKind::LLVMStructTypeKind if LLVMIsPackedStruct(ty) != 0 => {
                let mut sizes = (0..LLVMCountStructElementTypes(ty)).map(|at| size(LLVMStructGetTypeAtIndex(ty, at)));
                sizes.try_fold(0_usize, |sum, size| sum.checked_add(size?))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Context, function_of, parse_ir};
    use super::*;

    #[test]
    fn bytes_and_pointers_are_found() {
        let text = b"
            @text = constant [2 x i8] c\"ab\"
            @list = constant <{ [4 x i8], [4 x i8], ptr, [2 x i8], [6 x i8], ptr }>
                <{ [4 x i8] c\"\\01\\02\\00\\00\", [4 x i8] undef, ptr @text, [2 x i8] zeroinitializer, [6 x i8] undef, ptr @f }>
            @number = constant i32 7
            @large = constant [1099511627776 x i8] zeroinitializer
            @larger = constant [4611686018427387904 x [4611686018427387904 x i8]] undef
            declare void @f()
        ";
        let context = Context::create();
        let module = parse_ir(&context, text, "test").unwrap();
        let memory = constant_memory(module.get_global("list").unwrap()).unwrap();
        assert_eq!((memory.bytes.len(), memory.number(0, 4)), (32, Some(0x201)));
        assert_eq!(memory.pointer(8).and_then(global_of), module.get_global("text"));
        assert_eq!(memory.pointer(24).and_then(function_of), module.get_function("f"));
        assert!(memory.pointer(16).is_none() && memory.number(30, 4).is_none());
        assert_eq!(constant_memory(module.get_global("text").unwrap()).unwrap().bytes, b"ab");
        for name in ["number", "large", "larger"] {
            assert!(constant_memory(module.get_global(name).unwrap()).is_none(), "{name}");
        }
    }
}
