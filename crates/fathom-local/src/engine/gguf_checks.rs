//! Checks that the values of a GGUF header can be those of a chat model.
//!
//! The engine asserts much of this itself and ends the process on a violation, so a wrong number must be found
//! here.

use std::collections::HashSet;

use super::error::EngineError;
use super::gguf::{GgufHeader, GgufValue};

const LAYERS_MAX: i128 = 512;
const EXPERTS_MAX: i128 = 512;
const EMBEDDING_MAX: i128 = 1 << 20;
const WINDOW_MAX: i128 = 1 << 30;
const KIND_I32: u32 = 5;
const KIND_F32: u32 = 6;

/// Architectures without text output: encoders, drafters, speech and diffusion models.
const SPEECHLESS: [&str; 23] = [
    "bert",
    "clip",
    "dflash",
    "dream",
    "eagle3",
    "eurobert",
    "gemma-embedding",
    "gemma4-assistant",
    "jina-bert-v2",
    "jina-bert-v3",
    "llada",
    "llada-moe",
    "llama-embed",
    "modern-bert",
    "neo-bert",
    "nomic-bert",
    "nomic-bert-moe",
    "pockettts",
    "qwen3tts",
    "rnd1",
    "t5",
    "t5encoder",
    "wavtokenizer-dec",
];

/// Checks everything that the engine takes for granted.
pub(crate) fn check(header: &GgufHeader) -> Result<(), EngineError> {
    let architecture = header
        .text("general.architecture")
        .ok_or_else(|| header.damaged("it does not state the model's architecture"))?;
    if SPEECHLESS.contains(&architecture) {
        return Err(header.unsupported(format!("a `{architecture}` model cannot chat")));
    }
    if header.integer("split.count").is_some_and(|count| count > 1) {
        return Err(header.unsupported("it is one of several parts; join them into one file"));
    }
    if header.tensors() == 0 {
        return Err(header.damaged("it contains no tensors"));
    }
    check_vocabulary(header)?;
    TensorShape {
        header,
        architecture,
    }
    .check()
}

/// Checks everything that the tokenizer takes for granted.
pub(crate) fn check_vocabulary(header: &GgufHeader) -> Result<(), EngineError> {
    let model = header
        .text("tokenizer.ggml.model")
        .ok_or_else(|| header.unsupported("it has no tokenizer"))?;
    if !["gpt2", "llama", "gemma4"].contains(&model) {
        return Err(header.unsupported(format!("tokenizers of type `{model}` are not supported")));
    }
    let tokens = header
        .strings("tokenizer.ggml.tokens")
        .filter(|tokens| tokens.len() > 1)
        .ok_or_else(|| header.damaged("it has no vocabulary"))?;
    let mut seen = HashSet::with_capacity(tokens.len());
    for token in tokens {
        // The engine invents names for empty tokens, which must not exist already.
        if token.is_empty() || token.contains(&0) {
            return Err(
                header.damaged("a token of its vocabulary is empty or contains a zero byte")
            );
        }
        if !seen.insert(token.as_slice()) {
            return Err(header.damaged("its vocabulary contains a duplicate token"));
        }
    }
    for (key, kinds) in [
        ("tokenizer.ggml.scores", [KIND_F32, KIND_I32].as_slice()),
        ("tokenizer.ggml.token_type", [KIND_I32].as_slice()),
    ] {
        let wrong = match header.get(key) {
            None => false,
            Some(GgufValue::Counted { len, kind }) => {
                !kinds.contains(kind) || usize::try_from(*len).ok() != Some(tokens.len())
            }
            Some(GgufValue::Integers(numbers)) => numbers.len() != tokens.len(),
            Some(_) => true,
        };
        if wrong {
            return Err(header.damaged(format!("`{key}` does not match its vocabulary")));
        }
    }
    check_pieces(header, model, &seen)?;
    check_special_ids(header, tokens.len())
}

/// Checks that any text can be written in tokens.
fn check_pieces(
    header: &GgufHeader,
    model: &str,
    tokens: &HashSet<&[u8]>,
) -> Result<(), EngineError> {
    if model == "llama" {
        let has_all_bytes = (0..=u8::MAX).all(|byte| {
            tokens.contains(format!("<0x{byte:02X}>").as_bytes())
                || tokens.contains([byte].as_slice())
        });
        if !has_all_bytes {
            return Err(header.damaged("its vocabulary lacks tokens for single bytes"));
        }
        return Ok(());
    }
    let merges = header
        .strings("tokenizer.ggml.merges")
        .ok_or_else(|| header.damaged("its tokenizer has no merges"))?;
    // From the second byte on: a merge may start with a space of its own.
    let is_pair = |merge: &Vec<u8>| merge.iter().skip(1).any(|&byte| byte == b' ');
    if !merges.iter().all(is_pair) {
        return Err(header.damaged("a merge of its tokenizer is not a pair"));
    }
    Ok(())
}

fn check_special_ids(header: &GgufHeader, tokens: usize) -> Result<(), EngineError> {
    for name in [
        "bos",
        "eos",
        "eot",
        "eom",
        "unknown",
        "seperator",
        "padding",
        "mask",
    ] {
        let key = format!("tokenizer.ggml.{name}_token_id");
        let Some(value) = header.get(&key) else {
            continue;
        };
        // −1 as an unsigned number stands for a token that the model does not have.
        let within = matches!(value, GgufValue::Integer(id)
            if usize::try_from(*id).is_ok_and(|id| id < tokens) || *id == i128::from(u32::MAX));
        if !within {
            return Err(header.damaged(format!("`{key}` is not a token of its vocabulary")));
        }
    }
    Ok(())
}

struct TensorShape<'h> {
    header: &'h GgufHeader,
    architecture: &'h str,
}

impl TensorShape<'_> {
    fn check(&self) -> Result<(), EngineError> {
        let layers = self.needed("block_count", LAYERS_MAX)?;
        let width = self.needed("embedding_length", EMBEDDING_MAX)?;
        self.needed("context_length", WINDOW_MAX)?;
        if let Some(GgufValue::Bool(false)) = self.value("attention.causal") {
            return Err(self
                .header
                .unsupported("it is an encoder and cannot write text"));
        }
        let heads = self.per_layer("attention.head_count", layers)?;
        let shared_heads = self.per_layer("attention.head_count_kv", layers)?;
        self.per_layer("feed_forward_length", layers)?;
        for (index, &heads) in heads.iter().enumerate() {
            let shared = shared_heads.get(index).or(shared_heads.first()).copied();
            let shared = shared.unwrap_or(heads);
            if heads > width || shared > heads || (shared > 0 && heads % shared != 0) {
                return Err(self.wrong("attention.head_count"));
            }
        }
        for key in [
            "attention.key_length",
            "attention.value_length",
            "rope.dimension_count",
        ] {
            self.optional(key, 1, 1 << 16)?;
        }
        if let Some(rotated) = self.integer("rope.dimension_count")
            && rotated % 2 != 0
        {
            return Err(self.wrong("rope.dimension_count"));
        }
        self.check_experts(layers)?;
        match self.value("rope.scaling.type") {
            None => Ok(()),
            Some(GgufValue::String(kind))
                if ["none", "linear", "yarn", "longrope"].contains(&kind.as_str()) =>
            {
                Ok(())
            }
            Some(_) => Err(self.wrong("rope.scaling.type")),
        }
    }

    fn check_experts(&self, layers: i128) -> Result<(), EngineError> {
        let experts = self.optional("expert_count", 0, EXPERTS_MAX)?.unwrap_or(0);
        let used = self.per_layer("expert_used_count", layers)?;
        let used_most = used.iter().copied().max().unwrap_or(0);
        if used_most > experts || (experts > 0 && used_most == 0) {
            return Err(self.wrong("expert_used_count"));
        }
        let groups = self
            .optional("expert_group_count", 0, EXPERTS_MAX)?
            .unwrap_or(0);
        let groups_used = self
            .optional("expert_group_used_count", 0, EXPERTS_MAX)?
            .unwrap_or(0);
        if groups > 0 && groups >= experts {
            return Err(self.wrong("expert_group_count"));
        }
        if groups > 1 && (experts % groups != 0 || groups_used == 0 || groups_used >= groups) {
            return Err(self.wrong("expert_group_count"));
        }
        self.optional("nextn_predict_layers", 0, layers).map(drop)
    }

    fn value(&self, name: &str) -> Option<&GgufValue> {
        self.header.get(&format!("{}.{name}", self.architecture))
    }

    fn integer(&self, name: &str) -> Option<i128> {
        self.header
            .integer(&format!("{}.{name}", self.architecture))
    }

    fn wrong(&self, name: &str) -> EngineError {
        self.header
            .damaged(format!("`{}.{name}` is out of bounds", self.architecture))
    }

    fn needed(&self, name: &str, max: i128) -> Result<i128, EngineError> {
        self.optional(name, 1, max)?.ok_or_else(|| {
            self.header
                .damaged(format!("`{}.{name}` is missing", self.architecture))
        })
    }

    fn optional(&self, name: &str, min: i128, max: i128) -> Result<Option<i128>, EngineError> {
        match self.value(name) {
            None => Ok(None),
            Some(GgufValue::Integer(number)) if (min..=max).contains(number) => Ok(Some(*number)),
            Some(_) => Err(self.wrong(name)),
        }
    }

    /// A number for every layer, or one for all; empty if the file does not state it.
    fn per_layer(&self, name: &str, layers: i128) -> Result<Vec<i128>, EngineError> {
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(GgufValue::Integer(number)) if (0..=EMBEDDING_MAX).contains(number) => {
                let one_for_all = *number;
                if one_for_all == 0 && name == "attention.head_count" {
                    return Err(self.wrong(name));
                }
                Ok(vec![one_for_all])
            }
            Some(GgufValue::Integers(numbers)) => {
                let within = numbers
                    .iter()
                    .all(|number| (0..=EMBEDDING_MAX).contains(number));
                if !within || i128::try_from(numbers.len()).ok() != Some(layers) {
                    return Err(self.wrong(name));
                }
                Ok(numbers.clone())
            }
            Some(_) => Err(self.wrong(name)),
        }
    }
}

/// Name of a quantisation, from its number in a GGUF file.
pub(crate) fn quantisation(file_type: Option<i128>) -> String {
    let name = match file_type {
        Some(0) => "F32",
        Some(1) => "F16",
        Some(2) => "Q4_0",
        Some(3) => "Q4_1",
        Some(7) => "Q8_0",
        Some(8) => "Q5_0",
        Some(9) => "Q5_1",
        Some(10) => "Q2_K",
        Some(11) => "Q3_K_S",
        Some(12) => "Q3_K_M",
        Some(13) => "Q3_K_L",
        Some(14) => "Q4_K_S",
        Some(15) => "Q4_K_M",
        Some(16) => "Q5_K_S",
        Some(17) => "Q5_K_M",
        Some(18) => "Q6_K",
        Some(25) => "IQ4_NL",
        Some(30) => "IQ4_XS",
        Some(32) => "BF16",
        Some(other) => return format!("type {other}"),
        None => "unknown",
    };
    name.to_owned()
}
