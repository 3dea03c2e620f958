//! X04: the crash simulator, and the bugs it must find.

use fathom_testkit::sim;

#[test]
fn x04_scratch() {
    let mut failed = 0;
    let mut cov = sim::Coverage::default();
    let limit: u64 = std::env::var("N").ok().and_then(|s| s.parse().ok()).unwrap_or(2000);
    for seed in 0..limit {
        match sim::run(seed) {
            Err(failure) => {
                println!("{failure}");
                failed += 1;
                if failed > 30 { break; }
            }
            Ok(report) => cov.add(&report.coverage),
        }
    }
    println!("{cov}");
}

#[test]
fn x04_trace() {
    let seed = std::env::var("SEED").unwrap().parse().unwrap();
    for line in sim::trace(seed, None) { println!("{line}"); }
}
