//! Tensors in a `.safetensors` file: a header in JSON that says where each one lies, then their bytes.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Bytes that a header may have; that of the model in use has 11 KB.
const HEADER_BYTES_MAX: usize = 1024 * 1024;

/// A file whose header was read. A tensor is checked when it is asked for.
pub(super) struct Tensors<'a> {
    header: Map<String, Value>,
    data: &'a [u8],
}

/// What the header says of one tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'a> Tensors<'a> {
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, String> {
        let short = || "it ends before its header does".to_owned();
        let (length, rest) = file.split_first_chunk::<8>().ok_or_else(short)?;
        let length = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .filter(|&length| length <= HEADER_BYTES_MAX)
            .ok_or_else(|| format!("its header has more than {HEADER_BYTES_MAX} bytes"))?;
        let (header, data) = rest.split_at_checked(length).ok_or_else(short)?;
        let header: Map<String, Value> =
            serde_json::from_slice(header).map_err(|error| format!("its header: {error}"))?;
        // A file may end within a tensor that nobody asks for; it is cut short all the same.
        let end = header
            .values()
            .filter_map(|entry| entry.get("data_offsets")?.get(1)?.as_u64())
            .max();
        if end != Some(data.len() as u64) {
            return Err("it does not end where its last tensor does".to_owned());
        }
        Ok(Self { header, data })
    }

    /// The numbers of a tensor that has to have this name and shape.
    pub(super) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let entry = self
            .header
            .get(name)
            .ok_or_else(|| format!("it has no tensor `{name}`"))?;
        let entry =
            Entry::deserialize(entry).map_err(|error| format!("tensor `{name}`: {error}"))?;
        if entry.dtype != "F32" || entry.shape != shape {
            return Err(format!(
                "tensor `{name}` is {} {:?}, not F32 {shape:?}",
                entry.dtype, entry.shape
            ));
        }
        let (start, end) = entry.data_offsets;
        let bytes = self
            .data
            .get(start..end)
            .ok_or_else(|| format!("tensor `{name}` is not within the file"))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if numbers.len() != shape.iter().product::<usize>() || !rest.is_empty() {
            return Err(format!(
                "tensor `{name}` has {} bytes for {shape:?}",
                bytes.len()
            ));
        }
        Ok(numbers
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect())
    }
}

#[cfg(test)]
#[path = "safetensors_tests.rs"]
mod tests;
