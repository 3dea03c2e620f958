//! What runs in this process, seen from outside, with real weights.

#[cfg(test)]
mod embedding;
#[cfg(test)]
mod engine_asking;
#[cfg(test)]
mod engine_files;
#[cfg(test)]
mod engine_forms;
#[cfg(test)]
mod engine_model;
#[cfg(test)]
mod engine_sharing;
#[cfg(test)]
mod engine_tokens;
#[cfg(test)]
mod summary;
#[cfg(test)]
mod weights;
#[cfg(test)]
mod weights_choice;
#[cfg(test)]
mod weights_hub;
#[cfg(test)]
mod weights_wheels;
