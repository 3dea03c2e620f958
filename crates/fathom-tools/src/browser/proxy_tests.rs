use super::*;

/// A server that answers one request and gives back what it read.
async fn upstream() -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"abc") {
            assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        stream.write_all(answer).await.unwrap();
        stream.shutdown().await.unwrap();
        // Whatever else comes is not part of the one request.
        stream.read_to_end(&mut bytes).await.unwrap();
        String::from_utf8(bytes).unwrap()
    });
    (host, served)
}

async fn ask(gate: &BrowserProxy, request: &str) -> String {
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port()))
        .await
        .unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_request_goes_on_alone_and_its_connection_ends() {
    let (host, served) = upstream().await;
    let gate = BrowserProxy::open(std::slice::from_ref(&host))
        .await
        .unwrap();
    let second = format!("POST http://{host}/again HTTP/1.1\r\ncontent-length: 0\r\n\r\n");
    let request = format!(
        "POST http://{host}/publish?a=1 HTTP/1.1\r\nHost: {host}\r\nProxy-Connection: keep-alive\r\n\
         Content-Length: 3\r\n\r\nabc{second}"
    );
    assert!(ask(&gate, &request).await.ends_with("ok"));
    let forwarded = format!(
        "POST /publish?a=1 HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3\r\nconnection: close\r\n\r\nabc"
    );
    assert_eq!(served.await.unwrap(), forwarded);
}

#[tokio::test]
async fn other_hosts_and_other_ports_are_closed() {
    let gate = BrowserProxy::open(&["127.0.0.1:1".to_owned()])
        .await
        .unwrap();
    for request in [
        "GET http://127.0.0.1:2/ HTTP/1.1\r\n\r\n",
        "GET http://elsewhere.example/ HTTP/1.1\r\n\r\n",
        "GET http://127.0.0.1:1@elsewhere.example/ HTTP/1.1\r\n\r\n",
        "CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n",
        "CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n",
    ] {
        let answer = ask(&gate, request).await;
        assert!(answer.starts_with("HTTP/1.1 403"), "{request} {answer}");
    }
    for request in [
        "GET /relative HTTP/1.1\r\n\r\n",
        "GET ftp://127.0.0.1:1/ HTTP/1.1\r\n\r\n",
        "POST http://127.0.0.1:1/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        let answer = ask(&gate, request).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{request} {answer}");
    }
}

#[tokio::test]
async fn a_tunnel_ends_when_connections_are_renewed() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let gate = BrowserProxy::open(std::slice::from_ref(&host))
        .await
        .unwrap();
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate.port()))
        .await
        .unwrap();
    let request = format!("CONNECT {host} HTTP/1.1\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.write_all(b"hello").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"hello") {
        assert_ne!(client.read_buf(&mut answer).await.unwrap(), 0);
    }
    gate.renew();
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn after_a_lost_answer_nothing_is_sent_that_changes_anything() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let gate = BrowserProxy::open(std::slice::from_ref(&host))
        .await
        .unwrap();
    // Takes the first request and answers nothing; whatever comes then is answered.
    let served = tokio::spawn(async move {
        let mut lines = Vec::new();
        for answer in ["", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            let text = String::from_utf8(bytes).unwrap();
            lines.push(text.lines().next().unwrap().to_owned());
        }
        lines
    });
    let post = format!("POST http://{host}/publish HTTP/1.1\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(ask(&gate, &post).await, "");
    assert!(ask(&gate, &post).await.starts_with("HTTP/1.1 502"));
    let look = format!("GET http://{host}/posts HTTP/1.1\r\n\r\n");
    assert!(ask(&gate, &look).await.ends_with("ok"));
    assert_eq!(
        served.await.unwrap(),
        ["POST /publish HTTP/1.1", "GET /posts HTTP/1.1"]
    );
}
