// Frees the memory that only the start of a service needs.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Frees the memory of the start: the text of modules, the data of their compilation, and the heap space for it. V8 would keep that until
 * the heap is under load. A gateway with Redis then idles at 124 MiB instead of 155 (2026-11-23).
 */
export function freeStartMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  collect({ execution: 'sync', type: 'major', flavor: 'last-resort' });
}
