use std::sync::{Mutex, PoisonError};

use fathom_core::text::Text;

use super::*;
use crate::tools_file::{ToolKind, ToolsFile};

/// Keeps what it is to run.
#[derive(Default)]
struct Kept(Mutex<Vec<ProgramCall>>);

impl ProgramRunner for Kept {
    fn run(&self, invocation: ProgramCall) -> ToolFuture<'_, ProgramExit> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(invocation);
        Box::pin(async {
            ProgramExit::Ended {
                code: 0,
                output: String::new(),
            }
        })
    }
}

fn tool(args: &str) -> ShellTool {
    let text = format!(
        r#"
        [[tool]]
        name = "run"
        description = "Runs"
        kind = "shell"
        platform = "house"
        schema = {{ type = "object", properties = {{ args = {{ type = "array" }}, name = {{ type = "string" }} }} }}
        program = "/bin/echo"
        args = {args}
        "#
    );
    let declared = ToolsFile::read(&text).unwrap().tools.remove(0);
    let ToolKind::Shell(declaration) = declared.kind else {
        panic!("it is no program");
    };
    ShellTool::new(declared.facts, declaration, Arc::new(Kept::default())).unwrap()
}

fn made(args: &str, arguments: &serde_json::Value) -> Result<Vec<String>, String> {
    let tool = tool(args);
    let effect = EffectRequest {
        tool: "run".to_owned(),
        target: tool.facts.target.clone(),
        event: "e".to_owned(),
        arguments: Text::new(arguments.to_string()),
        class: EffectClass::Effect,
        taint: Vec::new(),
    };
    let invocation = tool.invocation(&effect);
    invocation
        .map(|invocation| invocation.args)
        .map_err(|error| error.to_string())
}

fn words(of: &[&str]) -> Vec<String> {
    of.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn g09_a_list_becomes_one_argument_a_word_and_nothing_is_split_or_joined() {
    let given = json!({ "args": ["a b", "$(id)", "`id`", "x\ny", ""] });
    let spread = Ok(words(&["-n", "a b", "$(id)", "`id`", "x\ny", ""]));
    assert_eq!(made(r#"["-n", "{args}"]"#, &given), spread);
    assert_eq!(
        made(r#"["{args}"]"#, &json!({ "args": [] })),
        Ok(words(&[]))
    );
    assert_eq!(made(r#"["{args}", "z"]"#, &json!({})), Ok(words(&["z"])));
    // Only a place that stands alone is a list.
    let joined = made(r#"["to={args}"]"#, &json!({ "args": ["a"] }));
    assert!(joined.unwrap_err().contains("does not fit into a text"));
    assert_eq!(
        made(r#"["{name}"]"#, &json!({ "name": "a b" })),
        Ok(words(&["a b"]))
    );
}

#[test]
fn g09_a_word_is_no_option_unless_the_charter_ended_them() {
    for bad in [
        json!({ "args": ["-rf"] }),
        json!({ "args": ["a", "--all"] }),
    ] {
        let refused = made(r#"["{args}"]"#, &bad).unwrap_err();
        assert!(refused.contains("option"), "{refused}");
        assert!(made(r#"["--", "{args}"]"#, &bad).is_ok());
    }
    let sneaky = made(r#"["{args}", "{args}"]"#, &json!({ "args": ["--"] }));
    assert!(sneaky.is_err(), "only the charter ends them");
    assert!(made(r#"["{args}"]"#, &json!({ "args": ["a\u{0}b"] })).is_err());
    assert!(made(r#"["{args}"]"#, &json!({ "args": [7] })).is_err());
}
