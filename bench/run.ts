// Runs a benchmark by its name: `npm run bench -- search` runs bench/search.ts.
import { readdirSync } from 'node:fs';
import path from 'node:path';

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== path.basename(import.meta.filename))
  .map((file) => path.basename(file, '.ts'));

const [name] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  process.stderr.write(`Usage: npm run bench -- <name>; there are ${names.join(', ')}.\n`);
  process.exitCode = 2;
} else {
  const { run } = (await import(`./${name}.ts`)) as { run: () => Promise<void> };
  await run();
}
