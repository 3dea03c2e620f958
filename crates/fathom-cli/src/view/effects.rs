//! What a run did outside, for people.

use fathom_core::effect::EffectState;
use fathom_host::view::effects_json::rules;
use fathom_host::view::run::RunView;

use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::many;

/// Everything that a run did outside, or wanted to: what, where, by which rule and whose word, how it went, and what was seen.
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
