//! An approval as someone reads it who did not write the policy: who wants what, where, and with which words.
//!
//! Nothing of it is trusted: arguments stand in quotes, on lines of their own, with every character that a terminal
//! would not show written out. So nothing in them can look like a line of ours.

use fathom_core::effect::undo::Reversibility;
use fathom_core::effect::{ApprovalTerms, EffectTarget};
use fathom_core::episode::result::clip;
use fathom_core::id::RunId;
use fathom_core::unit::Timestamp;
use fathom_host::governance::people::{ApprovalRequest, ApprovalView};
use fathom_store::ApprovalState;
use serde::Serialize;
use serde_json::Value;

use crate::terminal::masking::masked;
use crate::terminal::plain_text::{columns, fold, pad, pad_front, visible};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

/// Most characters of what a dry run said; `--json` has all of it.
const REPORT_CHARS_MAX: usize = 300;

/// Columns of the names on the left.
const NAME_COLUMNS: usize = 9;
/// Prefix of lines that hold text from outside.
// Text from outside could imitate a field of this page; the bar marks every line of it as foreign.
const BAR: &str = "| ";
/// Least columns for what stands on the right.
const TEXT_COLUMNS_MIN: usize = 20;
/// Moments from here on are so far off that nothing expires: the year 9999.
// 9999-01-01: the last year that the usual date format can show.
const NEVER: Timestamp = Timestamp(253_370_764_800_000);

/// An approval in lines of at most `width` columns. `short` is the run's id as a user can give it.
pub(crate) fn lines(
    view: &ApprovalView,
    short: &str,
    now: Timestamp,
    width: usize,
) -> Vec<StyledLine> {
    let mut page = ApprovalPage {
        width,
        lines: vec![head(view, now)],
    };
    let role = view
        .role
        .map_or_else(|| "an agent".to_owned(), |role| format!("the {role}"));
    let starter = view.started_by.as_deref().unwrap_or("an unknown user");
    page.field(
        "who",
        &format!("{role} in run {short}, started by {starter}"),
    );
    match &view.asked {
        None => page.field(
            "action",
            "the request can no longer be read, so it cannot be approved",
        ),
        Some(asked) => page.asked(asked, view),
    }
    if let Some(word) = view.approval.state.word() {
        let why = if word.why.is_empty() {
            String::new()
        } else {
            format!(": {}", word.why)
        };
        let at = units::moment(word.at);
        page.field(
            view.approval.state.name(),
            &format!("by {} at {at}{why}", word.by),
        );
    }
    if view.approval.is_open() {
        page.commands(view);
    }
    page.lines
}

fn head(view: &ApprovalView, now: Timestamp) -> StyledLine {
    let approval = &view.approval;
    let line = StyledLine::new()
        .with(LineStyle::Strong, format!("approval {}", approval.id))
        .with(LineStyle::Odd, format!("  {}", approval.state.name()));
    if !approval.is_open() {
        return line;
    }
    line.with(LineStyle::Plain, until(&approval.terms, now))
}

fn until(terms: &ApprovalTerms, now: Timestamp) -> String {
    if terms.expires >= NEVER {
        return "  no expiry".to_owned();
    }
    let at = units::moment(terms.expires);
    if terms.expires <= now {
        return format!("  expired at {at}");
    }
    format!("  until {at}, {} left", units::age(terms.expires, now))
}

struct ApprovalPage {
    width: usize,
    lines: Vec<StyledLine>,
}

impl ApprovalPage {
    fn field(&mut self, name: &str, text: &str) {
        self.folded(
            &format!("  {}", pad(name, NAME_COLUMNS)),
            LineStyle::Plain,
            text,
        );
    }

    /// A text beside its name, over as many lines as it takes. A bar stands before each further line, so that none of
    /// them can be taken for a line of ours.
    fn folded(&mut self, name: &str, tone: LineStyle, text: &str) {
        let left = columns(name);
        let room = self.width.saturating_sub(left).max(TEXT_COLUMNS_MIN);
        let further = pad_front(BAR, left);
        for (number, piece) in fold(&visible(text), room).into_iter().enumerate() {
            let before = if number == 0 { name } else { &further };
            let line = StyledLine::new().with(LineStyle::Faint, before);
            self.lines.push(line.with(tone, piece));
        }
    }

    fn asked(&mut self, asked: &ApprovalRequest, view: &ApprovalView) {
        let EffectTarget {
            tenant,
            platform,
            account,
            action,
        } = &asked.request.target;
        let event = &asked.request.event;
        let whose = if tenant.is_empty() {
            String::new()
        } else {
            format!(", tenant {tenant}")
        };
        self.field(
            "action",
            &format!("{action} on {platform} (account {account}{whose}), once"),
        );
        self.field("event", event);
        self.field("tool", &asked.request.tool);
        self.field("goal", view.goal.as_deref().unwrap_or("(cannot be read)"));
        if let Some(task) = &view.task {
            self.field("task", task);
        }
        self.field("rule", &asked.rule);
        self.field("approver", &who_decides(view));
        self.field("undo", &undo(asked.undo.as_ref()));
        self.arguments(asked);
        self.dry_run(asked);
    }

    fn arguments(&mut self, asked: &ApprovalRequest) {
        self.lines.push(StyledLine::new());
        self.lines
            .push(StyledLine::from("  Exactly this would be sent:"));
        // Shown in full and never clipped: a person approves every byte of it.
        let literal = asked.request.arguments.as_str();
        let mut flat = Vec::new();
        match serde_json::from_str(literal) {
            Ok(arguments) => flatten("", &arguments, &mut flat),
            Err(_) => flat.push((String::new(), literal.to_owned())),
        }
        let tainted = |pointer: &str| {
            let taint = asked.request.taint.iter();
            // Pointers are compared part by part, so that `/a` does not cover `/ab`.
            let covers = |by: &str| pointer == by || pointer.starts_with(&format!("{by}/"));
            taint
                .into_iter()
                .filter(move |taint| {
                    // A mark on a part of what is shown whole counts for the whole.
                    covers(&taint.argument) || taint.argument.starts_with(&format!("{pointer}/"))
                })
                .flat_map(|taint| taint.sources.iter().map(String::as_str))
                .collect::<Vec<_>>()
        };
        for (pointer, value) in &flat {
            let name = if pointer.is_empty() { "(all)" } else { pointer };
            self.folded("    ", LineStyle::Strong, name);
            self.folded("    | ", LineStyle::Plain, value);
            let sources = tainted(pointer);
            if !sources.is_empty() {
                let sources = sources.join(", ");
                self.folded(
                    "    ",
                    LineStyle::Odd,
                    &format!("UNTRUSTED: may originate from {sources}"),
                );
            }
        }
        let known = |argument: &str| {
            flat.iter().any(|(pointer, _)| {
                pointer == argument
                    || pointer.starts_with(&format!("{argument}/"))
                    || argument.starts_with(&format!("{pointer}/"))
            })
        };
        for taint in asked
            .request
            .taint
            .iter()
            // A mark on an argument that is not shown is listed all the same, since silence would read as trust.
            .filter(|taint| !known(&taint.argument))
        {
            let sources = taint.sources.join(", ");
            let text = format!("UNTRUSTED: {} may originate from {sources}", taint.argument);
            self.folded("    ", LineStyle::Odd, &text);
        }
        if asked.request.taint.is_empty() {
            self.lines
                .push(StyledLine::from("    No argument is marked as untrusted."));
        }
        self.lines.push(StyledLine::new());
    }

    fn dry_run(&mut self, asked: &ApprovalRequest) {
        match &asked.dry_run {
            None => self.field("dry run", "not available for this tool"),
            Some(dry_run) => {
                let verdict = if dry_run.ok {
                    "would succeed"
                } else {
                    "would FAIL"
                };
                self.field("dry run", verdict);
                if !dry_run.report.is_blank() {
                    let report = clip(&masked(dry_run.report.as_str()), REPORT_CHARS_MAX);
                    // As a JSON string, so that line ends of the tool cannot leave its line.
                    let report = Value::from(report).to_string();
                    self.folded("    | ", LineStyle::Plain, &report);
                }
            }
        }
    }

    fn commands(&mut self, view: &ApprovalView) {
        let id = &view.approval.id;
        self.lines.push(StyledLine::new());
        let mut say = |name: &str, command: String| {
            let line =
                StyledLine::new().with(LineStyle::Faint, format!("  {}", pad(name, NAME_COLUMNS)));
            self.lines.push(line.with(LineStyle::Strong, command));
        };
        if view.asked.is_some() {
            say("approve", format!("fathom approve {id}"));
        }
        say("deny", format!("fathom deny {id} --why \"…\""));
    }
}

fn who_decides(view: &ApprovalView) -> String {
    let terms = &view.approval.terms;
    let who = if terms.roles.is_empty() {
        "anyone allowed to decide here".to_owned()
    } else {
        format!("someone with the role {}", terms.roles.join(" or "))
    };
    if !terms.second_person {
        return who;
    }
    match view.started_by.as_deref() {
        Some(starter) => format!("{who}, except {starter}, who started the run"),
        None => format!("{who}, except the person who started the run"),
    }
}

fn undo(undo: Option<&Reversibility>) -> String {
    match undo {
        Some(Reversibility::Tool(inverse)) => format!(
            "with the tool {}, called with {}",
            inverse.tool,
            inverse.args.join(" ")
        ),
        Some(Reversibility::Hand) => "by hand only".to_owned(),
        Some(Reversibility::Nobody) => "this CANNOT be undone".to_owned(),
        None => "reversibility unknown".to_owned(),
    }
}

/// Every argument with its place, as a JSON pointer, in the order of the text; values as JSON.
fn flatten(pointer: &str, value: &Value, flat: &mut Vec<(String, String)>) {
    // JSON pointers write `~` and `/` in keys this way; taint marks are compared with these.
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                flatten(&format!("{pointer}/{}", escaped(key)), value, flat);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                flatten(&format!("{pointer}/{index}"), value, flat);
            }
        }
        _ => flat.push((pointer.to_owned(), value.to_string())),
    }
}

/// An approval as a program reads it.
#[derive(Debug, Serialize)]
pub(crate) struct ApprovalJson {
    id: String,
    run: RunId,
    episode: String,
    ask: u32,
    #[serde(flatten)]
    state: ApprovalState,
    opened_at: String,
    expires_at: Option<String>,
    roles: Vec<String>,
    second_person: bool,
    binding: String,
    started_by: Option<String>,
    role: Option<String>,
    goal: Option<String>,
    task: Option<String>,
    tool: Option<String>,
    target: Option<EffectTarget>,
    event: Option<String>,
    /// As they stand in the record, letter by letter.
    arguments: Option<String>,
    taint: Vec<fathom_core::effect::TaintedArgument>,
    rule: Option<String>,
    dry_run: Option<DryRunJson>,
    /// Reversibility of the effect, and its inverse.
    undo: Option<Reversibility>,
}

#[derive(Debug, Serialize)]
struct DryRunJson {
    ok: bool,
    report: String,
}

impl From<ApprovalView> for ApprovalJson {
    fn from(view: ApprovalView) -> Self {
        let approval = view.approval;
        let terms = approval.terms;
        let asked = view.asked.as_ref();
        let request = asked.map(|asked| &asked.request);
        let dry_run = asked.and_then(|asked| asked.dry_run.as_ref());
        Self {
            id: approval.id.to_string(),
            run: approval.owner.run,
            episode: approval.owner.episode.to_string(),
            ask: approval.owner.ask.0,
            state: approval.state,
            opened_at: units::moment(approval.opened_at),
            expires_at: (terms.expires < NEVER).then(|| units::moment(terms.expires)),
            roles: terms.roles,
            second_person: terms.second_person,
            binding: terms.binding.to_string(),
            started_by: view.started_by,
            role: view.role.map(|role| role.to_string()),
            goal: view.goal,
            task: view.task,
            tool: request.map(|request| request.tool.clone()),
            target: request.map(|request| request.target.clone()),
            event: request.map(|request| request.event.clone()),
            arguments: request.map(|request| request.arguments.as_str().to_owned()),
            taint: request.map_or_else(Vec::new, |request| request.taint.clone()),
            rule: asked.map(|asked| asked.rule.clone()),
            dry_run: dry_run.map(|dry_run| DryRunJson {
                ok: dry_run.ok,
                report: dry_run.report.as_str().to_owned(),
            }),
            undo: asked.and_then(|asked| asked.undo.clone()),
        }
    }
}

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;
