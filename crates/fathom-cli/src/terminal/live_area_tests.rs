use super::*;
use crate::terminal::styled_line::LineStyle;

fn drawn(draw: impl FnOnce(&mut LiveArea<&mut Vec<u8>>)) -> String {
    let mut out = Vec::new();
    draw(&mut LiveArea::new(&mut out, Colour::No));
    String::from_utf8(out).unwrap().replace('\u{1b}', "^")
}

#[test]
fn a_frame_is_drawn_over_the_one_before() {
    let out = drawn(|painter| {
        painter.draw(&["one".into(), "two".into()], 80);
        painter.draw(&["three".into()], 80);
        painter.end(80);
    });
    assert_eq!(
        out,
        "^[?25l^[2Kone\r\n^[2Ktwo\r\n^[J\
         \r^[2A^[2Kthree\r\n^[J\
         \r^[1A^[J^[?25h"
    );
}

#[test]
fn lines_printed_for_good_stay_above() {
    let out = drawn(|painter| {
        painter.draw(&["live".into()], 80);
        painter.print(&["for good".into()], 80);
        painter.draw(&["live".into()], 80);
    });
    assert!(
        out.contains("\r^[1A^[Jfor good\r\n^[2Klive\r\n^[J"),
        "{out}"
    );
}

#[test]
fn a_narrower_terminal_wrapped_what_stands_there() {
    let out = drawn(|painter| {
        painter.draw(&["twelve cells".into()], 80);
        painter.draw(&["now".into()], 5);
    });
    assert!(out.contains("\r^[3A"), "{out}");
}

#[test]
fn the_cursor_comes_back_whatever_happens() {
    let out = drawn(|painter| painter.draw(&["live".into()], 80));
    assert!(out.ends_with("^[?25h"), "{out}");
    let untouched = drawn(|_| {});
    assert_eq!(untouched, "");
}

#[test]
fn colour_is_written_only_where_it_is_wanted() {
    let line = [StyledLine::new().with(LineStyle::Good, "ok")];
    let mut out = Vec::new();
    LiveArea::new(&mut out, Colour::Yes).draw(&line, 80);
    assert!(String::from_utf8(out).unwrap().contains("\u{1b}[32mok"));
    assert!(!drawn(|painter| painter.draw(&line, 80)).contains("32m"));
}

#[test]
fn g10_what_is_drawn_is_masked() {
    let out = drawn(|painter| {
        painter.draw(&["write to ann@example.org".into()], 80);
        painter.print(&["card 4111 1111 1111 1111".into()], 80);
    });
    assert!(!out.contains("ann@") && !out.contains("4111"), "{out}");
    assert!(out.contains("[email]") && out.contains("[card]"), "{out}");
}
