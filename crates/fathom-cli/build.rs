//! Adds the few lines of C that tell the allocator to give large blocks back. Nothing calls what runs by itself, so all of it is linked.

fn main() {
    println!("cargo::rerun-if-changed=src/allocator.c");
    cc::Build::new()
        .file("src/allocator.c")
        .link_lib_modifier("+whole-archive")
        .compile("fathom_allocator");
}
