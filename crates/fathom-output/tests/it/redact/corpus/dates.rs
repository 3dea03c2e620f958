//! Dates of birth, as people of several countries write them.

use super::values::with_word;
use super::{Rng, Value};

const ENGLISH: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const GERMAN: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];
const FRENCH: [&str; 12] = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];
const SPANISH: [&str; 12] = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];
const POLISH: [&str; 12] = [
    "stycznia",
    "lutego",
    "marca",
    "kwietnia",
    "maja",
    "czerwca",
    "lipca",
    "sierpnia",
    "września",
    "października",
    "listopada",
    "grudnia",
];

pub(crate) fn birth_date(rng: &mut Rng) -> Value {
    let (year, month, day) = (1930 + rng.below(90), 1 + rng.below(12), 1 + rng.below(28));
    let text = match rng.below(12) {
        7 => format!("{day} {} {year}", FRENCH[month - 1]),
        8 => format!("{day} de {} de {year}", SPANISH[month - 1]),
        9 => format!("{day} {} {year}", POLISH[month - 1]),
        10 => format!("{year}/{month:02}/{day:02}"),
        11 => format!("{day}-{}-{year}", &ENGLISH[month - 1][..3]),
        0 => format!("{year}-{month:02}-{day:02}"),
        1 => format!("{day:02}/{month:02}/{year}"),
        2 => format!("{day}.{month}.{year}"),
        3 => format!("{day:02}.{month:02}.{year}"),
        4 => format!("{day} {} {year}", ENGLISH[month - 1]),
        5 => format!("{} {day}, {year}", ENGLISH[month - 1]),
        _ => format!("{day}. {} {year}", GERMAN[month - 1]),
    };
    with_word(
        "birth_date",
        text,
        &[
            "date of birth",
            "DOB",
            "born",
            "Geburtsdatum",
            "geboren am",
            "date de naissance",
            "fecha de nacimiento",
            "dob",
            "data di nascita",
            "birthDate",
            "date_of_birth",
            "data urodzenia",
            "geboortedatum",
            "data de nascimento",
        ],
    )
}
