//! One connection: requests in, scripted answers out.

use std::sync::Arc;

use tokio::net::TcpStream;

use super::behaviour::{ChunkGate, ReplyBehaviour, ReplyScript, ServerAction, ServerBehaviour};
use super::http::{ClientGone, HttpConnection, head, streamed_head};
use super::request_log::RequestLog;
use super::wire::SeenRequest;

/// Readiness of a connection for another request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextRequest {
    Request,
    End,
}

pub(super) async fn serve(
    stream: TcpStream,
    flight: Arc<RequestLog>,
    behave: Arc<dyn ServerBehaviour>,
) {
    let Ok(mut connection) = HttpConnection::new(stream) else {
        return;
    };
    while let Ok(raw) = connection.request().await {
        let keeps_alive = raw.keeps_alive();
        let Some(seen) = SeenRequest::of(flight.number(), raw) else {
            let body = r#"{"error":{"message":"no such address, or the body is no JSON"}}"#;
            let answer = head(404, "application/json", &[], body.len()) + body;
            if connection.write(answer.as_bytes()).await.is_err() || !keeps_alive {
                return;
            }
            continue;
        };
        let seen = Arc::new(seen);
        let landing = flight.take_off(&seen);
        let behaviour = behave.behave(&seen);
        if matches!(behaviour.act, ServerAction::Reset) {
            if pause(&mut connection, &behaviour).await.is_ok() {
                connection.reset();
                landing.written();
            }
            return;
        }
        match answer(&mut connection, &seen, behaviour).await {
            Ok(next) => {
                landing.written();
                if next == NextRequest::End || !keeps_alive {
                    return;
                }
            }
            Err(ClientGone) => return,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a slow model is what the server plays; the test that asks for it waits"
)]
async fn pause(
    connection: &mut HttpConnection,
    behaviour: &ReplyBehaviour,
) -> Result<(), ClientGone> {
    if behaviour.latency.is_zero() {
        return Ok(());
    }
    connection
        .during(tokio::time::sleep(behaviour.latency))
        .await
}

async fn pass(connection: &mut HttpConnection, gate: Option<&ChunkGate>) -> Result<(), ClientGone> {
    match gate {
        Some(gate) => connection.during(gate.pass()).await,
        None => Ok(()),
    }
}

async fn answer(
    connection: &mut HttpConnection,
    seen: &SeenRequest,
    behaviour: ReplyBehaviour,
) -> Result<NextRequest, ClientGone> {
    pause(connection, &behaviour).await?;
    let gate = behaviour.gate.as_ref();
    match behaviour.act {
        ServerAction::Reply(reply) if seen.streamed => stream(connection, seen, &reply, gate).await,
        ServerAction::Reply(reply) => {
            pass(connection, gate).await?;
            whole(connection, seen, &reply).await
        }
        ServerAction::Status {
            code,
            headers,
            content_type,
            body,
        } => {
            pass(connection, gate).await?;
            let answer = head(code, &content_type, &headers, body.len()) + &body;
            connection.write(answer.as_bytes()).await?;
            Ok(NextRequest::Request)
        }
        ServerAction::Frames {
            content_type,
            frames,
        } => {
            let head = streamed_head(&content_type);
            connection.write(head.as_bytes()).await?;
            for frame in frames {
                pass(connection, gate).await?;
                connection.write_chunk(&frame).await?;
            }
            connection.write(b"0\r\n\r\n").await?;
            Ok(NextRequest::Request)
        }
        ServerAction::Garbage(bytes) => {
            pass(connection, gate).await?;
            connection.write(&bytes).await?;
            Ok(NextRequest::End)
        }
        ServerAction::Close | ServerAction::Reset => {
            pass(connection, gate).await?;
            Ok(NextRequest::End)
        }
        ServerAction::Stall => {
            connection.client_gone().await;
            Err(ClientGone)
        }
    }
}

async fn whole(
    connection: &mut HttpConnection,
    seen: &SeenRequest,
    reply: &ReplyScript,
) -> Result<NextRequest, ClientGone> {
    let body = reply.whole(seen);
    let mut answer = head(200, "application/json", &[], body.len()).into_bytes();
    if reply.cut_after.is_some() {
        answer.extend_from_slice(&body.as_bytes()[..body.len() / 2]);
        connection.write(&answer).await?;
        return Ok(NextRequest::End);
    }
    answer.extend_from_slice(body.as_bytes());
    connection.write(&answer).await?;
    Ok(NextRequest::Request)
}

async fn stream(
    connection: &mut HttpConnection,
    seen: &SeenRequest,
    reply: &ReplyScript,
    gate: Option<&ChunkGate>,
) -> Result<NextRequest, ClientGone> {
    let told = reply.streamed(seen);
    let head = streamed_head(told.content_type);
    connection.write(head.as_bytes()).await?;
    if !told.opening.is_empty() {
        connection.write_chunk(&told.opening).await?;
    }
    for (sent, piece) in told.pieces.iter().enumerate() {
        if reply.cut_after == Some(sent) {
            return Ok(NextRequest::End);
        }
        pass(connection, gate).await?;
        connection.write_chunk(piece).await?;
    }
    if reply.cut_after.is_some() {
        return Ok(NextRequest::End);
    }
    pass(connection, gate).await?;
    connection.write_last_chunk(&told.closing).await?;
    Ok(NextRequest::Request)
}
