//! The embedded language model: any GGUF file, in this process.
