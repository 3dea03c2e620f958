//! Lays out `OpenAI`'s vocabularies as tables that need no loading: the program reads them in place.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tiktoken_rs::CoreBPE;

#[path = "src/tokens/hash_slots.rs"]
mod slots;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script where to write by a variable"
)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/hash_slots.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    lay_out(&folder, "o200k", &tiktoken_rs::o200k_base()?)?;
    lay_out(&folder, "cl100k", &tiktoken_rs::cl100k_base()?)?;
    Ok(())
}

/// Writes three files: all tokens' bytes in a row, their offsets, and a hash table of ranks.
fn lay_out(folder: &Path, name: &str, vocabulary: &CoreBPE) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    let mut begins = vec![0_u32];
    // Ranks have no gap below the first special token, and special tokens are not counted in plain text.
    while let Ok(token) = vocabulary.decode_bytes(&[u32::try_from(begins.len() - 1)?]) {
        if token.len() > slots::TOKEN_BYTES_MAX {
            return Err(format!("{name} has a token of {} bytes", token.len()).into());
        }
        bytes.extend_from_slice(&token);
        begins.push(u32::try_from(bytes.len())?);
    }
    let tokens = begins.len() - 1;
    // A power of two, at most half full: most look-ups find nothing, and should find it soon.
    let mut table = vec![slots::EMPTY; (tokens * 2).next_power_of_two()];
    for rank in 0..tokens {
        let token = &bytes[begins[rank] as usize..begins[rank + 1] as usize];
        let mut slot = slots::first_slot(token, table.len());
        while table[slot] != slots::EMPTY {
            slot = slots::next_slot(slot, table.len());
        }
        table[slot] = u32::try_from(rank)?;
    }
    fs::write(folder.join(format!("{name}.bytes")), &bytes)?;
    fs::write(
        folder.join(format!("{name}.begins")),
        little_endian(&begins),
    )?;
    fs::write(folder.join(format!("{name}.slots")), little_endian(&table))?;
    Ok(())
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}
