//! Arithmetic of the hash table, shared by the build script that fills it and the program that reads it.

/// An empty slot.
pub(crate) const EMPTY: u32 = u32::MAX;

/// Length of the longest token in any vocabulary; the build script checks it.
pub(crate) const TOKEN_BYTES_MAX: usize = 128;

/// First slot to search for a token.
// FNV-1a, computed here so that the build script and the program agree for certain.
pub(crate) fn first_slot(token: &[u8], slots: usize) -> usize {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = token.iter().fold(OFFSET, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    // The low bits of this hash are the weak ones.
    let mixed = (hash ^ (hash >> 32)).to_le_bytes();
    let low = u32::from_le_bytes([mixed[0], mixed[1], mixed[2], mixed[3]]);
    low as usize & (slots - 1)
}

/// The slot to search after `slot`.
pub(crate) const fn next_slot(slot: usize, slots: usize) -> usize {
    (slot + 1) & (slots - 1)
}
