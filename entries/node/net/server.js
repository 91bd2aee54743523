'use strict';

// Node's module net: callbacks on one event loop, prefork by module cluster.
//
// It is deliberately not module http: it only looks for the end of each request head.

const cluster = require('node:cluster');
const net = require('node:net');

const REPLY =
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!';
const REPLIES_PER_WRITE = 256;
const REPLY_BLOCK = Buffer.from(REPLY.repeat(REPLIES_PER_WRITE));
const TERMINATOR = Buffer.from('\r\n\r\n');
const CARRIAGE_RETURN = TERMINATOR[0];
const BACKLOG = 4096;
const DEFAULT_TIMEOUT_MS = 5000;
const TIMEOUT_MS_MOST = 0x7fffffff;

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

class UsageError extends Error {}

function parseNumber(name, text, least, most) {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) {
    return value;
  }
  throw new UsageError(`${name} must be a number from ${least} to ${most}, not ${text}`);
}

function parseOptions(words) {
  if (words.length < 4 || words.length > 5) {
    throw new UsageError('usage: server.js SCENARIO HOST PORT WORKERS [TIMEOUT_MS]');
  }
  const [scenario, host, port, workers, timeoutMs] = words;
  if (!Object.hasOwn(SCENARIOS, scenario)) {
    throw new UsageError(`unknown scenario ${scenario}`);
  }
  if (net.isIP(host) === 0) {
    throw new UsageError(`HOST must be an IPv4 or IPv6 address, not ${host}`);
  }
  return {
    serve: SCENARIOS[scenario],
    host,
    port: parseNumber('PORT', port, 0, 65535),
    workers: parseNumber('WORKERS', workers, 1, 1024),
    timeoutMs:
      timeoutMs === undefined
        ? DEFAULT_TIMEOUT_MS
        : parseNumber('TIMEOUT_MS', timeoutMs, 1, TIMEOUT_MS_MOST),
  };
}

function listen({ serve, host, port, timeoutMs }, whenListening) {
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    // An error is how a connection ends that is reset: there is nobody to tell.
    socket.on('error', () => socket.destroy());
    serve(socket, timeoutMs);
  });
  server.on('error', (error) => {
    // A failure to accept is over with the connection; the server goes on with the next.
    if (error.syscall !== 'accept') {
      throw error;
    }
  });
  server.listen({ host, port, backlog: BACKLOG }, () => whenListening(server.address()));
}

function announce({ host, workers }, port) {
  const shown = net.isIPv6(host) ? `[${host}]` : host;
  process.stdout.write(`listening ${shown}:${port}\n`);
}

// Starts the workers; they end by themselves when this process does.
function fork(options) {
  let listening = 0;
  cluster.on('listening', (worker, address) => {
    listening += 1;
    if (listening === options.workers) {
      announce(options, address.port);
    }
  });
  cluster.on('exit', (worker, code, signal) => {
    process.stderr.write(`worker ${worker.process.pid} ended: ${signal ?? code}\n`);
    process.exit(1);
  });
  for (let number = 0; number < options.workers; number += 1) {
    cluster.fork();
  }
}

function main() {
  const options = parseOptions(process.argv.slice(2));
  if (cluster.isWorker) {
    listen(options, () => {});
  } else if (options.workers === 1) {
    listen(options, (address) => announce(options, address.port));
  } else {
    fork(options);
  }
}

try {
  main();
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error;
  }
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
