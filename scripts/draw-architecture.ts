// Draws the parts of the project and the imports between them as docs/architecture.svg: `npm run draw`.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../kernel/project.ts';
import { importsOf } from './imports.ts';

/** From top to bottom: a part imports only parts in lower rows. */
const rows: readonly (readonly string[])[] = [
  ['cli'],
  ['gateway', 'accounts-api', 'ingest', 'data-api', 'dashboard', 'embedded', 'migrations'],
  ['domain', 'clients'],
  ['kernel'],
];
/** Where each part is, in columns. */
const columns: Readonly<Record<string, readonly [from: number, to: number]>> = {
  cli: [0, 7],
  gateway: [0, 1],
  'accounts-api': [1, 2],
  ingest: [2, 3],
  'data-api': [3, 4],
  dashboard: [4, 5],
  embedded: [5, 6],
  migrations: [6, 7],
  domain: [2, 4.25],
  clients: [4.35, 5],
  kernel: [0, 7],
};

const size = { column: 132, gap: 18, line: 17, head: 30, between: 54, margin: 16 };
export const drawingFile = path.join(projectRoot, 'docs/architecture.svg');

interface Box {
  part: string;
  folders: readonly string[];
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The drawing, an SVG. Every box lists its folders so that each imports only those below it, where there is such an order. */
export function drawing(): string {
  const parts = rows.flat();
  const imports = new Map(parts.map((part) => [part, partsImportedBy(part, parts)]));
  const boxes = boxesOf(rows);
  const { width, height } = sizeOf(boxes);
  const pairs = boxes.flatMap((from) =>
    boxes
      .filter((to) => imports.get(from.part)?.has(to.part))
      .map((to) => ({ from, to, x: freePlace(from, to, boxes) })),
  );
  const hidden = pairs.filter(({ x }) => x === undefined).map(({ from, to }) => `${from.part} → ${to.part}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="The parts of Almanac; arrows point to what a part imports">`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#5b6573"/></marker></defs>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...pairs.flatMap(({ from, to, x }) => (x === undefined ? [] : [arrow(x, from, to)])),
    ...boxes.map(boxSvg),
    `<text x="${size.margin}" y="${height - size.margin}" fill="#3d4653">Without an arrow: ${hidden.join(', ')}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function partsImportedBy(part: string, parts: readonly string[]): Set<string> {
  const targets = importsOf(part).flatMap(([, files]) => files.map((file) => file.split(path.sep)[0] ?? ''));
  return new Set(targets.filter((target) => target !== part && parts.includes(target)));
}

/** The folders of a part, each before those that it imports; files of the part itself are not in a folder. */
function foldersOf(part: string): string[] {
  const folderOf = (file: string) => file.split(path.sep).slice(1, -1)[0];
  const imports = new Map<string, Set<string>>();
  for (const [file, targets] of importsOf(part)) {
    const folder = folderOf(file);
    if (folder === undefined) continue;
    const known = imports.get(folder) ?? new Set();
    for (const target of targets) {
      const to = target.startsWith(part + path.sep) ? folderOf(target) : undefined;
      if (to !== undefined && to !== folder) known.add(to);
    }
    imports.set(folder, known);
  }
  const ordered: string[] = [];
  const visit = (folder: string, above: readonly string[]) => {
    if (ordered.includes(folder) || above.includes(folder)) return;
    for (const to of [...(imports.get(folder) ?? [])].sort()) visit(to, [...above, folder]);
    ordered.push(folder);
  };
  for (const folder of [...imports.keys()].sort()) visit(folder, []);
  return ordered.reverse();
}

function boxesOf(all: typeof rows): Box[] {
  let y = size.margin;
  return all.flatMap((row) => {
    const boxes = row.map((part) => boxOf(part, y));
    y += Math.max(...boxes.map(({ height }) => height)) + size.between;
    return boxes;
  });
}

function boxOf(part: string, y: number): Box {
  const [from, to] = columns[part] ?? [0, 1];
  const folders = foldersOf(part);
  const isWide = to - from > 1;
  const lines = isWide ? Math.min(folders.length, 1) : folders.length;
  return {
    part,
    folders: isWide && folders.length > 0 ? [folders.join(' · ')] : folders,
    x: size.margin + from * (size.column + size.gap),
    y,
    width: (to - from) * (size.column + size.gap) - size.gap,
    height: size.head + lines * size.line + (lines > 0 ? 8 : 0),
  };
}

function sizeOf(boxes: readonly Box[]): { width: number; height: number } {
  return {
    width: Math.max(...boxes.map(({ x, width }) => x + width)) + size.margin,
    height: Math.max(...boxes.map(({ y, height }) => y + height)) + 3 * size.margin,
  };
}

/** Where a vertical line from one box to another crosses no third box; undefined: nowhere. */
function freePlace(from: Box, to: Box, boxes: readonly Box[]): number | undefined {
  const left = Math.max(from.x, to.x);
  const right = Math.min(from.x + from.width, to.x + to.width);
  const between = boxes.filter((box) => box.y > from.y && box.y < to.y);
  const places = [0.5, 0.25, 0.75, 0.1, 0.9].map((part) => Math.round(left + (right - left) * part));
  return places.find((x) => between.every((box) => x < box.x - 4 || x > box.x + box.width + 4));
}

function arrow(x: number, from: Box, to: Box): string {
  return `<path d="M${x} ${from.y + from.height}V${to.y - 2}" stroke="#5b6573" stroke-width="1.5" marker-end="url(#tip)" fill="none"/>`;
}

function boxSvg({ part, folders, x, y, width, height }: Box): string {
  const names = folders.map(
    (folder, i) =>
      `<text x="${x + 10}" y="${y + size.head + 13 + i * size.line}" fill="#3d4653">${folder}</text>`,
  );
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="#f4f6f8" stroke="#c3cad3"/>`,
    `<text x="${x + 10}" y="${y + 20}" font-weight="600" font-size="14" fill="#16191d">${part}</text>`,
    ...names,
  ].join('');
}

if (process.argv[1] === import.meta.filename) writeFileSync(drawingFile, drawing());
