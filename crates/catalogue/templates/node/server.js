'use strict';

// Callbacks of module net on one event loop: a beginning that does what `hello` asks.
//
// It is deliberately no HTTP server: it only looks for the end of each request head.

const net = require('node:net');

const REPLY =
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!';
const TERMINATOR = Buffer.from('\r\n\r\n');
const BACKLOG = 4096;

function serve(socket) {
  let seen = 0;
  // An error is how a connection ends that is reset: there is nobody to tell.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    let heads = 0;
    for (const byte of chunk) {
      // A terminator may be split over any number of chunks.
      if (byte === TERMINATOR[seen]) {
        seen += 1;
      } else {
        seen = byte === TERMINATOR[0] ? 1 : 0;
      }
      if (seen === TERMINATOR.length) {
        seen = 0;
        heads += 1;
      }
    }
    // Reads no more while the client does not take what was written: memory stays bounded.
    if (heads > 0 && !socket.write(REPLY.repeat(heads))) {
      socket.pause();
    }
  });
  socket.on('drain', () => socket.resume());
  socket.on('end', () => socket.end());
}

const [scenario, host, port, workers] = process.argv.slice(2);
if (scenario !== 'hello' || net.isIP(host) === 0 || !/^\d+$/.test(port) || workers !== '1') {
  process.stderr.write('usage: server.js hello HOST PORT 1 [TIMEOUT_MS]\n');
  process.exit(2);
}
const server = net.createServer({ allowHalfOpen: true, noDelay: true }, serve);
server.on('error', (error) => {
  // A failure to accept is over with the connection; the server goes on with the next.
  if (error.syscall !== 'accept') {
    throw error;
  }
});
server.listen({ host, port: Number(port), backlog: BACKLOG }, () => {
  const shown = net.isIPv6(host) ? `[${host}]` : host;
  process.stdout.write(`listening ${shown}:${server.address().port}\n`);
});
