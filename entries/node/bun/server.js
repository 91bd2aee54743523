// Bun.serve: callbacks on one event loop per process, WORKERS processes that share the port.

import net from 'node:net';

const BODY = 'Hello world!';

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
  const [scenario, hostname, port, workers, timeoutMs] = words;
  if (scenario !== 'hello') {
    throw new UsageError(`unknown scenario ${scenario}`);
  }
  if (net.isIP(hostname) === 0) {
    throw new UsageError(`HOST must be an IPv4 or IPv6 address, not ${hostname}`);
  }
  if (timeoutMs !== undefined) {
    // Accepted like everywhere, although no scenario here uses it.
    parseNumber('TIMEOUT_MS', timeoutMs, 1, 0x7fffffff);
  }
  return {
    hostname,
    port: parseNumber('PORT', port, 0, 65535),
    workers: parseNumber('WORKERS', workers, 1, 1024),
  };
}

function serve({ hostname, port, workers }) {
  return Bun.serve({
    hostname,
    port,
    reusePort: workers > 1,
    // Connections are kept; the default closes a silent one after ten seconds.
    idleTimeout: 0,
    routes: {
      '/': () => new Response(BODY, { headers: { 'Content-Type': 'text/plain' } }),
    },
  }).port;
}

// Starts a worker and returns the port on which it listens.
function startWorker({ hostname, workers }, port) {
  return new Promise((resolve) => {
    Bun.spawn([process.execPath, import.meta.path, 'hello', hostname, `${port}`, `${workers}`], {
      env: { ...process.env, IS_WORKER: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: resolve,
      onExit: (worker, code, signal) => {
        console.error(`worker ${worker.pid} ended: ${signal ?? code}`);
        process.exit(1);
      },
    });
  });
}

function announce({ hostname }, port) {
  const shown = net.isIPv6(hostname) ? `[${hostname}]` : hostname;
  process.stdout.write(`listening ${shown}:${port}\n`);
}

async function main() {
  const options = parseOptions(process.argv.slice(2));
  if (process.env.IS_WORKER) {
    // The parent is gone, however it ended.
    process.on('disconnect', () => process.exit());
    process.send(serve(options));
  } else if (options.workers === 1) {
    announce(options, serve(options));
  } else {
    // The first worker may let the kernel choose the port; the others share it.
    const port = await startWorker(options, options.port);
    const others = Array.from({ length: options.workers - 1 }, () => startWorker(options, port));
    await Promise.all(others);
    announce(options, port);
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error;
  }
  console.error(error.message);
  process.exit(2);
}
