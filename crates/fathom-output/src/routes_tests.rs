use super::*;

fn shown(matrix: &RouteTable) -> String {
    let row = |marker| {
        let routes = matrix.routes(marker).iter().map(|route| match route.form {
            BlockFormat::Said => route.channel.to_string(),
            BlockFormat::Log => format!("{} log", route.channel),
        });
        format!("{marker}: {}\n", routes.collect::<Vec<_>>().join(", "))
    };
    Marker::ALL.map(row).concat()
}

const PROTOCOL: &str = "\
PLAN: cli log, council
EXECUTE: shell
RESPONSE: cli, web, discord
THOUGHT_SEED: council, memory
INTERRUPT: cli, web, discord, council
VERIFY: cli, web, discord, council, memory
";

#[test]
fn g08_the_default_matrix_is_that_of_the_protocol_with_a_memory() {
    assert_eq!(shown(&RouteTable::default()), PROTOCOL);
    assert_eq!(RouteTable::parse(""), Ok(RouteTable::default()));
    assert_eq!(RouteTable::parse("[routes]\n"), Ok(RouteTable::default()));
}

#[test]
fn g08_a_charter_replaces_rows() {
    let matrix = RouteTable::parse(
        r#"
        [routes]
        PLAN = ["memory", "web", { channel = "cli", log = false }]
        RESPONSE = [{ channel = "web", log = true }]
        EXECUTE = []
        "#,
    );
    let expected = PROTOCOL
        .replace("PLAN: cli log, council", "PLAN: cli, web, memory")
        .replace("RESPONSE: cli, web, discord", "RESPONSE: web log")
        .replace("EXECUTE: shell", "EXECUTE: ");
    assert_eq!(shown(&matrix.unwrap()), expected);
}

#[test]
fn g08_a_matrix_that_cannot_be_meant_is_refused() {
    for (text, code, message) in [
        ("[routes", "F1020", "invalid routes: "),
        (
            "routes = 1",
            "F1020",
            "invalid routes: `routes` must be a table",
        ),
        ("[route]", "F1020", "invalid routes: unknown key `route`"),
        ("[routes]\nPLANS = []", "F1021", "unknown marker `PLANS`"),
        ("[routes]\nplan = []", "F1021", "unknown marker `plan`"),
        (
            "[routes]\nPLAN = 'cli'",
            "F1022",
            "routes for `PLAN` must be a list of channels",
        ),
        (
            "[routes]\nPLAN = [1]",
            "F1022",
            "routes for `PLAN` must be a list of channels",
        ),
        (
            "[routes]\nPLAN = [{ log = true }]",
            "F1022",
            "routes for `PLAN` ",
        ),
        (
            "[routes]\nPLAN = [{ channel = 'cli', log = 1 }]",
            "F1022",
            "routes for `PLAN` ",
        ),
        (
            "[routes]\nPLAN = [{ channel = 'cli', x = 1 }]",
            "F1022",
            "routes for `PLAN` ",
        ),
        (
            "[routes]\nPLAN = ['irc']",
            "F1023",
            "`PLAN` is routed to unknown channel `irc`",
        ),
        (
            "[routes]\nPLAN = ['cli', 'cli']",
            "F1024",
            "`PLAN` is routed to `cli` twice",
        ),
        (
            "[routes]\nPLAN = [{ channel = 'memory', log = true }]",
            "F1027",
            "`PLAN` is routed to `memory` as a log",
        ),
    ] {
        let error = RouteTable::parse(text).unwrap_err();
        assert_eq!(error.code(), code, "{text}");
        assert!(error.to_string().starts_with(message), "{text}: {error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn g09_commands_go_to_the_shell_and_nothing_else_does() {
    for marker in Marker::ALL {
        for channel in OutputChannel::ALL {
            let read = RouteTable::parse(&format!("[routes]\n{marker} = ['{channel}']"));
            let is_command = marker == Marker::Execute;
            match (is_command, channel == OutputChannel::Shell) {
                (true, false) => assert_eq!(read.unwrap_err().code(), "F1025"),
                (false, true) => assert_eq!(read.unwrap_err().code(), "F1026"),
                (true, true) | (false, false) => {
                    assert_eq!(read.unwrap().routes(marker)[0].channel, channel);
                }
            }
        }
    }
}
