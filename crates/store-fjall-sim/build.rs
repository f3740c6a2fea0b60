//! Says that this is the simulated build: a package of its own rather than a feature, which cargo would turn on for
//! the real store too whenever both are built.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cfg=simulated");
    println!("cargo::rerun-if-changed=build.rs");
}
