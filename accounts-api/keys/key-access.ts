// The requested scopes and address ranges of a key, and the rule that a key cannot grant more access than it has itself.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import {
  addressRangesMax,
  areWithin,
  isAddressRange,
  keyScopes,
  type KeyScope,
} from '../../kernel/credentials/key-access.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import { isButText } from '../../kernel/http/params.ts';
import type { Deps } from '../database.ts';
import { requireCredential } from '../models/find-account.ts';
import type { Requester } from '../requester.ts';

export interface KeyAccess {
  scopes: KeyScope[];
  /** The address ranges from which the key works; null: every address. */
  addresses: string[] | null;
}

const scopesRule = `must be one or more of ${keyScopes.join(', ')}`;
const addressRule = 'must be an address or a range, such as 203.0.113.0/24';
const addressesRule = `must be 1 to ${addressRangesMax} addresses or ranges, such as 203.0.113.0/24 or 2001:db8::/32, or null for all`;

/** The fields of a body that give a key its access. */
export const accessFields = {
  scopes: z
    .array(z.enum(keyScopes, `must be one of ${keyScopes.join(', ')}`), scopesRule)
    .min(1, scopesRule)
    .transform((given) => keyScopes.filter((scope) => given.includes(scope)))
    .optional()
    .describe(
      '`data`: data endpoints; `read`: reading the account; `manage`: changing it. Default: the scopes of the creator.',
    ),
  addresses: z
    .array(
      z
        .string()
        .trim()
        .toLowerCase()
        .refine(isAddressRange, { error: ({ input }) => isButText(String(input), addressRule) }),
      addressesRule,
    )
    .min(1, addressesRule)
    .max(addressRangesMax, addressesRule)
    .nullish()
    .describe('Addresses, and ranges in CIDR notation, from which the key works; null: from every address.'),
};

/** The only access of a key that is pinned to a day: with `manage`, it could create a key that is not pinned. */
const pinnedScopes: readonly KeyScope[] = ['data'];

export type AccessWish = { readonly [Field in keyof KeyAccess]?: KeyAccess[Field] | undefined };

/** The default access of a key. */
const everything: KeyAccess = { scopes: [...keyScopes], addresses: null };

/** The access of the calling key. Sessions and operators have full access. */
async function accessOf(deps: Deps, transaction: Transaction, requester: Requester): Promise<KeyAccess> {
  return (await requireCredential(deps, transaction, requester)) ?? everything;
}

/**
 * The access that a key will have. Fields missing in the request keep their value; a new key gets them from its creator.
 * @param before null: the key is new. @param isPinned whether the key is pinned to a day; such a key only reads data.
 * @throws Failure `unauthorized` if the credential of the call has ended; `forbidden` if the calling key would grant more than it has; `invalid_body` for other scopes of a pinned key.
 */
export async function grantedAccess(
  deps: Deps,
  transaction: Transaction,
  requester: Requester,
  { before, wish, isPinned }: { before: KeyAccess | null; wish: AccessWish; isPinned: boolean },
): Promise<KeyAccess> {
  const own = await accessOf(deps, transaction, requester);
  const from = before ?? own;
  const wanted = {
    scopes: wish.scopes ?? (isPinned ? [...pinnedScopes] : from.scopes),
    addresses: wish.addresses === undefined ? from.addresses : wish.addresses,
  };
  if (isPinned && wanted.scopes.join() !== pinnedScopes.join())
    refuseField(
      'scopes',
      '"scopes" must be ["data"] for a key that is pinned to a day: with another scope it could make a key without the day. Use a second key for the account.',
    );
  const beyond = wanted.scopes.filter((scope) => !own.scopes.includes(scope));
  if (beyond.length > 0)
    fail(
      'forbidden',
      `A key cannot grant more than it has: this one lacks the scope ${beyond.map((scope) => `"${scope}"`).join(' and ')}. Sign in to do this.`,
      { param: 'scopes' },
    );
  if (!areWithin(wanted.addresses, own.addresses))
    fail(
      'forbidden',
      'A key cannot grant more than it has: this one works only from some addresses, and the new one would allow others. Sign in to do this.',
      { param: 'addresses' },
    );
  return wanted;
}
