//! Body with a function that receives each frame, and can end it. What the function holds is dropped at the end of the body, or of the
//! connection.

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body whose frames a function receives. An error of the function ends the body. Unlike `http_body_util`'s `MapFrame`, it keeps the size hint, and so `Content-Length`.
pub(crate) struct ObservedBody<F> {
    body: Body,
    observe: F,
}

impl<F: FnMut(&Frame<Bytes>) -> Result<(), axum::Error> + Send + Unpin + 'static> ObservedBody<F> {
    /// Wraps a body.
    pub(crate) fn wrap(body: Body, observe: F) -> Body {
        Body::new(Self { body, observe })
    }
}

impl<F: FnMut(&Frame<Bytes>) -> Result<(), axum::Error> + Unpin> http_body::Body
    for ObservedBody<F>
{
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Err(error) = (self.observe)(frame)
        {
            return Poll::Ready(Some(Err(error)));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Body of a response to `HEAD` whose size is not known: a router would state the size 0 of an empty body as `Content-Length`.
pub(crate) struct BodyOfUnknownSize;

impl http_body::Body for BodyOfUnknownSize {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Poll::Ready(None)
    }
}
