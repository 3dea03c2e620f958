//! Many who act, under a charter with a real gateway: for tests and benchmarks.

use std::path::Path;
use std::sync::Arc;

use fathom_core::contract::{Autonomy, PermissionMode};
use fathom_host::charter::Charter;
use fathom_host::{NewRun, Runtime, RuntimeOptions};
use fathom_testkit::drill::{self, DrillPrograms};
use fathom_testkit::fake_platform::FakePlatform;
use fathom_testkit::model_server::ModelServer;

use crate::fixture::{effect, models, new_run};

/// Children of a run.
pub(crate) const CHILDREN: usize = 100;

const CHARTER: &str = r#"
protocol = "1.0.0"
name = "crowd"
version = "1.0.0"
description = "Many who act."
"#;

const POLICIES: &str = r#"
@id("post")
permit (principal, action == Action::"publish", resource);
"#;

/// A host with its own gateway.
pub(crate) fn host(home: &Path) -> Runtime {
    let token = |name: &str| (name == "FATHOM_PLATFORM_TOKEN").then(|| "sandbox-token".to_owned());
    Runtime::open(RuntimeOptions {
        programs: Arc::new(DrillPrograms),
        ..RuntimeOptions::new(home.to_owned(), token)
    })
    .expect("the home opens")
}

/// A charter whose one tool posts on a platform.
pub(crate) fn charter(folder: &Path, platform: &FakePlatform) -> Charter {
    let url = platform.url();
    let host = url.trim_start_matches("http://");
    let tools = format!(
        r#"
allow_hosts = ["{host}"]
allow_private = ["{host}"]

[[tool]]
name = "post"
description = "Posts something."
kind = "http"
platform = "board"
account = "main"
action = "publish"
schema = {{ type = "object" }}
method = "POST"
url = "{url}/api/posts"
token_env = "FATHOM_PLATFORM_TOKEN"
body = {{ title = "news", text = "the same" }}

[tool.check]
url = "{url}/api/posts?key={{key}}"
"#
    );
    for (name, text) in [
        ("charter.toml", CHARTER),
        ("gateway.toml", "actions = [\"publish\"]\n"),
        ("policies/all.cedar", POLICIES),
        ("tools.toml", &tools),
    ] {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
        std::fs::write(file, text).expect("it can be written");
    }
    Charter::load(folder, &|_| 0).expect("a charter")
}

/// A post in every round.
pub(crate) fn posts(number: usize, rounds: u32) -> Vec<drill::DrillEffect> {
    let post = |round| {
        let mut request = effect(&format!("{number} in round {round}"));
        request.target.tenant = String::new();
        drill::DrillEffect { round, request }
    };
    (0..rounds).map(post).collect()
}

/// A run of children who ask a model and post, again and again.
pub(crate) fn crowd(charter: &Charter, server: &ModelServer, rounds: u32) -> NewRun {
    let child = |number: usize| drill::DrillChild {
        drill: drill::DrillConfig {
            calls: 1,
            rounds,
            effects: posts(number, rounds),
            ..drill::DrillConfig::default()
        },
        ..drill::DrillChild::default()
    };
    let params = drill::DrillConfig {
        calls: 0,
        children: (0..CHILDREN).map(child).collect(),
        ..drill::DrillConfig::default()
    };
    acting(charter, server, &params)
}

/// A run that may post as often as it likes.
pub(crate) fn acting(
    charter: &Charter,
    server: &ModelServer,
    params: &drill::DrillConfig,
) -> NewRun {
    let kind = drill::DrillChild::default();
    let mut new = new_run(params.spec(), models(server));
    new.frame = charter.frame();
    new.contract.permission_mode = PermissionMode::Act;
    new.contract.autonomy = Autonomy::Act;
    new.contract.allowed_tools = vec!["post".into()];
    let recursion = &mut new.contract.recursion;
    recursion.allowed_child_types = vec![kind.child_type];
    recursion.allowed_classes.push(kind.class);
    recursion.max_children = 1_000;
    recursion.max_total_episodes = 1_000;
    new.budget.amounts.tokens = 1_000_000_000;
    new.budget.amounts.calls = 1_000_000;
    new.budget.amounts.tools = 1_000_000;
    new.budget.amounts.episodes = 1_000;
    new
}
