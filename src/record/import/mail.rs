//! A mail as a text file: as a mail program saves it, as an archive's page shows it, or with its lines run together.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::record::sha256_hex;
use crate::regular_file;

/// Largest mail that is read.
const MAIL_LIMIT_BYTES: u64 = 16 << 20;
/// Header lines stand in the beginning.
const HEADER_LIMIT_BYTES: usize = 256 << 10;
const FIELD_LIMIT: usize = 300;

/// Names that end a field when a mail's lines are run together.
const FIELD_NAMES: [&str; 24] = [
    "From",
    "To",
    "Cc",
    "Subject",
    "Date",
    "Message-ID",
    "Message-Id",
    "Reply-To",
    "In-Reply-To",
    "References",
    "Received",
    "Precedence",
    "List-Id",
    "List-Subscribe",
    "List-Unsubscribe",
    "X-Mailing-List",
    "X-Mailer",
    "X-B4-Tracking",
    "X-Developer-Signature",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
    "DKIM-Signature",
    "User-Agent",
];

/// A mail and what its header says.
#[derive(Debug, Clone, PartialEq)]
pub struct Mail {
    /// The file it was read from.
    pub file: PathBuf,
    /// The whole text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// What the header says of where it comes from.
    pub origin: Origin,
    /// `quoted-printable` or `base64` when its lines are still encoded so.
    pub encoding: Option<&'static str>,
}

/// Where a mail comes from, as far as known. No addresses of people.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Origin {
    /// The author's name.
    pub author: Option<String>,
    /// `YYYY-MM-DD` in the author's zone, or only its beginning where no more is known.
    pub date: Option<String>,
    /// The mailing list's name.
    pub list: Option<String>,
    /// Subject.
    pub subject: Option<String>,
    /// Message-ID without angle brackets, or a link.
    pub message: Option<String>,
}

impl Origin {
    /// This, and where it says nothing, what `other` says.
    pub fn or(self, other: Origin) -> Origin {
        Origin {
            author: self.author.or(other.author),
            date: self.date.or(other.date),
            list: self.list.or(other.list),
            subject: self.subject.or(other.subject),
            message: self.message.or(other.message),
        }
    }
}

impl Mail {
    /// Reads a mail from a file.
    ///
    /// # Errors
    /// `Input` when it cannot be read, is a directory, empty or larger than 16 MiB.
    pub fn read(file: &Path) -> Result<Mail> {
        let bytes = regular_file::open(file)
            .and_then(|opened| regular_file::read(opened, MAIL_LIMIT_BYTES))
            .map_err(|e| {
                Error::input("cannot read the mail")
                    .at(file)
                    .because(e)
                    .next("name a file with the mail's text")
            })?
            .ok_or_else(|| {
                Error::input(format!("is larger than {} MiB", MAIL_LIMIT_BYTES >> 20))
                    .at(file)
                    .next("save the one mail alone, without attachments")
            })?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::input("is empty")
                .at(file)
                .next("name a file with the mail's text"));
        }
        Ok(Mail::from_bytes(file, &bytes))
    }

    fn from_bytes(file: &Path, bytes: &[u8]) -> Mail {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let start = text.floor_char_boundary(HEADER_LIMIT_BYTES);
        let head = text.get(..start).unwrap_or_default();
        let fields = header_block(head)
            .or_else(|| head.lines().find_map(run_together))
            .unwrap_or_default();
        let field = |name: &str| {
            fields
                .iter()
                .find(|(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        let encoding = field("Content-Transfer-Encoding").and_then(|value| {
            ["quoted-printable", "base64"]
                .into_iter()
                .find(|e| value.trim().eq_ignore_ascii_case(e))
        });
        let origin = Origin {
            author: field("From").and_then(person),
            date: field("Date").and_then(day),
            list: field("X-Mailing-List")
                .or_else(|| field("List-Id"))
                .and_then(list_name),
            subject: field("Subject").and_then(plain),
            message: field("Message-ID")
                .and_then(|id| plain(id.trim().trim_start_matches('<').trim_end_matches('>'))),
        };
        Mail {
            file: file.to_owned(),
            sha256: sha256_hex(bytes),
            origin,
            encoding,
            text,
        }
    }
}

type Fields = Vec<(String, String)>;

/// The first run of header lines with both an author and a date. Text may stand before it.
fn header_block(head: &str) -> Option<Fields> {
    let mut fields: Fields = Vec::new();
    for line in head.lines().chain([""]) {
        if let Some((name, value)) = header_line(line) {
            fields.push((name.to_owned(), value.to_owned()));
        } else if let (true, Some((_, value))) = (line.starts_with([' ', '\t']), fields.last_mut())
        {
            value.push(' ');
            value.push_str(line.trim());
        } else {
            let has = |name| fields.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
            if has("From") && has("Date") {
                return Some(fields);
            }
            fields.clear();
        }
    }
    None
}

fn header_line(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_name = !name.is_empty()
        && name.len() <= 60
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    is_name.then(|| (name, value.trim()))
}

/// Header fields of a mail whose line ends were lost: a field ends where the next known name begins.
fn run_together(line: &str) -> Option<Fields> {
    let mut starts: Vec<(usize, &str)> = FIELD_NAMES
        .iter()
        .flat_map(|name| {
            line.match_indices(name).filter(|&(at, _)| {
                let before = line.get(..at).and_then(|s| s.chars().next_back());
                let after = line.get(at + name.len()..).unwrap_or_default();
                before.is_none_or(char::is_whitespace) && after.starts_with(": ")
            })
        })
        .collect();
    starts.sort_unstable();
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([line.len()]);
    let fields: Fields = starts
        .iter()
        .zip(ends)
        .filter_map(|(&(at, name), end)| {
            let value = line.get(at + name.len() + 1..end)?;
            // What ends at no known name runs into the body.
            let short: String = value.chars().take(FIELD_LIMIT).collect();
            Some((name.to_owned(), short.trim().to_owned()))
        })
        .collect();
    let has = |name| fields.iter().any(|(n, _): &(String, String)| n == name);
    (has("From") && has("Date")).then_some(fields)
}

/// One line of plain text, bounded; none when nothing is left.
fn plain(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(FIELD_LIMIT)
        .collect();
    (!text.is_empty()).then_some(text)
}

fn person(from: &str) -> Option<String> {
    let name = from.split('<').next().unwrap_or_default();
    plain(name.trim().trim_matches('"')).filter(|name| !name.contains('@'))
}

fn day(date: &str) -> Option<String> {
    // A comment such as `(CEST)` may follow.
    let date = date.split('(').next().unwrap_or_default().trim();
    let time = jiff::fmt::rfc2822::parse(date).ok()?;
    Some(time.date().to_string())
}

fn list_name(field: &str) -> Option<String> {
    let address = field
        .rsplit_once('<')
        .map_or(field, |(_, rest)| rest.trim_end_matches('>'));
    let name = address.split(['@', '.']).next().unwrap_or_default();
    plain(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn origin(text: &str) -> Origin {
        Mail::from_bytes(Path::new("mail"), text.as_bytes()).origin
    }

    fn expected() -> Origin {
        Origin {
            author: Some("Ada Example".into()),
            date: Some("2021-05-04".into()),
            list: Some("linux-example".into()),
            subject: Some("Re: [PATCH 1/2] sched: a longer line".into()),
            message: Some("20210504-x@example.org".into()),
        }
    }

    const SAVED: &str = "Date: Tue, 4 May 2021 23:30:00 -0700 (PDT)
From: \"Ada Example\" <ada@example.org>
Subject: Re: [PATCH 1/2] sched:
  a longer line
Message-ID: <20210504-x@example.org>
X-Mailing-List: linux-example@vger.example.org

Hello,
";

    #[test]
    fn a_saved_mail_and_an_archive_page() {
        assert_eq!(origin(SAVED), expected());
        assert_eq!(origin(&SAVED.replace('\n', "\r\n")), expected());
        assert_eq!(
            origin(&format!("list archive\n\n[next]\n\n{SAVED}")),
            expected()
        );
    }

    #[test]
    fn lines_run_together() {
        let text = SAVED.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = format!("Received: from x; h=From:Subject:Date:To; b=1 {text}");
        let mut expected = expected();
        // The last field cannot be told from the body; a list's name ends with its address all the same.
        expected.subject = Some("Re: [PATCH 1/2] sched: a longer line".into());
        assert_eq!(origin(&text), expected);
    }

    #[test]
    fn an_address_is_no_name_and_prose_is_no_header() {
        assert_eq!(origin("Date: x\nFrom: ada@example.org\n\n").author, None);
        assert_eq!(
            origin("Note: nothing\nDate: 5 May\n\nFrom: here\n"),
            Origin::default()
        );
    }

    #[test]
    fn an_encoded_mail_is_noticed() {
        let text = format!("Content-Transfer-Encoding: quoted-printable\n{SAVED}");
        let mail = Mail::from_bytes(Path::new("mail"), text.as_bytes());
        assert_eq!(mail.encoding, Some("quoted-printable"));
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            Mail::from_bytes(Path::new("mail"), &bytes);
        }

        #[test]
        fn any_header_text_does_no_harm(text in "((From|Date|Subject|List-Id): [a-z<>@é\", ]{0,9}[\n ]?){0,6}") {
            origin(&text);
        }
    }
}
