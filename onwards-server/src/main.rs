//! The binary. All it does is in the library, where it can be tested and reused.

use std::process::ExitCode;

/// Many small, short-lived buffers from several threads are what this allocator is for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    onwards_server::cli::main()
}
