'use strict';

// Node's module net: callbacks on one event loop, prefork by module cluster.
//
// It is deliberately not module http: it only looks for the end of each request head.

const net = require('node:net');

const { main } = require('../shared/server.js');

const REPLY =
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!';
const REPLIES_PER_WRITE = 256;
const REPLY_BLOCK = Buffer.from(REPLY.repeat(REPLIES_PER_WRITE));
const TERMINATOR = Buffer.from('\r\n\r\n');
const CARRIAGE_RETURN = TERMINATOR[0];

// Counts ends of heads; a terminator may be split over any number of chunks.
class HeadCounter {
  #seen = 0;

  count(chunk) {
    let heads = 0;
    let seen = this.#seen;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === TERMINATOR[seen]) {
        seen += 1;
      } else {
        seen = byte === CARRIAGE_RETURN ? 1 : 0;
      }
      if (seen === TERMINATOR.length) {
        seen = 0;
        heads += 1;
      }
    }
    this.#seen = seen;
    return heads;
  }
}

function serveHello(socket) {
  const counter = new HeadCounter();
  socket.on('data', (chunk) => {
    let taken = true;
    for (let heads = counter.count(chunk); heads > 0; heads -= REPLIES_PER_WRITE) {
      const batch = Math.min(heads, REPLIES_PER_WRITE);
      taken = socket.write(REPLY_BLOCK.subarray(0, batch * REPLY.length));
    }
    // Reads no more while the client does not take what was written: memory stays bounded.
    if (!taken) {
      socket.pause();
    }
  });
  socket.on('drain', () => socket.resume());
  socket.on('end', () => socket.end());
}

function serveHelloTimeout(socket, timeoutMs) {
  // The timeout is one of inactivity: bytes that come or go start it again.
  socket.setTimeout(timeoutMs, () => socket.destroy());
  serveHello(socket);
}

function serveEcho(socket) {
  socket.pipe(socket);
}

const SCENARIOS = { hello: serveHello, 'hello-timeout': serveHelloTimeout, echo: serveEcho };

function create({ scenario, timeoutMs }) {
  const serve = SCENARIOS[scenario];
  return net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // An error is how a connection ends that is reset: it needs no report.
    socket.on('error', () => socket.destroy());
    serve(socket, timeoutMs);
  });
}

main(Object.keys(SCENARIOS), create);
