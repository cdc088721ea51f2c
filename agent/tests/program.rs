//! The program that the library holds.

use ktrial_agent::{MACHINE, PROGRAM};

/// The type of an ELF program header that names an interpreter.
const PT_INTERP: u32 = 3;

#[test]
fn the_program_is_small_and_needs_nothing_of_its_host() {
    let program =
        PROGRAM.expect("a static program: the warnings of the build say why there is none");
    assert!(program.len() < 2 << 20, "{} bytes", program.len());
    assert_eq!(program[..4], *b"\x7fELF");
    assert_eq!(program[4], 2, "of 64 bits");
    let number = |at: usize, bytes: usize| {
        let bytes = &program[at..at + bytes];
        bytes
            .iter()
            .rev()
            .fold(0_usize, |n, b| n << 8 | usize::from(*b))
    };
    let (offset, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    assert!(count > 0);
    for header in 0..count {
        assert_ne!(number(offset + header * size, 4) as u32, PT_INTERP);
    }
    let uname = rustix::system::uname();
    assert_eq!(uname.machine().to_str().unwrap(), MACHINE);
}
