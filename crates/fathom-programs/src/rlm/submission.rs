//! Finds the answer in what a model says outside of any block: a call that submits, with words or code in its brackets.

use super::python_strings::{PythonString, prefix, quoted, up_to_bracket};
use super::reply::RlmAction;

/// Calls that submit an answer, which some models write without a fence.
const SUBMITS: [&str; 3] = ["SUBMIT(", FINAL, "FINAL_VAR("];

/// The one that some models put words into.
const FINAL: &str = "FINAL(";

/// Emphasis marks around words.
const MARKS: [char; 3] = ['*', '`', '_'];

/// Names in a submission that are looked for in code.
const NAMES_MAX: usize = 64;

/// Words that stand between two others in Python.
const BETWEEN: [&str; 10] = [
    "and", "or", "not", "in", "is", "if", "else", "for", "lambda", "await",
];

/// Words that name no variable.
const NO_VARIABLES: [&str; 36] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "False", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "None", "nonlocal", "not", "or", "pass", "raise", "recipes", "return", "True", "try",
    "while", "with", "yield",
];

/// A submission outside of any block.
pub(super) struct TextSubmission<'a> {
    /// Start of its line.
    pub(super) at: usize,
    /// Meaning of the submission on its own.
    pub(super) turn: RlmAction,
    /// Meaning below code that is run with it: `None` for words written before the code's output was seen.
    pub(super) below_code: Option<String>,
    /// The text before it.
    pub(super) before: &'a str,
    inner: &'a str,
}

/// Argument of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubmissionArgument {
    /// A string and nothing else.
    Literal,
    Code,
    /// A variable or a word, which only the session knows.
    Name,
    Words,
}

/// True if a line starts with a submitting call, whatever its argument.
pub(super) fn is_call(line: &str) -> bool {
    let start = line.trim_start().trim_start_matches(MARKS);
    SUBMITS.iter().any(|call| start.starts_with(call))
}

impl<'a> TextSubmission<'a> {
    /// Reads the submission that the line at this place begins with, if it does.
    pub(super) fn read(said: &'a str, at: usize) -> Option<Self> {
        let line = said[at..].trim_start();
        let start = line.trim_start_matches(MARKS);
        let is_marked = start.len() < line.len();
        let call = SUBMITS.into_iter().find(|call| start.starts_with(call))?;
        let rest = start[call.len()..].trim();
        let code = up_to_bracket(rest);
        let inner = code.unwrap_or(rest);
        let kind = match code {
            _ if call != FINAL => SubmissionArgument::Code,
            Some(code) => kind(code.trim()),
            None => SubmissionArgument::Words,
        };
        // What was cut off is left for Python to complain about.
        let whole = format!("{call}{inner}{}", code.map_or("", |_| ")"));
        let name = inner.trim();
        // The word for what is built in is a word: `FINAL(all)`.
        let variable = format!(
            "try:\n    if type({name}) not in (type(print), type(list), type(FINAL)):\n        {whole}\nexcept NameError:\n    pass"
        );
        let (turn, below_code) = match kind {
            SubmissionArgument::Literal => (RlmAction::Code(whole), None),
            SubmissionArgument::Code => (RlmAction::Code(whole.clone()), Some(whole)),
            SubmissionArgument::Name => (
                RlmAction::Code(format!("{variable}\n{FINAL}\"{name}\")")),
                Some(variable),
            ),
            SubmissionArgument::Words => {
                (RlmAction::Final(words_inside(rest).trim().to_owned()), None)
            }
        };
        let after = code.map_or("", |code| &rest[code.len() + 1..]);
        let after = after.lines().next().unwrap_or_default().trim();
        // A call in marks among words is a word about it.
        let end = code.map_or(rest.lines().next().unwrap_or_default(), |_| after);
        let end = end.trim_end().trim_end_matches(MARKS);
        if is_marked && !(end.is_empty() || code.is_none() && end.ends_with(')')) {
            return None;
        }
        let is_alone =
            is_marked || after.is_empty() || after == "." || after.starts_with(['#', ';', '`']);
        Some(Self {
            at,
            turn,
            below_code: below_code.filter(|_| is_alone),
            before: said[..at].trim(),
            inner,
        })
    }

    /// True if this code assigns the variable that is submitted.
    pub(super) fn is_made_by(&self, code: &str) -> bool {
        let is_set = |name: &str| {
            code.lines().any(|line| {
                let after = line.trim_start().strip_prefix(name);
                let after = after.map_or("", str::trim_start);
                after.starts_with('=') && !after.starts_with("==")
            })
        };
        let names = self.inner.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names = names.filter(|name| !name.is_empty());
        names.take(NAMES_MAX).any(is_set)
    }
}

fn kind(inner: &str) -> SubmissionArgument {
    let letters = prefix(inner);
    let is_string = quoted(&inner[letters..]);
    if letters == 0 && is_string == Some(PythonString::Closed(inner.len())) {
        return SubmissionArgument::Literal;
    }
    let ends_like = |mark: char| inner.len() > letters + 1 && inner.ends_with(mark);
    let is_quoted = ['"', '\'']
        .into_iter()
        .any(|mark| inner[letters..].starts_with(mark) && ends_like(mark));
    let name = inner.find(|c: char| !is_part_of_name(c));
    let is_called = name.is_some_and(|at| at > 0 && inner[at..].starts_with(['(', '[', '.']));
    if is_name(inner) {
        SubmissionArgument::Name
    } else if is_quoted
        || inner.starts_with(['[', '{'])
        || ((is_called || is_string.is_some()) && is_expression(inner))
    {
        SubmissionArgument::Code
    } else {
        SubmissionArgument::Words
    }
}

const fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// True if `inner` could be a variable, or a member of one.
fn is_name(inner: &str) -> bool {
    inner.split('.').all(|part| {
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(is_part_of_name)
            && !NO_VARIABLES.contains(&part)
    })
}

/// Kind of the last token of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastToken {
    Operand,
    /// A string may be followed by another.
    Text,
    Operator,
}

/// True if Python could parse the text as an expression: no word follows another as in prose.
pub(crate) fn is_expression(text: &str) -> bool {
    let mut last = LastToken::Operator;
    let mut depth = 0_usize;
    let mut at = 0;
    let mut was_space = true;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_space = std::mem::replace(&mut was_space, next.is_whitespace());
        let letters = prefix(rest);
        let has_operand = last != LastToken::Operator;
        let mut width = next.len_utf8();
        match (quoted(&rest[letters..]), next) {
            _ if next.is_whitespace() => {}
            (Some(PythonString::Closed(bytes)), _) if last != LastToken::Operand => {
                width = letters + bytes;
                last = LastToken::Text;
            }
            (None, c) if c.is_alphanumeric() || c == '_' => {
                let is_number = c.is_ascii_digit();
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || (is_number && c == '.');
                width = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                if BETWEEN.contains(&&rest[..width]) {
                    last = LastToken::Operator;
                } else if has_operand {
                    return false;
                } else {
                    last = LastToken::Operand;
                }
            }
            (None, '(' | '[') if !has_operand || !is_space => {
                depth += 1;
                last = LastToken::Operator;
            }
            (None, '{') if !has_operand => {
                depth += 1;
                last = LastToken::Operator;
            }
            (None, ')' | ']' | '}') if depth > 0 => {
                depth -= 1;
                last = LastToken::Operand;
            }
            (None, '.')
                if has_operand
                    && !is_space
                    && rest[1..].starts_with(|c: char| c.is_alphabetic() || c == '_') =>
            {
                last = LastToken::Operator;
            }
            (None, ',' | ':' | '=') if depth > 0 => last = LastToken::Operator,
            (None, '+' | '-' | '*' | '/' | '%' | '<' | '>' | '|' | '&' | '^' | '~') => {
                last = LastToken::Operator;
            }
            (None, '=' | '!') if rest[1..].starts_with('=') => {
                width = 2;
                last = LastToken::Operator;
            }
            (Some(_) | None, _) => return false,
        }
        at += width;
    }
    depth == 0 && last != LastToken::Operator
}

/// Words up to the bracket that closes the one before them: whatever brackets stand after it in its line are pairs.
fn words_inside(text: &str) -> &str {
    let step = |next: char| i64::from(next == '(') - i64::from(next == ')');
    let mut depth = 1;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let mut after: i64 = line.chars().map(step).sum();
        for (place, next) in line.char_indices() {
            depth += step(next);
            after -= step(next);
            if next == ')' && depth <= 0 && after == 0 {
                return &text[..at + place];
            }
        }
        at += line.len();
    }
    text.rsplit_once(')').map_or(text, |(inside, _)| inside)
}
