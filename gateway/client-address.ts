// Whose call it is, by network address: the client's IP through as many proxies as are trusted, and what a limit counts by.
import { isIP, isIPv6 } from 'node:net';

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

/** What an address is limited by: an IPv4 address itself, the /64 network of an IPv6 one, which one client owns whole. */
export function limitKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** `::ffff:192.0.2.1`, as a dual-stack socket shows an IPv4 peer, is 192.0.2.1. */
function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
