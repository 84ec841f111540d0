// The API's answers about keys and their use.
import type { Row } from '../../../api/rows.ts';

export type Key = Row<'/v1/keys'>;

export interface KeyUse {
  /** The calls of each key by day, the last 30 days. */
  callsOf(keyId: string, days?: readonly string[]): number;
}
