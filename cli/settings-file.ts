// The file with settings: `.env` of the project, or the one that SETTINGS_FILE names.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { projectRoot } from '../kernel/project.ts';
import { SettingsError } from '../kernel/settings/settings.ts';
import type { Environment } from './installation.ts';

/** The settings file that is read by default. */
export const defaultSettingsFile = path.join(projectRoot, '.env');

/**
 * The environment, plus the settings of the file that it lacks: a variable that is set wins, even an empty one.
 * @param defaultFile read if it exists; undefined: only the file that SETTINGS_FILE names.
 * @throws SettingsError if the file cannot be read.
 */
export function withSettingsFile(env: Environment, defaultFile: string | undefined): Environment {
  const named = env['SETTINGS_FILE'];
  const isNamed = named !== undefined && named !== '';
  const file = isNamed ? path.resolve(projectRoot, named) : defaultFile;
  if (file === undefined) return env;
  try {
    return { ...parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')), ...env };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isNamed) return env;
    const name = isNamed ? 'SETTINGS_FILE' : file;
    throw new SettingsError([`${name} must be a file of lines NAME=value that can be read (${code})`]);
  }
}
