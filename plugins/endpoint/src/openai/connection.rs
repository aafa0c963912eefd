//! A connection that is kept from request to request, and works while somebody waits for something of it.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper::{Request, Response, Result};
use hyper_util::rt::TokioIo;
use std::future::{poll_fn, ready};
use std::pin::{Pin, pin};
use tokio::io::{AsyncRead, AsyncWrite};

/// TCP, or TLS over it.
trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

pub struct Open {
    requests: SendRequest<Full<Bytes>>,
    wire: Wire,
}

type Http = Connection<TokioIo<Box<dyn Duplex>>, Full<Bytes>>;

/// The end that reads and writes. `None`: it is over, which requests see only when it is gone.
struct Wire(Option<Http>);

impl Wire {
    /// Has the connection go on until `work` is done, which waits for it. What was read is seen by `work` at once, before anything else is done.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            // How it ended, its requests and bodies tell.
            if self.0.as_mut().is_some_and(|wire| Pin::new(wire).poll(context).is_ready()) {
                self.0 = None;
            }
            work.as_mut().poll(context)
        })
        .await
    }
}

impl Open {
    /// # Errors
    /// Where the connection is gone already.
    pub async fn over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Result<Open> {
        let stream: Box<dyn Duplex> = Box::new(stream);
        let (requests, connection) = handshake(TokioIo::new(stream)).await?;
        Ok(Open { requests, wire: Wire(Some(connection)) })
    }

    /// Sends a request, and waits for the head of its answer. `None`: the connection was closed before a byte of it was sent.
    ///
    /// # Errors
    /// Where no answer comes to what was sent.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Option<Response<Incoming>>> {
        let Open { requests, wire } = self;
        let sent = async {
            if requests.ready().await.is_err() {
                return Ok(None);
            }
            match requests.try_send_request(request).await {
                Ok(answer) => Ok(Some(answer)),
                Err(error) if error.message().is_some() => Ok(None),
                Err(error) => Err(error.into_error()),
            }
        };
        wire.beside(sent).await
    }

    /// The next of a body; `None`: it is at its end.
    pub async fn next(&mut self, body: &mut Incoming) -> Option<Result<Frame<Bytes>>> {
        self.wire.beside(body.frame()).await
    }

    /// Has it see what happened to it meanwhile.
    pub async fn look(&mut self) {
        self.wire.beside(ready(())).await;
    }

    /// Whether another request may go over it.
    pub fn is_kept(&self) -> bool {
        self.wire.0.is_some() && !self.requests.is_closed()
    }
}
