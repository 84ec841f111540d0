// The types of the TypeScript client.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { clientDirectory, clientTypes } from '../../openapi/client-types.ts';

test('the types of the TypeScript client are those of the document (npm run openapi writes them)', async (t) => {
  const files = Object.entries(await clientTypes());
  t.deepEqual(
    files.map(([name]) => name),
    ['types.gen.ts', 'paths.gen.ts'],
  );
  for (const [name, text] of files) {
    t.true(readFileSync(path.join(clientDirectory, name), 'utf8') === text, name);
  }
});
