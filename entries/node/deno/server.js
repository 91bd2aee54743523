// Deno: the handler of `deno serve`, which starts a thread with an event loop per worker.

const BODY = 'Hello world!';

function check() {
  const [scenario, host, port, workers] = Deno.args;
  if (scenario !== 'hello') {
    return `unknown scenario ${scenario}`;
  }
  if (!/^[0-9.]+$|^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(host)) {
    return `HOST must be an IPv4 or IPv6 address, not ${host}`;
  }
  // `deno serve` does not report to this module which port the kernel would have chosen.
  const inRange = (text, most) => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= most;
  if (!inRange(port, 65535) || !inRange(workers, 1024)) {
    return 'PORT must be a number from 1 to 65535, and WORKERS one from 1 to 1024';
  }
  return undefined;
}

const fault = check();
if (fault !== undefined) {
  console.error(fault);
  Deno.exit(2);
}

export default {
  fetch: () => new Response(BODY, { headers: { 'Content-Type': 'text/plain' } }),
};
