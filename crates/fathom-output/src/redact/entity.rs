//! Entities to find, and actions on them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A kind of personal data or secret. If two overlap, the one that comes first here gives the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntityKind {
    /// A private key as PEM.
    PrivateKey,
    /// User and password inside an address, as in `https://user:word@host`.
    UrlCredentials,
    /// A JSON web token.
    Jwt,
    /// A key or token of a service, or a value after `api_key=` and the like.
    Secret,
    /// A value after `password:` and the like.
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
    /// A date of birth; other dates are not entities.
    BirthDate,
    /// A telephone number.
    Phone,
}

impl EntityKind {
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

    /// The region in which a number of this kind needs no context word.
    pub(super) const fn region(self) -> Option<PhoneRegion> {
        match self {
            Self::UsSsn => Some(PhoneRegion::Us),
            Self::UkNino | Self::UkNhs => Some(PhoneRegion::Gb),
            Self::DeSteuerId => Some(PhoneRegion::De),
            Self::FrNir => Some(PhoneRegion::Fr),
            Self::EsDni => Some(PhoneRegion::Es),
            Self::ItCodiceFiscale => Some(PhoneRegion::It),
            Self::NlBsn => Some(PhoneRegion::Nl),
            Self::PlPesel => Some(PhoneRegion::Pl),
            Self::InAadhaar => Some(PhoneRegion::In),
            Self::BrCpf => Some(PhoneRegion::Br),
            _ => None,
        }
    }
}

impl fmt::Display for EntityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A country with known number formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[non_exhaustive]
pub enum PhoneRegion {
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

/// Action on a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RedactAction {
    /// Keep it, and do not search for it.
    Keep,
    /// Replace it by its name: `[email]`.
    Mask,
    /// Replace it by a keyed hash, the same for the same value: `[email#1f…]`.
    Hash,
    /// Replace it by a sealed token, which the key opens: `[email~…]`.
    Tokenise,
    /// Remove it.
    Drop,
    /// Replace it by its name, and ask for a person's review.
    Review,
}

impl fmt::Display for RedactAction {
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

/// Kind of a span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SpanKind {
    /// Personal data or a secret.
    Entity(EntityKind),
    /// A match of a rule of the content policy.
    Policy {
        rule: Arc<str>,
        /// Reason of the rule.
        reason: Arc<str>,
    },
    Profanity,
}

impl SpanKind {
    /// The name in a mark.
    pub fn name(&self) -> &str {
        match self {
            Self::Entity(entity) => entity.name(),
            Self::Policy { rule, .. } => rule,
            Self::Profanity => "profanity",
        }
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntitySpan {
    /// Start in the original text, in bytes.
    pub start: usize,
    /// End in the original text, in bytes.
    pub end: usize,
    pub kind: SpanKind,
    pub action: RedactAction,
}
