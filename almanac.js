#!/usr/bin/env node
// The entry point, in plain JavaScript: an old Node can read it too, and then starts the project's own.
import { fileURLToPath } from 'node:url';
import { runUnderOwnNode } from './own-node.js';

const words = process.argv.slice(2);
await runUnderOwnNode(fileURLToPath(new URL('almanac.ts', import.meta.url)), words, heapLimits(words));

/**
 * For what serves: V8 else puts collections off until the heap has hundreds of MiB. Up to 256 MiB it collects at 1.3 times what is alive. A
 * gateway whose caches are full has 220 MiB alive (2026-11-23). Other commands, such as loads, take what they need.
 * @param {string[]} words
 */
function heapLimits([command, service]) {
  if (command !== 'start') return [];
  return ['--max-semi-space-size=8', `--max-old-space-size=${service === undefined ? 512 : 256}`];
}
