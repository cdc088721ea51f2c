//! What a follower on the host writes: pieces of a trial's files in frames; see [`ktrial_agent`] for the format.

/// Longest line before a piece.
const HEAD_BYTES: usize = 200;

/// Largest piece: followers give less.
const PIECE_BYTES: usize = 1 << 20;

/// What one frame says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Frame {
    /// More of a file.
    Piece {
        /// The file's name in the trial's folder.
        name: String,
        /// Where in the file the bytes begin.
        offset: u64,
        bytes: Vec<u8>,
    },
    /// The follower is there, and nothing is new.
    Alive,
    /// The trial is over, and every file was given to its end.
    Complete,
    /// The trial's supervisor is gone, and left no result.
    Gone,
}

/// The follower said something else than frames.
#[derive(Debug, PartialEq)]
pub(super) struct NoFrame;

/// Finds frames in a stream that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Frames {
    waiting: Vec<u8>,
}

impl Frames {
    /// Takes the next piece of the stream, gives the frames that it completes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, NoFrame> {
        self.waiting.extend_from_slice(bytes);
        let mut found = Vec::new();
        let mut read = 0;
        while let Some((frame, length)) = first(self.waiting.get(read..).unwrap_or_default())? {
            found.push(frame);
            read += length;
        }
        self.waiting.drain(..read);
        Ok(found)
    }
}

/// The first frame and how many bytes it takes; none when it is not whole yet.
fn first(bytes: &[u8]) -> Result<Option<(Frame, usize)>, NoFrame> {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let Some(end) = head.iter().position(|&b| b == b'\n') else {
        return match head.len() < HEAD_BYTES {
            true => Ok(None),
            false => Err(NoFrame),
        };
    };
    let (head, rest) = bytes.split_at_checked(end + 1).ok_or(NoFrame)?;
    let head = std::str::from_utf8(head).map_err(|_| NoFrame)?;
    let words: Vec<&str> = head.trim_end_matches('\n').split(' ').collect();
    let [name, offset, length] = words.as_slice() else {
        return Err(NoFrame);
    };
    let offset: u64 = offset.parse().map_err(|_| NoFrame)?;
    let length: usize = length.parse().map_err(|_| NoFrame)?;
    if length > PIECE_BYTES {
        return Err(NoFrame);
    }
    let Some(piece) = rest.get(..length) else {
        return Ok(None);
    };
    let frame = match *name {
        "-" => Frame::Alive,
        "." => Frame::Complete,
        "!" => Frame::Gone,
        name if is_plain(name) => Frame::Piece {
            name: name.to_owned(),
            offset,
            bytes: piece.to_vec(),
        },
        _ => return Err(NoFrame),
    };
    match rest.get(length) {
        None => Ok(None),
        Some(b'\n') => Ok(Some((frame, end + 1 + length + 1))),
        Some(_) => Err(NoFrame),
    }
}

/// Whether it can be the name of a file in a trial's folder.
pub(super) fn is_plain(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    (1..=100).contains(&name.len()) && name.bytes().all(is_plain) && !name.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(name: &str, offset: u64, bytes: &[u8]) -> Frame {
        Frame::Piece {
            name: name.into(),
            offset,
            bytes: bytes.into(),
        }
    }

    #[test]
    fn frames_are_found_in_any_pieces() {
        let text = b"events 0 8\n1 idle\n\n\n- 0 0\n\nfree.txt 70 1\n7\n! 0 0\n\n. 0 0\n\n";
        for size in 1..=text.len() {
            let mut frames = Frames::default();
            let found: Vec<Frame> = text
                .chunks(size)
                .flat_map(|chunk| frames.feed(chunk).unwrap())
                .collect();
            let want = [
                piece("events", 0, b"1 idle\n\n"),
                Frame::Alive,
                piece("free.txt", 70, b"7"),
                Frame::Gone,
                Frame::Complete,
            ];
            assert_eq!(found, want, "{size}");
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for text in [
            "sh: follow: not found\n",
            "../x 0 0\n\n",
            "a/b 0 0\n\n",
            ".hidden 0 0\n\n",
            "x 0 99999999999\n",
            "x -1 0\n\n",
            "x 0 1\nab",
            &"x".repeat(200),
        ] {
            assert_eq!(
                Frames::default().feed(text.as_bytes()),
                Err(NoFrame),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = Frames::default().feed(&bytes);
        }
    }
}
