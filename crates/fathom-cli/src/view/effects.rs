//! Effects of a run, for people and for programs.

use fathom_core::effect::{EffectState, PolicyDecision};
use fathom_host::view::effects::EffectView;
use fathom_host::view::run::RunView;
use serde::Serialize;
use serde_json::Value;

use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::many;

/// An effect or a look, as programs read it.
#[derive(Debug, Serialize)]
pub(crate) struct EffectJson {
    episode: String,
    ask: String,
    tool: String,
    class: fathom_core::effect::EffectClass,
    platform: String,
    account: String,
    action: String,
    event: String,
    arguments: Value,
    tainted: Vec<String>,
    state: EffectState,
    path: Vec<EffectState>,
    rules: Vec<String>,
    policies: Option<String>,
    dry_run: Option<bool>,
    person: Option<String>,
    said: Option<String>,
    evidence: Vec<EvidenceJson>,
}

#[derive(Debug, Serialize)]
struct EvidenceJson {
    step: String,
    media: String,
    sha256: String,
    bytes: usize,
}

/// Everything that a run did outside, or wanted to.
pub(crate) fn json(story: &RunView) -> Vec<EffectJson> {
    let chapters = story.chapters.iter();
    let deeds = chapters.flat_map(|(id, chapter)| {
        let deeds = chapter.deeds.iter();
        deeds.map(move |(ask, deed)| (id.to_string(), ask.to_string(), deed))
    });
    deeds
        .map(|(episode, ask, deed)| one(episode, ask, deed))
        .collect()
}

fn one(episode: String, ask: String, deed: &EffectView) -> EffectJson {
    let effect = &deed.effect;
    EffectJson {
        episode,
        ask,
        tool: effect.tool.clone(),
        class: effect.class,
        platform: effect.target.platform.clone(),
        account: effect.target.account.clone(),
        action: effect.target.action.clone(),
        event: effect.event.clone(),
        arguments: serde_json::from_str(effect.arguments.as_str()).unwrap_or_default(),
        tainted: effect
            .taint
            .iter()
            .map(|taint| taint.argument.clone())
            .collect(),
        state: deed.state,
        path: deed.path.clone(),
        rules: rules(deed),
        policies: deed.bundle.map(|bundle| bundle.to_string()),
        dry_run: deed.dry_run.as_ref().map(|(ok, _)| *ok),
        person: person(deed),
        said: deed.said.as_ref().map(|said| said.as_str().to_owned()),
        evidence: deed
            .evidence
            .iter()
            .map(|seen| EvidenceJson {
                step: seen.step.clone(),
                media: seen.media.clone(),
                sha256: seen.digest.to_string(),
                bytes: seen.content.as_str().len(),
            })
            .collect(),
    }
}

fn rules(deed: &EffectView) -> Vec<String> {
    match &deed.decision {
        None => Vec::new(),
        Some(PolicyDecision::Allow { rules }) => rules.clone(),
        Some(PolicyDecision::Deny { rule } | PolicyDecision::NeedsApproval { rule, .. }) => {
            vec![rule.clone()]
        }
    }
}

fn person(deed: &EffectView) -> Option<String> {
    let (allowed, by) = deed.person.as_ref()?;
    Some(if *allowed {
        format!("{by} said yes")
    } else {
        format!("{by} said no")
    })
}

/// The same in lines: what, where, by which rule and whose word, how it went, and what was seen.
pub(crate) fn lines(story: &RunView, width: usize) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for (id, chapter) in &story.chapters {
        for (_, deed) in chapter.deeds.iter() {
            let effect = &deed.effect;
            let kind = if deed.is_effect() {
                "effect  "
            } else {
                "read    "
            };
            let tone = match deed.state {
                EffectState::Confirmed => LineStyle::Good,
                EffectState::Failed => LineStyle::Bad,
                _ => LineStyle::Odd,
            };
            let target = &effect.target;
            let what = format!(
                "{} on {} (account {}) with tool {}, episode {id}",
                target.action, target.platform, target.account, effect.tool
            );
            let path: Vec<String> = deed.path.iter().map(|state| word(*state)).collect();
            lines.push(
                StyledLine::new()
                    .with(LineStyle::Faint, kind)
                    .with(LineStyle::Plain, safe(&what))
                    .clipped(width),
            );
            lines.push(
                StyledLine::new()
                    .with(LineStyle::Faint, "        ")
                    .with(tone, path.join(" → "))
                    .clipped(width),
            );
            let mut grounds = Vec::new();
            let rules = rules(deed);
            if !rules.is_empty() {
                let noun = if rules.len() == 1 { "rule" } else { "rules" };
                grounds.push(format!("{noun} {}", rules.join(", ")));
            }
            grounds.extend(deed.dry_run.as_ref().map(|(ok, _)| {
                let word = if *ok { "would succeed" } else { "would fail" };
                format!("dry run: {word}")
            }));
            grounds.extend(deed.person.as_ref().map(|(allowed, by)| {
                let word = if *allowed { "approved" } else { "denied" };
                format!("{word} by {by}")
            }));
            if !effect.taint.is_empty() {
                let tainted = many(effect.taint.len() as u64, "argument", "arguments");
                grounds.push(format!("{tainted} from untrusted sources"));
            }
            if !grounds.is_empty() {
                lines.push(
                    StyledLine::new()
                        .with(LineStyle::Faint, "        ")
                        .with(LineStyle::Plain, safe(&grounds.join("; ")))
                        .clipped(width),
                );
            }
            for seen in &deed.evidence {
                let digest = seen.digest.to_string();
                let said = format!(
                    "        evidence {} {} sha256 {}",
                    seen.step,
                    seen.media,
                    digest.get(..12).unwrap_or_default()
                );
                lines.push(
                    StyledLine::new()
                        .with(LineStyle::Faint, safe(&said))
                        .clipped(width),
                );
            }
        }
    }
    lines
}

/// A state as its name in the journal.
fn word(state: EffectState) -> String {
    let name = serde_json::to_value(state).unwrap_or_default();
    name.as_str().unwrap_or_default().replace('_', " ")
}
