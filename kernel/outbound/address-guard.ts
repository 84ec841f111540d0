// Keeps requests to URLs that others have chosen (webhooks, sources) out of private networks: which URLs are allowed, and which addresses may be
// connected to. A URL is checked in its normalized form, and an address as a number, never as text.
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface AddressRules {
  /** Private networks that the operator allows, such as `10.20.0.0/16`; any port is allowed there. */
  allowCidrs: readonly string[];
  /** Whether `http://` is allowed. */
  allowHttp: boolean;
}

/** All addresses of a name, IPv4 and IPv6. @throws Error if it has none, or the lookup fails. */
export type Resolve = (name: string) => Promise<string[]>;

export interface AddressGuard {
  /** The normalized URL. @throws UrlRefused for one that is never allowed, whatever its name resolves to. */
  parse(text: string): URL;
  /**
   * The only addresses to connect to: the name is resolved once, and each of its addresses is checked.
   * @throws UrlRefused, with the same message whether the name has no address or a forbidden one.
   */
  addressesOf(url: URL): Promise<string[]>;
}

/** Why a URL is refused. The message reveals nothing about the network. */
export class UrlRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UrlRefused';
  }
}

export const urlLengthMax = 2048;
const publicPorts = ['443', '8443'];
/** Private ranges that the operator may allow. Link-local, multicast and translation ranges stay refused. */
const allowable = ['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'];
/** Cloud metadata services, which answer any machine in the cloud: Azure, Alibaba, AWS. */
const ofClouds = ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254'].map((text) =>
  ipaddr.parse(text).toNormalizedString(),
);
const globalV6 = ipaddr.IPv6.parseCIDR('2000::/3');

export function createAddressGuard(
  rules: AddressRules,
  resolve: Resolve = resolveDefaults.resolve,
): AddressGuard {
  const networks = rules.allowCidrs.map((text) => ipaddr.parseCIDR(text));
  const schemes = rules.allowHttp ? ['https:', 'http:'] : ['https:'];

  function isAllowedNetwork(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return networks.some(
      ([network, bits]) => address.kind() === network.kind() && address.match(network, bits),
    );
  }

  /** `public`, or `network` if only the operator's setting allows it. @returns null if it is refused. */
  function admit(text: string): 'public' | 'network' | null {
    if (isIP(text) === 0 || text.includes('%')) return null;
    const address = ipaddr.process(text); // unwraps an IPv4 address mapped into IPv6
    if (ofClouds.includes(address.toNormalizedString())) return null;
    const range: string = address.range();
    if (range === 'unicast') {
      return address instanceof ipaddr.IPv4 || address.match(globalV6) ? 'public' : null;
    }
    return allowable.includes(range) && isAllowedNetwork(address) ? 'network' : null;
  }

  function isAllowed(address: string, url: URL): boolean {
    const admitted = admit(address);
    if (admitted === 'public') return isPublicPort(url);
    return admitted === 'network';
  }

  return {
    parse(text) {
      const url = parseUrl(text);
      if (!schemes.includes(url.protocol))
        refuse(`must begin with ${schemes.map((each) => `${each}//`).join(' or ')}`);
      const literal = literalOf(url);
      if (literal !== null && admit(literal) === null) refuse(notPublic);
      if (networks.length === 0 && !isPublicPort(url)) refuse(portRule(rules));
      return url;
    },
    async addressesOf(url) {
      const literal = literalOf(url);
      const addresses = literal === null ? await resolve(url.hostname).catch(() => []) : [literal];
      if (addresses.length === 0 || addresses.some((address) => !isAllowed(address, url))) refuse(notPublic);
      return addresses;
    },
  };
}

const notPublic = 'must have a host with a public address, and an allowed port';

function portRule({ allowHttp }: AddressRules): string {
  const ports = allowHttp ? ['80', ...publicPorts] : publicPorts;
  return `must have no port, or one of ${ports.join(', ')}`;
}

function refuse(rule: string): never {
  throw new UrlRefused(rule);
}

/** @throws UrlRefused also for faults that the URL standard would silently repair. */
function parseUrl(text: string): URL {
  if (text.length > urlLengthMax) refuse(`must have at most ${urlLengthMax} characters`);
  // The standard drops tabs and line breaks, and reads a backslash as a slash.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f\\]/.test(text)) refuse('must have no spaces, control characters or backslashes');
  const url = URL.parse(text);
  if (url === null || url.hostname === '') refuse('must be a URL, such as https://example.org/path');
  if (/^[a-z+.-]+:\/*[^/?#]*@/i.test(text)) refuse('must have no user name or password');
  if (text.includes('#')) refuse('must have no fragment (#)');
  if (url.hostname.endsWith('.')) refuse('must not end its host with a dot');
  if (url.href.length > urlLengthMax) refuse(`must have at most ${urlLengthMax} characters`);
  return url;
}

/** The URL standard writes a default port as empty. */
function isPublicPort({ port }: URL): boolean {
  return port === '' || publicPorts.includes(port);
}

/** The address, if the URL has one instead of a name. */
function literalOf({ hostname }: URL): string | null {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(text) === 0 ? null : text;
}

/** The default resolver; tests that start whole services replace it. */
export const resolveDefaults: { resolve: Resolve } = { resolve: resolveByDns };

/** Asks the name servers, not /etc/hosts. Unlike getaddrinfo it blocks no thread while it waits, so a slow name server delays no other work. */
async function resolveByDns(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (found.length > 0) return found;
  throw new Error('The name has no address.');
}
