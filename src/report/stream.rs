//! The two streams that a [`Reporter`](super::Reporter) owns.
//!
//! Writing blocks for as long as the reader does (C14). A reader that is gone is no failure of ours: from then on its
//! output is dropped and the run goes on.

use std::io::Write;

use crate::os::terminal::{Size, Standard};

/// Somewhere to write to, until nobody reads it.
pub struct Stream {
    writer: Option<Box<dyn Write>>,
    size: Box<dyn Fn() -> Option<Size>>,
}

impl Stream {
    /// One of our own standard streams.
    pub fn standard(standard: Standard) -> Self {
        Self { writer: Some(Box::new(standard)), size: Box::new(move || standard.size()) }
    }

    /// Any writer, and how large the terminal behind it claims to be.
    pub fn new(writer: impl Write + 'static, size: impl Fn() -> Option<Size> + 'static) -> Self {
        Self { writer: Some(Box::new(writer)), size: Box::new(size) }
    }

    /// Writes all of it, waiting as long as it takes; drops it if nobody can read it any more.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some(writer) = &mut self.writer
            && writer.write_all(bytes).and_then(|()| writer.flush()).is_err()
        {
            self.writer = None;
        }
    }

    /// Whether anybody still reads it, as far as the last write told.
    pub fn is_read(&self) -> bool {
        self.writer.is_some()
    }

    /// The size of the terminal behind it, measured now.
    pub fn size(&self) -> Option<Size> {
        (self.size)()
    }
}

/// Where the story and the result go.
pub struct Streams {
    /// Results.
    pub output: Stream,
    /// The story.
    pub error: Stream,
}

impl Streams {
    /// The process's own.
    pub fn standard() -> Self {
        Self { output: Stream::standard(Standard::Output), error: Stream::standard(Standard::Error) }
    }
}
