//! The embedding model against a reference, and against files that are none of its own.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fathom_local::embedding::{DIMENSIONS, Embedding, EmbeddingError, SentenceEmbedder};
use serde_json::Value;

const REFERENCE: &str = include_str!("../data/reference-embeddings.json");
const WEIGHTS: &str = "minilm.safetensors";
const TOKENIZER: &str = "minilm-tokenizer.json";

/// The model, loaded once for all tests of this process.
pub(crate) static EMBEDDER: LazyLock<SentenceEmbedder> = LazyLock::new(|| {
    SentenceEmbedder::load(&weight(WEIGHTS), &weight(TOKENIZER))
        .unwrap_or_else(|error| panic!("{error}"))
});

/// A file of weights. A test that cannot find it fails: skipping it would show nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "tests find the weights through the environment"
)]
fn weight(name: &str) -> PathBuf {
    let folder = std::env::var_os("FATHOM_TEST_WEIGHTS")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("XDG_CACHE_HOME")?).join("fathom/models")))
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/fathom/models")))
        .unwrap_or_default();
    let path = folder.join(name);
    assert!(
        path.is_file(),
        "`{}` is not there: `make test` pulls the weights, FATHOM_TEST_WEIGHTS names another folder",
        path.display()
    );
    path
}

struct Reference {
    text: String,
    embedding: Embedding,
}

fn reference() -> Vec<Reference> {
    let file: Value = serde_json::from_str(REFERENCE).unwrap();
    file["sentences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sentence| {
            let vector: Vec<f32> = serde_json::from_value(sentence["vector"].clone()).unwrap();
            Reference {
                text: sentence["text"].as_str().unwrap().to_owned(),
                embedding: Embedding::towards(&vector.try_into().unwrap()).unwrap(),
            }
        })
        .collect()
}

fn bits(embedding: &Embedding) -> Vec<u32> {
    embedding.as_slice().iter().map(|x| x.to_bits()).collect()
}

#[test]
fn g04_embeddings_match_the_reference_implementation() {
    let reference = reference();
    assert_eq!(reference.len(), 50);
    let texts: Vec<&str> = reference
        .iter()
        .map(|sentence| sentence.text.as_str())
        .collect();
    let embeddings = EMBEDDER.embed(&texts).unwrap();
    let mut cosines: Vec<(f32, &str)> = reference
        .iter()
        .zip(&embeddings)
        .map(|(sentence, embedding)| (sentence.embedding.cosine(embedding), sentence.text.as_str()))
        .collect();
    cosines.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = cosines
        .iter()
        .map(|(cosine, _)| f64::from(*cosine))
        .sum::<f64>()
        / 50.0;
    let (least, text) = cosines[0];
    println!("mean {mean:.6}, least {least:.6} at `{text}`");
    assert!(mean >= 0.999, "mean {mean}");
    assert!(least >= 0.998, "{least} at `{text}`");
}

#[test]
fn g04_an_embedding_does_not_depend_on_what_is_embedded_with_it() {
    let reference = reference();
    let texts: Vec<&str> = reference
        .iter()
        .flat_map(|sentence| {
            [
                sentence.text.as_str(),
                "A neighbour of the same length or not.",
            ]
        })
        .collect();
    let together = EMBEDDER.embed(&texts).unwrap();
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    let in_sevens: Vec<Embedding> = backwards
        .chunks(7)
        .flat_map(|chunk| EMBEDDER.embed(chunk).unwrap())
        .collect();
    for (index, text) in texts.iter().enumerate() {
        let alone = EMBEDDER.embed(&[text]).unwrap();
        assert_eq!(
            bits(&alone[0]),
            bits(&together[index]),
            "`{text}` alone and together"
        );
        let backwards = &in_sevens[texts.len() - 1 - index];
        assert_eq!(
            bits(&alone[0]),
            bits(backwards),
            "`{text}` alone and in sevens"
        );
    }
}

#[test]
fn g04_what_means_the_same_is_nearer_than_what_does_not() {
    let [rule, same, other] = [
        "Never delete files without asking first.",
        "Always ask before you remove a file.",
        "The weather in Lisbon is mild in winter.",
    ];
    let embeddings = EMBEDDER.embed(&[rule, same, other]).unwrap();
    let near = embeddings[0].cosine(&embeddings[1]);
    let far = embeddings[0].cosine(&embeddings[2]);
    assert!(near > far + 0.3, "{near} and {far}");
}

#[test]
fn a_text_is_cut_at_256_word_pieces() {
    // Two pieces mark the ends, so 254 words count.
    let words = |count| "word ".repeat(count);
    let embeddings = EMBEDDER
        .embed(&[&words(253), &words(254), &words(255), &words(60_000)])
        .unwrap();
    assert_ne!(embeddings[0], embeddings[1]);
    assert_eq!(embeddings[1], embeddings[2]);
    assert_eq!(embeddings[1], embeddings[3]);
}

#[test]
fn any_text_has_an_embedding() {
    let texts = [
        "",
        " \n\t",
        "\u{0}\u{feff}\u{202e}",
        "[CLS][SEP][PAD][MASK]",
        "e\u{301}".repeat(9000).leak(),
    ];
    let embeddings = EMBEDDER.embed(&texts).unwrap();
    assert_eq!(embeddings.len(), texts.len());
    for embedding in &embeddings {
        let length = embedding.cosine(embedding);
        assert!((length - 1.0).abs() < 1e-5, "{length}");
        assert_eq!(embedding.as_slice().len(), DIMENSIONS);
    }
    assert_eq!(EMBEDDER.embed(&[]).unwrap(), []);
}

#[test]
fn an_embedder_is_used_from_many_threads_at_once() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&*EMBEDDER);
    let text = "Many threads ask for the same sentence.";
    let expected = EMBEDDER.embed(&[text]).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| EMBEDDER.embed(&[text]).unwrap()))
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
    });
}

#[track_caller]
fn refused(onnx: &Path, tokenizer: &Path, code: &str) -> EmbeddingError {
    let error = SentenceEmbedder::load(onnx, tokenizer).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    error
}

#[test]
fn a_missing_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("absent.safetensors");
    let error = refused(&missing, &weight(TOKENIZER), "F0541");
    assert!(error.to_string().contains("absent.safetensors"), "{error}");
    refused(&weight(WEIGHTS), &missing, "F0541");
    refused(dir.path(), &weight(TOKENIZER), "F0541");
}

#[test]
fn the_files_in_the_wrong_order_are_refused() {
    refused(&weight(TOKENIZER), &weight(WEIGHTS), "F0543");
    refused(&weight(WEIGHTS), &weight(WEIGHTS), "F0542");
}

#[test]
fn weights_that_are_cut_short_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.safetensors");
    let whole = std::fs::read(weight(WEIGHTS)).unwrap();
    let lengths = [
        0,
        1,
        2,
        7,
        100,
        4096,
        1 << 20,
        whole.len() / 2,
        whole.len() - 1000,
        whole.len() - 1,
    ];
    for length in lengths {
        std::fs::write(&path, &whole[..length]).unwrap();
        refused(&path, &weight(TOKENIZER), "F0543");
    }
}

#[test]
fn weights_of_random_bytes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("random.safetensors");
    for seed in 0..200 {
        // Half of them announce a header that fits, so that its reader has something to go wrong on.
        let mut bytes = noise(seed, 4096);
        if seed % 2 == 0 {
            bytes[..8].copy_from_slice(&1000_u64.to_le_bytes());
        }
        std::fs::write(&path, bytes).unwrap();
        refused(&path, &weight(TOKENIZER), "F0543");
    }
}

#[test]
fn weights_with_a_spoilt_header_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("spoilt.safetensors");
    let whole = std::fs::read(weight(WEIGHTS)).unwrap();
    let header_end =
        8 + usize::try_from(u64::from_le_bytes(*whole.first_chunk().unwrap())).unwrap();
    let mut refusals = 0;
    for seed in 0..12 {
        let mut bytes = whole.clone();
        for spot in noise(seed, 16).chunks_exact(4) {
            let at = 8 + usize::from(u16::from_le_bytes([spot[0], spot[1]])) % (header_end - 8);
            bytes[at] = b'0' + spot[2] % 10;
        }
        std::fs::write(&path, bytes).unwrap();
        // A spot may fall on what nothing reads; then the file still works.
        match SentenceEmbedder::load(&path, &weight(TOKENIZER)) {
            Ok(embedder) => drop(embedder.embed(&["Still a sentence."]).unwrap()),
            Err(error) => {
                assert_eq!(error.code(), "F0543", "{error}");
                refusals += 1;
            }
        }
    }
    assert!(refusals > 0, "no file was spoilt enough to show anything");
}

#[test]
fn weights_that_compute_no_numbers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nan.safetensors");
    let mut bytes = std::fs::read(weight(WEIGHTS)).unwrap();
    let half = bytes.len() / 2;
    for byte in &mut bytes[half..half + half / 2] {
        *byte = 0xff;
    }
    std::fs::write(&path, bytes).unwrap();
    refused(&path, &weight(TOKENIZER), "F0543");
}

#[test]
fn tokenizers_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokenizer.json");
    let whole = std::fs::read(weight(TOKENIZER)).unwrap();
    let deep = "[".repeat(100_000);
    for bytes in [
        &b""[..],
        b"{}",
        b"null",
        b"\xff\xfe",
        deep.as_bytes(),
        &noise(1, 4096),
        &whole[..whole.len() / 2],
        &whole[..whole.len() - 1],
    ] {
        std::fs::write(&path, bytes).unwrap();
        refused(&weight(WEIGHTS), &path, "F0544");
    }
}

#[test]
fn a_tokenizer_with_other_word_pieces_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokenizer.json");
    let mut tokenizer: Value =
        serde_json::from_slice(&std::fs::read(weight(TOKENIZER)).unwrap()).unwrap();
    // A piece the model has no row for.
    tokenizer["model"]["vocab"]["sentence"] = 4_000_000.into();
    std::fs::write(&path, tokenizer.to_string()).unwrap();
    refused(&weight(WEIGHTS), &path, "F0543");
}

/// Bytes without a pattern, the same for the same seed.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect()
}
