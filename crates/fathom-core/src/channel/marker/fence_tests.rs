use super::*;

/// Whether a fence is open after each line.
fn open_after(text: &str) -> String {
    let mut fences = FenceTracker::default();
    text.split_inclusive('\n')
        .map(|line| {
            fences.push(line);
            match fences.open() {
                None => '-',
                Some(fence) => fence.mark(),
            }
        })
        .collect()
}

#[test]
fn fences_open_and_close_at_the_start_of_lines() {
    for (text, expected) in [
        ("```\na\n```\n", "``-"),
        ("~~~\na\n~~~\n", "~~-"),
        ("```rust ignore\n```\n", "`-"),
        ("   ```\n   ```\n", "`-"),
        // Four spaces make it code by itself.
        ("    ```\na\n", "--"),
        ("```\n    ```\n", "``"),
        // Two are too few; more than opened it close it.
        ("``\na\n", "--"),
        ("```\n``\n`````\n", "``-"),
        ("`````\n```\n`````\n", "``-"),
        // The other mark closes nothing.
        ("```\n~~~\n```\n", "``-"),
        ("~~~\n```\n~~~\n", "~~-"),
        // Nothing but blanks may follow what closes.
        ("```\n``` a\n``` \t\n", "``-"),
        // Code within a line is no fence; tildes may have backticks after them.
        ("```a``` b\n", "-"),
        ("~~~ a`b\n", "~"),
        ("```\r\na\r\n```\r\n", "``-"),
        // A carriage return within a line is no line end.
        ("```\r```\n", "-"),
        ("a ```\n", "-"),
        ("é```\n", "-"),
    ] {
        assert_eq!(open_after(text), expected, "{text:?}");
    }
}

#[test]
fn a_fence_knows_its_length() {
    let mut fences = FenceTracker::default();
    fences.push(&"~".repeat(1000));
    assert_eq!(fences.open(), None, "its line is not over");
    fences.push("\n");
    assert_eq!(fences.open().map(OpenFence::length), Some(1000));
}
