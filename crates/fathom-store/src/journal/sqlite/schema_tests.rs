use super::*;

fn columns(connection: &Connection) -> u32 {
    let count = "SELECT count(*) FROM pragma_table_info('runs')";
    connection.query_row(count, [], |row| row.get(0)).unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tables can be tried without a file"
)]
fn empty() -> Connection {
    Connection::open_in_memory().unwrap()
}

#[test]
fn an_older_file_is_brought_up_to_date_step_by_step() {
    let mut connection = empty();
    prepare_for(&mut connection, 1, &[]).unwrap();
    let before = columns(&connection);
    let steps: [SchemaMigration; 2] = [
        |file| file.execute_batch("ALTER TABLE runs ADD COLUMN second TEXT"),
        |file| file.execute_batch("ALTER TABLE runs RENAME COLUMN second TO third"),
    ];
    prepare_for(&mut connection, 3, &steps).unwrap();
    assert_eq!(columns(&connection), before + 1);
    assert_eq!(format_of(&connection).unwrap(), Some(3));
    // A second time there is nothing to do.
    prepare_for(&mut connection, 3, &steps).unwrap();
    assert_eq!(columns(&connection), before + 1);
}

#[test]
fn x04_a_step_that_fails_leaves_the_file_as_it_was() {
    let mut connection = empty();
    prepare_for(&mut connection, 1, &[]).unwrap();
    let before = columns(&connection);
    let steps: [SchemaMigration; 2] = [
        |file| file.execute_batch("ALTER TABLE runs ADD COLUMN second TEXT"),
        |file| file.execute_batch("no such statement"),
    ];
    prepare_for(&mut connection, 3, &steps).unwrap_err();
    assert_eq!(columns(&connection), before);
    assert_eq!(format_of(&connection).unwrap(), Some(1));
}
