// Where the project lies, and which version of it runs.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The directory of the project's own files (config, migrations). */
export const projectRoot = path.resolve(import.meta.dirname, '..');

/** The version of the program, from package.json. */
export const { version: programVersion } = JSON.parse(
  readFileSync(path.join(projectRoot, 'package.json'), 'utf8'),
) as { version: string };
