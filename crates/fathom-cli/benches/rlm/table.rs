//! The rows: ours as they are seen, and all beside each other in the end.

/// What is printed.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    peers: Vec<String>,
}

#[derive(Default)]
struct Row {
    what: String,
    ours: Option<Ours>,
    /// What each peer was seen to do, in the order of [`Table::peers`].
    theirs: Vec<(String, String)>,
}

struct Ours {
    seen: String,
    must: &'static str,
    is_met: bool,
}

impl Table {
    /// A row of ours, what it must be, and whether it is.
    pub(crate) fn ours(&mut self, what: &str, seen: &str, must: &'static str, is_met: bool) {
        println!("{what:<52} {seen:>30}   {must}{}", missed(is_met));
        self.row(what).ours = Some(Ours {
            seen: seen.to_owned(),
            must,
            is_met,
        });
    }

    /// The same row of a peer.
    pub(crate) fn peers(&mut self, peer: &str, what: &str, seen: &str) {
        println!("{:<52} {seen:>30}", format!("{peer}: {what}"));
        if !self.peers.iter().any(|known| known == peer) {
            self.peers.push(peer.to_owned());
        }
        let theirs = (peer.to_owned(), seen.to_owned());
        self.row(what).theirs.push(theirs);
    }

    fn row(&mut self, what: &str) -> &mut Row {
        let place = self.rows.iter().position(|row| row.what == what);
        let place = place.unwrap_or_else(|| {
            self.rows.push(Row {
                what: what.to_owned(),
                ..Row::default()
            });
            self.rows.len() - 1
        });
        &mut self.rows[place]
    }

    /// Everything side by side.
    pub(crate) fn print(&self) {
        let mut head = vec!["", "Fathom"];
        head.extend(self.peers.iter().map(String::as_str));
        head.extend(["Fathom must", "met"]);
        println!();
        line(&head);
        line(&vec!["---"; head.len()]);
        for row in &self.rows {
            let mut cells = vec![row.what.as_str()];
            cells.push(row.ours.as_ref().map_or("not run", |ours| &ours.seen));
            for peer in &self.peers {
                let theirs = row.theirs.iter().find(|(name, _)| name == peer);
                cells.push(theirs.map_or("–", |(_, seen)| seen));
            }
            cells.push(row.ours.as_ref().map_or("–", |ours| ours.must));
            cells.push(match &row.ours {
                Some(ours) if ours.is_met => "yes",
                Some(_) => "NO",
                None => "–",
            });
            line(&cells);
        }
    }
}

fn line(cells: &[&str]) {
    println!("| {} |", cells.join(" | "));
}

fn missed(is_met: bool) -> &'static str {
    if is_met { "" } else { "   NOT MET" }
}
