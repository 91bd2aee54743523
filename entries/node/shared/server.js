'use strict';

// What the Node entries share: the command line, the `listening` line and prefork by module cluster.
//
// It deliberately serves no connection: that is the part of each entry's module.

const cluster = require('node:cluster');
const net = require('node:net');

const BACKLOG = 4096;
const DEFAULT_TIMEOUT_MS = 5000;
const TIMEOUT_MS_MOST = 0x7fffffff;

class UsageError extends Error {}

function parseNumber(name, text, least, most) {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) {
    return value;
  }
  throw new UsageError(`${name} must be a number from ${least} to ${most}, not ${text}`);
}

function parseOptions(words, scenarios) {
  if (words.length < 4 || words.length > 5) {
    throw new UsageError('usage: server.js SCENARIO HOST PORT WORKERS [TIMEOUT_MS]');
  }
  const [scenario, host, port, workers, timeoutMs] = words;
  if (!scenarios.includes(scenario)) {
    throw new UsageError(`unknown scenario ${scenario}`);
  }
  if (net.isIP(host) === 0) {
    throw new UsageError(`HOST must be an IPv4 or IPv6 address, not ${host}`);
  }
  return {
    scenario,
    host,
    port: parseNumber('PORT', port, 0, 65535),
    workers: parseNumber('WORKERS', workers, 1, 1024),
    timeoutMs:
      timeoutMs === undefined
        ? DEFAULT_TIMEOUT_MS
        : parseNumber('TIMEOUT_MS', timeoutMs, 1, TIMEOUT_MS_MOST),
  };
}

function listen(server, { host, port }, whenListening) {
  server.on('error', (error) => {
    // A failure to accept is over with the connection; the server goes on with the next.
    if (error.syscall !== 'accept') {
      throw error;
    }
  });
  server.listen({ host, port, backlog: BACKLOG }, () => whenListening(server.address()));
}

function announce({ host }, port) {
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

// Runs the server that `create` makes of the options, in each worker if there are several.
function main(scenarios, create) {
  try {
    const options = parseOptions(process.argv.slice(2), scenarios);
    if (cluster.isWorker) {
      listen(create(options), options, () => {});
    } else if (options.workers === 1) {
      listen(create(options), options, (address) => announce(options, address.port));
    } else {
      fork(options);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) {
      throw error;
    }
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

module.exports = { main };
