//! Finds the code in a reply that marks none: from the first line that can be nothing else, up to the words after it.

use crate::rlm::python_strings::ends_in_string;
use crate::rlm::submission::is_expression;

/// Prefixes of lines of code that prose in lower case does not have, each with the ending it requires.
const STATEMENTS: [(&str, &str); 21] = [
    ("import ", ""),
    ("from ", ""),
    ("def ", ":"),
    ("class ", ":"),
    ("for ", ":"),
    ("while ", ":"),
    ("if ", ":"),
    ("elif ", ":"),
    ("else:", ""),
    ("try:", ""),
    ("except", ":"),
    ("finally:", ""),
    ("with ", ":"),
    ("async ", ":"),
    ("await ", ""),
    ("assert ", ""),
    ("raise ", ""),
    ("del ", ""),
    ("@", ""),
    ("print(", ""),
    ("#", ""),
];

/// Most bytes of such code.
const BYTES_MAX: usize = 32 << 10;

/// Lines of code that nothing marks as such, if there are any.
pub(crate) fn code(said: &str) -> Option<String> {
    let mut code = String::new();
    // Brackets that are open.
    let mut open = 0;
    for line in said.lines() {
        let line = line.trim_end();
        let begins = is_code(line);
        if code.is_empty() && (!begins || line.starts_with('#')) {
            continue;
        }
        let goes_on = line.is_empty() || line.starts_with([' ', '\t', ')', ']', '}']);
        if !begins && !goes_on && open <= 0 && !ends_in_string(&code) {
            break;
        }
        if code.len() + line.len() > BYTES_MAX {
            return None;
        }
        code.push_str(line);
        code.push('\n');
        open += depth(line);
    }
    let code = code.trim_end();
    (!code.is_empty()).then(|| code.to_owned())
}

/// True if a line at its margin is code.
fn is_code(line: &str) -> bool {
    let mut statements = STATEMENTS.iter();
    let is_statement = |(begin, end): &(&str, &str)| {
        line.starts_with(begin)
            && line
                .split(" #")
                .next()
                .is_some_and(|l| l.trim_end().ends_with(end))
    };
    let is_import = !line.starts_with("from ") || line.contains(" import ");
    (statements.any(is_statement) && is_import) || is_assignment(line) || is_call(line)
}

fn is_assignment(line: &str) -> bool {
    let Some((target, value)) = line.split_once('=') else {
        return false;
    };
    let target = target.trim_end_matches([' ', '+', '-', '*', '/', '|', '&', ':']);
    let is_target = |c: char| c.is_alphanumeric() || "_.,[]'\"()".contains(c);
    let parts: Vec<&str> = target.split(", ").collect();
    let is_target = |part: &&str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '(')
            && part.chars().all(is_target)
    };
    let value = value.trim();
    !value.starts_with('=') && parts.iter().all(is_target) && (opens(line) || is_expression(value))
}

/// `name(…)`, `name.method(…)`.
fn is_call(line: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let name = line.find(|c: char| !is_part(c));
    let is_called = name.is_some_and(|at| at > 0 && line[at..].starts_with(['(', '[']));
    is_called && (opens(line) || is_expression(line.split(" #").next().unwrap_or_default().trim()))
}

/// Surplus of opened over closed brackets in a line. Those in strings count too: most are pairs.
fn depth(line: &str) -> i64 {
    let step = |c: char| i64::from("([{".contains(c)) - i64::from(")]}".contains(c));
    line.chars().map(step).sum()
}

fn opens(line: &str) -> bool {
    depth(line) > 0 || ends_in_string(line)
}
