//! Questions to the policies, in Cedar's terms.

use std::collections::{BTreeSet, HashSet};
use std::str::FromStr as _;

use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression,
    Schema,
};
use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{DryRun, EffectClass, EffectRequest, EffectTarget, TaintedArgument};
use fathom_core::id::RunId;
use fathom_core::unit::Timestamp;

use crate::policy_arguments::PolicyArguments;

/// Everything that policies can test.
#[derive(Clone, Copy, Debug)]
pub struct PolicyQuestion<'a> {
    pub run: RunId,
    /// Tenant of the run.
    pub tenant: &'a str,
    /// Role of the asking episode.
    pub role: AgentRole,
    /// Autonomy left after the role's maximum.
    pub autonomy: Autonomy,
    pub effect: &'a EffectRequest,
    /// Result of the tool's dry run, if it has one.
    pub dry_run: Option<&'a DryRun>,
    /// Flags that are set.
    pub flags: &'a BTreeSet<String>,
    pub at: Timestamp,
}

/// A question that cannot be put to the policies. The text becomes an error of the ruling, which denies.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CannotJudge(pub(crate) String);

fn cannot_judge(error: impl std::fmt::Display) -> CannotJudge {
    CannotJudge(error.to_string())
}

/// Entity types of the schema, parsed once.
#[derive(Clone, Debug)]
pub(crate) struct PolicyTypes {
    role: EntityTypeName,
    autonomy: EntityTypeName,
    class: EntityTypeName,
    tenant: EntityTypeName,
    platform: EntityTypeName,
    account: EntityTypeName,
    texts: EntityTypeName,
    numbers: EntityTypeName,
    truths: EntityTypeName,
    lists: EntityTypeName,
    action: EntityTypeName,
}

impl PolicyTypes {
    pub(crate) fn new() -> Result<Self, CannotJudge> {
        let of = |name| EntityTypeName::from_str(name).map_err(cannot_judge);
        Ok(Self {
            role: of("Role")?,
            autonomy: of("Autonomy")?,
            class: of("Class")?,
            tenant: of("Tenant")?,
            platform: of("Platform")?,
            account: of("Account")?,
            texts: of("Texts")?,
            numbers: of("Numbers")?,
            truths: of("Truths")?,
            lists: of("Lists")?,
            action: of("Action")?,
        })
    }
}

impl PolicyTypes {
    pub(crate) fn is_account(&self, uid: &EntityUid) -> bool {
        *uid.type_name() == self.account
    }
}

/// The part of a question that does not depend on taint: principal, action, resource, and the entities that
/// hold the arguments.
#[derive(Debug)]
pub(crate) struct PolicyContext<'a> {
    question: &'a PolicyQuestion<'a>,
    types: &'a PolicyTypes,
    left_out: Vec<String>,
    pub(crate) entities: Entities,
}

impl<'a> PolicyContext<'a> {
    pub(crate) fn new(
        question: &'a PolicyQuestion<'a>,
        types: &'a PolicyTypes,
        listed: &Entities,
        common: &Entities,
    ) -> Result<Self, CannotJudge> {
        let text = &question.effect.arguments;
        if text.is_closed() {
            return Err(CannotJudge("the arguments cannot be read".to_owned()));
        }
        let arguments = PolicyArguments::read(text.as_str())?;
        let account = account(types, &question.effect.target, listed)?;
        let texts = arguments.texts.into_iter();
        let numbers = arguments.numbers.into_iter();
        let truths = arguments.truths.into_iter();
        let lists = arguments.lists.into_iter();
        let added = [
            account,
            tagged(
                &types.texts,
                texts.map(|(at, text)| (at, RestrictedExpression::new_string(text))),
            )?,
            tagged(
                &types.numbers,
                numbers.map(|(at, number)| (at, RestrictedExpression::new_long(number))),
            )?,
            tagged(
                &types.truths,
                truths.map(|(at, truth)| (at, RestrictedExpression::new_bool(truth))),
            )?,
            tagged(&types.lists, lists.map(|(at, texts)| (at, set(texts))))?,
        ];
        let entities = common.clone().upsert_entities(added, None);
        Ok(Self {
            question,
            types,
            left_out: arguments.left_out,
            entities: entities.map_err(cannot_judge)?,
        })
    }

    /// The Cedar request, with the given arguments tainted.
    pub(crate) fn request(
        &self,
        taint: &[TaintedArgument],
        schema: &Schema,
    ) -> Result<Request, CannotJudge> {
        let Self {
            question, types, ..
        } = self;
        Request::new(
            uid(&types.role, &question.role.to_string()),
            uid(&types.action, &question.effect.target.action),
            uid(&types.account, &account_id(&question.effect.target)),
            self.context(taint)?,
            Some(schema),
        )
        .map_err(cannot_judge)
    }

    fn context(&self, taint: &[TaintedArgument]) -> Result<Context, CannotJudge> {
        use RestrictedExpression as Value;
        let Self {
            question, types, ..
        } = self;
        let text = |text: &str| Value::new_string(text.to_owned());
        let entity = |kind: &EntityTypeName, id: &str| Value::new_entity_uid(uid(kind, id));
        let effect = question.effect;
        let autonomy = match question.autonomy {
            Autonomy::Suggest => "suggest",
            Autonomy::Approve => "approve",
            Autonomy::Act => "act",
        };
        let class = match effect.class {
            EffectClass::Read => "read",
            EffectClass::Effect => "effect",
        };
        // UTC: a decision must not depend on where the machine stands.
        let hour = i64::try_from(question.at.0 / 3_600_000 % 24).unwrap_or_default();
        let tainted = taint.iter().map(|taint| taint.argument.clone());
        let mut pairs = vec![
            ("run", text(&question.run.to_string())),
            ("tenant", entity(&types.tenant, question.tenant)),
            ("autonomy", entity(&types.autonomy, autonomy)),
            ("tool", text(&effect.tool)),
            ("class", entity(&types.class, class)),
            ("event", text(&effect.event)),
            ("texts", entity(&types.texts, ARGUMENTS)),
            ("numbers", entity(&types.numbers, ARGUMENTS)),
            ("truths", entity(&types.truths, ARGUMENTS)),
            ("lists", entity(&types.lists, ARGUMENTS)),
            ("left_out", set(self.left_out.iter().cloned())),
            ("tainted", Value::new_bool(!taint.is_empty())),
            ("tainted_arguments", set(tainted)),
            ("flags", set(question.flags.iter().cloned())),
            ("hour", Value::new_long(hour)),
        ];
        // Absent rather than false where there was no dry run: `has` lets a policy tell the two apart.
        if let Some(dry_run) = question.dry_run {
            pairs.push(("dry_run_ok", Value::new_bool(dry_run.ok)));
        }
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        Context::from_pairs(pairs).map_err(cannot_judge)
    }
}

/// The id of the entities that hold a question's arguments.
const ARGUMENTS: &str = "arguments";

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

/// Id of an account across tenants and platforms. The parts are escaped, so that no two accounts share an id.
fn account_id(target: &EffectTarget) -> String {
    [&target.tenant, &target.platform, &target.account]
        .map(|part| part.replace('%', "%25").replace('/', "%2F"))
        .join("/")
}

/// The account as it is listed, in its tenant and on its platform.
fn account(
    types: &PolicyTypes,
    target: &EffectTarget,
    listed: &Entities,
) -> Result<Entity, CannotJudge> {
    // The parents come from the target, listed or not: an account that `entities.json` omits must still fall
    // under the rules of its tenant and platform.
    let id = uid(&types.account, &account_id(target));
    let mut parents = HashSet::from([
        uid(&types.tenant, &target.tenant),
        uid(&types.platform, &target.platform),
    ]);
    let Some(account) = listed.get(&id) else {
        return Ok(Entity::new_no_attrs(id, parents));
    };
    let (id, attributes, more) = account.clone().into_inner();
    parents.extend(more);
    Entity::new(id, attributes, parents).map_err(cannot_judge)
}

fn tagged(
    kind: &EntityTypeName,
    tags: impl IntoIterator<Item = (String, RestrictedExpression)>,
) -> Result<Entity, CannotJudge> {
    Entity::new_with_tags(uid(kind, ARGUMENTS), [], [], tags).map_err(cannot_judge)
}

fn set(texts: impl IntoIterator<Item = String>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.into_iter().map(RestrictedExpression::new_string))
}
