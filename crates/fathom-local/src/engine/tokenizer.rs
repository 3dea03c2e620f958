//! Conversion between text and tokens, with the model's own tokenizer.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token_type::LlamaTokenAttr;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use tokenizers::NormalizedString;

use super::error::EngineError;
use super::gguf::GgufHeader;
use super::{cpu, gguf_checks};

/// Maximum size of a text for one call of the tokenizer; longer ones are cut between characters.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The tokenizer in a GGUF file. Fast, and safe to use from several threads.
#[derive(Debug)]
pub struct ModelTokenizer {
    pub(crate) model: LlamaModel,
    /// Tokens that a template may write and a speaker must not, longest first.
    markers: Vec<SpecialMarker>,
    /// Words of the template that the tokenizer would turn into one token even in plain text.
    defused: Vec<String>,
    form: TokenForm,
}

#[derive(Debug)]
struct SpecialMarker {
    text: String,
    token: LlamaToken,
}

/// Normalisation of a text before it is tokenized.
#[derive(Clone, Copy, Debug)]
enum TokenForm {
    AsIs,
    /// Letters and their accents are joined (Unicode NFC). The engine leaves this out, although the family's
    /// own tokenizer does it.
    Composed,
}

/// A part of a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextStretch {
    Marker(LlamaToken),
    Plain(String),
}

impl ModelTokenizer {
    /// Loads only the tokenizer, without the weights.
    pub fn load(path: &Path) -> Result<Self, EngineError> {
        let header = GgufHeader::read(path)?;
        gguf_checks::check_vocabulary(&header)?;
        Self::open(&header, &LlamaModelParams::default().with_vocab_only(true))
    }

    /// Loads the parts of a checked file that `params` select.
    pub(crate) fn open(
        header: &GgufHeader,
        params: &LlamaModelParams,
    ) -> Result<Self, EngineError> {
        cpu::check_processor()?;
        let refused = || EngineError::Refused {
            path: header.path().to_owned(),
        };
        let model =
            LlamaModel::load_from_file(backend()?, header.path(), params).map_err(|_| refused())?;
        let form = match header.text("tokenizer.ggml.pre") {
            Some("qwen2" | "qwen35") => TokenForm::Composed,
            _ => TokenForm::AsIs,
        };
        let markers = markers(&model);
        let template = header.text("tokenizer.chat_template").unwrap_or("");
        let defused = markers
            .iter()
            .filter(|marker| !is_control(&model, marker.token) && template.contains(&marker.text))
            .map(|marker| marker.text.clone())
            .collect();
        Ok(Self {
            model,
            markers,
            defused,
            form,
        })
    }

    /// Token count of `text` by itself, without a template.
    pub fn count(&self, text: &str) -> u64 {
        let mut tokens = Vec::new();
        self.plain(text, &mut tokens);
        tokens.len() as u64
    }

    /// Appends the tokens of `text`, none of which is a control token, whatever the text contains.
    pub(crate) fn plain(&self, text: &str, tokens: &mut Vec<LlamaToken>) {
        let text = self.formed(text);
        let vocab = self.model.vocab();
        let mut rest = text.as_ref();
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(self.piece_end(rest));
            // Without special tokens: text must not turn into control tokens.
            let mut piece_tokens = vocab.tokenize(piece.as_bytes(), false, false);
            tokens.append(&mut piece_tokens);
            rest = later;
        }
    }

    /// Position at which to cut a text: before it is too long, and within a word that must not become one
    /// token.
    fn piece_end(&self, text: &str) -> usize {
        let within = |word: &String| {
            let begin = text.find(word)?;
            let first = text[begin..].chars().next()?;
            Some(begin + first.len_utf8())
        };
        let longest = text.floor_char_boundary(TEXT_BYTES_MAX);
        self.defused
            .iter()
            .filter_map(within)
            .fold(longest, usize::min)
    }

    /// Appends the tokens of a whole prompt.
    pub(crate) fn prompt(&self, stretches: &[TextStretch], tokens: &mut Vec<LlamaToken>) {
        let vocab = self.model.vocab();
        let begin = vocab.bos();
        // Some templates write it themselves.
        if vocab.should_add_bos()
            && begin.0 >= 0
            && stretches.first() != Some(&TextStretch::Marker(begin))
        {
            tokens.push(begin);
        }
        for stretch in stretches {
            match stretch {
                TextStretch::Marker(token) => tokens.push(*token),
                TextStretch::Plain(text) => self.plain(text, tokens),
            }
        }
    }

    /// Splits a template's own text into markers and plain text.
    pub(crate) fn stretches_of(&self, mut literal: &str, stretches: &mut Vec<TextStretch>) {
        while let Some((at, marker)) = self.first_marker(literal) {
            push_plain(stretches, &literal[..at]);
            stretches.push(TextStretch::Marker(marker.token));
            literal = &literal[at + marker.text.len()..];
        }
        push_plain(stretches, literal);
    }

    fn first_marker(&self, text: &str) -> Option<(usize, &SpecialMarker)> {
        // `min_by_key` keeps the first of equals, and the longest marker comes first.
        self.markers
            .iter()
            .filter_map(|marker| text.find(&marker.text).map(|at| (at, marker)))
            .min_by_key(|(at, _)| *at)
    }

    /// Appends the bytes of `token`; none for a control token.
    pub(crate) fn piece(&self, token: LlamaToken, bytes: &mut Vec<u8>) {
        let mut piece = self.model.vocab().token_to_piece(token, false, None);
        bytes.append(&mut piece);
    }

    pub(crate) fn ends(&self, token: LlamaToken) -> bool {
        self.model.vocab().is_eog(token)
    }

    fn formed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.form {
            TokenForm::Composed if !text.is_ascii() => {
                let mut normalized = NormalizedString::from(text);
                Cow::Owned(normalized.nfc().get().to_owned())
            }
            TokenForm::Composed | TokenForm::AsIs => Cow::Borrowed(text),
        }
    }
}

/// Joins plain text to the plain text before it, as the model has seen them in training.
pub(crate) fn push_plain(stretches: &mut Vec<TextStretch>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(TextStretch::Plain(before)) = stretches.last_mut() {
        before.push_str(text);
    } else {
        stretches.push(TextStretch::Plain(text.to_owned()));
    }
}

fn is_control(model: &LlamaModel, token: LlamaToken) -> bool {
    model.vocab().attr(token).contains(LlamaTokenAttr::Control)
}

fn markers(model: &LlamaModel) -> Vec<SpecialMarker> {
    let vocab = model.vocab();
    let is_marker = |token: &LlamaToken| {
        is_control(model, *token) || vocab.attr(*token).contains(LlamaTokenAttr::UserDefined)
    };
    let mut markers: Vec<SpecialMarker> = (0..vocab.n_tokens())
        .map(LlamaToken)
        .filter(is_marker)
        .filter_map(|token| {
            let text = vocab.text(token)?.to_str().ok()?.to_owned();
            (!text.is_empty()).then_some(SpecialMarker { text, token })
        })
        .collect();
    markers.sort_by_key(|marker| std::cmp::Reverse(marker.text.len()));
    markers
}

/// The engine's library, initialised once and never torn down: its threads may still be at work when the
/// process ends.
pub(crate) fn backend() -> Result<&'static LlamaBackend, EngineError> {
    static BACKEND: OnceLock<llama_cpp_2::Result<LlamaBackend>> = OnceLock::new();
    BACKEND
        .get_or_init(|| {
            // Its messages are for people who debug the engine, and the wrapper panics in a C callback at an
            // unknown log level.
            send_logs_to_tracing(LogOptions::default().with_logs_enabled(false));
            LlamaBackend::init()
        })
        .as_ref()
        .map_err(|cause| EngineError::NotStarted {
            cause: cause.to_string(),
        })
}
