// Finds the IP address of a call's client behind the trusted proxies, and whether the client connected over TLS. Logs one warning if the proxies and
// TRUSTED_PROXY_HOPS do not match.
import { isIP } from 'node:net';
import type { Log } from '../kernel/log/log.ts';

export type Clients = ReturnType<typeof createClients>;

export function createClients(trustedProxyHops: number, log: Pick<Log, 'warn'>) {
  let hasWarned = false;

  /** When this happens, all clients of a proxy count as one for every limit by IP address. */
  function warnOnce(peer: string, message: string): void {
    if (hasWarned) return;
    hasWarned = true;
    log.warn({ peer, trusted_proxy_hops: trustedProxyHops }, message);
  }

  return {
    /**
     * The client's IP address. With n trusted proxies it is the n-th entry from the right of X-Forwarded-For: a client can forge the entries further
     * left. Without a usable entry it is the peer's address.
     * @param peer the IP address of the connection's other end.
     */
    ipOf(peer: string, forwardedFor: readonly string[]): string {
      if (forwardedFor.length === 0) return unmapped(peer);
      const entry = trustedEntry(forwardedFor, trustedProxyHops);
      if (entry === undefined) {
        warnOnce(
          peer,
          'A request has X-Forwarded-For, but TRUSTED_PROXY_HOPS is 0: if a proxy sent it, all its clients count as one. Set TRUSTED_PROXY_HOPS to the number of your proxies.',
        );
        return unmapped(peer);
      }
      const ip = addressIn(entry);
      if (ip === undefined) {
        warnOnce(
          peer,
          'The trusted entry of X-Forwarded-For is not an IP address, so all clients of this proxy count as one. Configure the proxy to append the IP address of its peer, and set TRUSTED_PROXY_HOPS to the number of your proxies.',
        );
      }
      return ip ?? unmapped(peer);
    },
    /** Whether the client connected over TLS, from X-Forwarded-Proto read in the same way. */
    isOnTls(forwardedProto: readonly string[]): boolean {
      if (forwardedProto.length === 0) return false;
      return trustedEntry(forwardedProto, trustedProxyHops)?.toLowerCase() === 'https';
    },
  };
}

/** The entry written by the outermost trusted proxy; undefined if no proxy is trusted. */
function trustedEntry(headers: readonly string[], trustedProxyHops: number): string | undefined {
  if (trustedProxyHops === 0) return undefined;
  const entries = headers.flatMap((header) => header.split(','));
  return entries.at(-Math.min(trustedProxyHops, entries.length))?.trim();
}

/** `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:443`, each also in quotes. */
function addressIn(entry: string): string | undefined {
  const [, quoted = entry] = /^"(.*)"$/.exec(entry) ?? [];
  const [, bare = quoted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(quoted)?.filter(Boolean) ?? [];
  const ip = unmapped(bare);
  return isIP(ip) === 0 ? undefined : ip;
}

/** `::ffff:192.0.2.1`, which a dual-stack socket reports for an IPv4 peer, becomes 192.0.2.1. */
function unmapped(ip: string): string {
  return ip.startsWith(':') ? ip.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '') : ip;
}
