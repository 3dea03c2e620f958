//! The words by which a persona is judged: data for [`super::persona_check`].

/// Names of things above a persona.
pub(super) const ABOVE: &[&str] = &[
    "rule",
    "identity",
    "instruction",
    "guideline",
    "guardrail",
    "constraint",
    "restriction",
    "policy",
    "principle",
    "directive",
    "trait",
    "charter",
    "safeguard",
    "filter",
    "prompt",
    "creator",
];

/// Ways to tell somebody to leave something be.
pub(super) const LEAVE: &[&str] = &[
    "ignore",
    "override",
    "overrule",
    "overwrite",
    "disregard",
    "bypass",
    "circumvent",
    "forget",
    "suspend",
    "disable",
    "discard",
    "violate",
    "disobey",
    "supersede",
    "waive",
    "neglect",
    "break",
    "skip",
    "drop",
    "replace",
    "relax",
];

/// Ways to say that something was left be, or does not hold.
pub(super) const LEFT: &[&str] = &[
    "ignored",
    "overridden",
    "overruled",
    "disregarded",
    "bypassed",
    "forgotten",
    "suspended",
    "disabled",
    "broken",
    "skipped",
    "waived",
    "lifted",
    "replaced",
    "optional",
    "void",
    "irrelevant",
];

/// Phrases that say the same before what stands above.
pub(super) const FREE_OF: &[&str] = &[
    "not bound by",
    "no longer bound by",
    "not subject to",
    "exempt from",
    "free from",
    "free of",
    "above the",
    "above all",
    "above any",
    "above your",
    "without any",
    "no longer follow",
    "not follow",
    "never follow",
    "stop following",
    "need not follow",
    "not obey",
    "never obey",
    "never mind",
    "stop obeying",
    "do not have",
    "have no",
    "had no",
    "has no",
    "there are no",
    "there is no",
    "pay no attention to",
    "set aside",
    "put aside",
    "turn off",
    "switch off",
    "do away with",
    "get around",
    "work around",
    "act against",
    "go against",
    "speak against",
];

/// Phrases that say the same after it.
pub(super) const NOT_HOLDING: &[&str] = &[
    "do not apply",
    "does not apply",
    "no longer apply",
    "no longer applies",
    "do not hold",
    "does not hold",
    "do not matter",
    "does not matter",
    "do not count",
    "mere suggestions",
    "as suggestions",
    "only suggestions",
    "just suggestions",
];

/// Phrases of somebody who would be the identity.
pub(super) const CLAIMS: &[&str] = &[
    "your identity is",
    "your true identity",
    "your real identity",
    "your new identity",
    "the new identity",
    "is the identity",
    "is your identity",
    "as your identity",
    "your traits are",
    "your core rules are",
    "your rules are",
    "your only rule",
    "your new rules",
    "you are the creator",
    "i am the creator",
    "speaks for the creator",
    "on behalf of the creator",
    "you are unrestricted",
    "you are no longer bound",
    "do anything now",
    "overrules the identity",
];

/// Phrases of somebody who would come first, where what stands above follows.
pub(super) const BEFORE: &[&str] = &[
    "precedence over",
    "priority over",
    "more important than",
    "instead of",
    "in place of",
    "stronger than",
    "outrank",
    "outranks",
    "overrules",
    "overrides",
    "supersedes",
    "replaces",
    "comes before",
];

/// Labels that a line of a persona may not begin with, beside the markers.
pub(super) const LABELS: &[&str] = &[
    "traits",
    "rules",
    "identity",
    "persona",
    "system",
    "assistant",
    "user",
    "developer",
    "instruction",
    "core_rules",
];

/// Signs by which chat templates tell who speaks.
pub(super) const TEMPLATE_SIGNS: &[&str] = &[
    "<|",
    "|>",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "</s>",
    "<start_of_turn>",
    "<end_of_turn>",
];

/// Words that turn what follows into its opposite.
pub(super) const NO: &[&str] = &["not", "never", "no", "avoid", "cannot", "nor", "refuse"];

/// Words between such a word and a verb that leave it turned.
pub(super) const STILL_NO: &[&str] = &["ever", "be", "simply", "just", "to"];

/// Words for leave that was not given.
pub(super) const FREELY: &[&str] = &[
    "freely",
    "anyway",
    "unasked",
    "immediately",
    "secretly",
    "quietly",
];

/// Words that mean the same here; the first one stands for all.
pub(super) const SAME: &[&[&str]] = &[
    &["run", "execute", "launch", "start"],
    &[
        "invent",
        "hallucinate",
        "hallucinated",
        "fabricate",
        "invented",
    ],
    &[
        "leak", "reveal", "share", "disclose", "publish", "expose", "spread", "post",
    ],
    &["keep", "protect", "guard"],
    &["private", "personal", "confidential", "privacy"],
    &[
        "approval",
        "leave",
        "permission",
        "consent",
        "approved",
        "reflection",
        "thought",
        "asking",
    ],
    &["data", "information", "detail"],
    &["guess", "speculate"],
];

/// Words that mean the opposite of each other.
pub(super) const OPPOSITES: &[(&str, &str)] = &[("keep", "leak"), ("private", "public")];

/// Words that say nothing by themselves.
pub(super) const EMPTY: &[&str] = &[
    "a", "an", "the", "and", "or", "of", "to", "in", "at", "on", "for", "all", "any", "your",
    "you", "its", "it", "is", "are", "be", "may", "can", "with", "when", "so", "that", "this",
    "as", "by", "from", "cost", "up", "say", "do", "but", "always", "will", "must", "should",
    "please", "just", "ever", "even", "them", "their", "there",
];

/// Words that begin a condition.
pub(super) const CONDITION: &[&str] = &[
    "when", "if", "where", "while", "because", "that", "who", "which",
];

/// Words after which something else is spoken of.
pub(super) const ASIDE: &[&str] = &["in", "into", "by", "with"];

/// Words that mean whatever follows, too.
pub(super) const WHATEVER: &[&str] = &["all", "any", "anything", "everything", "what", "whatever"];
