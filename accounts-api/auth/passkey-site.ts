// Derives the site of passkeys from PUBLIC_URL: they are bound to its host, and browsers offer them only over HTTPS or on this machine.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface PasskeySite {
  /** The host that passkeys are bound to. */
  rpId: string;
  /** The origin of the pages that may use them. */
  origin: string;
}

/**
 * The site of a public URL. Browsers accept no IP address as a site, so an address of this machine becomes `localhost`; the pages must then be opened
 * by that name. @returns null if browsers offer no passkeys there: any other IP address, or plain HTTP on another host.
 */
export function passkeySiteOf(publicUrl: string): PasskeySite | null {
  const url = new URL(publicUrl);
  const address = url.hostname.replaceAll(/[[\]]/g, '');
  if (isIP(address) !== 0) {
    if (ipaddr.process(address).range() !== 'loopback') return null;
    url.hostname = 'localhost';
  }
  const { hostname: rpId, origin, protocol } = url;
  const isLocal = rpId === 'localhost' || rpId.endsWith('.localhost');
  return protocol === 'https:' || isLocal ? { rpId, origin } : null;
}
