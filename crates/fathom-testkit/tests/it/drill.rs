//! The drill and the clock that other tests stand on.

use fathom_core::episode::program::ProgramFactory;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};
use fathom_programs::direct;
use fathom_testkit::clock::FakeClock;
use fathom_testkit::drill::{self, DrillConfig, DrillPrograms};

#[test]
fn parameters_read_as_they_were_written() {
    let params = DrillConfig {
        rounds: 3,
        calls: 2,
        children: vec![drill::DrillChild::default()],
        ..DrillConfig::default()
    };
    let read: DrillConfig = serde_json::from_str(params.spec().params.as_str()).unwrap();
    assert_eq!(read, params);
}

#[test]
fn parameters_may_be_left_out() {
    let read: DrillConfig = serde_json::from_str(r#"{"calls": 4, "rounds": 2}"#).unwrap();
    assert_eq!((read.calls, read.rounds), (4, 2));
    assert_eq!(
        read.output_tokens_max,
        DrillConfig::default().output_tokens_max
    );
}

#[test]
fn programs_of_the_core_are_there_too() {
    let build = |name: &str, params: &str| {
        DrillPrograms.build(&ProgramSpec {
            name: name.to_owned(),
            params: Text::from(params),
        })
    };
    assert!(build(drill::NAME, "{}").is_ok());
    assert!(build(direct::NAME, "").is_ok());
    assert!(build("unheard_of", "").is_err());
    assert!(build(drill::NAME, r#"{"unheard_of": 1}"#).is_err());
}

#[test]
fn clones_of_a_clock_show_one_time() {
    let clock = FakeClock::at(Timestamp(1_000));
    let other = clock.clone();
    clock.advance(Millis(50));
    assert_eq!(other.now(), Timestamp(1_050));
    other.put_back(Millis(2_000));
    assert_eq!(clock.now(), Timestamp(0));
}
