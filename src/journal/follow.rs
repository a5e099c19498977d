//! Reading a journal while it grows: what `wait` shows of another run.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{FORMAT, Header, LINE_BYTES_MAX, VERSION};
use crate::claim::record::JournalRef;
use crate::event::Event;

/// At most so many events are handed out at once, so that the reader's loop stays responsive.
const EVENTS_AT_ONCE_MAX: usize = 1000;

/// Reads the events of a run, those that are there and those that come.
#[derive(Debug)]
pub struct Follower {
    reader: BufReader<File>,
    header: Header,
    /// The beginning of a line whose end is not written yet.
    partial: Vec<u8>,
}

impl Follower {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut reader = BufReader::new(File::open(path)?);
        let mut line = Vec::new();
        reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        let header: Header = serde_json::from_slice(&line)?;
        if header.format != FORMAT || header.version > VERSION {
            let found = format!("it is `{}` version {}, not `{FORMAT}` up to {VERSION}", header.format, header.version);
            return Err(io::Error::new(io::ErrorKind::InvalidData, found));
        }
        Ok(Self { reader, header, partial: Vec::new() })
    }

    /// The journal as an attempt record names it, for the question whether its executor is gone.
    ///
    /// # Errors
    /// The file can't be looked at.
    pub fn reference(&self) -> io::Result<JournalRef> {
        let inode = self.reader.get_ref().metadata()?.ino();
        Ok(JournalRef { handle: self.header.handle.clone(), inode, token: self.header.token })
    }

    /// Who runs.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The events that were written since the last call, a bounded number of them; empty when there are none yet. Lines
    /// that a newer version wrote and this one does not know are passed over.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn next_events(&mut self) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        while events.len() < EVENTS_AT_ONCE_MAX {
            self.reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.partial)?;
            if !self.partial.ends_with(b"\n") {
                // A line that never ends is no event; what is kept of it stays bounded.
                if self.partial.len() as u64 > LINE_BYTES_MAX {
                    self.partial.clear();
                }
                break;
            }
            events.extend(serde_json::from_slice::<Event>(&self.partial).ok());
            self.partial.clear();
        }
        Ok(events)
    }
}
