use super::*;

#[test]
fn text_can_stand_anywhere_in_xml() {
    assert_eq!(
        escaped("a < b & \"c\" > 'd'"),
        "a &lt; b &amp; &quot;c&quot; &gt; &apos;d&apos;"
    );
    assert_eq!(escaped("a\u{0}\u{1b}[1mb\u{ffff}\nc"), "ab\u{fffd} c");
}
