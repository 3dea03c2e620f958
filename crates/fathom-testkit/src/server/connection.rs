//! One connection: requests in, scripted answers out.

use std::sync::Arc;

use tokio::net::TcpStream;

use super::behaviour::{Act, Behave, Behaviour, Gate, Reply};
use super::flight::Flight;
use super::http::{Connection, Gone, head, streamed_head};
use super::wire::Seen;

/// Whether the connection takes another request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Request,
    End,
}

pub(super) async fn serve(stream: TcpStream, flight: Arc<Flight>, behave: Arc<dyn Behave>) {
    let Ok(mut connection) = Connection::new(stream) else {
        return;
    };
    while let Ok(raw) = connection.request().await {
        let keeps_alive = raw.keeps_alive();
        let Some(seen) = Seen::of(flight.number(), raw) else {
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
        if matches!(behaviour.act, Act::Reset) {
            if pause(&mut connection, &behaviour).await.is_ok() {
                connection.reset();
                landing.written();
            }
            return;
        }
        match answer(&mut connection, &seen, behaviour).await {
            Ok(next) => {
                landing.written();
                if next == Next::End || !keeps_alive {
                    return;
                }
            }
            Err(Gone) => return,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a slow model is what the server plays; the test that asks for it waits"
)]
async fn pause(connection: &mut Connection, behaviour: &Behaviour) -> Result<(), Gone> {
    if behaviour.latency.is_zero() {
        return Ok(());
    }
    connection
        .during(tokio::time::sleep(behaviour.latency))
        .await
}

async fn pass(connection: &mut Connection, gate: Option<&Gate>) -> Result<(), Gone> {
    match gate {
        Some(gate) => connection.during(gate.pass()).await,
        None => Ok(()),
    }
}

async fn answer(
    connection: &mut Connection,
    seen: &Seen,
    behaviour: Behaviour,
) -> Result<Next, Gone> {
    pause(connection, &behaviour).await?;
    let gate = behaviour.gate.as_ref();
    match behaviour.act {
        Act::Reply(reply) if seen.streamed => stream(connection, seen, &reply, gate).await,
        Act::Reply(reply) => {
            pass(connection, gate).await?;
            whole(connection, seen, &reply).await
        }
        Act::Status {
            code,
            headers,
            content_type,
            body,
        } => {
            pass(connection, gate).await?;
            let answer = head(code, &content_type, &headers, body.len()) + &body;
            connection.write(answer.as_bytes()).await?;
            Ok(Next::Request)
        }
        Act::Frames {
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
            Ok(Next::Request)
        }
        Act::Garbage(bytes) => {
            pass(connection, gate).await?;
            connection.write(&bytes).await?;
            Ok(Next::End)
        }
        Act::Close | Act::Reset => {
            pass(connection, gate).await?;
            Ok(Next::End)
        }
        Act::Stall => {
            connection.client_gone().await;
            Err(Gone)
        }
    }
}

async fn whole(connection: &mut Connection, seen: &Seen, reply: &Reply) -> Result<Next, Gone> {
    let body = reply.whole(seen);
    let mut answer = head(200, "application/json", &[], body.len()).into_bytes();
    if reply.cut_after.is_some() {
        answer.extend_from_slice(&body.as_bytes()[..body.len() / 2]);
        connection.write(&answer).await?;
        return Ok(Next::End);
    }
    answer.extend_from_slice(body.as_bytes());
    connection.write(&answer).await?;
    Ok(Next::Request)
}

async fn stream(
    connection: &mut Connection,
    seen: &Seen,
    reply: &Reply,
    gate: Option<&Gate>,
) -> Result<Next, Gone> {
    let told = reply.streamed(seen);
    let head = streamed_head(told.content_type);
    connection.write(head.as_bytes()).await?;
    if !told.opening.is_empty() {
        connection.write_chunk(&told.opening).await?;
    }
    for (sent, piece) in told.pieces.iter().enumerate() {
        if reply.cut_after == Some(sent) {
            return Ok(Next::End);
        }
        pass(connection, gate).await?;
        connection.write_chunk(piece).await?;
    }
    if reply.cut_after.is_some() {
        return Ok(Next::End);
    }
    pass(connection, gate).await?;
    connection.write_last_chunk(&told.closing).await?;
    Ok(Next::Request)
}
