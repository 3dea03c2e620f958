//! Every provider against a server that speaks its wire format, and breaks it.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod connecting;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod leniency;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod replies;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod tools;
