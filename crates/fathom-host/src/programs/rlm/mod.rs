//! Work on material of any size: it is read once, described to the model, and loaded where only code looks at it. What fits
//! into the model's window goes out as a plain call.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_core::id::Digest;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::{ChatMessage, ModelRequest, ModelRole, ModelSet, ReplyMode, Speaker};
use fathom_core::packet::PacketFrame;
use fathom_core::sandbox::ValueFormat;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_material::limits::ReadLimits;
use fathom_material::{
    DocumentFormat, GatheredMaterial, MaterialError, SkippedFile, gather_within, read_from,
    source_name,
};
use fathom_programs::direct;
use fathom_programs::rlm::{MaterialItem, MaterialSource, PREVIEW_CHARS, RecipeMode, RlmConfig};
use fathom_sandbox::{InterpreterKind, MaterialContent, Sandbox, SandboxMaterial};
use sha2::{Digest as _, Sha256};

mod json_lines;
mod setup;

pub use fathom_material::MaterialDocument;
pub use fathom_sandbox::SandboxContext;
pub use setup::{RlmOptions, RlmSetup};

use crate::error::HostError;
use crate::runtime::Runtime;

/// The charter of a run for which none is named.
pub const CHARTER: &str = "rlm";

/// Tokens of a plain call beside its material, question and instructions: the frame, and what the wire format adds.
const BESIDE_TOKENS: u64 = 512;

/// A window that nobody knows is taken for this one.
const WINDOW_TOKENS: u64 = 8_192;

/// Bytes of text that make at least one token with any tokenizer there is, up to rare runs of spaces.
const TOKEN_BYTES_MAX: u64 = 16;

/// Most bytes of a text without a file, as JSON has it: it is part of one text of the journal, with what else there is to say
/// of the material.
const KEPT_BYTES_MAX: u64 = 48 << 20;

/// What is to be explored, and how.
#[derive(Clone, Debug)]
pub struct RlmRequest {
    /// The question.
    pub goal: Text,
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// A text without a file.
    pub text: Option<MaterialDocument>,
    /// How; what is given and left out is filled in.
    pub params: RlmConfig,
    /// Whether material that fits goes out as a plain call (R06).
    pub plain: PlainCallRule,
    /// The plain call's settings.
    pub direct: direct::DirectConfig,
}

/// Whether material that fits into the window goes out as a plain call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainCallRule {
    /// Where it fits.
    IfItFits,
    /// Never.
    Never,
}

/// What became of the material.
pub struct PreparedRlm {
    /// How to work on it.
    pub program: ProgramSpec,
    /// The material, where only code looks at it; none for a plain call.
    pub context: Option<SandboxContext>,
    /// What was left out, and why.
    pub skipped: Vec<SkippedFile>,
    /// Names of what was read.
    pub names: Vec<String>,
}

impl Runtime {
    /// Reads the material and decides how it is worked on. It takes a while.
    pub async fn explore(
        &self,
        exploration: RlmRequest,
        models: &ModelSet,
        frame: &PacketFrame,
    ) -> Result<PreparedRlm, HostError> {
        let RlmRequest {
            goal,
            paths,
            text,
            mut params,
            plain,
            mut direct,
        } = exploration;
        // The sandbox gets ready while the disk is read.
        self.sandbox().warm();
        let typed = paths.clone();
        let read = in_the_background(move || read_kept(paths, text)).await?;
        let names = read.documents.iter().map(|one| one.source.clone());
        let names = names.collect();
        direct.schema.clone_from(&params.schema);
        if plain == PlainCallRule::IfItFits
            && self.fits(&read.documents, &goal, models, frame, &direct)?
        {
            let GatheredMaterial { documents, skipped } = read;
            direct
                .material
                .extend(documents.iter().map(|document| direct::PromptMaterial {
                    source: document.source.clone(),
                    text: document.plain().into_owned(),
                }));
            return Ok(PreparedRlm {
                program: direct.spec(),
                context: None,
                skipped,
                names,
            });
        }
        let read = in_the_background(move || check_lines(read, &typed)).await?;
        let GatheredMaterial { documents, skipped } = read;
        params.skipped = skipped.iter().map(ToString::to_string).collect();
        let texts: Vec<EmptyMaterial> = documents.into_iter().map(EmptyMaterial::from).collect();
        let material = texts.iter().map(EmptyMaterial::material).collect();
        // The sandbox takes it in while it is described to the model.
        let described =
            in_the_background(move || texts.into_iter().map(EmptyMaterial::describe).collect());
        let (context, given) = tokio::join!(self.sandbox().load(material), described);
        params.given = given;
        let context = context?;
        // Ready-made cells need the whole language: where it is not there, none are promised.
        if self.sandbox().isolation().await?.interpreter == InterpreterKind::Monty {
            params.recipes = RecipeMode::Off;
        }
        Ok(PreparedRlm {
            program: params.spec(),
            context: Some(context),
            skipped,
            names,
        })
    }

    fn fits(
        &self,
        documents: &[MaterialDocument],
        goal: &Text,
        models: &ModelSet,
        frame: &PacketFrame,
        direct: &direct::DirectConfig,
    ) -> Result<bool, HostError> {
        let models = self.connect(models)?;
        let model = models.get(ModelRole::Main);
        let empty = ModelRequest {
            messages: vec![ChatMessage::new(Speaker::User, "?")],
            output_tokens_max: 1,
            temperature_milli: None,
            schema: None,
            pattern: None,
            tools: Vec::new(),
            seed: None,
            delivery: ReplyMode::Whole,
            timeout: Millis(1),
        };
        let window = model.measure(&empty).ok();
        let window = window.and_then(|measured| measured.window_tokens);
        let window = window
            .unwrap_or(WINDOW_TOKENS)
            .min(frame.mtu_tokens.unwrap_or(u64::MAX));
        let beside = BESIDE_TOKENS + u64::from(direct.output_tokens_max);
        let room = window.saturating_sub(beside);
        let bytes: u64 = documents.iter().map(|one| one.text.len() as u64).sum();
        if bytes > room.saturating_mul(TOKEN_BYTES_MAX) {
            return Ok(false);
        }
        let schema = direct
            .schema
            .as_ref()
            .map_or(0, |s| s.to_string().len() as u64);
        let mut tokens = model.count(goal.as_str()) + model.count(&direct.system) + schema;
        for document in documents {
            tokens += model.count(&document.plain()) + model.count(&document.source) + 8;
            if tokens > room {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Loads files and folders, for code alone; says what was left out.
pub async fn load(
    sandbox: &Sandbox,
    paths: Vec<PathBuf>,
) -> Result<(SandboxContext, Vec<SkippedFile>), HostError> {
    if paths.is_empty() {
        let nothing = material("nothing".to_owned(), ValueFormat::Text, String::new());
        return Ok((sandbox.load(vec![nothing]).await?, Vec::new()));
    }
    let read = in_the_background(move || check_lines(read(&paths, Vec::new())?, &paths)).await?;
    let GatheredMaterial { documents, skipped } = read;
    let texts = documents.into_iter().map(EmptyMaterial::from);
    let material = texts.map(|text| text.material()).collect();
    Ok((sandbox.load(material).await?, skipped))
}

/// Does something that takes a while on a thread that may wait.
async fn in_the_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Reads a text without a file, as from stdin. It is kept with the run, since nothing could read it again.
pub fn read_text(name: &str, from: impl Read) -> Result<MaterialDocument, HostError> {
    let too_large = || HostError::TextTooLarge {
        name: name.to_owned(),
        bytes_max: KEPT_BYTES_MAX,
    };
    let bounds = ReadLimits {
        file_bytes: KEPT_BYTES_MAX,
        bytes: KEPT_BYTES_MAX,
    };
    let document = match read_from(name, from, &bounds) {
        Err(MaterialError::FileTooLarge { .. }) => return Err(too_large()),
        read => read?,
    };
    if kept_bytes(&document) > KEPT_BYTES_MAX {
        return Err(too_large());
    }
    Ok(document)
}

/// What a text takes in JSON.
fn kept_bytes(document: &MaterialDocument) -> u64 {
    document.text.bytes().map(written_bytes).sum()
}

/// What a byte of a text takes in JSON.
fn written_bytes(byte: u8) -> u64 {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..b' ' => 6,
        _ => 1,
    }
}

/// Reads what a run works on. What cannot be read a second time is kept with the run.
fn read_kept(
    paths: Vec<PathBuf>,
    text: Option<MaterialDocument>,
) -> Result<GatheredMaterial, HostError> {
    let (stay, pass): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(|p| stays(p));
    let mut kept_alone: Vec<MaterialDocument> = text.into_iter().collect();
    let mut bytes: u64 = kept_alone.iter().map(kept_bytes).sum();
    let mut seen = BTreeSet::new();
    // What was said is gone: a path that is named twice is read once.
    for path in pass.iter().filter(|path| seen.insert(*path)) {
        let name = source_name(path);
        let unreadable = |source| MaterialError::Unreadable {
            source_name: name.clone(),
            source,
        };
        let document = read_text(&name, File::open(path).map_err(unreadable)?)?;
        bytes += kept_bytes(&document);
        if bytes > KEPT_BYTES_MAX {
            return Err(HostError::TextTooLarge {
                name,
                bytes_max: KEPT_BYTES_MAX,
            });
        }
        kept_alone.push(document);
    }
    read(&stay, kept_alone)
}

/// Whether what is there now will be there when a run goes on: no pipe, no terminal, no file without a name. What is not
/// there at all is told by who reads it.
fn stays(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path).is_ok(),
        Ok(found) => found.is_dir(),
        Err(_) => true,
    }
}

fn read(paths: &[PathBuf], texts: Vec<MaterialDocument>) -> Result<GatheredMaterial, HostError> {
    let mut gathered = gather_within(paths, &ReadLimits::WHOLE)?;
    let notes = texts.iter().filter_map(MaterialDocument::note);
    gathered.skipped.extend(notes);
    gathered.documents.extend(texts);
    if gathered.documents.is_empty() {
        return Err(HostError::NoMaterial {
            skipped: gathered.skipped,
        });
    }
    tell_apart(&mut gathered.documents);
    Ok(gathered)
}

/// What is named like JSON Lines and is none is text, unless the user named it: then that is an error.
fn check_lines(
    mut gathered: GatheredMaterial,
    named: &[PathBuf],
) -> Result<GatheredMaterial, HostError> {
    for document in &mut gathered.documents {
        if form(document) != ValueFormat::Lines {
            continue;
        }
        let Some(bad) = json_lines::bad_line(&document.text) else {
            continue;
        };
        let lies_in_a_folder = document
            .path
            .as_ref()
            .is_some_and(|path| !named.contains(path));
        if !lies_in_a_folder {
            return Err(bad.error(&document.source).into());
        }
        document.format = DocumentFormat::Plain;
        gathered.skipped.push(SkippedFile {
            source: document.source.clone(),
            reason: bad.reason(),
        });
    }
    Ok(gathered)
}

/// Two of one name would be one entry of `context`.
fn tell_apart(documents: &mut [MaterialDocument]) {
    let mut names = BTreeSet::new();
    for document in documents {
        let name = document.source.clone();
        let mut number = 1;
        while !names.insert(document.source.clone()) {
            number += 1;
            document.source = format!("{name} ({number})");
        }
    }
}

/// A document without markup, for code and for a description.
struct EmptyMaterial {
    name: String,
    form: ValueFormat,
    path: Option<PathBuf>,
    text: Arc<String>,
}

impl From<MaterialDocument> for EmptyMaterial {
    fn from(document: MaterialDocument) -> Self {
        Self {
            form: form(&document),
            name: document.source.clone(),
            path: document.path.clone(),
            text: Arc::new(plain(document)),
        }
    }
}

impl EmptyMaterial {
    /// What code finds of it.
    fn material(&self) -> SandboxMaterial {
        SandboxMaterial {
            name: self.name.clone(),
            form: self.form,
            content: MaterialContent::Shared(Arc::clone(&self.text)),
        }
    }

    /// What the model is told of it.
    fn describe(self) -> MaterialItem {
        let text = &*self.text;
        let place = match self.path.as_deref() {
            Some(path) => place(path),
            None => MaterialSource::Here { text: text.clone() },
        };
        let lines = match self.form {
            ValueFormat::Lines => {
                text.lines().filter(|line| !line.trim().is_empty()).count() as u64
            }
            ValueFormat::Text | ValueFormat::Json => {
                let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
                ends + u64::from(!text.is_empty() && !text.ends_with('\n'))
            }
        };
        MaterialItem {
            form: self.form,
            bytes: text.len() as u64,
            chars: text.chars().count() as u64,
            lines,
            preview: text.chars().take(PREVIEW_CHARS).collect(),
            digest: digest(text),
            name: self.name,
            place,
        }
    }
}

/// Where a file is found again, whatever the links that lead to it say then.
fn place(path: &Path) -> MaterialSource {
    let found = fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    let path = found.unwrap_or_else(|_| path.to_owned());
    match path.into_os_string().into_string() {
        Ok(path) => MaterialSource::File { path },
        Err(path) => MaterialSource::FileInBytes {
            path: path.into_vec(),
        },
    }
}

/// What shows later whether a text is still the same.
fn digest(text: &str) -> Digest {
    Digest(Sha256::digest(text).into())
}

fn form(document: &MaterialDocument) -> ValueFormat {
    if document.is_json_lines() && document.format == DocumentFormat::Lines {
        ValueFormat::Lines
    } else {
        ValueFormat::Text
    }
}

fn plain(document: MaterialDocument) -> String {
    match document.plain() {
        std::borrow::Cow::Borrowed(_) => document.text,
        std::borrow::Cow::Owned(text) => text,
    }
}

fn material(name: String, form: ValueFormat, text: String) -> SandboxMaterial {
    SandboxMaterial {
        name,
        form,
        content: MaterialContent::Shared(Arc::new(text)),
    }
}

/// What was read from a file must still be there, unchanged.
fn find_again(given: MaterialItem) -> Result<SandboxMaterial, HostError> {
    let path = match given.place {
        MaterialSource::Here { text } => return Ok(material(given.name, given.form, text)),
        // A root is given files or texts.
        MaterialSource::Passed => PathBuf::new(),
        MaterialSource::File { path } => PathBuf::from(path),
        MaterialSource::FileInBytes { path } => PathBuf::from(OsString::from_vec(path)),
    };
    let found = read_again(&path)?;
    match found.and_then(|document| taken(document, given.digest)) {
        Some(text) => Ok(material(given.name, given.form, text)),
        None => Err(HostError::MaterialChanged { name: given.name }),
    }
}

/// What was taken of a file. The name of a link may have told whether it is HTML, so that the digest tells it now.
fn taken(mut document: MaterialDocument, wanted: Digest) -> Option<String> {
    if digest(&document.text) == wanted {
        return Some(document.text);
    }
    document.format = DocumentFormat::Html;
    let text = plain(document);
    (digest(&text) == wanted).then_some(text)
}

/// What a file says; nothing where there is something else by now. A pipe would wait for someone who writes.
fn read_again(path: &Path) -> Result<Option<MaterialDocument>, HostError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(None);
    }
    let gathered = gather_within(&[path.to_owned()], &ReadLimits::WHOLE)?;
    Ok(gathered.documents.into_iter().next())
}
