//! The program: everything it does is in [`lodeseek::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    lodeseek::cli::main()
}
