//! The hash table's arithmetic, shared by the build script that fills it and the program that reads it.

/// A slot that holds no rank.
pub(crate) const EMPTY: u32 = u32::MAX;

/// Longest token of any vocabulary, which the build script makes sure of.
pub(crate) const TOKEN_BYTES_MAX: usize = 128;

/// Where to look for a token first.
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

/// Where to look after `slot`.
pub(crate) const fn next_slot(slot: usize, slots: usize) -> usize {
    (slot + 1) & (slots - 1)
}
