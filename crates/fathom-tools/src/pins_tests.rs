use fathom_core::id::Digest;
use serde_json::{Value, json};

use super::{ToolPins, ToolStanding, pin};

#[test]
fn e18_every_part_of_a_tool_is_in_its_pin() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let base = pin("t", "reads", &schema, &Value::Null);
    let again = json!({"properties": {"a": {"type": "string"}}, "type": "object"});
    assert_eq!(base, pin("t", "reads", &again, &Value::Null));
    let read_only = json!({"readOnlyHint": true});
    for other in [
        pin("u", "reads", &schema, &Value::Null),
        pin("t", "reads ", &schema, &Value::Null),
        pin("t", "reads", &json!({"type": "object"}), &Value::Null),
        pin("t", "reads", &schema, &read_only),
    ] {
        assert_ne!(base, other);
    }
}

#[test]
fn e18_a_changed_tool_is_quarantined_until_that_very_change_is_accepted() {
    let [old, new, newer] = [1, 2, 3].map(|byte| Digest([byte; 32]));
    let mut pins = ToolPins::default();
    assert_eq!(pins.meet("t", old), ToolStanding::New);
    assert_eq!(pins.meet("t", old), ToolStanding::Same);
    let quarantined = ToolStanding::Quarantined {
        pinned: old,
        found: new,
    };
    assert_eq!(pins.meet("t", new), quarantined);
    assert_eq!(
        pins.meet("t", new),
        quarantined,
        "meeting it again accepts nothing"
    );
    pins.accept("t", new);
    assert_eq!(pins.meet("t", new), ToolStanding::Same);
    assert!(matches!(
        pins.meet("t", newer),
        ToolStanding::Quarantined { .. }
    ));
    let kept: ToolPins = serde_json::from_str(&serde_json::to_string(&pins).unwrap()).unwrap();
    assert_eq!(kept, pins);
}
