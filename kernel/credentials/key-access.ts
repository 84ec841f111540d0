// The access of a key: its scopes and address ranges.
import { BlockList, isIP } from 'node:net';
import { entryAt } from '../entries.ts';

/** The data endpoints; reading the account; changing the account. */
export const keyScopes = ['data', 'read', 'manage'] as const;
export type KeyScope = (typeof keyScopes)[number];

export const addressRangesMax = 20;

/**
 * Whether the text is an address, or a range such as `203.0.113.0/24` or `2001:db8::/32`. IPv4 mapped into IPv6 is not accepted: clients are seen as
 * IPv4.
 */
export function isAddressRange(text: string): boolean {
  return rangeOf(text) !== undefined;
}

/** Returns a check whether an address is in one of the ranges. */
export function addressCheck(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, bits, family } of ranges.flatMap((text) => rangeOf(text) ?? []))
    list.addSubnet(address, bits, family);
  return (address) => {
    const [bare = ''] = address.split('%');
    const version = isIP(bare);
    return version !== 0 && list.check(bare, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Whether every inner range is contained in a single outer range; null: all addresses. */
export function areWithin(inner: readonly string[] | null, outer: readonly string[] | null): boolean {
  if (outer === null || inner === null) return outer === null;
  return inner.every((text) => outer.some((around) => isWithin(text, around)));
}

function isWithin(text: string, around: string): boolean {
  const [range, other] = [rangeOf(text), rangeOf(around)];
  if (range === undefined || other === undefined) return false;
  return range.family === other.family && range.bits >= other.bits && addressCheck([around])(range.address);
}

function rangeOf(text: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const parts = text.split('/');
  const address = entryAt(parts, 0);
  const version = isIP(address);
  if (version === 0 || parts.length > 2 || address.includes('%') || /^::ffff:/i.test(address))
    return undefined;
  const most = version === 4 ? 32 : 128;
  const bits = parts[1] ?? String(most);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > most) return undefined;
  return { address, bits: Number(bits), family: version === 4 ? 'ipv4' : 'ipv6' };
}
