//! HTTP servers on loopback with scripted responses. They run until the test process ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Time that a test takes only if the limit that it tests is missing. It is long, because a loaded machine may be slow.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Received request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// Path with the query string.
    pub(crate) path: String,
    /// Headers with names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Server and the requests it received.
pub(crate) struct Server {
    pub(crate) port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Starts a server that handles one request per connection. `answer` gets the number of the request, starting at 0.
    pub(crate) fn start(
        answer: impl Fn(usize, &Received, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (seen, answer) = (Arc::clone(&received), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut stream = stream;
                    let request = read(&stream).unwrap_or_default();
                    let number = {
                        let mut seen = seen.lock().expect("no panic");
                        seen.push(request.clone());
                        seen.len() - 1
                    };
                    answer(number, &request, &mut stream);
                });
            }
        });
        Self { port, received }
    }

    /// Starts a server that sends the same response to every request.
    pub(crate) fn constant(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_, _, stream| {
            stream.write_all(&answer).ok();
        })
    }

    /// Starts a server that sends the responses in turn and repeats the last one.
    pub(crate) fn in_turn(answers: Vec<Vec<u8>>) -> Self {
        Self::start(move |number, _, stream| {
            stream
                .write_all(&answers[number.min(answers.len() - 1)])
                .ok();
        })
    }

    /// Starts a server that sends the beginning of a response, and no more for longer than [`TEST_TIMEOUT`].
    pub(crate) fn stalling(beginning: impl Into<Vec<u8>>) -> Self {
        let beginning = beginning.into();
        Self::start(move |_, _, stream| {
            stream.write_all(&beginning).ok();
            thread::sleep(2 * TEST_TIMEOUT);
        })
    }

    pub(crate) fn iri(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no panic").clone()
    }
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let mut request = Received {
        method: words.next()?.into(),
        path: words.next()?.into(),
        ..Received::default()
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        request
            .headers
            .push((name.to_lowercase(), value.to_owned()));
    }
    let length = request
        .header("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}

/// Builds a response. `headers` are lines that end with CR LF.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
