//! Tensors in a `.safetensors` file: a JSON header with their positions, then their bytes.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::ModelFault;

/// Maximum size of a header; that of the model in use has 11 KB.
const HEADER_BYTES_MAX: usize = 1024 * 1024;

/// A file with a parsed header. A tensor is checked when it is read.
pub(super) struct TensorFile<'a> {
    header: Map<String, Value>,
    data: &'a [u8],
}

/// Header entry of one tensor.
#[derive(Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'a> TensorFile<'a> {
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, ModelFault> {
        let short = || ModelFault::ShortHeader;
        let (length, rest) = file.split_first_chunk::<8>().ok_or_else(short)?;
        let length = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .filter(|&length| length <= HEADER_BYTES_MAX)
            .ok_or(ModelFault::LongHeader {
                bytes_max: HEADER_BYTES_MAX,
            })?;
        let (header, data) = rest.split_at_checked(length).ok_or_else(short)?;
        let header: Map<String, Value> = serde_json::from_slice(header)
            .map_err(|error| ModelFault::Header(error.to_string()))?;
        // A file may end within a tensor that is never read; it is truncated all the same.
        let end = header
            .values()
            .filter_map(|entry| entry.get("data_offsets")?.get(1)?.as_u64())
            .max();
        if end != Some(data.len() as u64) {
            return Err(ModelFault::WrongEnd);
        }
        Ok(Self { header, data })
    }

    /// The numbers of a tensor with this name and shape.
    pub(super) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelFault> {
        let entry = self
            .header
            .get(name)
            .ok_or_else(|| ModelFault::NoTensor(name.to_owned()))?;
        let tensor = |cause: String| ModelFault::Tensor {
            name: name.to_owned(),
            cause,
        };
        let entry =
            TensorEntry::deserialize(entry).map_err(|error| tensor(format!(": {error}")))?;
        if entry.dtype != "F32" || entry.shape != shape {
            return Err(tensor(format!(
                " is {} {:?}, not F32 {shape:?}",
                entry.dtype, entry.shape
            )));
        }
        let (start, end) = entry.data_offsets;
        let bytes = self
            .data
            .get(start..end)
            .ok_or_else(|| tensor(" is not within the file".to_owned()))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if numbers.len() != shape.iter().product::<usize>() || !rest.is_empty() {
            return Err(tensor(format!(" has {} bytes for {shape:?}", bytes.len())));
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
