// Reads docker-compose.yml as Compose does, with the .env that is documented. Hides how variables are put into it.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { projectRoot } from '../../kernel/project.ts';

export interface Service {
  image: string;
  profiles?: string[];
  command?: string[];
  environment?: Record<string, string | number>;
  user?: string;
  working_dir?: string;
  mem_limit?: string;
  tmpfs?: string[];
  logging?: { driver: string; options: Record<string, string> };
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  pull_policy?: string;
  restart?: string;
  stop_grace_period?: string;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  volumes?: string[];
  networks?: string[];
  ports?: string[];
}

export interface ComposeFile {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
}

export const readProject = (name: string): string => readFileSync(path.join(projectRoot, name), 'utf8');
export const composeText = readProject('docker-compose.yml');

/** Puts variables into the text, as Compose does. @throws Error with the message of a variable that must be set. */
export function interpolate(source: string, env: Readonly<Record<string, string | undefined>>): string {
  return source.replaceAll(
    /\$\$|\$\{(\w+)(?:(:[-?])([^}]*))?\}/g,
    (found, name = '', kind = '', rest = '') => {
      if (found === '$$') return '$';
      const value = env[name as string] ?? '';
      if (value !== '' || kind === '') return value;
      if (kind === ':?') throw new Error(`${name}: ${rest}`);
      return rest as string;
    },
  );
}

/** A settings file made as documented: the example with its secrets filled in. Other users may read its folder. */
export function documentedEnvFile(t: ExecutionContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  chmodSync(directory, 0o755);
  const file = path.join(directory, '.env');
  copyFileSync(path.join(projectRoot, '.env.compose.example'), file);
  fillSecrets(file);
  return file;
}

export function fillSecrets(file: string): void {
  execFileSync('sh', [path.join(projectRoot, 'scripts/fill-secrets.sh'), file]);
}

/** The file, with the variables of a filled-in example, or of another file. */
export function composeWith(t: ExecutionContext, envFile = documentedEnvFile(t)): ComposeFile {
  const env = parseEnv(readFileSync(envFile, 'utf8'));
  return interpolateAll(parse(composeText, { merge: true }), env) as ComposeFile;
}

/** In the values, after the file was parsed: an empty one is an empty text, and not nothing. */
function interpolateAll(value: unknown, env: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === 'string') return interpolate(value, env);
  if (Array.isArray(value)) return value.map((each) => interpolateAll(each, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, interpolateAll(each, env)]));
}

export const ofAlmanac = ({ services }: ComposeFile) =>
  Object.entries(services).filter(([, { image }]) => image === 'almanac:local');
