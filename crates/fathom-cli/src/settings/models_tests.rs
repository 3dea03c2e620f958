use super::*;

fn said(value: &str) -> ModelArg {
    ModelArg {
        value: value.to_owned(),
        folder: PathBuf::from("/"),
    }
}

fn no_key(_: &str) -> Option<String> {
    None
}

#[test]
fn x08_models_that_cannot_be_are_named() {
    for (model, code) in [
        ("", "F0108"),
        ("gpt-4o", "F0108"),
        ("openai/", "F0108"),
        ("opnai/x", "F0108"),
        ("local/", "F0108"),
        ("script/no/such/file", "F0109"),
        ("script/tmp", "F0109"),
    ] {
        let choice = ModelArgs {
            main: Some(said(model)),
            ..ModelArgs::default()
        };
        assert_eq!(choice.models(no_key).unwrap_err().code(), code, "{model}");
    }
}

#[test]
fn x05_without_a_name_the_embedded_model_answers() {
    let models = ModelArgs::default().models(no_key).unwrap();
    assert_eq!(models.main.id, "local/default");
    assert_eq!(models.sub, models.main);
    let served = ModelArgs {
        base_url: Some("http://127.0.0.1:1/v1".into()),
        ..ModelArgs::default()
    };
    assert_eq!(served.models(no_key).unwrap_err().code(), "F0103");
}

#[test]
fn x05_a_gguf_file_is_meant_from_where_it_was_said() {
    let choice = ModelArgs {
        main: Some(said("local/weights/own.gguf")),
        ..ModelArgs::default()
    };
    let models = choice.models(no_key).unwrap();
    assert_eq!(models.main.id, "local//weights/own.gguf");
    assert_eq!(shown(&models.main.id), "local/own.gguf");
}

#[test]
fn x05_server_and_key_belong_to_one_provider() {
    let choice = |main, sub| ModelArgs {
        main: Some(said(main)),
        sub: Some(said(sub)),
        base_url: Some("http://127.0.0.1:1/v1".into()),
        api_key_env: Some("K".into()),
        api_key_header: Some("X-API-Key".into()),
    };
    let served = |choice: ModelArgs| {
        let models = choice.models(|_| Some("k".to_owned())).unwrap();
        [models.main, models.sub].map(|spec| spec.base_url.is_some())
    };
    assert_eq!(served(choice("openai/a", "openai/b")), [true, true]);
    assert_eq!(served(choice("openai/a", "ollama/b")), [true, false]);
    assert_eq!(served(choice("ollama/a", "openai/b")), [true, false]);
    let alone = ModelArgs {
        sub: None,
        ..choice("anthropic/a", "")
    };
    let models = alone.models(|_| Some("k".to_owned())).unwrap();
    assert_eq!(models.main, models.sub);
    assert_eq!(models.main.api_key_header.as_deref(), Some("X-API-Key"));
}

#[test]
fn x08_servers_and_keys_are_checked_before_anything_is_sent() {
    let good = ModelArgs {
        main: Some(said("openai/a")),
        ..ModelArgs::default()
    };
    for (choice, code) in [
        (
            ModelArgs {
                base_url: Some("127.0.0.1:8000".into()),
                ..good.clone()
            },
            "F0103",
        ),
        (
            ModelArgs {
                base_url: Some("http://".into()),
                ..good.clone()
            },
            "F0103",
        ),
        (
            ModelArgs {
                api_key_header: Some("X Key".into()),
                ..good.clone()
            },
            "F0103",
        ),
        (
            ModelArgs {
                api_key_env: Some("NOT_SET".into()),
                ..good.clone()
            },
            "F0126",
        ),
    ] {
        assert_eq!(
            choice.models(no_key).unwrap_err().code(),
            code,
            "{choice:?}"
        );
    }
    assert!(good.models(no_key).is_ok());
}

#[test]
fn a_script_is_known_by_its_whole_path_and_shown_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.jsonl"), "").unwrap();
    let choice = ModelArgs {
        main: Some(ModelArg {
            value: "script/s.jsonl".into(),
            folder: folder.path().to_owned(),
        }),
        ..ModelArgs::default()
    };
    let models = choice.models(no_key).unwrap();
    let whole = folder.path().canonicalize().unwrap().join("s.jsonl");
    assert_eq!(Path::new(models.main.name()), whole);
    assert_eq!(shown(&models.main.id), "script/s.jsonl");
    assert_eq!(shown("openai/org/name"), "openai/org/name");
}
