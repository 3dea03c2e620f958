//! Dates of birth: a date in any common form, near a word about birth.

use std::sync::LazyLock;

use regex::Regex;

use super::{CONTEXT_BYTES, EntityKind, RecogniserHit, TextScan, place};

/// Maximum distance of a word after a date, as in `1985-03-12 (DOB)`.
const BEHIND_BYTES_MAX: usize = 3;

/// Compiled on the first word about birth: it is large, and most texts contain none.
static DATES: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(pattern);

/// Dates with a year, in digits or with the month's name in ten languages.
fn pattern() -> Result<Regex, regex::Error> {
    let month = r"(?:jan|feb|fév|febr|mar|mär|maerz|mrz|mrt|mars|marz|apr|abr|avr|kwi|may|mai|mei|mag|maj|jun|juin|giu|cze|jul|juil|lug|lip|aug|ago|août|aoû|sie|sep|set|wrz|oct|okt|out|ott|paź|nov|lis|dec|dez|déc|dic|gru|ene|gen|sty|lut)\p{L}*\.?";
    let pattern = format!(
        r"(?i)(?:\b(?:19|20)\d\d(?:-\d\d?-\d\d?|/\d\d?/\d\d?|\.\d\d?\.\d\d?)\b|\b\d\d?(?:\.\d\d?\.|\. \d\d?\. |/\d\d?/|-\d\d?-)(?:(?:19|20)\d\d|\d\d)\b|\b\d\d?(?:st|nd|rd|th|er|º|°)?\.?[ -](?:de |of )?{month}[ ,-]{{1,2}}(?:de |of )?(?:19|20)\d\d\b|\b{month} \d\d?(?:st|nd|rd|th)?,? (?:19|20)\d\d\b)"
    );
    Regex::new(&pattern)
}

impl TextScan<'_> {
    pub(super) fn birth_dates(&mut self) {
        let speaks = |hit: &RecogniserHit| hit.entity == EntityKind::BirthDate;
        if !self.before.hits.iter().any(speaks) {
            return;
        }
        // The tests would show it if it did not compile.
        let Ok(dates) = &*DATES else {
            return;
        };
        self.count(self.bytes.len());
        // A word refers to one date; the next date is another day.
        let mut used = isize::MIN;
        for date in dates.find_iter(self.text) {
            let (start, end) = (place(date.start()), place(date.end()));
            let announced = |hit: &RecogniserHit| {
                let before = hit.end <= start
                    && hit.start >= used
                    && start - hit.end <= place(CONTEXT_BYTES);
                before || (hit.start >= end && hit.start - end <= place(BEHIND_BYTES_MAX))
            };
            let near = self.hits_from(start - place(CONTEXT_BYTES));
            let near = near
                .iter()
                .take_while(|hit| hit.start <= end + place(BEHIND_BYTES_MAX));
            if near.filter(|hit| speaks(hit)).any(announced) {
                self.push(EntityKind::BirthDate, date.start(), date.end());
                used = end;
            }
        }
        self.before
            .hits
            .retain(|hit| !speaks(hit) || hit.start >= used);
    }
}
