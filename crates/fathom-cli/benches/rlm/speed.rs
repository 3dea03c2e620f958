//! Time, memory, and many at once.

use std::fs;
use std::time::Instant;

use fathom_host::{RunEnd, Runtime};

use crate::serving::Server;
use crate::{AMPLE, Asked, Bench, UNPRICED, batch, explore, seconds};

/// Runs of a row that measures time; the median counts.
const TAKES: usize = 3;

impl Bench {
    pub(crate) async fn calls(&self, host: &Runtime) {
        let (zero, fifty) = (&self.at_once, &self.at_50_ms);
        for _ in 0..3 {
            self.run(host, zero, "SUBMIT(llm_query('a'))", AMPLE).await;
        }
        let mut warm = Vec::new();
        for n in 0..20 {
            let code = format!("SUBMIT(llm_query('a {n}'))");
            warm.push(self.run(host, zero, &code, AMPLE).await.seconds);
        }
        let took = median(warm);
        self.row(
            "warm run with one sub-call",
            &seconds(took),
            "≤ 0.05 s",
            took <= 0.05,
        );
        let each = "SUBMIT([llm_query(f'part {n}') for n in range(1000)][-1])";
        let each = self.takes(host, zero, each).await;
        // Seconds of a thousand calls are milliseconds of one.
        self.row(
            "per sub-call at 0 ms, one after the other, n=1000",
            &format!("{each:.3} ms"),
            "≤ 0.3 ms, journalled",
            each <= 0.3,
        );
        let batched = self.takes(host, zero, &batch(1000)).await;
        self.row(
            "per sub-call at 0 ms, batched, n=1000",
            &format!("{batched:.3} ms"),
            "≤ 0.2 ms",
            batched <= 0.2,
        );
        let hundred = self.takes(host, fifty, &batch(100)).await;
        self.row(
            "100 batched at 50 ms",
            &seconds(hundred),
            "≤ 0.12 s",
            hundred <= 0.12,
        );
        let thousand = self.takes(host, fifty, &batch(1000)).await;
        self.row(
            "1000 batched at 50 ms",
            &seconds(thousand),
            "≤ 0.6 s, 128 in flight",
            thousand <= 0.6,
        );
    }

    /// How long a whole run of this code takes, in seconds.
    async fn takes(&self, host: &Runtime, server: &Server, code: &str) -> f64 {
        let mut took = Vec::new();
        for _ in 0..TAKES {
            let ran = self.run(host, server, code, AMPLE).await;
            assert_eq!(ran.answer(), "fine");
            took.push(ran.seconds);
        }
        median(took)
    }

    pub(crate) async fn large(&self, host: &Runtime) {
        let servers = [self.at_once.child.id(), self.at_50_ms.child.id()];
        let begin = Instant::now();
        let asked = Asked {
            url: &self.at_once.url,
            model: UNPRICED,
            file: &self.large,
            code: "SUBMIT(str(len(context)))",
            caps: AMPLE,
        };
        let (new, context) = explore(host, asked).await;
        let handle = host.start_in(new, context.clone()).unwrap();
        let RunEnd::Finished(result) = handle.end().await else {
            panic!("the run came back without an end");
        };
        let took = begin.elapsed().as_secs_f64();
        let held = pss_mb(servers);
        let bytes = fs::metadata(&self.large).unwrap().len();
        assert_eq!(result.answer.unwrap().as_str(), bytes.to_string());
        self.row(
            "100 MB run, one cell",
            &seconds(took),
            "≤ 0.5 s",
            took <= 0.5,
        );
        self.row(
            "  PSS of all its processes with it",
            &format!("{held:.0} MB"),
            "≤ 150 MB",
            held <= 150.0,
        );
        let mut sessions = Vec::new();
        for _ in 0..100 {
            let mut session = host.sandbox().session(&context, Vec::new());
            let cell = fathom_sandbox::SessionCell {
                code: "x = len(context)".into(),
                ..fathom_sandbox::SessionCell::default()
            };
            session.run(cell).await.unwrap();
            while let fathom_sandbox::CellEvent::Asked(_) = session.next().await {}
            sessions.push(session);
        }
        let held = pss_mb(servers);
        self.row(
            "  the same with 100 sessions on it (64 processes)",
            &format!("{held:.0} MB"),
            "≤ 600 MB",
            held <= 600.0,
        );
    }

    pub(crate) async fn children(&self, host: &Runtime) {
        let code = "r = rlm_query_batched([f'CODE:SUBMIT(str({n}))' for n in range(1000)], contexts=['x'] * 1000);;\
                    SUBMIT(str(sum(x == str(n) for n, x in enumerate(r))))";
        let ran = self.run(host, &self.at_once, code, AMPLE).await;
        self.row(
            "parallel child RLMs",
            &format!("{} of 1000 right, {:.1} s", ran.answer(), ran.seconds),
            "1000, none failed",
            ran.answer() == "1000",
        );
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Proportional memory of this process and all below it, without the model servers.
fn pss_mb(without: [u32; 2]) -> f64 {
    let mut processes = vec![std::process::id().to_string()];
    let mut kilobytes = 0_u64;
    while let Some(process) = processes.pop() {
        if without.iter().any(|other| process == other.to_string()) {
            continue;
        }
        let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
        let pss = rollup.unwrap_or_default();
        let pss = pss.lines().find_map(|line| line.strip_prefix("Pss:"));
        kilobytes += pss
            .and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
            .unwrap_or(0);
        for task in fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten()
        {
            let children = fs::read_to_string(task.unwrap().path().join("children"));
            processes.extend(
                children
                    .unwrap_or_default()
                    .split_whitespace()
                    .map(str::to_owned),
            );
        }
    }
    kilobytes as f64 / 1000.0 * 1.024
}
