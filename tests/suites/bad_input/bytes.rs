//! Inputs as bytes: archives, and bitcode that no LLVM of ours writes.

/// An archive with these members.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, contents) in members {
        let name = format!("{name}/");
        bytes.extend_from_slice(
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, contents.len()).as_bytes(),
        );
        bytes.extend_from_slice(contents);
        if contents.len() % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// Bitcode that says that an LLVM of that name and epoch wrote it, with a module in a version nobody has (LLVM's
/// Bitcode File Format, "Identification block" and "Module block").
pub fn foreign_bitcode(producer: &str, epoch: u64) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.fixed(u64::from(u32::from_le_bytes([b'B', b'C', 0xc0, 0xde])), 32);
    let producer: Vec<u64> = producer.bytes().map(u64::from).collect();
    bits.block(13, &[(1, &producer), (2, &[epoch])]);
    bits.block(8, &[(1, &[99])]);
    bits.bytes
}

/// A bitstream under construction.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn fixed(&mut self, value: u64, width: u32) {
        for bit in 0..width {
            if self.used == 0 {
                self.bytes.push(0);
            }
            if value >> bit & 1 == 1 {
                *self.bytes.last_mut().expect("just pushed") |= 1 << self.used;
            }
            self.used = (self.used + 1) % 8;
        }
    }

    fn variable(&mut self, mut value: u64, width: u32) {
        let more = 1 << (width - 1);
        while value >= more {
            self.fixed(value & (more - 1) | more, width);
            value >>= width - 1;
        }
        self.fixed(value, width);
    }

    fn align(&mut self) {
        self.used = 0;
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
    }

    /// A block of unabbreviated records at the outermost level.
    fn block(&mut self, id: u64, records: &[(u64, &[u64])]) {
        const ENTER: u64 = 1;
        const END: u64 = 0;
        const UNABBREVIATED: u64 = 3;
        self.fixed(ENTER, 2);
        self.variable(id, 8);
        self.variable(3, 4);
        self.align();
        let length_at = self.bytes.len();
        self.fixed(0, 32);
        for (code, operands) in records {
            self.fixed(UNABBREVIATED, 3);
            self.variable(*code, 6);
            self.variable(operands.len() as u64, 6);
            operands.iter().for_each(|operand| self.variable(*operand, 6));
        }
        self.fixed(END, 3);
        self.align();
        let words = (self.bytes.len() - length_at - 4) / 4;
        self.bytes[length_at..length_at + 4].copy_from_slice(&(words as u32).to_le_bytes());
    }
}
