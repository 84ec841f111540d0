// Connects undici only to addresses that the guard has admitted.
import { connect as connectTcp, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';

/**
 * Name, Host and SNI remain those of the URL. The connection is made only to the addresses, without a proxy.
 * @param addresses called when the socket connects. @param done called once.
 */
export function connectTo(
  { hostname, protocol, port }: buildConnector.Options,
  addresses: () => readonly string[],
  done: buildConnector.Callback,
): Socket {
  const isTls = protocol === 'https:';
  const lookup: LookupFunction = (_name, options, found) => {
    const all = addresses().map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const [first] = all;
    if (options.all === true) found(null, all);
    else found(null, first?.address ?? '', first?.family ?? 4);
  };
  const to = { host: hostname, port: Number(port === '' ? (isTls ? 443 : 80) : port), lookup };
  const name = isIP(hostname) === 0 ? { servername: hostname } : {};
  const socket = isTls ? connectTls({ ...to, ...name, ALPNProtocols: ['http/1.1'] }) : connectTcp(to);
  socket.setNoDelay(true);
  let isDone = false;
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    isDone = true;
    done(null, socket);
  });
  socket.on('error', (error) => {
    if (!isDone) done(error, null);
    isDone = true;
  });
  socket.once('close', () => {
    if (!isDone) done(Object.assign(new Error('It was closed.'), { code: 'ECONNRESET' }), null);
    isDone = true;
  });
  return socket;
}
