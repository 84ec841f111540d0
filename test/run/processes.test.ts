// Processes that tests start: which ones keep a test file from ending.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';

/** Runs this code with an idle program, in a process that waits for nothing else. @returns the exit code of that process. */
function codeOf(rest: string): number | null {
  const processes = JSON.stringify(path.join(projectRoot, 'test/run/processes.ts'));
  const script = `
    import { startChild } from ${processes};
    const child = startChild(process.execPath, ['--eval', ''], { name: 'nothing' });
    ${rest}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script]).status;
}

test('a process keeps a test file from ending only while the file waits for its exit', (t) => {
  t.is(codeOf('process.exitCode = await child.exit();'), 0);
  t.is(codeOf('await child.end();'), 0);
  t.is(codeOf('await child.ended;'), 13, 'of Node: what it awaits can never come');
});
