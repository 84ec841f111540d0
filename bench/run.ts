// Runs a benchmark by its name: `npm run bench -- search` runs bench/search.ts, `npm run bench -- bulk` runs bench/bulk/run.ts.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const files = new Map<string, string>();
for (const entry of readdirSync(import.meta.dirname, { withFileTypes: true })) {
  const file = entry.isDirectory() ? `${entry.name}/run.ts` : entry.name;
  const isBench = entry.isDirectory()
    ? existsSync(path.join(import.meta.dirname, file))
    : file.endsWith('.ts') && file !== path.basename(import.meta.filename);
  if (isBench) files.set(path.basename(entry.name, '.ts'), file);
}

const [name] = process.argv.slice(2);
const file = files.get(name ?? '');
if (file === undefined) {
  process.stderr.write(`Usage: npm run bench -- <name>; there are ${[...files.keys()].join(', ')}.\n`);
  process.exitCode = 2;
} else {
  const { run } = (await import(`./${file}`)) as { run: () => Promise<void> };
  await run();
}
