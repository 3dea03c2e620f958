//! Prompts of `direct`.

use super::config::PromptMaterial;

/// Asks for the rest of a reply that ran into its output cap.
pub(super) const CONTINUE: &str =
    "Go on from the exact character where you stopped. Repeat nothing.";

/// Standing instructions of the judge.
pub(super) const JUDGE: &str = "You judge an answer against a rubric. The first word of your reply is PASS or FAIL. \
                     After it, say in one or two sentences why.";

/// The question with its material before it.
pub(super) fn question(material: &[PromptMaterial], goal: &str) -> String {
    let mut prompt = String::new();
    for piece in material {
        prompt.extend(["--- ", &piece.source, "\n", piece.text.trim_end(), "\n"]);
    }
    if !prompt.is_empty() {
        prompt.push_str("---\n");
    }
    prompt.push_str(goal);
    prompt
}
