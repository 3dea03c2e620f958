//! What is looked for, and what becomes of it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A kind of personal data or secret. Where two overlap, the one that stands first here gives the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Entity {
    /// A private key as PEM.
    PrivateKey,
    /// User and password inside an address, as in `https://user:word@host`.
    UrlCredentials,
    /// A JSON web token.
    Jwt,
    /// A key or token of a service, or what follows `api_key=`.
    Secret,
    /// What follows `password:`.
    Password,
    /// An address of Bitcoin or Ethereum.
    Crypto,
    /// An international bank account number.
    Iban,
    /// A payment card.
    Card,
    /// An address of electronic mail.
    Email,
    /// The Italian tax code.
    ItCodiceFiscale,
    /// The French social security number.
    FrNir,
    /// The Spanish identity number, and that of foreigners.
    EsDni,
    /// The British national insurance number.
    UkNino,
    /// The social security number of the United States.
    UsSsn,
    /// The German tax number.
    DeSteuerId,
    /// The Polish personal number.
    PlPesel,
    /// The Brazilian taxpayer number.
    BrCpf,
    /// The Indian identity number.
    InAadhaar,
    /// The number of the British health service.
    UkNhs,
    /// The Dutch citizen number.
    NlBsn,
    /// The address of a network card.
    Mac,
    /// An address of the internet, of version 4 or 6.
    Ip,
    /// A date of birth; other dates are none.
    BirthDate,
    /// A telephone number.
    Phone,
}

impl Entity {
    /// Every entity.
    pub const ALL: [Self; 24] = [
        Self::PrivateKey,
        Self::UrlCredentials,
        Self::Jwt,
        Self::Secret,
        Self::Password,
        Self::Crypto,
        Self::Iban,
        Self::Card,
        Self::Email,
        Self::ItCodiceFiscale,
        Self::FrNir,
        Self::EsDni,
        Self::UkNino,
        Self::UsSsn,
        Self::DeSteuerId,
        Self::PlPesel,
        Self::BrCpf,
        Self::InAadhaar,
        Self::UkNhs,
        Self::NlBsn,
        Self::Mac,
        Self::Ip,
        Self::BirthDate,
        Self::Phone,
    ];

    /// Its name in rules and marks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrivateKey => "private_key",
            Self::UrlCredentials => "url_credentials",
            Self::Jwt => "jwt",
            Self::Secret => "secret",
            Self::Password => "password",
            Self::Crypto => "crypto",
            Self::Iban => "iban",
            Self::Card => "card",
            Self::Email => "email",
            Self::ItCodiceFiscale => "it_codice_fiscale",
            Self::FrNir => "fr_nir",
            Self::EsDni => "es_dni",
            Self::UkNino => "uk_nino",
            Self::UsSsn => "us_ssn",
            Self::DeSteuerId => "de_steuer_id",
            Self::PlPesel => "pl_pesel",
            Self::BrCpf => "br_cpf",
            Self::InAadhaar => "in_aadhaar",
            Self::UkNhs => "uk_nhs",
            Self::NlBsn => "nl_bsn",
            Self::Mac => "mac",
            Self::Ip => "ip",
            Self::BirthDate => "birth_date",
            Self::Phone => "phone",
        }
    }

    /// The region in which a number of this kind needs no word beside it.
    pub(super) const fn region(self) -> Option<Region> {
        match self {
            Self::UsSsn => Some(Region::Us),
            Self::UkNino | Self::UkNhs => Some(Region::Gb),
            Self::DeSteuerId => Some(Region::De),
            Self::FrNir => Some(Region::Fr),
            Self::EsDni => Some(Region::Es),
            Self::ItCodiceFiscale => Some(Region::It),
            Self::NlBsn => Some(Region::Nl),
            Self::PlPesel => Some(Region::Pl),
            Self::InAadhaar => Some(Region::In),
            Self::BrCpf => Some(Region::Br),
            _ => None,
        }
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A country whose own ways of writing numbers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum Region {
    /// The United States and Canada.
    Us,
    /// The United Kingdom.
    Gb,
    /// Germany.
    De,
    /// France.
    Fr,
    /// Spain.
    Es,
    /// Italy.
    It,
    /// The Netherlands.
    Nl,
    /// Poland.
    Pl,
    /// India.
    In,
    /// Brazil.
    Br,
}

/// What becomes of something that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// It stays, and is not looked for.
    Keep,
    /// Its name stands in its place: `[email]`.
    Mask,
    /// A keyed hash stands in its place, the same for the same value: `[email#1f…]`.
    Hash,
    /// A sealed token stands in its place, which the key opens: `[email~…]`.
    Tokenise,
    /// Nothing stands in its place.
    Drop,
    /// Its name stands in its place, and a person should look.
    Review,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep => "keep",
            Self::Mask => "mask",
            Self::Hash => "hash",
            Self::Tokenise => "tokenise",
            Self::Drop => "drop",
            Self::Review => "review",
        })
    }
}

/// What a span is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Personal data or a secret.
    Entity(Entity),
    /// Something that a rule of the content policy names.
    Policy {
        rule: Arc<str>,
        /// Why it is there.
        reason: Arc<str>,
    },
    Profanity,
}

impl Kind {
    /// The name that a mark shows.
    pub fn name(&self) -> &str {
        match self {
            Self::Entity(entity) => entity.name(),
            Self::Policy { rule, .. } => rule,
            Self::Profanity => "profanity",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Where it begins in the text that went in, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    pub kind: Kind,
    /// What became of it.
    pub action: Action,
}
