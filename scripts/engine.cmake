# Read by cmake right after each `project()` of the engine of the embedded model, by CMAKE_PROJECT_INCLUDE in .cargo/config.toml.
#
# The engine's helpers for command lines, chat formats and downloads are thirty files that take longer to compile than the
# engine itself, and nothing here calls them. The crate that builds the engine asks for them in any case: its features
# cannot be chosen through the one in between.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "helpers that nothing here calls" FORCE)
