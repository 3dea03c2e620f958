//! Assets, their bundles, and snapshots of what would be published.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::{RecordBody, TITLE_CHARS_MAX, ends, filled, listed, same};
use super::fault::{RecordFault, RecordRule};
use super::kind::{RecordKind, RecordPointer, check_id};
use crate::id::Digest;
use crate::model::tool_call::canonical;

/// Something that was made. It says from what, so that it can be made again or held against its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssetBody {
    /// The type of the blueprint that it follows.
    pub blueprint: String,
    /// The plan node that it is for, by its id.
    pub plan: String,
    /// The prompts it was made with; at least one.
    pub prompts: Vec<String>,
    /// The provider configuration that made it.
    pub provider: String,
    /// The media type, as `text/markdown`.
    pub media: String,
    /// The asset itself; base64 if it is not text.
    pub content: String,
    /// SHA-256 of `content`.
    pub sha256: Digest,
}

impl RecordBody for AssetBody {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("blueprint", &self.blueprint, TITLE_CHARS_MAX)?;
        check_id(&self.plan)?;
        if self.prompts.is_empty() {
            return Err(RecordFault::broken(
                RecordRule::AssetPrompts,
                "`prompts` is empty",
            ));
        }
        listed("prompts", &self.prompts)?;
        filled("provider", &self.provider, TITLE_CHARS_MAX)?;
        filled("media", &self.media, TITLE_CHARS_MAX)?;
        // Its length is bounded with that of the whole body.
        filled("content", &self.content, usize::MAX)?;
        same(RecordRule::AssetHash, self.sha256, &self.content)
    }

    fn names(&self) -> Vec<RecordPointer> {
        vec![RecordPointer::to(RecordKind::PlanNode, &self.plan)]
    }
}

/// A relation between two assets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssetEdge {
    /// The one, by its id.
    pub from: String,
    /// The other, by its id.
    pub to: String,
    /// The relation of the one to the other, as `derived_from`.
    pub relation: String,
}

impl RecordBody for AssetEdge {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        ends(&self.from, &self.to)?;
        filled("relation", &self.relation, TITLE_CHARS_MAX)
    }

    fn names(&self) -> Vec<RecordPointer> {
        [&self.from, &self.to]
            .map(|id| RecordPointer::to(RecordKind::Asset, id))
            .to_vec()
    }
}

/// Assets that go out together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssetBundle {
    /// A short title.
    pub title: String,
    /// The assets, by their ids; at least one.
    pub assets: Vec<String>,
}

impl RecordBody for AssetBundle {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        filled("title", &self.title, TITLE_CHARS_MAX)?;
        listed("assets", &self.assets)?;
        if self.assets.is_empty() {
            return Err(RecordFault::broken(RecordRule::Field, "`assets` is empty"));
        }
        self.assets.iter().try_for_each(|id| check_id(id))
    }

    fn names(&self) -> Vec<RecordPointer> {
        let assets = self.assets.iter();
        assets
            .map(|id| RecordPointer::to(RecordKind::Asset, id))
            .collect()
    }
}

/// The exact payload of a publication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayloadSnapshot {
    /// The asset or the bundle that it is made of.
    pub of: RecordPointer,
    /// The payload for the platform.
    pub payload: Value,
    /// SHA-256 of the payload in its [canonical](crate::model::tool_call::canonical) form.
    pub sha256: Digest,
}

impl RecordBody for PayloadSnapshot {
    fn check(&self, _: &[String]) -> Result<(), RecordFault> {
        if ![RecordKind::Asset, RecordKind::AssetBundle].contains(&self.of.kind) {
            return Err(RecordFault::broken(
                RecordRule::PayloadOf,
                format_args!("`{}` is no asset and no bundle", self.of),
            ));
        }
        // Over the canonical form, so that the order of keys makes no other payload.
        same(
            RecordRule::PayloadHash,
            self.sha256,
            &canonical(&self.payload),
        )
    }

    fn names(&self) -> Vec<RecordPointer> {
        vec![self.of.clone()]
    }
}
