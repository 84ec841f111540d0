'use strict';
// Stands in for packages that express-gateway requires at load for its own consumer store, admin API,
// command line and OAuth server. This gateway uses none of them; a call is a fault, so it throws.
const { EventEmitter } = require('node:events');

function unused() {
  throw new Error('express-gateway called a dependency that Almanac leaves out: see gateway/README.md');
}
unused.dereference = () => new Promise(() => {}); // json-schema-ref-parser: called at load, its result unread
unused.createClient = unused;

// ioredis: `new Redis()` at load; with lazyConnect it never connects.
function idleRedis() {
  const client = new EventEmitter();
  client.disconnect = () => {};
  return client;
}

module.exports = new Proxy(unused, { construct: () => idleRedis() });
