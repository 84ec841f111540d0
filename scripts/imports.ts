// The imports between the files of the project, as its sources state them.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';

/** TypeScript files below a folder, as paths from the project's root; those of hidden folders are built or installed. */
export function sources(folder: string): string[] {
  return readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name))
    .filter(
      (name) =>
        /\.tsx?$/.test(name) &&
        !name.split(path.sep).some((part) => part === 'node_modules' || /^\.[ab]/.test(part)),
    );
}

/** The files that a file imports by relative path. */
export function importedFiles(file: string): string[] {
  const specifiers = [
    ...readFileSync(path.join(projectRoot, file), 'utf8').matchAll(
      /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g,
    ),
  ].map((match) => match[1] ?? '');
  return specifiers.map((specifier) => path.join(path.dirname(file), specifier));
}

/** Each file of a folder with the files that it imports; tests are left out. */
export function importsOf(folder: string): [string, string[]][] {
  const files = sources(folder).filter((name) => !name.endsWith('.test.ts'));
  return files.map((file) => [file, importedFiles(file)]);
}
