// Finds the client IP of a call, behind as many proxies as are trusted.
import { isIP } from 'node:net';

/**
 * The client's IP address. With n trusted proxies it is the n-th entry from the right of X-Forwarded-For: entries further
 * left are written by the client and prove nothing.
 * @param peer the IP address of the connection's other end.
 */
export function clientIp(peer: string, forwardedFor: readonly string[], trustedProxyHops: number): string {
  const chain = forwardedFor.flatMap((header) => header.split(',')).map((entry) => entry.trim());
  const named = trustedProxyHops === 0 ? undefined : chain.at(-Math.min(trustedProxyHops, chain.length || 1));
  const ip = named === undefined || isIP(unmapped(named)) === 0 ? peer : named;
  return unmapped(ip);
}

/** `::ffff:192.0.2.1`, as a dual-stack socket shows an IPv4 peer, is 192.0.2.1. */
function unmapped(ip: string): string {
  return ip.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
