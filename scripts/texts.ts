// Prints every text of the product with its place, for a review line by line: npm run texts -- [FOLDER …]
// A text is a string, a template or a JSX text with two words in a row, outside tests, SQL files, imports, types and CSS classes.
import path from 'node:path';
import { API } from 'typescript/unstable/sync';
import {
  isImportDeclaration,
  isJsxAttribute,
  isJsxText,
  isLiteralTypeNode,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTemplateExpression,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';
import { projectRoot } from '../kernel/project.ts';

export interface Text {
  /** Relative to the project's root. */
  file: string;
  line: number;
  /** On one line; an inserted expression is `${…}`. */
  text: string;
}

/** The folders with texts that a user or operator sees. */
const folders = [
  'accounts-api',
  'cli',
  'dashboard',
  'data-api',
  'domain',
  'embedded',
  'gateway',
  'ingest',
  'kernel',
];
/** Letters before and after a space; an inserted expression counts as a word. */
const twoWords = /[\p{L}…]\S* \S*[\p{L}…]/u;
const configs = ['tsconfig.json', 'dashboard/tsconfig.json'];

/** In the order of files and lines. @param below folders or files, relative to the project's root; all if empty. */
export function textsOf(below: readonly string[] = []): Text[] {
  const api = new API({ cwd: projectRoot });
  try {
    return configs.flatMap((config) => textsOfProject(api, config, below));
  } finally {
    api.close();
  }
}

function textsOfProject(api: API, config: string, below: readonly string[]): Text[] {
  const file = path.join(projectRoot, config);
  const project = api.updateSnapshot({ openProjects: [file] }).getProject(file);
  if (project === undefined) throw new Error(`There is no project ${config}.`);
  return project.program
    .getSourceFileNames()
    .map((name) => path.relative(projectRoot, name))
    .filter((name) => hasTexts(name) && (below.length === 0 || below.some((each) => isBelow(name, each))))
    .toSorted()
    .flatMap((name) => {
      const source = project.program.getSourceFile(path.join(projectRoot, name));
      return source === undefined ? [] : textsOfFile(name, source);
    });
}

function hasTexts(file: string): boolean {
  return folders.some((folder) => isBelow(file, folder)) && !/\.(?:test|sql|d)\.tsx?$|\/\./.test(file);
}

function isBelow(file: string, folder: string): boolean {
  return !path.relative(folder, file).startsWith('..');
}

function textsOfFile(file: string, source: SourceFile): Text[] {
  const found: Text[] = [];
  const visit = (node: Node): void => {
    if (isImportDeclaration(node) || isLiteralTypeNode(node) || isClass(node)) return;
    const text = textOf(node)?.replaceAll(/\s+/g, ' ').trim();
    if (text !== undefined && twoWords.test(text)) {
      const start = isJsxText(node) ? node.end - node.text.trimStart().length : node.getStart();
      found.push({ file, line: source.getLineAndCharacterOfPosition(start).line + 1, text });
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

function isClass(node: Node): boolean {
  return isJsxAttribute(node) && node.name.getText() === 'class';
}

function textOf(node: Node): string | undefined {
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) || isJsxText(node)) return node.text;
  if (!isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `\${…}${literal.text}`).join('');
}

if (import.meta.main) {
  const texts = textsOf(process.argv.slice(2));
  process.stdout.write(texts.map(({ file, line, text }) => `${file}:${line}: ${text}\n`).join(''));
  process.stderr.write(`${texts.length} texts\n`);
}
