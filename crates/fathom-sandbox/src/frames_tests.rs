use super::*;

fn printed(head: &str, tail: Option<&str>, bytes: u64) -> String {
    let tail = tail.map_or(String::new(), |tail| format!(r#", "tail": "{tail}""#));
    format!(r#"{{"end": {{"cell": 1, "output": {{"head": "{head}"{tail}, "bytes": {bytes}}}}}}}"#)
}

fn kept(json: &str, bytes_max: u32) -> CellOutput {
    match FromWorker::parse(json.as_bytes()).unwrap() {
        FromWorker::End { output, .. } => output.kept(bytes_max),
        other => panic!("{other:?}"),
    }
}

#[test]
fn output_is_cut_to_its_limit_in_whole_characters_whatever_a_worker_says() {
    let output = kept(&printed("äöü", None, 0), 5);
    assert_eq!((output.head.as_str(), output.bytes), ("äö", 4));
    let output = kept(&printed("abcdef", Some("xyzä"), u64::MAX), 6);
    assert_eq!(output.head.as_str(), "abc");
    assert_eq!(output.tail.unwrap().as_str(), "zä");
    assert_eq!(output.bytes, u64::MAX);
}

#[test]
fn a_text_of_a_worker_is_plain_and_never_an_address() {
    let address = "0".repeat(64);
    let sealed = format!(
        r#"{{"submit": {{"cell": 1, "value": {{"form": "text", "text": {{"sealed": "{address}"}}}}}}}}"#
    );
    assert!(FromWorker::parse(sealed.as_bytes()).is_err());
    let plain = sealed.replace(&format!(r#"{{"sealed": "{address}"}}"#), r#""x""#);
    assert!(FromWorker::parse(plain.as_bytes()).is_ok());
}

#[test]
fn an_answer_is_told_in_plain_words_even_when_its_text_is_sealed() {
    let mut text = Text::new("plain");
    text.seal(fathom_core::id::Digest([7; 32]));
    let reply = CellReply::Each(vec![CellOutcome::Said(text)]);
    let frame = encode(&ToWorker::Answer {
        id: 3,
        reply: (&reply).into(),
    });
    assert_eq!(
        frame[..4],
        u32::to_be_bytes(u32::try_from(frame.len()).unwrap() - 4)
    );
    assert_eq!(
        std::str::from_utf8(&frame[4..]).unwrap(),
        r#"{"answer":{"id":3,"reply":{"each":[{"said":"plain"}]}}}"#
    );
}

#[test]
fn what_is_not_listed_or_too_much_is_no_message() {
    let many = format!(
        r#"{{"ask": {{"cell": 1, "id": 1, "call": {{"query": {{"prompts": [{}""]}}}}}}}}"#,
        r#""","#.repeat(BATCH_MAX)
    );
    for json in [
        "",
        "null",
        "[]",
        r#"{"ask": {"cell": 1, "id": -1, "call": "budget"}}"#,
        r#"{"ask": {"cell": 1, "id": 1, "call": "shell"}}"#,
        r#"{"ask": {"cell": 1, "id": 1, "call": "budget", "more": 1}}"#,
        r#"{"ask": {"cell": 1, "id": 1, "call": "budget"}} {}"#,
        r#"{"end": {"cell": 1}}"#,
        many.as_str(),
    ] {
        assert!(FromWorker::parse(json.as_bytes()).is_err(), "{json:.80}");
    }
    let fits = many.replacen(r#""","#, "", 1);
    assert!(FromWorker::parse(fits.as_bytes()).is_ok());
}

#[test]
fn r03_a_value_may_have_so_many_bytes_and_no_more() {
    let submit = |bytes| {
        let text = "x".repeat(bytes);
        format!(r#"{{"submit": {{"cell": 1, "value": {{"form": "text", "text": "{text}"}}}}}}"#)
    };
    assert!(FromWorker::parse(submit(VALUE_BYTES_MAX).as_bytes()).is_ok());
    assert!(FromWorker::parse(submit(VALUE_BYTES_MAX + 1).as_bytes()).is_err());
}
