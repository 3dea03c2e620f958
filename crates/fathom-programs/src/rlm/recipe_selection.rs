//! The choice of a recipe before anything else: rules first, then the model, which fills in a form. What finds nothing is
//! widened, then something else is tried, and in the end the program says that it found nothing.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::config::{MaterialItem, RecipeMode};
use super::material_fields::MaterialFields;
use super::program::RlmProgram;
use super::recipe::{OPERATIONS, Recipe};
use super::state::RlmState;
use super::{prompts, recipe_rules};
use crate::reply;
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::episode::program::{Ask, ModelAsk, OnOutage, ProgramView};
use fathom_core::episode::result::{EpisodeStatus, clip};
use fathom_core::model::{ChatMessage, Speaker};
use fathom_core::packet::Packet;
use fathom_core::sandbox::{CellError, CellErrorKind, CellResult, CellValue, ValueFormat};
use fathom_core::text::Text;

/// Most keywords, and characters of one or of a label.
const KEYWORDS_MAX: usize = 6;
const WORD_CHARS_MAX: usize = 40;

const EXAMPLES: &str = "\
You choose how a program looks for the answer to a question about a large file. Reply with JSON.
- find: one fact that stands somewhere in it
- filter_then_read: an explanation from the passages about something
- count_by_field: how often the values of a field occur
- aggregate: sum, mean, median, min or max of a field
- classify_each: how many entries are something by their meaning
- map_reduce_summary: the whole in a few points
- compare: two files side by side
- pairwise: which entries go together, two by two

Question: Tell me the serial number of the pump in Oslo.
{\"recipe\":\"find\",\"keywords\":[\"serial\",\"pump\",\"Oslo\"]}
Question: How many of the letters are complaints?
{\"recipe\":\"classify_each\",\"label\":\"complaint\"}
Question: Is there a reason given for the delay of the bridge?
{\"recipe\":\"filter_then_read\",\"keywords\":[\"delay\",\"bridge\"]}
";

/// Step of the selection.
#[derive(Debug, Default, PartialEq, Eq)]
enum SelectionStep {
    /// Looking at the material.
    #[default]
    Look,
    Choose,
    /// The model names other keywords for what found nothing.
    Widen,
    Run(Recipe),
}

/// Progress of the selection of a recipe.
#[derive(Debug, Default)]
pub(super) struct RecipeSelection {
    step: SelectionStep,
    facts: MaterialFields,
    /// Recipes that found nothing.
    tried: Vec<&'static str>,
    /// Reason that a recipe did not look everywhere.
    failed: Option<String>,
    was_asked: bool,
    /// Keywords that the model named in place of the question's own words.
    wider: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeKeywords {
    keywords: Vec<String>,
}

impl RlmProgram {
    /// The model chose, or named keywords.
    pub(super) fn on_choice(&mut self, said: &str, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(choosing) = &mut self.choosing else {
            return Vec::new();
        };
        let recipe = if choosing.step == SelectionStep::Widen {
            let named = reply::form::<RecipeKeywords>(said).map(|named| checked(named.keywords));
            let keywords = named.unwrap_or_default();
            choosing.wider = Some(keywords.clone());
            match choosing.tried.last() {
                // The same words again find the same.
                Some(&"find") if !keywords.is_empty() => Recipe::Find { keywords },
                _ => Recipe::FilterThenRead { keywords },
            }
        } else {
            let chosen = reply::form::<Recipe>(said)
                .ok()
                .and_then(|recipe| valid(recipe, &choosing.facts, &self.params.given))
                .filter(|recipe| !choosing.tried.contains(&recipe.name()));
            chosen.unwrap_or(Recipe::Find {
                keywords: Vec::new(),
            })
        };
        self.run_recipe(recipe, view)
    }

    /// A cell ended without an answer: the look, or a recipe that found nothing.
    pub(super) fn on_recipe(&mut self, end: &CellResult, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(choosing) = &mut self.choosing else {
            return Vec::new();
        };
        // Recipes may ask leaf models, which closing does not allow any more.
        if let Some(dimension) = view.closing {
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::BudgetExhausted { dimension },
                "the budget ended before a recipe found an answer",
            );
        }
        match std::mem::take(&mut choosing.step) {
            SelectionStep::Look
                if end
                    .error
                    .as_ref()
                    .is_some_and(|error| error.kind.keeps_session()) =>
            {
                // An interpreter without recipes: the model writes its own.
                self.choosing = None;
                self.params.recipes = RecipeMode::Off;
                self.standing = Text::new(prompts::standing(&self.params, &self.goal));
                self.turn(view)
            }
            SelectionStep::Look => {
                choosing.facts = MaterialFields::read(end);
                match recipe_rules::route(&self.goal, &self.params.given, &choosing.facts) {
                    Some(recipe) => self.run_recipe(recipe, view),
                    None => self.choose(view),
                }
            }
            SelectionStep::Run(recipe) => {
                // Noted even if it failed, so that it is not chosen again.
                choosing.tried.push(recipe.name());
                let failed = end.error.as_ref().and_then(failed);
                choosing.failed = failed
                    .map(|why| format!("`{}` failed: {why}", recipe.name()))
                    // A failure stays known after later recipes, since they looked elsewhere.
                    .or(choosing.failed.take());
                let read = !choosing.tried.contains(&"filter_then_read");
                let (was_asked, wider) = (choosing.was_asked, choosing.wider.clone());
                match (recipe, wider) {
                    (Recipe::Find { .. } | Recipe::FilterThenRead { .. }, None) => self.widen(view),
                    (Recipe::Find { .. }, Some(keywords)) if read => {
                        self.run_recipe(Recipe::FilterThenRead { keywords }, view)
                    }
                    (Recipe::Find { .. } | Recipe::FilterThenRead { .. }, Some(_)) => self.admit(),
                    (_, _) if !was_asked => self.choose(view),
                    (_, _) => self.admit(),
                }
            }
            SelectionStep::Choose | SelectionStep::Widen => self.admit(),
        }
    }

    fn run_recipe(&mut self, recipe: Recipe, view: &ProgramView<'_>) -> Vec<Ask> {
        let code = recipe.code(&self.goal);
        self.report.recipes.push(recipe.name().to_owned());
        if let Some(choosing) = &mut self.choosing {
            choosing.step = SelectionStep::Run(recipe);
        }
        self.run(code, view)
    }

    fn choose(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        let Some(choosing) = &mut self.choosing else {
            return Vec::new();
        };
        choosing.step = SelectionStep::Choose;
        choosing.was_asked = true;
        let mut closed = choosing.tried.clone();
        if recipe_rules::counts_entries(&self.goal, &choosing.facts) {
            // Such a question asks for a number of entries, and `aggregate` would compute with their fields.
            closed.push("aggregate");
        }
        let schema = forms(&choosing.facts, &self.params.given, &closed);
        let mut prompt = EXAMPLES.to_owned();
        if !choosing.facts.fields.is_empty() {
            let names = choosing
                .facts
                .fields
                .iter()
                .map(|field| field.name.as_str());
            let names: Vec<_> = names.collect();
            let _ = writeln!(prompt, "Fields of this file: {}", names.join(", "));
        }
        let _ = write!(prompt, "Question: {}", self.goal.trim());
        self.ask_form(prompt, &schema, view)
    }

    fn widen(&mut self, view: &ProgramView<'_>) -> Vec<Ask> {
        if let Some(choosing) = &mut self.choosing {
            choosing.step = SelectionStep::Widen;
        }
        let head = self
            .params
            .given
            .first()
            .map_or("", |given| given.preview.as_str());
        let prompt = format!(
            "A search in a large file for the words of this question found no answer.\nThe file begins: {:?}\nQuestion: {}\n\
             Reply with JSON: other words that the line with the answer may hold (other names for the same things).",
            clip(head, 200),
            self.goal.trim()
        );
        self.ask_form(prompt, &form(&[("keywords", keywords_schema())]), view)
    }

    fn ask_form(&mut self, prompt: String, schema: &Json, view: &ProgramView<'_>) -> Vec<Ask> {
        self.report.iterations += 1;
        self.waiting = RlmState::Turn(view.next_ask);
        let packet = Packet::plain(vec![ChatMessage::new(Speaker::User, prompt)]);
        vec![Ask::Model(Box::new(ModelAsk {
            // A recipe with its arguments is far shorter; a longer reply is a model that has lost the form.
            output_tokens_max: 160,
            output_tokens_min: 64,
            // The choice should be the same for the same question.
            temperature_milli: Some(0),
            schema: Some(Text::new(schema.to_string())),
            timeout: self.params.timeout,
            on_outage: if view.depth == 0 {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(view.model, packet)
        }))]
    }

    fn admit(&mut self) -> Vec<Ask> {
        let failed = self.choosing.take().and_then(|choosing| choosing.failed);
        if let Some(why) = failed {
            // Who did not look everywhere cannot say that nothing is there.
            let class = ErrorClass::Cell;
            return self.finish(
                EpisodeStatus::NeedsReview,
                StopReason::Failure { class },
                &why,
            );
        }
        let tried = self.report.recipes.join(", ");
        self.best.get_or_insert_with(|| CellValue {
            form: ValueFormat::Text,
            text: Text::new(format!(
                "I found no answer to this in the material (tried: {tried})."
            )),
        });
        self.finish(
            EpisodeStatus::NeedsReview,
            StopReason::NoNewInformation,
            "no recipe found an answer",
        )
    }
}

/// The error that kept a cell from its end; a recipe that finds nothing to work on counts as ended.
fn failed(error: &CellError) -> Option<String> {
    let last = error.message.as_str().trim_end().lines().next_back();
    let last = last.unwrap_or_default();
    let found_nothing = error.kind == CellErrorKind::Raised && last.starts_with("LookupError");
    (!found_nothing).then(|| clip(last, 200))
}

fn checked(keywords: Vec<String>) -> Vec<String> {
    let short = |word: &String| !word.trim().is_empty() && is_short(word);
    keywords
        .into_iter()
        .filter(short)
        .take(KEYWORDS_MAX)
        .collect()
}

fn is_short(word: &str) -> bool {
    word.chars().count() <= WORD_CHARS_MAX
}

/// A choice whose arguments are what the material has.
fn valid(recipe: Recipe, facts: &MaterialFields, given: &[MaterialItem]) -> Option<Recipe> {
    let is_given = |name: &str| given.iter().any(|given| given.name == name);
    let is_right = match &recipe {
        Recipe::Find { .. } | Recipe::FilterThenRead { .. } | Recipe::Pairwise {} => true,
        Recipe::CountByField { field, value } => facts
            .field(field)
            .is_some_and(|field| value.is_empty() || field.values.contains(value)),
        Recipe::Aggregate { field, op, by } => {
            facts.field(field).is_some_and(|field| field.is_number)
                && OPERATIONS.contains(&op.as_str())
                && (by.is_empty() || facts.field(by).is_some())
        }
        Recipe::ClassifyEach { label } => !label.trim().is_empty() && is_short(label),
        Recipe::MapReduceSummary { bullets } => (1..=12).contains(bullets),
        Recipe::Compare { a, b } => a != b && is_given(a) && is_given(b),
    };
    Some(match recipe {
        _ if !is_right => return None,
        Recipe::Find { keywords } => Recipe::Find {
            keywords: checked(keywords),
        },
        Recipe::FilterThenRead { keywords } => Recipe::FilterThenRead {
            keywords: checked(keywords),
        },
        other => other,
    })
}

fn keywords_schema() -> Json {
    let word = json!({"type": "string", "minLength": 2, "maxLength": 24});
    json!({"type": "array", "items": word, "minItems": 1, "maxItems": 4})
}

/// An object with these members, in this order.
fn form(members: &[(&str, Json)]) -> Json {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Json> = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// The forms that can be filled in here: names before arguments, and arguments from what was found.
fn forms(facts: &MaterialFields, given: &[MaterialItem], closed: &[&str]) -> Json {
    let recipe = |name: &str| ("recipe", json!({"const": name}));
    let one_of = |names: Vec<&str>| json!({"enum": names});
    let mut forms = vec![
        (
            "find",
            form(&[recipe("find"), ("keywords", keywords_schema())]),
        ),
        (
            "filter_then_read",
            form(&[recipe("filter_then_read"), ("keywords", keywords_schema())]),
        ),
        (
            "classify_each",
            form(&[
                recipe("classify_each"),
                (
                    "label",
                    json!({"type": "string", "minLength": 2, "maxLength": 40}),
                ),
            ]),
        ),
        (
            "map_reduce_summary",
            form(&[
                recipe("map_reduce_summary"),
                (
                    "bullets",
                    json!({"type": "integer", "minimum": 1, "maximum": 12}),
                ),
            ]),
        ),
        ("pairwise", form(&[recipe("pairwise")])),
    ];
    for field in facts.fields.iter().filter(|field| !field.values.is_empty()) {
        let values = field
            .values
            .iter()
            .map(String::as_str)
            .chain([""])
            .collect();
        let members = [
            recipe("count_by_field"),
            ("field", json!({"const": field.name})),
            ("value", one_of(values)),
        ];
        forms.push(("count_by_field", form(&members)));
    }
    let numbers = facts.fields.iter().filter(|field| field.is_number);
    let numbers: Vec<&str> = numbers.map(|field| field.name.as_str()).collect();
    if !numbers.is_empty() {
        let members = [
            recipe("aggregate"),
            ("field", one_of(numbers)),
            ("op", one_of(OPERATIONS.to_vec())),
        ];
        forms.push(("aggregate", form(&members)));
    }
    if given.len() > 1 {
        let names: Vec<&str> = given
            .iter()
            .take(40)
            .map(|given| given.name.as_str())
            .collect();
        let (a, b) = (one_of(names.clone()), one_of(names));
        forms.push(("compare", form(&[recipe("compare"), ("a", a), ("b", b)])));
    }
    let open = forms.into_iter().filter(|(name, _)| !closed.contains(name));
    let open: Vec<Json> = open.map(|(_, form)| form).collect();
    json!({"anyOf": open})
}
