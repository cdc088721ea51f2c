//! Bytes on their way to the standard input of a process, on the controller or on a host.

use zeroize::Zeroizing;

/// Bytes that are still to be sent. A password may be among them: what was held is zeroed.
#[derive(Default)]
pub(crate) struct Unsent {
    bytes: Zeroizing<Vec<u8>>,
    sent: usize,
    is_last: bool,
}

impl Unsent {
    /// Bytes after which the input ends.
    pub(crate) fn whole(bytes: &[u8]) -> Unsent {
        let mut unsent = Unsent::default();
        unsent.push(bytes);
        unsent.end();
        unsent
    }

    /// Adds bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let rest = self.rest();
        // A vector that grows would leave its former bytes behind in memory.
        let mut all = Zeroizing::new(Vec::with_capacity(rest.len() + bytes.len()));
        all.extend_from_slice(rest);
        all.extend_from_slice(bytes);
        self.bytes = all;
        self.sent = 0;
    }

    /// Nothing comes after what was added.
    pub(crate) fn end(&mut self) {
        self.is_last = true;
    }

    /// What is to be sent next; empty when nothing is known yet.
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    /// So many bytes were sent.
    pub(crate) fn advance(&mut self, sent: usize) {
        self.sent = self.sent.saturating_add(sent);
        if self.rest().is_empty() {
            self.bytes = Zeroizing::default();
            self.sent = 0;
        }
    }

    /// Whether everything was sent and nothing comes after it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_last && self.rest().is_empty()
    }

    /// Nobody reads any more.
    pub(crate) fn drop_rest(&mut self) {
        *self = Unsent::whole(&[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_order_and_the_end_comes_after_the_last() {
        let mut unsent = Unsent::default();
        assert!(unsent.rest().is_empty() && !unsent.is_over());
        unsent.push(b"abc");
        unsent.advance(2);
        unsent.push(b"de");
        assert_eq!(unsent.rest(), b"cde");
        unsent.end();
        unsent.advance(2);
        assert!(!unsent.is_over());
        unsent.advance(1);
        assert!(unsent.is_over());
    }
}
