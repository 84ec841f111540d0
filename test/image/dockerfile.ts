// Reads a Dockerfile and a .dockerignore: the stages with their steps, arguments put in. Hides their syntax; it knows what ours
// uses; an instruction or option that it does not know is an error, so that nothing is left out.
import { matchesGlob } from 'node:path';

/** The effect of a step on the files or the configuration of a stage. */
export type Step =
  | { kind: 'run'; command: string }
  | { kind: 'copy'; from: string | undefined; sources: readonly string[]; target: string }
  | { kind: 'workdir'; path: string };

export interface Stage {
  name: string;
  /** An image, or the name of an earlier stage. */
  base: string;
  steps: readonly Step[];
  env: Readonly<Record<string, string>>;
  labels: Readonly<Record<string, string>>;
  user: string | undefined;
  volumes: readonly string[];
  entrypoint: readonly string[];
  command: readonly string[];
  health: readonly string[];
}

type Draft = { -readonly [Key in keyof Stage]: Stage[Key] } & { steps: Step[] };

/** @throws Error that names a line which is not understood. */
export function parseDockerfile(text: string): Stage[] {
  const stages: Draft[] = [];
  let args: Record<string, string> = {};
  for (const line of instructionsOf(text)) {
    const [, instruction = '', rest = ''] = /^([A-Z]+)\s+(.*)$/s.exec(line) ?? [];
    const stage = stages.at(-1);
    if (instruction === 'ARG') {
      const [name = '', ...value] = rest.split('=');
      args = { ...args, [name]: args[name] ?? value.join('=') };
    } else if (instruction === 'FROM') {
      stages.push(stageFrom(substitute(rest, args), stages.length));
    } else {
      if (stage === undefined) throw new Error(`Before the first FROM: ${line}`);
      addInstruction(stage, instruction, rest, { ...args, ...stage.env });
    }
  }
  return stages;
}

function instructionsOf(text: string): string[] {
  const withoutComments = text.replaceAll(/^\s*#.*\n/gm, '');
  return withoutComments
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function stageFrom(rest: string, index: number): Draft {
  const [, base = '', name = String(index)] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
  if (base === '') throw new Error(`FROM ${rest}: only an image and AS are understood.`);
  const nothing = { user: undefined, volumes: [], entrypoint: [], command: [], health: [] };
  return { name, base, steps: [], env: {}, labels: {}, ...nothing };
}

function addInstruction(stage: Draft, instruction: string, rest: string, args: Record<string, string>): void {
  switch (instruction) {
    case 'RUN':
      if (/^(?:--|\[)/.test(rest)) throw new Error(`RUN ${rest}: neither options nor a list is understood.`);
      stage.steps.push({ kind: 'run', command: rest });
      return;
    case 'COPY':
      stage.steps.push(copyOf(substitute(rest, args)));
      return;
    case 'WORKDIR':
      stage.steps.push({ kind: 'workdir', path: substitute(rest, args) });
      return;
    case 'ENV':
      stage.env = { ...stage.env, ...pairsOf(substitute(rest, args)) };
      return;
    case 'LABEL':
      stage.labels = { ...stage.labels, ...pairsOf(substitute(rest, args)) };
      return;
    case 'USER':
      stage.user = rest;
      return;
    case 'VOLUME':
      stage.volumes = [...stage.volumes, ...rest.split(/\s+/)];
      return;
    case 'ENTRYPOINT':
      stage.entrypoint = listOf(rest);
      return;
    case 'CMD':
      stage.command = listOf(rest);
      return;
    case 'HEALTHCHECK':
      stage.health = listOf(rest.replace(/^(?:--\S+\s+)*CMD\s+/, ''));
      return;
    case 'EXPOSE':
      return; // documents the ports and changes nothing
    default:
      throw new Error(`${instruction} is not understood: ${rest}`);
  }
}

function copyOf(rest: string): Step {
  const words = rest.split(/\s+/);
  const options = words.filter((word) => word.startsWith('--'));
  const paths = words.filter((word) => !word.startsWith('--'));
  const from = options.find((option) => option.startsWith('--from='))?.slice('--from='.length);
  const target = paths.pop();
  if (options.length > (from === undefined ? 0 : 1) || target === undefined || paths.length === 0)
    throw new Error(`COPY ${rest}: only --from is understood, and sources and a target are needed.`);
  return { kind: 'copy', from, sources: paths, target };
}

function pairsOf(rest: string): Record<string, string> {
  const pairs = rest.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))\s*/g);
  return Object.fromEntries([...pairs].map(([, name = '', quoted, plain]) => [name, quoted ?? plain ?? '']));
}

function listOf(rest: string): string[] {
  const list: unknown = JSON.parse(rest);
  if (!Array.isArray(list) || !list.every((word) => typeof word === 'string'))
    throw new Error(`Not a list of words: ${rest}`);
  return list;
}

function substitute(text: string, args: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = args[name];
    if (value === undefined) throw new Error(`No ARG or ENV gives ${name}.`);
    return value;
  });
}

/** Whether a file, given by its path in the project, is left out by the lines of a .dockerignore. */
export function isIgnored(ignore: string, file: string): boolean {
  const patterns = ignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  if (patterns.some((pattern) => pattern.startsWith('!')))
    throw new Error('.dockerignore: exceptions (!) are not understood.');
  return patterns.some((pattern) => matchesGlob(file, pattern) || matchesGlob(file, `${pattern}/**`));
}
