// Connections to PostgreSQL that are cut at once, on plain TCP and over TLS. The server sends its first message and is then silent.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import test from 'ava';
import { createAuthority } from '../test/services/certificates.ts';
import { SteadyClient } from './database-circuit.ts';

const authority = createAuthority();
test.after.always(() => authority.remove());

for (const isTls of [false, true]) {
  test(`a connection that is cut fails what waits on it, and is closed${isTls ? ', under TLS too' : ''}`, async (t) => {
    const certificate = authority.issue();
    const greeted = Promise.withResolvers<Socket>();
    const server = createServer((socket) => {
      socket.on('error', () => undefined); // the client's connection is cut
      if (!isTls) return socket.once('data', () => greeted.resolve(socket));
      return socket.once('data', () => {
        socket.write('S'); // TLS is supported
        const secure = new TLSSocket(socket, { isServer: true, ...certificate });
        secure.on('error', () => undefined);
        secure.once('data', () => greeted.resolve(socket));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = new SteadyClient({
      ...{ host: '127.0.0.1', port, user: 'almanac', database: 'almanac' },
      ssl: isTls && { rejectUnauthorized: false },
    });
    const connected = client.connect();
    const socket = await greeted.promise; // the server has the client's greeting, and never answers it
    const ended = once(client, 'end');
    const closed = once(socket, 'close');
    client.cut();
    await t.throwsAsync(connected, { code: '08006', message: 'PostgreSQL does not answer.' });
    await Promise.all([ended, closed]);
    server.close();
  });
}
