//! The control socket of a base process or template: whole messages, with descriptors beside them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixStream;

use crate::error::SandboxError;

/// Most bytes of a message from a base process or template.
const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// Most descriptors beside a message.
const DESCRIPTORS_MAX: usize = 4;

/// The host's end.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    socket: UnixStream,
    /// Set when an exchange failed. Its reply may still come, and would be taken for the reply to the next one.
    broken: AtomicBool,
}

impl ControlSocket {
    /// A new pair: the host's end, and the one for the process.
    pub(crate) fn pair() -> Result<(Self, OwnedFd), SandboxError> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(SandboxError::system("make a socket"))?;
        // Only this end: the process waits in its calls.
        rustix::io::ioctl_fionbio(&ours, true).map_err(SandboxError::system("make a socket"))?;
        // A stream by name: only `sendmsg` and `recvmsg` are called on it, which keep messages whole.
        let ours = UnixStream::from_std(ours.into()).map_err(SandboxError::io("watch a socket"))?;
        let control = Self {
            socket: ours,
            broken: AtomicBool::new(false),
        };
        Ok((control, theirs))
    }

    pub(crate) fn is_broken(&self) -> bool {
        // Relaxed: exchanges set and read it under their lock, and the flag guards nothing else.
        self.broken.load(Ordering::Relaxed)
    }

    /// Nothing is sent here any more.
    pub(crate) fn give_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn send_bytes(
        &self,
        message: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        self.socket
            .async_io(Interest::WRITABLE, || {
                let mut space =
                    [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
                let mut beside = SendAncillaryBuffer::new(&mut space);
                if !descriptors.is_empty() {
                    beside.push(SendAncillaryMessage::ScmRights(descriptors));
                }
                let message = [IoSlice::new(message)];
                sendmsg(&self.socket, &message, &mut beside, SendFlags::NOSIGNAL)?;
                Ok(())
            })
            .await
    }

    pub(crate) async fn send(
        &self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let message = serde_json::to_vec(message)?;
        self.send_bytes(&message, descriptors).await
    }

    /// The next message; an error when the process is gone.
    pub(crate) async fn receive<T: DeserializeOwned>(&self) -> io::Result<(T, Vec<OwnedFd>)> {
        let mut bytes = vec![0; MESSAGE_BYTES_MAX];
        let (length, descriptors) = self
            .socket
            .async_io(Interest::READABLE, || {
                let mut space =
                    [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
                let mut beside = RecvAncillaryBuffer::new(&mut space);
                let mut into = [IoSliceMut::new(&mut bytes)];
                let got = recvmsg(
                    &self.socket,
                    &mut into,
                    &mut beside,
                    // With the call itself: another thread may start a program before a second call.
                    RecvFlags::CMSG_CLOEXEC,
                )?;
                let descriptors = beside
                    .drain()
                    .filter_map(|message| match message {
                        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                        _ => None,
                    })
                    .flatten()
                    .collect::<Vec<_>>();
                Ok((got.bytes, descriptors))
            })
            .await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((serde_json::from_slice(&bytes[..length])?, descriptors))
    }
}
