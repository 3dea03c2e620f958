use super::*;

#[track_caller]
fn batched(lengths: &[usize], expected: &[&[usize]]) {
    let texts: Vec<Vec<u32>> = lengths.iter().map(|&length| vec![0; length]).collect();
    let found: Vec<Vec<usize>> = batches(&texts)
        .iter()
        .map(|batch| batch.iter().map(|text| text.len()).collect())
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_batch_is_bounded_by_its_word_pieces() {
    batched(&[], &[]);
    batched(&[100, 100, 56, 1], &[&[100, 100, 56], &[1]]);
    batched(&[256, 2, 256, 2, 2], &[&[256], &[2], &[256], &[2, 2]]);
}

#[test]
fn a_panic_becomes_an_error_that_says_what_it_said() {
    let text = unwinding::<()>(|| panic!("{} too many", 3));
    let said = text.clone().unwrap_err().to_string();
    assert_eq!(said, "it broke the engine: 3 too many");
    assert_eq!(text, Err(ModelFault::Panicked("3 too many".to_owned())));
    let constant = unwinding::<()>(|| panic!("too many"));
    assert_eq!(constant, Err(ModelFault::Panicked("too many".to_owned())));
    let silent = unwinding::<()>(|| std::panic::panic_any(3));
    assert_eq!(
        silent,
        Err(ModelFault::Panicked("no reason given".to_owned()))
    );
}

#[test]
fn a_direction_has_length_one_and_nothing_has_none() {
    let mut vector = [0.0; DIMENSIONS];
    assert_eq!(Embedding::towards(&vector).unwrap().as_slice(), vector);
    vector[0] = 3.0;
    vector[7] = -4.0;
    let unit = Embedding::towards(&vector).unwrap();
    assert_eq!((unit.as_slice()[0], unit.as_slice()[7]), (0.6, -0.8));
    vector[1] = f32::NAN;
    assert_eq!(Embedding::towards(&vector), None);
}

#[test]
fn the_mean_is_taken_over_all_vectors_and_then_made_a_direction() {
    let mut vectors = vec![0.0; 2 * DIMENSIONS];
    vectors[0] = 6.0;
    vectors[DIMENSIONS + 1] = 8.0;
    let mean = Embedding::mean(&vectors).unwrap();
    assert_eq!(mean.as_slice()[..3], [0.6, 0.8, 0.0]);
}

#[test]
fn a_file_above_its_limit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large");
    std::fs::write(&path, [0; 9]).unwrap();
    assert_eq!(read(&path, 9).unwrap().len(), 9);
    let error = read(&path, 8).unwrap_err();
    assert_eq!(error.code(), "F0542");
}
