use fathom_core::text::Text;

use super::*;
use crate::view::run_tests::{after, run_id};

#[test]
fn e17_a_ticket_has_the_form_of_every_ticket() {
    let view = TicketView {
        run: run_id(),
        episode: "0.2".parse().unwrap(),
        goal: Some("Announce the spring workshop".to_owned()),
        ticket: HandoffTicket {
            tried: Text::from("publish on board as acme-news for plan-7/post-2"),
            known: Text::from(
                "the connection broke after the request was sent; the platform does not answer since",
            ),
            asked: Text::from("find out whether it happened; it was not sent again"),
            deadline: Some(after(0)),
        },
    };
    let lines = ticket_lines(&view, "0199c2f4", 80);
    let plain: Vec<String> = lines.iter().map(StyledLine::plain).collect();
    insta::assert_snapshot!(plain.join("\n"), @r"
    ticket of run 0199c2f4, episode 0.2
      goal     Announce the spring workshop
      tried    publish on board as acme-news for plan-7/post-2
      known    the connection broke after the request was sent; the platform does
               not answer since
      asked    find out whether it happened; it was not sent again
      deadline 2023-11-14T22:13:20Z
    ");
}
