//! A charter as `fathom charter show` prints it.

use std::collections::BTreeMap;

use fathom_core::channel::marker::Marker;
use fathom_host::charter::{Charter, CouncilCharter, CouncilRole, PacketMtu};
use fathom_models::count_o200k;
use fathom_programs::council::{ConfidenceSource, CouncilSeat};
use serde::Serialize;

use crate::settings::models::shown;
use crate::terminal::plain_text::{one_line, pad, safe};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::{self, many};

/// Columns of the word that begins a line.
/// Columns of the word that begins a line.
const LABEL_COLUMNS: usize = 14;

/// Tokens of a charter's texts, in the vocabulary of GPT-4o.
#[derive(Serialize)]
pub(crate) struct TokenRows<'a> {
    identity: u64,
    persona: u64,
    instructions: BTreeMap<&'a str, u64>,
    agents: BTreeMap<&'a str, u64>,
    prompts: BTreeMap<&'a str, u64>,
}

impl<'a> TokenRows<'a> {
    pub(crate) fn of(charter: &'a Charter) -> Self {
        fn each<T>(things: &BTreeMap<String, T>, text: fn(&T) -> &str) -> BTreeMap<&str, u64> {
            let counted = things.iter();
            counted
                .map(|(id, thing)| (id.as_str(), count_o200k(text(thing))))
                .collect()
        }
        Self {
            identity: count_o200k(&charter.identity.text()),
            persona: count_o200k(&charter.persona.text()),
            instructions: each(&charter.instructions, |instruction| &instruction.text),
            agents: each(&charter.agents, |agent| &agent.prompt),
            prompts: each(&charter.prompts, |prompt| &prompt.text),
        }
    }
}

pub(crate) fn show_lines(charter: &Charter, tokens: &TokenRows<'_>) -> Vec<StyledLine> {
    let place = match &charter.folder {
        Some(folder) => folder.display().to_string(),
        None => "built in".to_owned(),
    };
    let head = format!(
        " {}   protocol {}   {}",
        charter.version,
        charter.protocol,
        safe(&place)
    );
    let mut lines = vec![
        label("charter")
            .with(LineStyle::Strong, charter.name.clone())
            .with(LineStyle::Plain, head),
    ];
    if !charter.description.is_empty() {
        lines.push(label("").with(LineStyle::Plain, one_line(&charter.description)));
    }
    lines.push(label("digest").with(LineStyle::Faint, charter.digest()));
    lines.push(label("packet").with(LineStyle::Plain, packet(charter)));
    lines.push(label("ask").with(LineStyle::Plain, charter.router.ask.clone()));
    lines.push(heading("roles"));
    lines.extend(branches(roles(charter)));
    let identity_max = charter.mtu.identity_tokens_max();
    let persona_max = charter.mtu.persona_tokens_max(tokens.identity);
    for (name, tokens, tokens_max) in [
        ("identity", tokens.identity, identity_max),
        ("persona", tokens.persona, persona_max),
    ] {
        lines.push(label(name).with(LineStyle::Plain, of_tokens(tokens, tokens_max)));
    }
    if !charter.instructions.is_empty() {
        lines.push(heading("instructions"));
        lines.extend(branches(instructions(charter, tokens)));
    }
    if !charter.agents.is_empty() {
        lines.push(heading("agents"));
        lines.extend(branches(agents(charter, tokens)));
    }
    if !charter.prompts.is_empty() {
        lines.push(heading("prompts"));
        lines.extend(branches(prompts(charter, tokens)));
    }
    if charter.stages.is_some() || charter.routes.is_some() {
        lines.push(heading("routes"));
        lines.extend(branches(routes(charter)));
    }
    if let Some(council) = &charter.council {
        lines.push(heading("council"));
        lines.extend(branches(rules(council)));
        lines.push(heading("seats"));
        lines.extend(seats(&council.chiefs, ""));
    }
    lines.extend(
        charter
            .warnings
            .iter()
            .map(|warning| label("warning").with(LineStyle::Odd, safe(&warning.to_string()))),
    );
    lines
}

/// Destinations of the blocks of each marker.
fn routes(charter: &Charter) -> Vec<BudgetRow> {
    let rows = charter.routes();
    let row = |marker: Marker| {
        let ways = rows.get(marker.as_str()).into_iter().flatten();
        let ways = ways.map(|way| {
            let log = if way.log { " log" } else { "" };
            format!("{}{log}", way.channel)
        });
        let ways: Vec<String> = ways.collect();
        let said = if ways.is_empty() {
            "nowhere".to_owned()
        } else {
            ways.join(", ")
        };
        (marker.as_str().to_owned(), said)
    };
    Marker::ALL.map(row).to_vec()
}

fn label(name: &str) -> StyledLine {
    StyledLine::new().with(LineStyle::Faint, pad(name, LABEL_COLUMNS))
}

fn heading(name: &str) -> StyledLine {
    StyledLine::new().with(LineStyle::Faint, name)
}

fn of_tokens(tokens: u64, tokens_max: u64) -> String {
    format!("{} of {tokens_max}", many(tokens, "token", "tokens"))
}

fn packet(charter: &Charter) -> String {
    let mtu = match charter.mtu {
        PacketMtu::Window => "context window minus output cap".to_owned(),
        PacketMtu::Tokens(tokens) => format!("{tokens} tokens"),
    };
    let sections = charter.sections;
    let percent = |milli: u16| f64::from(milli) / 10.0;
    format!(
        "{mtu}   agents {} %, symbols {} %, history {} %",
        percent(sections.agents_milli),
        percent(sections.symbols_milli),
        percent(sections.history_milli)
    )
}

/// A name and its description.
type BudgetRow = (String, String);

/// Rows as the branches of a tree.
fn branches(rows: Vec<BudgetRow>) -> Vec<StyledLine> {
    let width = rows.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let last = rows.len().saturating_sub(1);
    let rows = rows.into_iter().enumerate();
    rows.map(|(at, (name, said))| {
        let branch = if at == last { "└─ " } else { "├─ " };
        StyledLine::new()
            .with(LineStyle::Faint, branch)
            .with(LineStyle::Strong, pad(&name, width))
            .with(LineStyle::Plain, format!("   {}", safe(said.trim_end())))
    })
    .collect()
}

fn roles(charter: &Charter) -> Vec<BudgetRow> {
    let said = |role: CouncilRole| match charter.model(role) {
        Some(spec) => {
            let mut said = shown(&spec.id);
            if let Some(url) = &spec.base_url {
                said.push_str("   at ");
                said.push_str(url);
            }
            if let Some(variable) = &spec.api_key_env {
                said.push_str("   key in ");
                said.push_str(variable);
            }
            said
        }
        None => match role {
            CouncilRole::Prime | CouncilRole::CodeMind => "the run's model".to_owned(),
            CouncilRole::Lite => "the run's model for children".to_owned(),
        },
    };
    let roles = CouncilRole::ALL.iter();
    roles
        .map(|role| (role.as_str().to_owned(), said(*role)))
        .collect()
}

fn instructions(charter: &Charter, tokens: &TokenRows<'_>) -> Vec<BudgetRow> {
    let rows = charter.instructions.iter().map(|(key, instruction)| {
        let count = tokens.instructions.get(key.as_str());
        let said = format!(
            "{}   {}   {}",
            pad(instruction.stage.as_str(), "observe".len()),
            of_tokens(count.copied().unwrap_or_default(), instruction.max_tokens),
            instruction.last_updated
        );
        (key.clone(), said)
    });
    let mut rows: Vec<BudgetRow> = rows.collect();
    // In the order of the stages, as they are met.
    rows.sort_by_key(|(key, _)| charter.instructions.get(key).map(|known| known.stage));
    rows
}

fn agents(charter: &Charter, tokens: &TokenRows<'_>) -> Vec<BudgetRow> {
    let rows = charter.agents.iter().map(|(id, agent)| {
        let count = tokens.agents.get(id.as_str()).copied().unwrap_or_default();
        let role = serde_json::to_value(agent.role).unwrap_or_default();
        let role = role.as_str().unwrap_or_default().to_owned();
        let model = agent.model_role.map_or("-", CouncilRole::as_str);
        let count = units::count(count);
        let description = one_line(&agent.description);
        (
            id.clone(),
            format!("{role}   {model}   {count} tokens   {description}"),
        )
    });
    rows.collect()
}

fn prompts(charter: &Charter, tokens: &TokenRows<'_>) -> Vec<BudgetRow> {
    let rows = charter.prompts.iter().map(|(id, prompt)| {
        let count = tokens.prompts.get(id.as_str()).copied().unwrap_or_default();
        let count = units::count(count);
        let said = format!("{count} tokens   {}", one_line(&prompt.description));
        (id.clone(), said)
    });
    rows.collect()
}

/// Voting rules by profile.
fn rules(council: &CouncilCharter) -> Vec<BudgetRow> {
    let profiles = [("remote", &council.remote), ("local", &council.local)];
    let rows = profiles.map(|(name, rules)| {
        let confidence = match rules.confidence {
            ConfidenceSource::Stated => "stated confidence".to_owned(),
            ConfidenceSource::Measured { samples, .. } => format!("{samples} votes per seat"),
        };
        let said = format!(
            "depth {}, {}, {confidence}, {} tokens of passages",
            rules.depth_max,
            many(rules.sub_chiefs_max.into(), "sub-chief", "sub-chiefs"),
            rules.passage_tokens_max,
        );
        (name.to_owned(), said)
    });
    rows.into()
}

/// Seats as a tree, each with the number of its words.
fn seats(seats: &[CouncilSeat], indent: &str) -> Vec<StyledLine> {
    let width = seats.iter().map(|seat| seat.id.len()).max();
    let width = width.unwrap_or_default();
    let last = seats.len().saturating_sub(1);
    let mut lines = Vec::new();
    for (at, seat) in seats.iter().enumerate() {
        let (branch, below) = if at == last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let words = match seat.lexicon.len() as u64 {
            0 => String::new(),
            words => {
                let gap = pad("", width.saturating_sub(seat.id.len()));
                format!("{gap}   {}", many(words, "word", "words"))
            }
        };
        let line = StyledLine::new()
            .with(LineStyle::Faint, format!("{indent}{branch}"))
            .with(LineStyle::Strong, seat.id.clone())
            .with(LineStyle::Plain, words);
        lines.push(line);
        lines.extend(self::seats(&seat.sub_chiefs, &format!("{indent}{below}")));
    }
    lines
}
