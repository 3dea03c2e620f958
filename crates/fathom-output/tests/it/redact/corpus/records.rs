//! Records with several values beside each other: what announces one must not be taken for another.

use super::values::{self, dni, email, iban, phone_abroad, phone_home, ssn};
use super::{Label, Rng, Sample, Value};

/// How many records there are.
pub(crate) const COUNT: usize = 200;

type Maker = fn(&mut Rng) -> Value;

/// A form, in which each `$` is the value of the maker at its place.
struct Form {
    text: &'static str,
    makers: &'static [Maker],
}

const FORMS: &[Form] = &[
    Form {
        text: "{\"name\": \"A. B.\", \"email\": \"$\", \"phone\": \"$\", \"iban\": \"$\", \"active\": true}\n",
        makers: &[email, phone_abroad, iban],
    },
    Form {
        text: "{\n  \"ssn\": \"$\",\n  \"dob\": \"$\",\n  \"card\": \"$\",\n  \"ip\": \"$\"\n}\n",
        makers: &[ssn, values::birth_date, values::card, values::ip4],
    },
    Form {
        text: "id,email,phone,iban\n1,$,$,$\n2,$,$,$\n",
        makers: &[email, phone_abroad, iban, email, phone_abroad, iban],
    },
    Form {
        text: "| E-Mail | Telefon | IBAN |\n|---|---|---|\n| $ | $ | $ |\n",
        makers: &[email, phone_abroad, iban],
    },
    Form {
        text: "Steuer-ID: $\nIBAN: $\nTelefon: $\nGeburtsdatum: $\n",
        makers: &[values::steuer_id, iban, phone_home, values::birth_date],
    },
    Form {
        text: "DNI: $\nTeléfono: $\nCorreo: $\nCuenta: $\n",
        makers: &[dni, phone_abroad, email, iban],
    },
    Form {
        text: "NIR : $\nTél. : $\nNé le : $\nCourriel : $\n",
        makers: &[values::nir, phone_abroad, values::birth_date, email],
    },
    Form {
        text: "PESEL: $, tel. $, e-mail: $\n",
        makers: &[values::pesel, phone_abroad, email],
    },
    Form {
        text: "CPF: $; celular: $; e-mail: $\n",
        makers: &[values::cpf, phone_abroad, email],
    },
    Form {
        text: "codice fiscale $, telefono $, nata il $\n",
        makers: &[values::codice_fiscale, phone_abroad, values::birth_date],
    },
    Form {
        text: "NHS number: $\nNI number: $\nDate of birth: $\nMobile: $\n",
        makers: &[values::nhs, values::nino, values::birth_date, phone_abroad],
    },
    Form {
        text: "BSN $, geboren $, telefoon $, rekening $\n",
        makers: &[values::bsn, values::birth_date, phone_abroad, iban],
    },
    Form {
        text: "Aadhaar: $ | Mobile: $ | Email: $\n",
        makers: &[values::aadhaar, phone_abroad, email],
    },
    Form {
        text: "$ - - [04/Mar/2026:12:33:21 +0000] \"GET /u?mail=$ HTTP/1.1\" 200 512 \"-\" \"curl/8.4.0\"\n",
        makers: &[values::ip4, email],
    },
    Form {
        text: "From: A B <$>\nTo: C D <$>, <$>\nDate: Wed, 4 Mar 2026 12:33:21 +0100\nSubject: 12 of 40\n",
        makers: &[email, email, email],
    },
    Form {
        text: "INSERT INTO people (email, phone, card) VALUES ('$', '$', '$');\n",
        makers: &[email, phone_abroad, values::card],
    },
    Form {
        text: "Best, Ann\n$ · $\nExample Ltd, 12 High Street\n",
        makers: &[phone_abroad, email],
    },
    Form {
        text: "level=warn ip=$ email=$ msg=\"card $ declined\" code=05\n",
        makers: &[values::ip4, email, values::card],
    },
];

pub(crate) fn make(rng: &mut Rng) -> Sample {
    let form = &FORMS[rng.below(FORMS.len())];
    let mut text = String::new();
    let mut labels = Vec::new();
    let mut pieces = form.text.split('$');
    text.push_str(pieces.next().unwrap_or_default());
    for (piece, maker) in pieces.zip(form.makers) {
        let value = maker(rng);
        let start = text.len();
        text.push_str(&value.text);
        labels.push(Label {
            start,
            end: text.len(),
            entity: value.entity,
            row: value.row,
        });
        text.push_str(piece);
    }
    Sample { text, labels }
}
