//! A network that can be gone: a TCP proxy of the test's own before a host's sshd.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

const TURN: Duration = Duration::from_millis(20);

/// Passes on what comes, unless the network is gone: then bytes wait, and nobody is told.
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    gone: AtomicBool,
    over: AtomicBool,
}

impl Proxy {
    /// Before this port of the loopback interface.
    pub fn before(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = state.clone();
        spawn(move || {
            for near in listener.incoming() {
                if shared.over.load(Ordering::Relaxed) {
                    return;
                }
                let far = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port)));
                let (Ok(near), Ok(far)) = (near, far) else {
                    continue;
                };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let state = shared.clone();
                    spawn(move || pass(from, to, &state));
                }
            }
        });
        Proxy { port: own, state }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The network goes, or comes back.
    pub fn be_gone(&self, gone: bool) {
        self.state.gone.store(gone, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::Relaxed);
        // So that it looks.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: &State) {
    let _ = from.set_read_timeout(Some(TURN));
    let mut bytes = vec![0; 64 << 10];
    while !state.over.load(Ordering::Relaxed) {
        if state.gone.load(Ordering::Relaxed) {
            sleep(TURN);
            continue;
        }
        match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(n) if to.write_all(&bytes[..n]).is_ok() => {}
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => break,
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
