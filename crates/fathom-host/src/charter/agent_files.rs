//! `agents/*.md` and `prompts/*.md`: Markdown, with a head in YAML between two lines `---`.

use std::collections::BTreeMap;
use std::ops::Range;

use fathom_core::contract::{AgentRole, Autonomy, PermissionMode};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::findings::FindingList;
use super::limits;
use super::manifest::{SLUG, is_slug};
use super::models::CouncilRole;
use super::problem::CharterProblem;
use super::strict_toml::{CharterSource, place};

/// The line before and after a head.
const FENCE: &str = "---";

/// An agent: a role with a prompt and what it may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFile {
    /// Its name for people.
    pub name: String,
    pub role: AgentRole,
    /// The council model that the agent uses.
    pub model_role: Option<CouncilRole>,
    /// Purpose of the agent, for whoever selects one.
    pub description: String,
    /// Tools it may call; none unless named.
    pub allowed_tools: Vec<String>,
    /// Scopes that the agent may read; none unless named.
    pub read_scopes: Vec<String>,
    /// Domains it may write; none unless named.
    pub write_scopes: Vec<String>,
    /// Permission to change the world outside.
    pub permission_mode: PermissionMode,
    pub autonomy: Autonomy,
    /// Instructions to the model.
    pub prompt: String,
}

/// A named text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptFile {
    /// Purpose of the command.
    pub description: String,
    /// Instructions to the model.
    pub text: String,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct AgentHead {
    id: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    role: Option<AgentRole>,
    model_role: Option<CouncilRole>,
    description: String,
    allowed_tools: Vec<Spanned<String>>,
    read_scopes: Vec<Spanned<String>>,
    write_scopes: Vec<Spanned<String>>,
    permission_mode: PermissionMode,
    autonomy: Autonomy,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct PromptHead {
    id: Option<Spanned<String>>,
    description: String,
}

/// Things by their ids, with the file each came from.
#[derive(Debug)]
pub(super) struct MarkdownShelf<T> {
    things: BTreeMap<String, (String, T)>,
}

impl<T> MarkdownShelf<T> {
    pub(super) const fn new() -> Self {
        let things = BTreeMap::new();
        Self { things }
    }

    fn put(
        &mut self,
        source: &CharterSource<'_>,
        id: (&str, Option<Range<usize>>),
        thing: T,
        findings: &mut FindingList,
    ) {
        let (id, span) = id;
        if let Some((first, _)) = self.things.get(id) {
            let flaw = CharterProblem::DuplicateId {
                id: id.to_owned(),
                first: first.clone(),
            };
            source.problem(span.as_ref(), flaw, findings);
        } else {
            let file = source.file.to_owned();
            self.things.insert(id.to_owned(), (file, thing));
        }
    }

    pub(super) fn into_things(self) -> BTreeMap<String, T> {
        let things = self.things.into_iter();
        things.map(|(id, (_, thing))| (id, thing)).collect()
    }
}

/// Reads a file of `agents/`.
pub(super) fn agent(
    file: &str,
    text: &str,
    shelf: &mut MarkdownShelf<AgentFile>,
    findings: &mut FindingList,
) -> Option<()> {
    let (head, body) = split(file, text, findings)?;
    let Some(head) = head else {
        let why = "the file must start with front matter between two lines `---`".to_owned();
        let first_line = place(text, 0..text.find('\n').unwrap_or(text.len()));
        findings.problem(file, Some(first_line), CharterProblem::FrontMatter { why });
        return None;
    };
    let source = CharterSource {
        file,
        text,
        keyed: head,
    };
    let read = source.read_head::<AgentHead>(findings)?;
    if read.value.role.is_none() && !read.dropped.has("role") {
        let flaw = CharterProblem::MissingKey {
            key: "role".to_owned(),
            example: "role: planner",
        };
        source.problem(Some(&(0..0)), flaw, findings);
    }
    let head = read.value;
    let (id, span) = id(&source, head.id.as_ref(), findings);
    let name = head.name.map_or_else(
        || id.clone(),
        |name| {
            check_name(&source, &name, findings);
            name.get_ref().trim().to_owned()
        },
    );
    let agent = AgentFile {
        name,
        // A stand-in for the rest of the check: a missing role is a problem already, so this charter is never used.
        role: head.role.unwrap_or(AgentRole::Doc),
        model_role: head.model_role,
        description: head.description.trim().to_owned(),
        allowed_tools: source.entries("allowed_tools", head.allowed_tools, findings),
        read_scopes: source.entries("read_scopes", head.read_scopes, findings),
        write_scopes: source.entries("write_scopes", head.write_scopes, findings),
        permission_mode: head.permission_mode,
        autonomy: head.autonomy,
        prompt: prose(file, body, findings),
    };
    shelf.put(&source, (&id, span), agent, findings);
    Some(())
}

/// Reads a file of `prompts/`.
pub(super) fn prompt(
    file: &str,
    text: &str,
    shelf: &mut MarkdownShelf<PromptFile>,
    findings: &mut FindingList,
) -> Option<()> {
    let (head, body) = split(file, text, findings)?;
    let source = CharterSource {
        file,
        text,
        keyed: head.clone().unwrap_or(0..0),
    };
    let head = match head {
        Some(_) => source.read_head::<PromptHead>(findings)?.value,
        None => PromptHead::default(),
    };
    let (id, span) = id(&source, head.id.as_ref(), findings);
    let prompt = PromptFile {
        description: head.description.trim().to_owned(),
        text: prose(file, body, findings),
    };
    shelf.put(&source, (&id, span), prompt, findings);
    Some(())
}

/// The id in the head, else the file's stem, and where it stands.
fn id(
    source: &CharterSource<'_>,
    said: Option<&Spanned<String>>,
    findings: &mut FindingList,
) -> (String, Option<Range<usize>>) {
    if let Some(said) = said {
        if !is_slug(said.get_ref()) {
            source.bad("id", said, SLUG, findings);
        }
        return (said.get_ref().clone(), Some(said.span()));
    }
    let name = source.file.rsplit('/').next().unwrap_or(source.file);
    let stem = name.strip_suffix(".md").unwrap_or(name);
    if !is_slug(stem) {
        let flaw = CharterProblem::BadValue {
            key: "id".to_owned(),
            why: format!("the id is the file name; {SLUG}"),
        };
        source.problem(None, flaw, findings);
    }
    (stem.to_owned(), None)
}

fn check_name(source: &CharterSource<'_>, name: &Spanned<String>, findings: &mut FindingList) {
    let said = name.get_ref().trim();
    if said.is_empty() {
        let what = "`name`".to_owned();
        source.problem(Some(&name.span()), CharterProblem::Empty { what }, findings);
    } else if said.chars().count() > limits::NAME_CHARS_MAX || said.chars().any(char::is_control) {
        let why = "expected one line of at most 64 characters";
        source.bad("name", name, why, findings);
    }
}

/// Parts a file into its head, where it has one, and the rest.
fn split<'a>(
    file: &str,
    text: &'a str,
    findings: &mut FindingList,
) -> Option<(Option<Range<usize>>, &'a str)> {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    let mut refuse = |why: &str| {
        let why = why.to_owned();
        let place = place(text, 0..first.trim_end().len());
        findings.problem(file, Some(place), CharterProblem::FrontMatter { why });
    };
    match first.trim_end() {
        FENCE => {}
        // TOML between `+++` is common elsewhere. Without this arm it would be read as part of the prompt.
        "+++" => {
            refuse("front matter is YAML between two lines `---`, not TOML");
            return None;
        }
        _ => return Some((None, text)),
    }
    let start = first.len();
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some((Some(start..end), &text[end + line.len()..]));
        }
        end += line.len();
    }
    refuse("unterminated front matter: a second line `---` is missing");
    None
}

/// The text below the head, with one kind of line end.
fn prose(file: &str, body: &str, findings: &mut FindingList) -> String {
    let prose = body.replace("\r\n", "\n").trim().to_owned();
    if prose.is_empty() {
        let what = "the text below the front matter".to_owned();
        findings.problem(file, None, CharterProblem::Empty { what });
    }
    prose
}
