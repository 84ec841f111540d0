// The table of walks, in their order. A walk that moves the clock is at the end: sessions and mailed links run out with it.
import type { Visitor } from './browser.ts';
import type { Stage } from './stage.ts';
import { paying, payingFirst } from './walks/account/billing.ts';
import { compare } from './walks/compare.ts';
import { firstKey } from './walks/account/first-key.ts';
import { pinnedKey } from './walks/account/pinned-key.ts';
import { following } from './walks/account/following.ts';
import { configuredFrontPage } from './walks/front-page.ts';
import { google } from './walks/account/google.ts';
import { manyLines } from './walks/many-lines.ts';
import { pace } from './walks/pace.ts';
import { operatorFacts } from './walks/operator/facts.ts';
import { operatorLoads } from './walks/operator/loads.ts';
import { operatorPublish } from './walks/operator/publish.ts';
import { operatorReleases } from './walks/operator/releases.ts';
import { operatorSources } from './walks/operator/sources.ts';
import { operator } from './walks/operator/accounts.ts';
import { forgottenPassword } from './walks/account/passwords.ts';
import { hostileNames } from './walks/hostile-names.ts';
import { lockedRevisions } from './walks/locked-revisions.ts';
import { readDocs } from './walks/docs.ts';
import { openPages } from './walks/public.ts';
import { revisions } from './walks/revisions.ts';
import { continuedSeries, oneSeries } from './walks/series.ts';
import { passkeys } from './walks/account/passkeys.ts';
import { twoFactor } from './walks/account/two-factor.ts';
import { busyMonth } from './walks/account/usage.ts';
import { webhooks } from './walks/account/webhooks.ts';

export interface Walk {
  /** The visitor's action, for people. */
  name: string;
  /** @throws Error where the dashboard does not do as it should. */
  run(stage: Stage, visitor: Visitor): Promise<void>;
}

export const walks: readonly Walk[] = [
  openPages,
  readDocs,
  configuredFrontPage,
  oneSeries,
  continuedSeries,
  manyLines,
  revisions,
  lockedRevisions,
  compare,
  pace,
  firstKey,
  pinnedKey,
  forgottenPassword,
  twoFactor,
  passkeys,
  operator,
  operatorLoads,
  operatorReleases,
  operatorPublish,
  operatorSources,
  operatorFacts,
  google,
  busyMonth,
  webhooks,
  hostileNames,
  following, // moves the clock by a minute
  payingFirst,
  paying, // moves the clock
];
