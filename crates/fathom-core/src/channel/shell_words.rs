//! Commands in a block of text, as lists of arguments.
//!
//! No shell ever reads them. One line is one command; its words are split at blanks and put together by quotes and
//! backslashes as POSIX shells do it, and nothing is expanded. So that nobody approves one thing and gets another, a line
//! that would mean something to a shell and cannot mean it here is refused:
//!
//! | in the text | what becomes of it |
//! |---|---|
//! | anything in single quotes | plain text |
//! | `*` `?` `[` `~` `{` `}` `!` `=` | plain text: `rm *` asks for a file whose name is a star |
//! | `$` and backticks, also in double quotes | refused; plain text in single quotes or after a backslash |
//! | `;` <code>&#124;</code> `&` `<` `>` `(` `)` | refused; plain text in quotes or after a backslash |
//! | a here-document | refused, with the rest of the block, which may be its text |
//! | a line end in quotes | refused, up to the line on which the quote ends |
//! | a backslash at the end of a line | the command continues |
//! | `NAME=value` before a command | refused |
//! | `#` at the start of a word | the rest of the line is a comment |
//! | a line of a code fence | left out; what stands between is read |
//! | control characters, and marks that turn the direction of writing | refused: a screen would show something else |
//!
//! What follows a refused line may have been meant as a part of it (the body of a loop), so a block with a refusal is run
//! as a whole or not at all: `commands(text).into_iter().collect::<Result<Vec<_>, _>>()`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Most commands of one text.
pub const COMMANDS_MAX: usize = 32;
/// Most words of one command.
pub const WORDS_MAX: usize = 256;
/// Longest command, as it is written.
pub const COMMAND_BYTES_MAX: usize = 16 * 1024;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ArgumentVector {
    program: String,
    args: Vec<String>,
}

impl ArgumentVector {
    /// The program to run: a name or a path, never empty.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Its arguments. Each is one, whatever is in it.
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// The program and its arguments.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let args = self.args.iter().map(String::as_str);
        std::iter::once(self.program.as_str()).chain(args)
    }
}

impl TryFrom<Vec<String>> for ArgumentVector {
    type Error = ArgvErrorKind;

    fn try_from(words: Vec<String>) -> Result<Self, ArgvErrorKind> {
        let mut words = words.into_iter();
        match words.next() {
            Some(program) if !program.is_empty() => Ok(Self {
                program,
                args: words.collect(),
            }),
            _ => Err(ArgvErrorKind::NoProgram),
        }
    }
}

impl From<ArgumentVector> for Vec<String> {
    fn from(argv: ArgumentVector) -> Self {
        let mut words = argv.args;
        words.insert(0, argv.program);
        words
    }
}

/// As a person would type it, quoted where needed; it is read as the same words again.
impl fmt::Display for ArgumentVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.words().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            let is_bare = |c: char| c.is_alphanumeric() || "_-./:@%+,=".contains(c);
            if !word.is_empty() && word.chars().all(is_bare) {
                f.write_str(word)?;
            } else {
                write!(f, "'{}'", word.replace('\'', r"'\''"))?;
            }
        }
        Ok(())
    }
}

/// A line that is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct ArgvError {
    /// The line on which the command begins, counted from one.
    pub line: usize,
    #[source]
    pub cause: ArgvErrorKind,
}

/// Reasons not to run a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgvErrorKind {
    /// It would be replaced by something else.
    #[error("`{0}` would be expanded by a shell, and there is none; single quotes make it plain")]
    Expansion(char),
    /// It joins or redirects commands.
    #[error("`{0}` joins or redirects commands in a shell, and there is none")]
    Operator(char),
    /// Text that follows the command.
    #[error("there are no here-documents")]
    HereDocument,
    /// A word goes over several lines.
    #[error("a quoted word goes over the end of the line")]
    LineEndInQuotes,
    /// A quote is not closed.
    #[error("a quote is not closed")]
    OpenQuote,
    /// The text ends after a backslash.
    #[error("nothing follows the last backslash")]
    OpenEscape,
    /// A character that cannot be seen.
    #[error("it has the invisible character U+{:04X}", u32::from(*.0))]
    Invisible(char),
    /// A variable is set.
    #[error("it sets a variable, and there is no shell that has any")]
    Assignment,
    /// The first word is empty, or there is none.
    #[error("the name of the program is empty")]
    NoProgram,
    /// Too many words.
    #[error("it has more than {WORDS_MAX} words")]
    TooManyWords,
    /// Too many bytes.
    #[error("it is longer than {COMMAND_BYTES_MAX} bytes")]
    TooLong,
    /// Too many commands.
    #[error("there are more than {COMMANDS_MAX} commands")]
    TooManyCommands,
}

/// Reads the commands of a text, in order. Lines with nothing to run are left out.
pub fn commands(text: &str) -> Vec<Result<ArgumentVector, ArgvError>> {
    let mut reader = ArgvParser {
        rest: text,
        line: 1,
    };
    let mut read = Vec::new();
    while reader.skip_empty_lines() {
        let line = reader.line;
        if read.len() == COMMANDS_MAX {
            let cause = ArgvErrorKind::TooManyCommands;
            read.push(Err(ArgvError { line, cause }));
            break;
        }
        match reader.command() {
            Ok(words) if words.is_empty() => {}
            Ok(words) => {
                let argv = ArgumentVector::try_from(words);
                read.push(argv.map_err(|cause| ArgvError { line, cause }));
            }
            Err(cause) => read.push(Err(ArgvError { line, cause })),
        }
    }
    read
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteState {
    None,
    Single,
    Double,
}

/// The words so far, until something is wrong with them.
#[derive(Default)]
struct ArgvBuilder {
    words: Vec<String>,
    word: Option<String>,
    cause: Option<ArgvErrorKind>,
}

impl ArgvBuilder {
    fn begin(&mut self) {
        self.word.get_or_insert_default();
    }

    fn push(&mut self, c: char) {
        if is_invisible(c) {
            self.refuse(ArgvErrorKind::Invisible(c));
        } else if self.cause.is_none() {
            self.word.get_or_insert_default().push(c);
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        // Only in front: after the program `a=b` is an argument like any other.
        if self.words.is_empty() && is_assignment(&word) {
            self.refuse(ArgvErrorKind::Assignment);
        }
        if self.words.len() == WORDS_MAX {
            self.refuse(ArgvErrorKind::TooManyWords);
        }
        if self.cause.is_none() {
            self.words.push(word);
        }
    }

    /// The first cause is the one that is told.
    fn refuse(&mut self, cause: ArgvErrorKind) {
        self.cause.get_or_insert(cause);
    }
}

struct ArgvParser<'a> {
    rest: &'a str,
    line: usize,
}

impl ArgvParser<'_> {
    /// Skips to the next line with something in it. False if there is none.
    fn skip_empty_lines(&mut self) -> bool {
        while !self.rest.is_empty() {
            let (line, after) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            let bare = line.trim_matches([' ', '\t', '\r']);
            if !bare.is_empty() && !bare.starts_with('#') && !is_fence(bare) {
                return true;
            }
            self.rest = after;
            self.line += 1;
        }
        false
    }

    /// The words of the next command. What is wrong with it is told only at its end, so that no part of it is read as
    /// another command.
    fn command(&mut self) -> Result<Vec<String>, ArgvErrorKind> {
        let bytes_before = self.rest.len();
        let mut draft = ArgvBuilder::default();
        let mut quote = QuoteState::None;
        while let Some(c) = self.take() {
            if bytes_before - self.rest.len() > COMMAND_BYTES_MAX {
                draft.refuse(ArgvErrorKind::TooLong);
            }
            match (quote, c) {
                (QuoteState::None, '\n') => break,
                // A shell would read on; here a line is what a person approves.
                (QuoteState::Single | QuoteState::Double, '\n') => {
                    draft.refuse(ArgvErrorKind::LineEndInQuotes);
                }
                (QuoteState::Single, '\'') | (QuoteState::Double, '"') => quote = QuoteState::None,
                (QuoteState::None, '\'' | '"') => {
                    draft.begin();
                    quote = if c == '"' {
                        QuoteState::Double
                    } else {
                        QuoteState::Single
                    };
                }
                // As in a shell: between double quotes a backslash takes the meaning of these alone.
                (QuoteState::Double, '\\') if self.rest.starts_with(['"', '\\', '$', '`']) => {
                    self.take().into_iter().for_each(|c| draft.push(c));
                }
                (QuoteState::None, '\\') => match self.take() {
                    Some('\n') => {}
                    Some(c) => draft.push(c),
                    None => draft.refuse(ArgvErrorKind::OpenEscape),
                },
                // Nothing is expanded, so leaving these as they are would run another command than the one that was
                // meant.
                (QuoteState::None | QuoteState::Double, '$' | '`') => {
                    draft.refuse(ArgvErrorKind::Expansion(c));
                }
                (QuoteState::None, ' ' | '\t') => draft.end_word(),
                (QuoteState::None, '#') if draft.word.is_none() => self.skip_line(),
                (QuoteState::None, '<') if self.rest.starts_with('<') => {
                    // Its body is not commands, and where it ends is for a shell to know: nothing after it is read.
                    draft.refuse(ArgvErrorKind::HereDocument);
                    self.rest = "";
                }
                (QuoteState::None, ';' | '|' | '&' | '<' | '>' | '(' | ')') => {
                    draft.refuse(ArgvErrorKind::Operator(c));
                }
                (_, c) => draft.push(c),
            }
        }
        if quote != QuoteState::None {
            draft.refuse(ArgvErrorKind::OpenQuote);
        }
        draft.end_word();
        draft.cause.map_or(Ok(draft.words), Err)
    }

    /// The next character, a line end always as one.
    fn take(&mut self) -> Option<char> {
        if let Some(after) = self.rest.strip_prefix("\r\n") {
            self.rest = after;
            self.line += 1;
            return Some('\n');
        }
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn skip_line(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("~~~")
        || line
            .strip_prefix("```")
            .is_some_and(|info| !info.trim_start_matches('`').contains('`'))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// True for a character that a screen does not show, or shows elsewhere than it is.
fn is_invisible(c: char) -> bool {
    // Direction marks make a command look like another one to the person who approves it.
    c.is_control() && c != '\t' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
#[path = "shell_words_tests.rs"]
mod tests;
