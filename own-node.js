// Runs a script of the project under Node 26, which npm installs with it: in this process, or in one of its own if this Node is
// older. Plain JavaScript, which an old Node can read. Hides where that Node is, and passes on signals and the exit code.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const neededMajor = 26;
const ownNode = fileURLToPath(new URL('node_modules/.bin/node', import.meta.url));

/**
 * @param {string} script its absolute path. @param {string[]} words its arguments.
 * @param {string[]} flags of Node for it, such as `--max-old-space-size=256`; those that NODE_OPTIONS or the command line have win.
 */
export async function runUnderOwnNode(script, words, flags = []) {
  const missing = flags.filter((flag) => !isSet(flag));
  if (Number(process.versions.node.split('.')[0]) >= neededMajor) {
    if (missing.length > 0 && process.execve !== undefined) {
      // Replaces this process, whose heap is laid out already. Windows has nothing like it, and does without the flags.
      const own = [...process.execArgv, ...missing, process.argv[1] ?? script];
      process.execve(process.execPath, [process.execPath, ...own, ...words], process.env);
    }
    process.argv = [process.execPath, script, ...words];
    keepCompiled();
    await import(pathToFileURL(script).href);
    return;
  }
  if (!existsSync(ownNode)) {
    const project = path.dirname(fileURLToPath(import.meta.url));
    process.stderr.write(
      `Almanac needs Node ${neededMajor}, and this is Node ${process.versions.node}. ` +
        `npm installs one with it: type "npm ci" in ${project}, without --omit=optional.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(ownNode, [...missing, script, ...words], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${ownNode} cannot be run: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal); // ends as the script did
  });
}

/**
 * Lets Node keep what it makes of the modules, types removed and compiled, for the next start. It does nothing if the directory cannot be
 * written, and what it finds there is used only for the same text.
 */
function keepCompiled() {
  const directory = fileURLToPath(new URL('node_modules/.cache/almanac', import.meta.url));
  // What V8 tells of the coverage of cached functions is imprecise.
  if (process.env['NODE_V8_COVERAGE'] === undefined)
    process.getBuiltinModule('node:module').enableCompileCache(directory);
}

/** @param {string} flag */
function isSet(flag) {
  const [name = ''] = flag.split('=');
  const given = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)];
  return given.some((word) => word.split('=')[0]?.replaceAll('_', '-') === name); // V8 takes either
}
