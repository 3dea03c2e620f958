//! Caps hold, and what came before them is kept.

use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::Runtime;
use fathom_programs::rlm::RlmReport;

use crate::{AMPLE, Bench, Caps, Ran, seconds};

/// A thousandth of a dollar.
const MONEY_CAP: Nanodollars = Nanodollars(1_000_000);

/// A name with a price and a known tokenizer: the script's 20 and 10 tokens cost $0.000006.
const PRICED: &str = "openai/gpt-4.1-nano";

impl Bench {
    pub(crate) async fn caps(&self, host: &Runtime) {
        let tokens = Caps {
            tokens: 1_000,
            ..AMPLE
        };
        let ran = self.capped(host, 100, tokens).await;
        let (spent, kept) = (ran.result.budget.spent.tokens, kept(&ran));
        self.row(
            "token cap of 1000, 100 batched",
            &format!("{spent} spent, {kept} replies kept"),
            "0 over, partial answer kept",
            spent <= 1_000 && kept > 0,
        );
        let money = Caps {
            money: MONEY_CAP,
            ..AMPLE
        };
        let ran = self.capped(host, 1000, money).await;
        let (spent, kept) = (ran.result.budget.spent.money, self::kept(&ran));
        self.row(
            "money cap of $0.001, 1000 batched",
            &format!("${:.6} spent, {kept} replies kept", spent.0 as f64 / 1e9),
            "0 over",
            spent <= MONEY_CAP && kept > 0,
        );
        let calls = Caps {
            calls: 100,
            ..AMPLE
        };
        let ran = self.capped(host, 1000, calls).await;
        let (spent, kept) = (ran.result.budget.spent.calls, self::kept(&ran));
        self.row(
            "call cap of 100, 1000 batched",
            &format!("{spent} spent, {kept} replies kept"),
            "0 over",
            spent <= 100 && kept > 0,
        );
        self.late(host).await;
        self.endless(host).await;
    }

    async fn late(&self, host: &Runtime) {
        let time = Caps {
            time: Millis(5_000),
            ..AMPLE
        };
        let each = "for n in range(1000): answer['content'] = llm_query(f'part {n}')";
        let ran = self.run(host, &self.at_50_ms, each, time).await;
        self.row(
            "time cap of 5 s, 1000 at 50 ms one after the other",
            &format!("ended after {}", seconds(ran.seconds)),
            "within 0.2 s",
            ran.seconds <= 5.2,
        );
    }

    async fn endless(&self, host: &Runtime) {
        let cell = Caps {
            cell_time: Millis(1_000),
            ..AMPLE
        };
        let code = "while True: pass";
        let ran = self.run(host, &self.at_once, code, cell).await;
        let report = ran.result.report.as_ref().unwrap();
        let report: RlmReport = serde_json::from_str(report.as_str()).unwrap();
        let took = report.cells.first().map_or(Millis(0), |cell| cell.took);
        let cells = report.cells.len();
        self.row(
            "`while True: pass` in a cell",
            &format!("ended at {} ms of 1000, {cells} cells", took.0),
            "killed at its limit, run goes on",
            (1_000..=1_500).contains(&took.0) && cells > 1,
        );
    }

    /// A batch whose outcome is kept as the answer so far, whatever comes next.
    async fn capped(&self, host: &Runtime, count: u32, caps: Caps) -> Ran {
        let code = format!(
            "r = llm_query_batched([f'part {{n}}' for n in range({count})]);;\
             answer['content'] = str(sum(isinstance(x, str) for x in r))"
        );
        self.run_on(host, &self.at_once.url, PRICED, &code, caps)
            .await
    }
}

/// How many replies the answer so far says it has.
fn kept(ran: &Ran) -> u32 {
    ran.answer().parse().unwrap_or(0)
}
