//! A web site on this machine that answers as a test wants and remembers what it was asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    head: String,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found
                .eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    }
}

pub(crate) enum Says {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: String,
    },
    /// Takes the request and closes the connection.
    Nothing,
}

pub(crate) fn says(status: u16, body: impl Into<String>) -> Says {
    Says::Answer {
        status,
        headers: Vec::new(),
        body: body.into(),
    }
}

pub(crate) fn says_with(status: u16, header: &'static str, value: impl Into<String>) -> Says {
    Says::Answer {
        status,
        headers: vec![(header, value.into())],
        body: String::new(),
    }
}

pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    serving: JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Site {
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, heard) = (Arc::new(answer), Arc::clone(&asked));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, heard) = (Arc::clone(&answer), Arc::clone(&heard));
                tokio::spawn(async move { serve(stream, &*answer, &heard).await });
            }
        });
        Self {
            address,
            asked,
            serving,
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&Asked) -> Says + Send + Sync),
    heard: &Mutex<Vec<Asked>>,
) -> Option<()> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    };
    let front = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut line = front.split(' ');
    let mut asked = Asked {
        method: line.next()?.to_owned(),
        path: line.next()?.to_owned(),
        head: front,
        body: String::new(),
    };
    let length = asked.header("content-length");
    let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < end + 4 + length {
        (stream.read_buf(&mut bytes).await.ok()? > 0).then_some(())?;
    }
    asked.body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
    let said = answer(&asked);
    heard.lock().unwrap().push(asked);
    let Says::Answer {
        status,
        headers,
        body,
    } = said
    else {
        return None;
    };
    let mut reply = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n",
        body.len()
    );
    for (name, value) in headers {
        reply.extend([name, ": ", value.as_str(), "\r\n"]);
    }
    stream
        .write_all(format!("{reply}\r\n{body}").as_bytes())
        .await
        .ok()
}
