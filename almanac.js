#!/usr/bin/env node
// The entry point, in plain JavaScript: an old Node can read it too, and then prints what to type instead.
const major = Number(process.versions.node.split('.')[0]);
if (major < 26) {
  process.stderr.write(
    `Almanac brings its own Node 26 and this is Node ${process.versions.node}: type "npm start", or "npx almanac <command>" (after "npm ci").\n`,
  );
  process.exit(1);
}
await import('./almanac.ts');
