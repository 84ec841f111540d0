#!/usr/bin/env node
// The entry point, in plain JavaScript: an old Node can read it too, and then starts the project's own.
import { fileURLToPath } from 'node:url';
import { runUnderOwnNode } from './own-node.js';

await runUnderOwnNode(fileURLToPath(new URL('almanac.ts', import.meta.url)), process.argv.slice(2));
