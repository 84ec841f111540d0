#!/usr/bin/env node
// Runs a converter of this folder by its name, such as funds/amfi, from any folder and under any Node: an old one starts the project's own.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runUnderOwnNode } from '../own-node.js';

const examples = path.dirname(fileURLToPath(import.meta.url));

/** The usage of each converter, by its name: the second line of its file. Files shared by converters have none. */
const usages = new Map(
  ['converters', 'funds', 'markets'].flatMap((folder) =>
    readdirSync(path.join(examples, folder))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [
        `${folder}/${file.slice(0, -3)}`,
        /^\/\/ Usage: (.*)$/m.exec(readFileSync(path.join(examples, folder, file), 'utf8'))?.[1],
      ])
      .filter(([, usage]) => usage !== undefined),
  ),
);

const [name, ...words] = process.argv.slice(2);
if (usages.has(name)) await runUnderOwnNode(path.join(examples, `${name}.ts`), words);
else {
  const fault = name === undefined ? '' : `There is no converter "${name}".\n\n`;
  process.stderr.write(`${fault}Usage:\n${[...usages.values()].map((usage) => `  ${usage}\n`).join('')}`);
  process.exitCode = 2;
}
