use rusqlite::ffi;

use super::*;

#[track_caller]
fn check(sqlite_code: i32, code: &str) {
    let error = rusqlite::Error::SqliteFailure(ffi::Error::new(sqlite_code), None);
    assert_eq!(StoreError::from(error).code(), code);
}

#[test]
fn x08_what_the_database_says_becomes_a_kind_of_its_own() {
    check(ffi::SQLITE_FULL, "F0203");
    check(ffi::SQLITE_IOERR_FSYNC, "F0222");
    check(ffi::SQLITE_IOERR_WRITE, "F0222");
    check(ffi::SQLITE_READONLY, "F0222");
    check(ffi::SQLITE_CANTOPEN, "F0222");
    check(ffi::SQLITE_BUSY, "F0206");
    check(ffi::SQLITE_CORRUPT, "F0204");
    check(ffi::SQLITE_NOTADB, "F0204");
    check(ffi::SQLITE_MISUSE, "F0202");
}

#[test]
fn x08_a_full_disk_is_one_wherever_it_shows() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
        let error = StoreError::io("write", Path::new("x"), kind.into());
        assert_eq!(error.code(), "F0203");
    }
    let error = StoreError::io("write", Path::new("x"), io::ErrorKind::NotFound.into());
    assert_eq!(error.code(), "F0201");
    assert_eq!(error.to_string(), "cannot write `x`");
}
