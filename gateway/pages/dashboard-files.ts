// Reads the files of the built dashboard into memory, each in all its encodings: `x.js.br` and `x.js.gz` are encodings of `x.js`.
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Encoding } from '../../kernel/http/reply.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

export interface DashboardFile {
  type: string;
  forms: Readonly<
    Record<Encoding, { etag: string; body: Buffer; encoding: Readonly<Record<string, string>> }>
  >;
}

/** By path: `/index.html`, `/assets/….js`. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>;

/** @throws Error if the directory has no index.html, or contains a file of an unknown type. */
export async function readDashboard(directory: string): Promise<DashboardFiles> {
  const names = (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/\.(?:br|gz)$/.test(entry.name))
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
  const files = await Promise.all(
    names.map(async (name) => {
      const file = await readFileForms(path.join(directory, name));
      return [`/${name.split(path.sep).join('/')}`, file] as const;
    }),
  );
  const byPath = new Map(files);
  if (!byPath.has('/index.html')) throw new Error(`${directory} has no index.html.`);
  return byPath;
}

async function readFileForms(file: string): Promise<DashboardFile> {
  const type = types[path.extname(file)];
  if (type === undefined) throw new Error(`${file}: files of this type are not served.`);
  const [identity, br, gzip] = await Promise.all([
    readFile(file),
    readFile(`${file}.br`),
    readFile(`${file}.gz`),
  ]);
  const digest = hash('sha256', identity, 'base64url').slice(0, 22);
  return {
    type,
    forms: {
      identity: { etag: `"${digest}"`, body: identity, encoding: {} },
      br: { etag: `"${digest}-br"`, body: br, encoding: { 'content-encoding': 'br' } },
      gzip: { etag: `"${digest}-gzip"`, body: gzip, encoding: { 'content-encoding': 'gzip' } },
    },
  };
}
