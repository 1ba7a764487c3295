//! A cubin as a file that gdb for x86-64 reads: statics get addresses, and what refers to them is resolved.
//!
//! In a cubin every section begins at address 0 and references are relocations, because the driver places things. gdb
//! knows neither the machine nor its relocations; what a static holds and how it is described is the same.

use object::endian::LittleEndian as Le;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{elf, pod};

type File = elf::FileHeader64<Le>;
type Section = elf::SectionHeader64<Le>;

/// Statics lie so far from the code that no address is taken for one of code.
const DATA: u64 = 1 << 40;

/// Where code begins; 0 would be removed code to gdb.
const CODE: u64 = 0x1000;

/// `R_CUDA_64` and `R_CUDA_G64`: an address, in all of memory or in global memory. ptxas uses no others here.
const ADDRESSES: [u32; 2] = [2, 4];

/// `R_CUDA_32`: offsets between debugging sections.
const OFFSET: u32 = 1;

/// The file for gdb.
pub fn of(cubin: &[u8]) -> Vec<u8> {
    let header = File::parse(cubin).expect("a cubin is an ELF file");
    let mut sections = header.section_headers(Le, cubin).expect("it has sections").to_vec();
    let table = header.sections(Le, cubin).expect("it has sections");
    let names: Vec<String> = (sections.iter())
        .map(|section| String::from_utf8_lossy(table.section_name(Le, section).expect("its name")).into_owned())
        .collect();
    let mut bytes = cubin.to_vec();
    place(&mut sections, &names, &mut bytes);

    let symbols = table.symbols(Le, cubin, elf::SHT_SYMTAB).expect("it has symbols");
    let address = |index: u32| {
        let symbol = symbols.symbol(object::SymbolIndex(index as usize)).expect("a symbol of this file");
        let section = sections.get(usize::from(symbol.st_shndx(Le).0)).map_or(0, |section| section.sh_addr(Le));
        section + symbol.st_value(Le)
    };
    for (section, name) in sections.iter().zip(&names) {
        if ![".rela.debug_info", ".rela.debug_line", ".rela.nv.global.init"].contains(&name.as_str()) {
            continue;
        }
        let (entries, _) = section.rela(Le, cubin).expect("it can be read").expect("it holds relocations");
        let target = sections[section.sh_info(Le) as usize].sh_offset(Le);
        for entry in entries {
            let at = usize::try_from(target + entry.r_offset.get(Le)).expect("a place in the file");
            let value = address(entry.r_sym(Le, false)).wrapping_add_signed(entry.r_addend.get(Le));
            match entry.r_type(Le, false).0 {
                ty if ADDRESSES.contains(&ty) => bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
                OFFSET => bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()[..4]),
                ty => panic!("{name} has a relocation of type {ty}"),
            }
        }
    }
    for (section, name) in sections.iter_mut().zip(&names) {
        let is_kept = section.sh_addr(Le) != 0
            || name.starts_with(".debug_") && name != ".debug_frame"
            || section.sh_type(Le) == elf::SHT_STRTAB;
        if !is_kept {
            section.sh_type.set(Le, elf::SHT_NULL);
            section.sh_flags.set(Le, elf::SectionFlags(0));
        }
    }
    let start = usize::try_from(header.e_shoff(Le)).expect("a place in the file");
    let table = pod::bytes_of_slice(&sections);
    bytes[start..start + table.len()].copy_from_slice(table);
    let (header, _) = pod::from_bytes_mut::<File>(&mut bytes).expect("it was read as one");
    header.e_machine.set(Le, elf::EM_X86_64);
    header.e_flags.set(Le, elf::FileFlags(0));
    header.e_phnum.set(Le, 0);
    header.e_ident.os_abi = elf::ELFOSABI_NONE;
    header.e_ident.abi_version = 0;
    bytes
}

/// Gives code and statics addresses, one behind the other. Statics of zeros get their zeros: gdb runs no program that
/// would.
fn place(sections: &mut [Section], names: &[String], file: &mut Vec<u8>) {
    let (mut code, mut data) = (CODE, DATA);
    for (section, name) in sections.iter_mut().zip(names) {
        let next = match name.as_str() {
            ".nv.global" => {
                section.sh_type.set(Le, elf::SHT_PROGBITS);
                section.sh_offset.set(Le, file.len() as u64);
                file.resize(file.len() + section.sh_size(Le) as usize, 0);
                &mut data
            }
            ".nv.global.init" | ".nv.constant3" => &mut data,
            name if name.starts_with(".text") => &mut code,
            _ => continue,
        };
        *next = next.next_multiple_of(section.sh_addralign(Le).max(16));
        section.sh_addr.set(Le, *next);
        *next += section.sh_size(Le);
        // Flags of NVIDIA's mean nothing to gdb.
        let known = elf::SHF_WRITE | elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        section.sh_flags.set(Le, section.sh_flags(Le) & known);
    }
}
