//! Column types for the vocabulary's values.

use std::fmt;

use fathom_core::id::{Digest, EpisodeId, RunId};
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};

/// A value of the vocabulary on its way into or out of a column.
#[derive(Debug)]
pub(super) struct SqlValue<T>(pub(super) T);

#[derive(Debug)]
struct BadColumn(&'static str);

impl fmt::Display for BadColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a column does not contain a valid {}", self.0)
    }
}

impl std::error::Error for BadColumn {}

fn bad(what: &'static str) -> FromSqlError {
    FromSqlError::Other(Box::new(BadColumn(what)))
}

impl ToSql for SqlValue<RunId> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}

impl FromSql for SqlValue<RunId> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?.try_into().map_err(|_| bad("run id"))?;
        Ok(Self(RunId::from_bytes(bytes)))
    }
}

impl ToSql for SqlValue<Digest> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0.0)))
    }
}

impl FromSql for SqlValue<Digest> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes = value.as_blob()?.try_into().map_err(|_| bad("digest"))?;
        Ok(Self(Digest(bytes)))
    }
}

impl ToSql for SqlValue<&EpisodeId> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_string().into())
    }
}

impl FromSql for SqlValue<EpisodeId> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let episode = value.as_str()?.parse();
        episode.map(Self).map_err(|_| bad("episode id"))
    }
}

/// `SQLite`'s integers are signed; no count here comes near the limit.
impl ToSql for SqlValue<u64> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        i64::try_from(self.0)
            .map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    }
}

impl FromSql for SqlValue<u64> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number)
            .map(Self)
            .map_err(|_| FromSqlError::OutOfRange(number))
    }
}
