use super::*;

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), data].concat()
}

const HEADER: &str =
    r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}}"#;

#[track_caller]
fn refused(header: &str, expected: &str) {
    let file = file(header, &[0; 12]);
    let found = TensorFile::parse(&file).and_then(|tensors| tensors.floats("a", &[2, 1]));
    let error = found.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_tensor_is_read_from_where_the_header_says() {
    let mut data = vec![9; 4];
    data.extend([1.5_f32, -2.0].iter().flat_map(|x| x.to_le_bytes()));
    let file = file(HEADER, &data);
    let tensors = TensorFile::parse(&file).unwrap();
    assert_eq!(tensors.floats("a", &[2, 1]), Ok(vec![1.5, -2.0]));
    assert_eq!(
        tensors.floats("b", &[2, 1]),
        Err(ModelFault::NoTensor("b".to_owned()))
    );
}

#[test]
fn a_header_that_is_none_is_refused() {
    for short in [&b""[..], b"1234567", &100_u64.to_le_bytes()] {
        let error = TensorFile::parse(short).err().unwrap();
        assert_eq!(error.to_string(), "it ends before its header does");
    }
    let error = TensorFile::parse(&[0xff; 64]).err().unwrap();
    assert_eq!(error.to_string(), "its header has more than 1048576 bytes");
    refused("[]", "its header: ");
    refused(&"[".repeat(100_000), "its header: ");
}

#[test]
fn a_tensor_that_is_not_what_it_should_be_is_refused() {
    refused(
        r#"{"a":{},"z":{"data_offsets":[0,12]}}"#,
        "tensor `a`: missing field",
    );
    refused(
        &HEADER.replace("F32", "F16"),
        "is F16 [2, 1], not F32 [2, 1]",
    );
    refused(
        &HEADER.replace("[2,1]", "[1,2]"),
        "is F32 [1, 2], not F32 [2, 1]",
    );
    refused(&HEADER.replace("[4,12]", "[13,12]"), "not within the file");
    refused(
        &HEADER.replace("[4,12]", "[0,12]"),
        "has 12 bytes for [2, 1]",
    );
    refused(
        &HEADER.replace("[4,12]", "[5,12]"),
        "has 7 bytes for [2, 1]",
    );
    refused(&HEADER.replace("[4,12]", "[-4,12]"), "tensor `a`: ");
}

#[test]
fn a_file_that_does_not_end_with_its_last_tensor_is_refused() {
    refused("{}", "does not end where");
    refused(&HEADER.replace("[4,12]", "[4,11]"), "does not end where");
    refused(&HEADER.replace("[4,12]", "[4,13]"), "does not end where");
}
