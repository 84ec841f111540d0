// The answers under way that other calls may wait for, by name. A fixed table: if two names fall into one slot the later one takes it, and
// calls for the other do not wait but ask data-api themselves. A Map would be exact and far slower: V8 leaves each old table of a Map to
// the collector with a pointer to the next one, so once one of them is old, all later ones and the calls in them stay until a full
// collection. That made a minor collection four times longer, and a cold call 1.5 times as expensive (2026-11-23).
import type { Capture } from './capture.ts';
import { hashOf } from './doorkeeper.ts';

export interface AnswersUnderWay {
  get(name: string): Capture | undefined;
  add(name: string, capture: Capture): void;
  /** Does nothing if another one has taken its place. */
  remove(name: string, capture: Capture): void;
}

const slots = 4_096;

export function createAnswersUnderWay(): AnswersUnderWay {
  const entries = Array.from<{ name: string; capture: Capture } | undefined>({ length: slots });
  const slotOf = (name: string) => hashOf(name) % slots;
  return {
    get(name) {
      const entry = entries[slotOf(name)];
      return entry?.name === name ? entry.capture : undefined;
    },
    add(name, capture) {
      entries[slotOf(name)] = { name, capture };
    },
    remove(name, capture) {
      const slot = slotOf(name);
      if (entries[slot]?.capture === capture) entries[slot] = undefined;
    },
  };
}
