// Runs the steps of the Dockerfile without a container engine, and programs in the result. Linux, as root, in a mount namespace of its own.
// Hides the file systems: a stage is an overlay in memory over this machine, which replaces the base image, with the project's Node.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isIgnored, parseDockerfile, type Stage, type Step } from './dockerfile.ts';

const project = path.resolve(import.meta.dirname, '../..');
const memory = '/mnt';
const context = path.join(memory, 'context');
const programs = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface Image {
  stage: Stage;
  /** The files that the steps of the last stage have written, without the base. */
  added: string;
  /** How to run words as the image's user, on a root that cannot be written but for /tmp, the volumes and the folders. */
  inside(words: readonly string[]): [program: string, words: string[]];
  /** The environment that the image gives. */
  env: Readonly<Record<string, string>>;
}

/** Builds the last stage of the Dockerfile. @param folders of this machine, by the paths that they are mounted at. */
export function buildImage(
  report: (line: string) => void,
  folders: Readonly<Record<string, string>> = {},
): Image {
  mount('-t', 'tmpfs', 'tmpfs', memory);
  copyContext();
  const stages = parseDockerfile(readFileSync(path.join(project, 'Dockerfile'), 'utf8'));
  const last = stages.at(-1);
  if (last === undefined) throw new Error('The Dockerfile has no stage.');
  for (const stage of stages) {
    openStage(stage);
    let directory = '/';
    for (const step of stage.steps) directory = runStep(stage, step, directory, report);
  }
  for (const [at, folder] of Object.entries(folders)) {
    mkdirSync(path.join(rootOf(last), at), { recursive: true });
    mount('--bind', folder, path.join(rootOf(last), at));
  }
  closeRoot(last);
  return {
    stage: last,
    added: added(last),
    inside: (words) => ['chroot', [`--userspec=${last.user ?? '0:0'}`, rootOf(last), ...words]],
    env: { PATH: programs, ...last.env },
  };
}

/** Unmounts the file systems of `buildImage`, so that it can build again. No process of the image may be running. */
export function discardImage(): void {
  execFileSync('umount', ['--recursive', '--lazy', memory], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The build context that a client of a container engine would send: the files of the tree except those of .dockerignore. */
function copyContext(): void {
  const ignore = readFileSync(path.join(project, '.dockerignore'), 'utf8');
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: project,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0')) {
    if (file === '' || isIgnored(ignore, file)) continue;
    const found = statSync(path.join(project, file), { throwIfNoEntry: false });
    if (found === undefined) continue; // removed, and not committed yet
    mkdirSync(path.dirname(path.join(context, file)), { recursive: true });
    copyFileSync(path.join(project, file), path.join(context, file));
  }
}

const rootOf = (stage: Stage) => path.join(memory, stage.name, 'root');
const added = (stage: Stage) => path.join(memory, stage.name, 'added');

function openStage(stage: Stage): void {
  const [root, upper, work] = ['root', 'added', 'work'].map((name) => path.join(memory, stage.name, name));
  for (const directory of [root, upper, work]) mkdirSync(directory ?? '', { recursive: true });
  mount('-t', 'overlay', 'overlay', '-o', `lowerdir=/,upperdir=${upper},workdir=${work}`, rootOf(stage));
  for (const name of ['dev', 'proc']) mount('--rbind', `/${name}`, path.join(rootOf(stage), name));
  mount('-t', 'tmpfs', 'tmpfs', path.join(rootOf(stage), 'tmp'));
  // The base image is one of Node: its program, which is not counted as added.
  const first = path.join(rootOf(stage), 'usr/local/sbin');
  mount('-t', 'tmpfs', 'tmpfs', first);
  copyFileSync(realpathSync(process.execPath), path.join(first, 'node'));
  chmodSync(path.join(first, 'node'), 0o755);
}

function runStep(stage: Stage, step: Step, directory: string, report: (line: string) => void): string {
  const root = rootOf(stage);
  if (step.kind === 'workdir') {
    mkdirSync(path.join(root, step.path), { recursive: true });
    return step.path;
  }
  const startedAt = performance.now();
  if (step.kind === 'copy') {
    const from = step.from === undefined ? context : path.join(memory, step.from, 'root');
    const isDirectory = step.sources.length > 1 || step.target.endsWith('/');
    for (const source of step.sources) {
      const at = path.join(from, source);
      const target = path.join(root, path.resolve(directory, step.target));
      // As COPY does: the content of a directory goes into the target, a file under its own name into a target that is one.
      const into = isDirectory && statSync(at).isFile() ? path.join(target, path.basename(source)) : target;
      cpSync(at, into, { recursive: true });
    }
  } else {
    const command = `cd ${directory} && ${step.command}`;
    const { status, stdout, stderr } = spawnSync('chroot', [root, '/bin/sh', '-c', command], {
      env: { PATH: programs, HOME: '/root', ...ofRegistries(), ...stage.env },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`RUN ${step.command}\n${stdout}${stderr}`);
  }
  const text = step.kind === 'run' ? `RUN ${step.command}` : `COPY ${step.sources.join(' ')} ${step.target}`;
  report(`${((performance.now() - startedAt) / 1e3).toFixed(1).padStart(6)} s  ${text.slice(0, 100)}`);
  return directory;
}

/** How packages are reached from this machine; a builder has settings of its own for that. */
function ofRegistries(): Record<string, string> {
  const isOne = (name: string) => /^(?:npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name);
  const own = Object.entries(process.env).filter(([name]) => isOne(name));
  return Object.fromEntries(own.map(([name, value]) => [name, value ?? '']));
}

/** From now on only /tmp and the volumes can be written. */
function closeRoot(stage: Stage): void {
  const [uid, gid] = (stage.user ?? '0:0').split(':');
  for (const volume of stage.volumes)
    mount('-t', 'tmpfs', '-o', `uid=${uid},gid=${gid}`, 'tmpfs', path.join(rootOf(stage), volume));
  mount('-o', 'remount,ro', rootOf(stage));
}

function mount(...words: string[]): void {
  execFileSync('mount', words, { stdio: ['ignore', 'ignore', 'pipe'] });
}
