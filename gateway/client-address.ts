// Whose call it is, by network address: the client's IP through as many proxies as are trusted.
import { isIP } from 'node:net';

/**
 * The client's address. With n trusted proxies it is the n-th entry from the right of X-Forwarded-For: what stands
 * further left was written by the client and proves nothing.
 * @param peer the address the connection comes from.
 */
export function clientAddress(
  peer: string,
  forwardedFor: readonly string[],
  trustedProxyHops: number,
): string {
  const chain = forwardedFor.flatMap((header) => header.split(',')).map((entry) => entry.trim());
  const named = trustedProxyHops === 0 ? undefined : chain.at(-Math.min(trustedProxyHops, chain.length || 1));
  const address = named === undefined || isIP(unmapped(named)) === 0 ? peer : named;
  return unmapped(address);
}

/** `::ffff:192.0.2.1`, as a dual-stack socket shows an IPv4 peer, is 192.0.2.1. */
function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
