//! Small servers on threads, each with its own fault. They are not fast.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

pub(crate) const HELLO: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";

pub(crate) const LAST: &[u8] =
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\r\nHello world!";

/// A listener whose connections are each served by a thread.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    dead: AtomicBool,
    /// Those that are being served. They are not held open from here: closing is the servers'
    /// affair.
    streams: Mutex<Vec<Weak<TcpStream>>>,
}

impl Server {
    /// Serves every connection by the function, which gets the number of the connection and the server
    /// itself.
    ///
    /// Number 0 is the preflight, which most servers here treat well.
    pub(crate) fn start(serve: impl Fn(usize, &TcpStream, &Self) + Send + Sync + 'static) -> Self {
        Self::listen("127.0.0.1:0", serve).unwrap()
    }

    pub(crate) fn listen(
        address: &str,
        serve: impl Fn(usize, &TcpStream, &Self) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let server = Self { address: listener.local_addr()?, shared: Arc::default() };
        let (accepting, serve) = (server.clone(), Arc::new(serve));
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if accepting.shared.dead.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream.map(Arc::new) else { continue };
                stream.set_nodelay(true).unwrap();
                accepting.shared.streams.lock().unwrap().push(Arc::downgrade(&stream));
                let (serve, server) = (Arc::clone(&serve), accepting.clone());
                thread::spawn(move || serve(number, &stream, &server));
            }
        });
        Ok(server)
    }

    /// Stops listening, at once, and waits until the port is closed.
    pub(crate) fn stop_listening(&self) {
        self.shared.dead.store(true, Ordering::SeqCst);
        while TcpStream::connect(self.address).is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Stops listening and ends all connections.
    pub(crate) fn die(&self) {
        self.stop_listening();
        for stream in self.shared.streams.lock().unwrap().iter().filter_map(Weak::upgrade) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn http(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The port that it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn tcp(&self) -> String {
        format!("tcp://{}", self.address)
    }
}

/// Reads one request without a body. Says whether there was one.
pub(crate) fn read_request(mut stream: &TcpStream) -> bool {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return false,
            Ok(bytes) => request.extend_from_slice(&buffer[..bytes]),
        }
    }
    true
}

/// Answers every request with these bytes.
pub(crate) fn answer(stream: &TcpStream, reply: &[u8]) {
    answer_with(stream, || reply);
}

/// Answers every request with what this gives.
pub(crate) fn answer_with<R: AsRef<[u8]>>(mut stream: &TcpStream, mut reply: impl FnMut() -> R) {
    while read_request(stream) && stream.write_all(reply().as_ref()).is_ok() {}
}

/// Answers this many requests.
pub(crate) fn answer_some(mut stream: &TcpStream, requests: usize) {
    for _ in 0..requests {
        if !read_request(stream) || stream.write_all(HELLO).is_err() {
            return;
        }
    }
}

/// Closes without lingering, which is to reset.
pub(crate) fn reset(stream: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
}

/// A server that serves one connection at a time, in the order in which they were made.
pub(crate) fn one_at_a_time(
    serve: impl Fn(usize, &TcpStream) + Send + Sync + 'static,
) -> (Server, Arc<AtomicUsize>) {
    let accepted = Arc::new(AtomicUsize::new(0));
    let (counted, serving) = (Arc::clone(&accepted), Condvar::new());
    let turn = Mutex::new(0);
    let server = Server::start(move |number, stream, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        let mut turn = serving.wait_while(turn.lock().unwrap(), |turn| *turn < number).unwrap();
        serve(number, stream);
        // The client sees the end before the next one is served.
        let _ = stream.shutdown(Shutdown::Both);
        *turn += 1;
        serving.notify_all();
    });
    (server, accepted)
}

/// Reads until the other side closes.
pub(crate) fn stall(mut stream: &TcpStream) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {}
}

pub(crate) fn echo(mut stream: impl Read + Write) {
    let mut buffer = [0; 65536];
    while let Ok(bytes) = stream.read(&mut buffer)
        && bytes > 0
        && stream.write_all(&buffer[..bytes]).is_ok()
    {}
}

/// A server that treats the preflight well and serves every other connection so.
pub(crate) fn after_preflight(serve: impl Fn(&TcpStream) + Send + Sync + 'static) -> Server {
    Server::start(move |number, stream, _| match number {
        0 => answer(stream, HELLO),
        _ => serve(stream),
    })
}

/// The same that answers every other request with these bytes.
pub(crate) fn answering(reply: &'static [u8]) -> Server {
    after_preflight(move |stream| answer(stream, reply))
}
