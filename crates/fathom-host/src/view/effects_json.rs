//! What a run did outside, as programs read it.

use fathom_core::effect::{EffectState, PolicyDecision};
use serde::Serialize;
use serde_json::Value;

use super::effects::EffectView;
use super::run::RunView;

/// An effect or a look, as programs read it.
#[derive(Debug, Serialize)]
pub struct EffectJson {
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
pub fn effects_json(story: &RunView) -> Vec<EffectJson> {
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

/// The rules that decided about an effect.
pub fn rules(deed: &EffectView) -> Vec<String> {
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
