// The headers of a service's answer that are not forwarded: those of the connection, and those between the services and the gateway.

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a header of an answer is internal to the services and the gateway. @param name in lower case. */
export function staysInside(name: string): boolean {
  return hopByHop.has(name) || name.startsWith('x-almanac-');
}
