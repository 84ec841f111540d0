// Where passkeys work here: they are bound to the host of PUBLIC_URL, and browsers offer them on HTTPS and on this machine alone.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface PasskeySite {
  /** The host that passkeys are made for. */
  rpId: string;
  /** The origin of the pages that may use them. */
  origin: string;
}

/**
 * The site of a public URL. Browsers take no IP address; one of this machine is therefore taken as `localhost`, by which its pages must be opened.
 * @returns null if browsers offer no passkeys there: another IP address, or plain HTTP on another host.
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
