use super::*;

fn words(of: &[&str]) -> Vec<String> {
    of.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn g07_an_inverse_gets_whole_words_of_the_command_and_what_it_printed() {
    let inverse = |args: &[&str]| InverseTool {
        args: words(args),
        ..InverseTool::by("drop")
    };
    let given = words(&["a b", "$(id)"]);
    for (args, printed, made) in [
        (&["{args}"][..], "", Some(vec!["a b", "$(id)"])),
        (&["--", "{2}"], "", Some(vec!["--", "$(id)"])),
        (&["{output}", "{1}"], " 17\n", Some(vec!["17", "a b"])),
        (&["{3}"], "", None),
        (&["{0}"], "", None),
        (&["{output}"], " \n", None),
        (&["{output}"], "two\nlines", None),
        (&["x{args}"], "", Some(vec!["x{args}"])),
        (&[], "", Some(vec![])),
    ] {
        let made = made.map(|made| words(&made));
        assert_eq!(inverse(args).words(&given, printed), made, "{args:?}");
    }
    assert_eq!(InverseTool::by("drop").words(&given, ""), Some(given));
    assert_eq!(inverse(&["{1}", "{what}"]).unknown_place(), Some("{what}"));
    assert_eq!(inverse(&["{0}"]).unknown_place(), Some("{0}"));
    assert_eq!(
        inverse(&["{args}", "{2}", "{output}", "x"]).unknown_place(),
        None
    );
}
