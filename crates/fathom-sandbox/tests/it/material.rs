//! What `context` is, for each kind of material.

use std::sync::Arc;

use fathom_core::sandbox::ValueFormat;
use fathom_sandbox::{MaterialContent, SandboxError, SandboxMaterial};

use crate::fixture::{printed, sandbox, text};

fn piece(name: &str, form: ValueFormat, content: &str) -> SandboxMaterial {
    SandboxMaterial {
        form,
        ..text(name, content)
    }
}

#[tokio::test]
async fn r01_each_form_is_the_value_it_describes() {
    let sandbox = sandbox();
    for (form, content, shown) in [
        (ValueFormat::Text, "grüß\ndich", "'grüß\\ndich'\n"),
        (ValueFormat::Text, "", "''\n"),
        (
            ValueFormat::Json,
            r#"{"a": [1, null]}"#,
            "{'a': [1, None]}\n",
        ),
        (
            ValueFormat::Lines,
            "{\"a\": 1}\n\n[2]\n",
            "[{'a': 1}, [2]]\n",
        ),
    ] {
        let context = sandbox.load(vec![piece("x", form, content)]).await.unwrap();
        let mut session = sandbox.session(&context, Vec::new());
        assert_eq!(printed(&mut session, "context").await, shown);
    }
}

#[tokio::test]
async fn r01_several_pieces_are_a_dictionary_by_name() {
    let sandbox = sandbox();
    let pieces = vec![
        text("a.txt", "one"),
        piece("b.json", ValueFormat::Json, "[1]"),
        SandboxMaterial {
            content: MaterialContent::Shared(Arc::new("shared".to_owned())),
            ..text("c", "")
        },
    ];
    let context = sandbox.load(pieces).await.unwrap();
    let mut session = sandbox.session(&context, Vec::new());
    assert_eq!(
        printed(&mut session, "context").await,
        "{'a.txt': 'one', 'b.json': [1], 'c': 'shared'}\n"
    );
}

#[tokio::test]
async fn r01_thousands_of_pieces_are_loaded_like_a_few() {
    let sandbox = sandbox();
    for content in ["short", &"long ".repeat(100)] {
        let names = (0..8_000).map(|number| format!("a/folder/with/a/long/name/file-{number}.txt"));
        let pieces = names.map(|name| text(&name, content)).collect();
        let context = sandbox.load(pieces).await.unwrap();
        let mut session = sandbox.session(&context, Vec::new());
        let code = "print(len(context), len(context['a/folder/with/a/long/name/file-7999.txt']))";
        assert_eq!(
            printed(&mut session, code).await,
            format!("8000 {}\n", content.len())
        );
    }
    let context = sandbox.load(Vec::new()).await.unwrap();
    let mut session = sandbox.session(&context, Vec::new());
    assert_eq!(printed(&mut session, "context").await, "{}\n");
}

#[tokio::test]
async fn r01_large_material_is_shared_and_each_session_has_it_as_it_was() {
    let sandbox = sandbox();
    let line = "{\"n\": 7, \"text\": \"some words\"}\n";
    let pieces = vec![piece("lines", ValueFormat::Lines, &line.repeat(60_000))];
    let context = sandbox.load(pieces).await.unwrap();
    let mut first = sandbox.session(&context, Vec::new());
    let mut second = sandbox.session(&context, Vec::new());
    assert_eq!(
        printed(
            &mut first,
            "print(len(context), context.pop())\ncontext.clear()"
        )
        .await,
        "60000 {'n': 7, 'text': 'some words'}\n"
    );
    assert_eq!(printed(&mut second, "len(context)").await, "60000\n");
    assert_eq!(printed(&mut first, "len(context)").await, "0\n");
}

#[tokio::test]
async fn material_that_is_no_json_or_no_text_is_refused_with_its_name() {
    let sandbox = sandbox();
    let large = format!("\"{}\"\n", "x".repeat(1 << 20));
    for material in [
        piece("bad", ValueFormat::Json, "{"),
        piece("bad", ValueFormat::Lines, "{}\n{\n"),
        piece("bad", ValueFormat::Lines, &format!("{large}nonsense")),
        SandboxMaterial {
            content: MaterialContent::Bytes(vec![0xff; 10]),
            ..text("bad", "")
        },
        SandboxMaterial {
            content: MaterialContent::Bytes(vec![0xff; 3 << 20]),
            ..text("bad", "")
        },
    ] {
        let error = sandbox.load(vec![material]).await.unwrap_err();
        assert!(
            matches!(error, SandboxError::BadMaterial { .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains("bad: "), "{error}");
        assert_eq!(error.code(), "F0804");
    }
}

/// Python reads no number of more than some thousand digits from text; that is no reason to have nothing of the rest.
#[tokio::test]
async fn r01_a_number_of_too_many_digits_stays_as_it_is_written() {
    let sandbox = sandbox();
    let digits = "1".repeat(5_000);
    for (form, content) in [
        (ValueFormat::Json, format!("[{digits}, 2]")),
        (ValueFormat::Lines, format!("[{digits}, 2]\n3\n")),
    ] {
        let context = sandbox
            .load(vec![piece("x", form, &content)])
            .await
            .unwrap();
        let mut session = sandbox.session(&context, Vec::new());
        let code = "row = context if isinstance(context[0], str) else context[0]\nprint(row == ['1' * 5000, 2])";
        assert_eq!(printed(&mut session, code).await, "True\n");
    }
}
