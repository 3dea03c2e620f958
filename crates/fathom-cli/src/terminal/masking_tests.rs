use super::*;
use crate::terminal::plain_text::{clip, clip_front, fold, one_line, safe, visible, wrap};
use crate::terminal::styled_line::{self, LineStyle, StyledLine};

/// Made up, and right in form: each would be found by its check.
const VALUES: [(&str, &str); 7] = [
    ("ann@example.org", "[email]"),
    ("4111 1111 1111 1111", "[card]"),
    ("DE89 3704 0044 0532 0130 00", "[iban]"),
    ("536-90-4399", "[us_ssn]"),
    ("ghp_016C7e2fBLAq4XAOVtYvSNlRuCDXWz1ebx9T", "[secret]"),
    ("203.0.113.77", "[ip]"),
    (
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "[jwt]",
    ),
];

#[test]
fn g10_values_are_masked_once_and_stay_masked() {
    for (value, mark) in VALUES {
        let once = masked(value).into_owned();
        assert_eq!(once, mark);
        assert_eq!(masked(&once), mark);
    }
    for text in [
        "password: Hunter2!x",
        "api_key = q7Rt2Yp9Lm4Xc8Vb1Nz6",
        "postgres://ann:Hunter2@db.example.org/x",
        "Bearer abcdEFGH1234ijklMNOP5678",
        "born on 12 March 1984",
    ] {
        let once = masked(text).into_owned();
        assert_ne!(once, text);
        assert_eq!(masked(&once), once);
    }
}

/// Fathom's own output contains text that looks like numbers and keys.
#[test]
fn g10_what_only_looks_like_data_survives() {
    for text in [
        "019a8c1e-7b3f-7c41-9d2e-5f60718293a4  ok  2m ago  openai/gpt-4.1-mini",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "2026-11-16T15:43:34Z  2026-11-16 15:43:34",
        "0 12ms  1,204 tok  $0.000312  300s  0600  v1.95.0  0.1.0",
        "charters/gaia/charter.toml:12  data/fathom/journal.db",
        "cannot reach http://127.0.0.1:8080/v1, nor [::1]:80, nor 0.0.0.0",
        "local/qwen2.5-1.5b-instruct-q4_k_m.gguf",
        "calls 12 of 64   tokens 3456 of 200000   episodes 3",
        "error[F0104]: `--at` takes SEQ or EPISODE:SEQ",
        "set it with `export OPENAI_API_KEY=…`, or name another variable with `--api-key-env`",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn g10_nothing_is_cut_before_it_is_masked() {
    for (value, mark) in VALUES {
        let text = format!("It is {value} and that is all there is to say about it.");
        // Wide enough for the mark, too narrow for the value.
        let width = "It is ".len() + mark.len() + 3;
        let cuts = [
            clip(&text, width),
            clip_front(&text, width + 40),
            fold(&text, width).join("\n"),
            wrap(&text, width).join("\n"),
            StyledLine::from(text.as_str()).clipped(width).plain(),
            safe(&text),
            one_line(&text),
            visible(&text),
        ];
        let beginning = value.get(..9).unwrap_or(value);
        for cut in cuts {
            assert!(!cut.contains(beginning), "{cut}");
        }
    }
}

#[test]
fn g10_a_value_that_goes_over_pieces_and_lines_is_masked() {
    let lines = [
        StyledLine::from("password: ")
            .with(LineStyle::Strong, "Hunter2!x")
            .with(LineStyle::Faint, " of Ann"),
        StyledLine::new().with(LineStyle::Good, "ok"),
        StyledLine::from("card 4111 1111 ")
            .with(LineStyle::Bad, "1111 1111")
            .with(LineStyle::Busy, ", then"),
        StyledLine::from("write to ann").with(LineStyle::Odd, "@example.org"),
    ];
    let shown = styled_line::masked(&lines);
    let plain: Vec<String> = shown.iter().map(StyledLine::plain).collect();
    assert_eq!(
        plain,
        [
            "password: [password] of Ann",
            "ok",
            "card [card], then",
            "write to [email]"
        ]
    );
    // What was not touched keeps its tone.
    assert_eq!(shown.get(1), lines.get(1));
    assert!(
        shown[0].styled().contains("\u{1b}[2m of Ann\u{1b}[0m"),
        "{:?}",
        shown[0]
    );
    assert!(
        shown[2].styled().contains("\u{1b}[36m, then\u{1b}[0m"),
        "{:?}",
        shown[2]
    );
}

#[test]
fn g10_a_key_of_many_lines_is_one_mark() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let key = [
        "-----BEGIN PRIVATE KEY-----",
        body,
        body,
        "-----END PRIVATE KEY-----",
    ];
    let lines: Vec<StyledLine> = ["before"]
        .into_iter()
        .chain(key)
        .chain(["after"])
        .map(StyledLine::from)
        .collect();
    let shown = styled_line::masked(&lines);
    let plain: Vec<String> = shown.iter().map(StyledLine::plain).collect();
    assert_eq!(plain, ["before", "[private_key]", "after"]);
}

#[test]
fn g10_json_stays_json() {
    let json = serde_json::json!({
        "run": "019a8c1e-7b3f-7c41-9d2e-5f60718293a4",
        "answer": "Write to \"ann@example.org\"\nsoon \\ now.",
        "password": "Hunter2!x",
        "spent": { "tokens": 4_111_111_111_111_111_u64, "cost": 0.25 },
        "list": ["a", "ann@example.org", null, true],
        "ann@example.org": 1,
        "nested": "{\"to\":\"ann@example.org\"}",
    });
    for text in [json.to_string(), format!("{json:#}")] {
        let shown: serde_json::Value = serde_json::from_str(&masked_json(&text)).unwrap();
        assert_eq!(
            shown,
            serde_json::json!({
                "run": "019a8c1e-7b3f-7c41-9d2e-5f60718293a4",
                "answer": "Write to \"[email]\"\nsoon \\ now.",
                "password": "[password]",
                "spent": { "tokens": 4_111_111_111_111_111_u64, "cost": 0.25 },
                "list": ["a", "[email]", null, true],
                "[email]": 1,
                "nested": "{\"to\":\"[email]\"}",
            })
        );
    }
    // What is untouched is the same to the byte.
    let ours = r#"{"a":"\u00e9\/ \"x\"","b":[1,2.50]}"#;
    assert_eq!(masked_json(ours), ours);
}

#[test]
fn g10_of_a_text_on_its_way_no_half_a_value_is_shown() {
    let text = "Done. Write to ann@example.org today. More";
    for end in 0..text.len() {
        let shown = masked_so_far(&text[..end]);
        assert!(!shown.contains("ann"), "{shown}");
    }
    assert!(masked_so_far(text).contains("[email] today."));
}

#[test]
fn g10_the_docs_list_what_leaves_as_it_is() {
    let docs = include_str!("../../../../docs/redaction.md");
    for original in Unmasked::ALL {
        let command = format!("| `{}", original.command());
        assert!(docs.contains(&command), "{command}");
    }
    let rows = docs
        .lines()
        .filter(|line| line.starts_with("| `fathom "))
        .count();
    assert_eq!(rows, Unmasked::ALL.len());
}
