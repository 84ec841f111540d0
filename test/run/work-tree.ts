// Checks by git whether a test run leaves files in the project, as tests must write into their own directories. Ignored files do not count.
import { spawnSync } from 'node:child_process';

/** @returns changed and untracked files, as `git status` lists them; null without git, or outside of a repository. */
export function workTreeOf(directory: string): ReadonlySet<string> | null {
  const words = ['status', '--porcelain', '--untracked-files=all'];
  const { status, stdout } = spawnSync('git', words, { cwd: directory, encoding: 'utf8' });
  return status === 0 ? new Set(stdout.split('\n').filter((line) => line !== '')) : null;
}

/** The files whose status differs from before. */
export function leftInWorkTree(directory: string, before: ReadonlySet<string> | null): string[] {
  return before === null ? [] : [...(workTreeOf(directory) ?? [])].filter((line) => !before.has(line));
}
