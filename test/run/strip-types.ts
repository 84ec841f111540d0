// Removes the types of test files before they run, so that the compile cache of the run holds them. A test file runs once, in a thread
// of its own, which would start the compiler of types for that one file: 60 ms of CPU, and here 2 (2026-11-23).
// Usage: node test/run/strip-types.ts FILE…
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const files = new Set(process.argv.slice(2).map((file) => pathToFileURL(path.resolve(file)).href));
const nothing = 'data:text/javascript,throw new Error()';
registerHooks({
  // What a test file imports is not loaded.
  resolve: (specifier, context, next) =>
    context.parentURL !== undefined && files.has(context.parentURL)
      ? { url: nothing, shortCircuit: true }
      : next(specifier, context),
});
for (const file of files) {
  // It is read and compiled, and not run: its imports fail. Where something else is wrong with it, AVA says so.
  await import(file).catch(() => undefined);
}
