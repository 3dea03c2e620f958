//! Any reply is taken apart within bounds. What a whole parser reads as an object is found as that object, and a payload
//! that is written down is read as the same payload, also after thoughts.
#![no_main]

use fathom_programs::phases::{MARK, read};
use fathom_programs::reply::{LEVELS_MAX, first_object};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// How deep a value is nested.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(entries) => 1 + entries.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Whether it holds a number that may be rounded when it is written and read.
fn has_fractions(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(entries) => entries.iter().any(has_fractions),
        Value::Object(members) => members.values().any(has_fractions),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fuzz_target!(|reply: &[u8]| {
    let reply = String::from_utf8_lossy(reply);
    if let Ok(whole @ Value::Object(_)) = serde_json::from_str::<Value>(&reply)
        && levels(&whole) <= usize::from(LEVELS_MAX)
    {
        assert_eq!(first_object(&reply).map(Value::Object), Some(whole));
    }

    let reading = read(&reply);
    let braces = reply.matches('{').count() + reply.matches(MARK).count();
    assert!(reading.stated.len() <= reply.len());
    if braces == 0 {
        assert!(reading.payload.is_none() && reading.stated.is_empty());
    }

    let Some(payload) = reading.payload else {
        return;
    };
    let written = Value::Object(payload.clone());
    if has_fractions(&written) {
        return;
    }
    let fenced = format!("Here it is:\n```json\n{written:#}\n```\n");
    let thought = format!("<think>\nPerhaps {{\"next_phase\":\"b\"}}?\n</think>\n{written}");
    for text in [written.to_string(), fenced, thought] {
        assert_eq!(read(&text).payload.as_ref(), Some(&payload));
    }
});
