// Connections of Sequelize that break at the worst moment. The server is a socket that speaks PostgreSQL's first words.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import test from 'ava';
import { connect } from './database.ts';

/** A message of PostgreSQL's protocol: its type, its length and its body. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

test('a server that ends in the moment in which it accepts a connection fails the statement and not the process', async (t) => {
  const ending = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the client hangs up
    socket.once('data', () => {
      // In one piece, as they arrive at a process that was stalled meanwhile.
      socket.end(
        Buffer.concat([
          message('R', Buffer.alloc(4)), // authenticated
          message('Z', Buffer.from('I')), // ready
          message('E', Buffer.from(ending)),
        ]),
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const db = connect(`postgres://almanac@127.0.0.1:${(server.address() as AddressInfo).port}/almanac`);
  t.teardown(() => db.close());
  await t.throwsAsync(db.sequelize.query('select 1'), { message: /not queryable|terminating connection/ });
});
