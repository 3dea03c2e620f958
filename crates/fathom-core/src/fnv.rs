//! A hash that is the same on every version and machine. It tells texts apart; it protects nothing.

/// FNV-1a over the bytes.
pub(crate) fn fnv1a(text: &str) -> u64 {
    // Offset basis and prime of the 64-bit form.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
