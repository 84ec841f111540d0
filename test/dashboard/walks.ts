// The table of walks, in their order. A walk that moves the clock stands at the end: sessions and mailed links run out with it.
import type { Visitor } from './browser.ts';
import type { Stage } from './stage.ts';

export interface Walk {
  /** What somebody does, for people. */
  name: string;
  /** @throws Error where the dashboard does not do as it should. */
  run(stage: Stage, visitor: Visitor): Promise<void>;
}

export const walks: readonly Walk[] = [];
