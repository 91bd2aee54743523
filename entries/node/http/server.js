'use strict';

// Node's module http: callbacks on one event loop, prefork by module cluster.
//
// There is no router: every path gets the same reply.

const http = require('node:http');

const { main } = require('../shared/server.js');

const BODY = 'Hello world!';
const HEADERS = { 'Content-Type': 'text/plain', 'Content-Length': BODY.length };

function create({ scenario, timeoutMs }) {
  const server = http.createServer((request, response) => {
    response.writeHead(200, HEADERS);
    response.end(BODY);
  });
  // Connections are kept, whoever waits longer than the five seconds that are the default.
  server.keepAliveTimeout = 0;
  if (scenario === 'hello-timeout') {
    // Without the other timeout this one of inactivity holds between requests as well; a socket
    // that it hits is destroyed.
    server.timeout = timeoutMs;
  }
  return server;
}

main(['hello', 'hello-timeout'], create);
