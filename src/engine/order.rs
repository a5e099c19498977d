//! What a run and the supervisor of one job say to each other, over one socket.
//!
//! The run sends one [`Order`], a line of JSON that carries descriptors, before the supervisor even exists; later single
//! bytes, the [`Command`]s. The supervisor answers with [`Report`]s, a line of JSON each. Either side learns that the other
//! is gone when the socket ends. Both are the same binary, so the format has no version.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize};

use crate::os::process::ProcessEnd;

/// The one job that a supervisor runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// Whether the first descriptor sent along is the job's standard input; without it that is `/dev/null`.
    pub(super) has_input: bool,
    /// How long after SIGTERM comes SIGKILL, in milliseconds.
    pub(super) grace_ms: u64,
}

/// What a run may ask of a supervisor, each a byte. The end of the socket means: kill everything at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// SIGTERM for every descendant, after the grace SIGKILL.
    Terminate,
    /// SIGKILL for every descendant.
    Kill,
    /// Stop every descendant, and the job's clock.
    Pause,
    /// Let them go on.
    Resume,
}

impl Command {
    const ALL: [Self; 4] = [Self::Terminate, Self::Kill, Self::Pause, Self::Resume];

    /// Its byte.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Terminate => b't',
            Self::Kill => b'k',
            Self::Pause => b's',
            Self::Resume => b'c',
        }
    }

    /// The command with that byte.
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.byte() == byte)
    }
}

/// How a job's own process ended, as far as a supervisor can say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JobExit {
    /// It ran and ended.
    Ended(ProcessEnd),
    /// It could not be started.
    NotStarted {
        /// The program that was looked for.
        program: String,
        /// The operating system's reason.
        errno: i32,
    },
}

/// What a supervisor says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "kebab-case")]
pub(super) enum Report {
    /// The job's process runs.
    Started {
        /// Its id.
        pid: i32,
    },
    /// The job's process has ended; what it left behind is ended next.
    Exited {
        /// How.
        exit: JobExit,
        /// How long it ran, in milliseconds of awake time without those that it was paused.
        duration_ms: u64,
        /// Whether it had been told to end before it did.
        by_order: bool,
    },
    /// Nothing is left of it.
    Done {
        /// How many processes it had left behind that had to be killed.
        left_behind: usize,
        /// How many could not be.
        out_of_reach: usize,
        /// Why the log may lack output, where it may.
        output_lost: Option<String>,
        /// The log's size in bytes.
        log_bytes: u64,
    },
}

/// How many descriptors an order carries at most.
const DESCRIPTORS_MAX: usize = 16;

/// The size of an order in bytes at most: what a fresh socket takes without anybody reading.
const ORDER_BYTES_MAX: usize = 128 * 1024;

/// Writes `order` and `descriptors` into `socket`, whose other end nobody reads yet.
pub(super) fn send_order(socket: &UnixStream, order: &Order, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    let too_much = || io::Error::new(io::ErrorKind::ArgumentListTooLong, "the command is too long to be handed over");
    if line.len() > ORDER_BYTES_MAX || descriptors.len() > DESCRIPTORS_MAX {
        return Err(too_much());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut carried = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !carried.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(too_much());
    }
    let sent = rustix::net::sendmsg(socket, &[IoSlice::new(&line)], &mut carried, SendFlags::empty())?;
    if sent == line.len() { Ok(()) } else { Err(too_much()) }
}

/// Reads the order, and the descriptors that came with it, which no child will inherit.
pub(super) fn receive_order(socket: &UnixStream) -> io::Result<(Order, Vec<OwnedFd>)> {
    let mut line = Vec::new();
    let mut descriptors = Vec::new();
    let mut bytes = vec![0; ORDER_BYTES_MAX];
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut carried = RecvAncillaryBuffer::new(&mut space);
        // Up to the newline only: what follows are commands.
        let peeked = rustix::net::recv(socket, bytes.as_mut_slice(), RecvFlags::PEEK)?.0;
        let end = bytes[..peeked].iter().position(|&byte| byte == b'\n');
        let wanted = end.map_or(peeked, |at| at + 1);
        let into = &mut [IoSliceMut::new(&mut bytes[..wanted])];
        let read = rustix::net::recvmsg(socket, into, &mut carried, RecvFlags::empty())?.bytes;
        let already = descriptors.len();
        for message in carried.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                descriptors.extend(received);
            }
        }
        // Nothing is started before this returns, so that no child is in time to inherit them.
        for descriptor in &descriptors[already..] {
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
        }
        line.extend_from_slice(&bytes[..read]);
        if line.ends_with(b"\n") {
            return Ok((serde_json::from_slice(&line)?, descriptors));
        }
        if read == 0 || line.len() > ORDER_BYTES_MAX {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Writes one report.
pub(super) fn send_report(mut socket: &UnixStream, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    socket.write_all(&line)
}

/// Takes the first whole report out of `received`, which holds what came in so far. A line that is none is passed over.
pub(super) fn next_report(received: &mut Vec<u8>) -> Option<Report> {
    loop {
        let end = received.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = received.drain(..=end).collect();
        if let Ok(report) = serde_json::from_slice(&line) {
            return Some(report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;

    fn order(text: String) -> Order {
        Order { words: vec![text], has_input: false, grace_ms: 5000 }
    }

    #[test]
    fn an_order_carries_open_files_and_leaves_later_commands_in_the_socket() {
        let (mut run, mut supervisor) = UnixStream::pair().unwrap();
        let mut held = tempfile::tempfile().unwrap();
        held.write_all(b"lock").unwrap();
        send_order(&run, &order("true".into()), &[held.as_fd()]).unwrap();
        run.write_all(b"tk").unwrap();
        let (received, descriptors) = receive_order(&supervisor).unwrap();
        assert_eq!(received, order("true".into()));
        assert_eq!(descriptors.len(), 1);
        // The same open file: they share the position.
        assert_eq!(rustix::fs::tell(&descriptors[0]).unwrap(), 4);
        assert!(rustix::io::fcntl_getfd(&descriptors[0]).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        let mut commands = [0; 2];
        supervisor.read_exact(&mut commands).unwrap();
        assert_eq!(commands.map(Command::from_byte), [Some(Command::Terminate), Some(Command::Kill)]);
    }

    #[test]
    fn reports_are_read_whole_however_they_arrive() {
        let (supervisor, mut run) = UnixStream::pair().unwrap();
        let reports = [
            Report::Started { pid: 7 },
            Report::Exited { exit: JobExit::Ended(ProcessEnd::Signal(9)), duration_ms: 1, by_order: true },
        ];
        reports.iter().for_each(|report| send_report(&supervisor, report).unwrap());
        drop(supervisor);
        let mut bytes = Vec::new();
        run.read_to_end(&mut bytes).unwrap();
        let mut received = Vec::new();
        let mut read = Vec::new();
        for byte in bytes {
            received.push(byte);
            read.extend(next_report(&mut received));
        }
        assert_eq!(read, reports);
    }

    #[test]
    fn a_long_order_fits_and_a_longer_one_is_refused_without_hanging() {
        let (run, supervisor) = UnixStream::pair().unwrap();
        run.set_nonblocking(true).unwrap();
        let longest = order("x".repeat(ORDER_BYTES_MAX - 100));
        send_order(&run, &longest, &[]).unwrap();
        assert_eq!(receive_order(&supervisor).unwrap().0, longest);
        assert!(send_order(&run, &order("x".repeat(ORDER_BYTES_MAX)), &[]).is_err());
    }
}
