//! Tools from a text, with one key, and effects of them.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use fathom_core::effect::{EffectOutcome, EffectRequest};
use fathom_core::model::tool_call::canonical;
use fathom_tools::{
    HostResolver, PlatformKey, PlatformSecrets, ToolEnvironment, ToolFuture, ToolOutcome, ToolPins,
    ToolRegistry, ToolsFile,
};
use serde_json::Value;

pub(crate) const TOKEN: &str = "s3cret-of-the-platform";

/// Variables that a host would read.
pub(crate) struct Variables(pub(crate) BTreeMap<&'static str, String>);

impl PlatformSecrets for Variables {
    fn secret(&self, name: &str) -> Option<PlatformKey> {
        self.0.get(name).map(PlatformKey::new)
    }
}

/// Answers one after the other, the last one for ever, and counts.
pub(crate) struct Names {
    answers: Vec<Vec<IpAddr>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |list: &&[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect();
        Arc::new(Self {
            answers: answers.iter().map(parse).collect(),
            asked: Mutex::default(),
        })
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl HostResolver for Names {
    fn resolve(&self, host: String) -> ToolFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut asked = self.asked.lock().unwrap();
        let turn = asked.len().min(self.answers.len().saturating_sub(1));
        asked.push(host);
        let answer = self.answers.get(turn).cloned();
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

pub(crate) fn surroundings(resolver: Arc<Names>) -> ToolEnvironment {
    let variables = BTreeMap::from([("PLATFORM_TOKEN", TOKEN.to_owned())]);
    ToolEnvironment {
        secrets: Arc::new(Variables(variables)),
        resolver,
        ..ToolEnvironment::new("tenant")
    }
}

pub(crate) fn open(text: &str, resolver: Arc<Names>) -> ToolRegistry {
    let declarations = ToolsFile::read(text).unwrap();
    let (tools, others) =
        ToolRegistry::open(declarations, &surroundings(resolver), ToolPins::default()).unwrap();
    assert!(others.is_empty());
    tools
}

/// An effect of the tool `name`, as the governor would make it.
pub(crate) fn effect(tools: &ToolRegistry, name: &str, arguments: &Value) -> EffectRequest {
    let tool = tools
        .get(name)
        .unwrap_or_else(|| panic!("there is no tool {name}"));
    let facts = tool.facts();
    EffectRequest {
        tool: facts.spec.name.clone(),
        target: facts.target.clone(),
        event: "event-1".into(),
        arguments: canonical(arguments).into(),
        class: facts.class,
        taint: Vec::new(),
    }
}

/// Has it done, under a permit of a real run.
pub(crate) async fn call(tools: &ToolRegistry, name: &str, arguments: &Value) -> ToolOutcome {
    let effect = effect(tools, name, arguments);
    let permit = fathom_testkit::permit::permit(&effect).unwrap();
    tools.call(&permit).await
}

/// How it ended, in one word and with what was said.
pub(crate) fn told(tried: &ToolOutcome) -> (&'static str, String) {
    match &tried.outcome {
        EffectOutcome::Confirmed { receipt } => ("confirmed", receipt.as_str().to_owned()),
        EffectOutcome::Failed { detail } => ("failed", detail.as_str().to_owned()),
        EffectOutcome::Unknown { detail } => ("unknown", detail.as_str().to_owned()),
    }
}
