//! The command line's entry; everything is in [`ktrial::cli`].

fn main() -> std::process::ExitCode {
    ktrial::cli::main()
}
