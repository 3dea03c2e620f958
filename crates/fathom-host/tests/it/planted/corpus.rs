//! Two megabytes of a company's papers, none of them about the question.
//!
//! As in real folders, much of it is standing text that every paper repeats. It is embedded once, like all that is the same.

use super::topics::TOPICS;

/// A generator that gives the same numbers on every machine.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = bits ^ (bits >> 31);
        usize::try_from(bits % limit as u64).unwrap_or_default()
    }

    fn one<'a>(&mut self, of: &'a str) -> &'a str {
        let of: Vec<&str> = of.split('|').collect();
        of[self.below(of.len())]
    }
}

/// Phrases that make sentences of one subject, in any combination, with bars between them.
pub(super) struct Topic {
    pub(super) name: &'static str,
    pub(super) who: &'static str,
    pub(super) does: &'static str,
    pub(super) what: &'static str,
    pub(super) how: &'static str,
}

/// A paper: its name, and its paragraphs.
#[derive(Clone)]
pub(crate) struct Paper {
    pub(crate) name: String,
    pub(crate) paragraphs: Vec<String>,
}

impl Paper {
    pub(crate) fn text(&self) -> String {
        self.paragraphs.join("\n\n") + "\n"
    }
}

/// Papers of `own_bytes` of their own, filled up with standing text to `all_bytes`.
pub(crate) fn papers(seed: u64, own_bytes: usize, all_bytes: usize) -> Vec<Paper> {
    let mut chance = Chance::new(seed);
    let mut papers: Vec<Paper> = Vec::new();
    let (mut own, mut all) = (0, 0);
    while all < all_bytes {
        let topic = &TOPICS[papers.len() % TOPICS.len()];
        let number = papers.len() + 1;
        let mut paragraphs = vec![format!("# {}, report {number}", topic.name)];
        if own < own_bytes {
            for _ in 0..12 {
                let paragraph = paragraph(topic, &mut chance);
                own += paragraph.len();
                paragraphs.push(paragraph);
            }
        }
        paragraphs.push("# Standing notes".to_owned());
        for _ in 0..(if own < own_bytes { 8 } else { 40 }) {
            paragraphs.push(STANDING[chance.below(STANDING.len())].to_owned());
        }
        all += paragraphs.iter().map(|text| text.len() + 2).sum::<usize>();
        papers.push(Paper {
            name: format!("{:03}-{}.md", number, topic.name.replace(' ', "-")),
            paragraphs,
        });
    }
    papers
}

fn paragraph(topic: &Topic, chance: &mut Chance) -> String {
    let sentences = 4 + chance.below(4);
    let mut text = String::new();
    for at in 0..sentences {
        let (who, does, what, how) = (
            chance.one(topic.who),
            chance.one(topic.does),
            chance.one(topic.what),
            chance.one(topic.how),
        );
        let number = 2 + chance.below(900);
        let sentence = match chance.below(7) {
            0 => format!("{who} {does} {what} {how}"),
            1 => format!("{how}, {who} {does} {what}"),
            2 => format!(
                "according to the notes of week {}, {who} {does} {what}",
                number % 52 + 1
            ),
            3 => format!("in {number} cases {who} {does} {what}"),
            4 => format!(
                "{who} {does} {what}, and {} {} {}",
                chance.one(topic.who),
                chance.one(topic.does),
                chance.one(topic.what)
            ),
            5 => format!("nobody had expected that {who} {does} {what} {how}"),
            _ => format!("{}, {who} {does} {what} {how}", chance.one(OPENINGS)),
        };
        let mut letters = sentence.chars();
        text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        text.push_str(letters.as_str());
        text.push_str(if at + 1 == sentences { "." } else { ". " });
    }
    text
}

const OPENINGS: &str = "as every year|after a long discussion|as far as we know|with some luck|\
                        to everyone's surprise|for the second time|in spite of the weather|as agreed in spring";

const STANDING: [&str; 12] = [
    "This paper is for the use of the company and its advisers. It may be copied within the house as long as this note stays on \
     every copy. Figures are rounded, and sums may differ from the figures they are made of. The editors are glad of corrections, \
     which they collect until the end of each month.",
    "Names of persons are left out where they add nothing. Where a name is given, the person has agreed to it in writing, and may \
     withdraw that at any time without giving reasons. The agreement is kept with the papers of the board.",
    "Dates are given by day, month and year. Weeks are counted as the calendar of the standards body counts them. Amounts are in \
     the currency of the country that the report speaks of, unless a footnote says otherwise.",
    "The numbering of these reports follows their date of arrival. A number that is missing belongs to a report that was withdrawn \
     before it was printed. The list of withdrawn reports can be seen at the front desk during opening hours.",
    "Photographs belong to those who took them. They are shown here at a reduced size, and larger prints can be had from the \
     picture desk against a small fee that goes to the apprentices' fund.",
    "Whoever quotes from this paper should name its number and its year. Longer quotations need the consent of the editors, who \
     usually give it within a week, and who like to see the text in which the quotation is going to stand.",
    "The editorial board meets on the first Tuesday of each month in the small hall. Guests are welcome and have no vote. Proposals \
     for reports should reach the board ten days earlier, on no more than two pages.",
    "This edition was set in a typeface of the eighteenth century and printed on recycled paper by a workshop in the neighbourhood. \
     The cover is made from the remains of last year's calendars, which is why no two copies look alike.",
    "Readers with weak eyes can ask for an edition in large type, and those who cannot read print at all for a recording. Both are \
     made on demand by volunteers and take about three weeks.",
    "Complaints about the delivery of this paper go to the post room. Please state the number on the wrapper and the day on which \
     the copy should have arrived. Replacement copies are sent on Thursdays.",
    "The company does not share every opinion that is voiced in these reports. They are the work of their authors, who have been \
     given a free hand, and whose contradictions are left to stand where they could not be resolved.",
    "An index of all subjects appears once a year in January. It is compiled by hand from the cards that the authors fill in, so an \
     author who forgets the card will not be found there. Blank cards hang next to the door of the archive room.",
];
