// Finds where a source file reaches behind the public API of a package, of Node or of the browser. Hides how the compiler is asked whose a type is.
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import type { Project, Symbol, Type } from 'typescript/unstable/sync';
import {
  isAsExpression,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isExportDeclaration,
  isIdentifier,
  isImportDeclaration,
  isMethodDeclaration,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isStringLiteral,
  isTemplateExpression,
  SyntaxKind,
  type AsExpression,
  type Expression,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';

/** One place. */
export interface Reach {
  /** Relative to the project's root. */
  file: string;
  kind: 'import' | 'private name' | 'cast' | 'overwritten' | 'foreign table' | 'internals';
  /** The private API, in a few words. */
  what: string;
}

/** @param root of the project, with its packages. */
export function reachesOf(project: Project, file: SourceFile, root: string): Reach[] {
  const found: Reach[] = [];
  const name = path.relative(root, file.fileName);
  const types = new Types(project, root);
  const visit = (node: Node): void => {
    for (const [kind, what] of [
      ['import', behindEntry(node, root)],
      ['private name', privateName(node)],
      ['cast', castOfForeign(node, types)],
      ['overwritten', overwritten(node, types)],
      ['foreign table', foreignTable(node)],
      ['internals', internals(node)],
    ] as const)
      if (what !== undefined) found.push({ file: name, kind, what });
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

/** Imports by a path for which the package has no entry, or from an internal module of Node. */
function behindEntry(node: Node, root: string): string | undefined {
  const specifier = specifierOf(node);
  if (specifier === undefined) return undefined;
  if (/^(?:node:)?_/.test(specifier)) return specifier;
  if (/^[./]/.test(specifier) || isBuiltin(specifier)) return undefined;
  const [, pack = '', inside] = /^((?:@[^/]+\/)?[^/]+)(\/.+)?$/.exec(specifier) ?? [];
  if (inside === undefined) return undefined;
  const manifest = path.join(root, 'node_modules', pack, 'package.json');
  if (!existsSync(manifest)) return undefined; // of the project, or not installed: the compiler says so
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { exports?: unknown };
  return exports === undefined ? specifier : undefined; // Node resolves only exported paths
}

/** Of an import, or of a function that resolves like one. */
function specifierOf(node: Node): string | undefined {
  if (isImportDeclaration(node) || isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (!isCallExpression(node)) return undefined;
  const called = node.expression.getText();
  const isImport =
    node.expression.kind === SyntaxKind.ImportKeyword || /(?:^|\.)(?:require|resolve)$/.test(called);
  return isImport && !called.startsWith('path.') ? textOf(node.arguments[0]) : undefined;
}

/** The methods that a class implements for a stream of Node's: by its documentation nobody may call them. */
const ofStreams = /^_(?:construct|read|write|writev|final|destroy|transform|flush)$/;

/** A property whose name says that it is private: we have none of the kind. */
function privateName(node: Node): string | undefined {
  const name = isPropertyAccessExpression(node)
    ? node.name.getText()
    : isElementAccessExpression(node)
      ? textOf(node.argumentExpression)
      : isBindingElement(node)
        ? (node.propertyName ?? (isInObject(node) ? node.name : undefined))?.getText()
        : isPropertySignatureDeclaration(node) || isPropertyDeclaration(node) || isMethodDeclaration(node)
          ? node.name.getText()
          : undefined;
  if (name === undefined || !/^_(?!_)/.test(name)) return undefined;
  return isMethodDeclaration(node) && ofStreams.test(name) ? undefined : name;
}

const isInObject = (node: Node): boolean => node.parent.kind === SyntaxKind.ObjectBindingPattern;

/** A value of another's type that is taken for one of ours, against the compiler or with more properties: those are not public. */
function castOfForeign(node: Node, types: Types): string | undefined {
  if (!isAsExpression(node) || node.parent.kind === SyntaxKind.AsExpression) return undefined;
  const given = types.at(innermost(node));
  const castTo = types.at(node);
  if (given === undefined || castTo === undefined || !types.isForeign(given)) return undefined;
  const parts = given.isUnionType() ? given.getTypes() : [given];
  const known = new Set(parts.flatMap((each) => types.properties(each).map(({ name }) => name)));
  const isForced = isAsExpression(node.expression);
  const added = types
    .properties(castTo)
    .filter((each) => types.isOurs(each) && (isForced || !known.has(each.name)));
  if (added.length === 0) return undefined;
  return `${types.nameOf(given)} with ${added.map(({ name }) => name).join(', ')}`;
}

function innermost(node: AsExpression): Expression {
  return isAsExpression(node.expression) ? innermost(node.expression) : node.expression;
}

/** A method of another's class or object that is replaced, a prototype that is changed or read from. */
function overwritten(node: Node, types: Types): string | undefined {
  if (isPropertyAccessExpression(node) && node.name.getText() === 'prototype') {
    const type = types.at(node);
    return type !== undefined && types.isForeign(type) ? node.getText() : undefined;
  }
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.EqualsToken) {
    const target = node.left;
    if (!isPropertyAccessExpression(target)) return undefined;
    return methodOf(types, target.expression, target.name.getText());
  }
  if (!isCallExpression(node)) return undefined;
  const called = node.expression.getText();
  const [target, second] = node.arguments;
  if (target === undefined) return undefined;
  if (/^(?:Object|Reflect)\.setPrototypeOf$/.test(called)) return node.getText();
  if (/^(?:Object|Reflect)\.defineProperty$/.test(called))
    return methodOf(types, target, textOf(second) ?? '');
  if (called !== 'Object.assign' || second === undefined) return undefined;
  const names = isObjectLiteralExpression(second)
    ? second.properties.flatMap((each) =>
        'name' in each && each.name !== undefined ? [each.name.getText()] : [],
      )
    : [];
  for (const name of names) {
    const what = methodOf(types, target, name);
    if (what !== undefined) return what;
  }
  return undefined;
}

/** The name of a method that another's type declares as one. */
function methodOf(types: Types, target: Node, name: string): string | undefined {
  const type = types.at(target);
  if (type === undefined || !types.isForeign(type)) return undefined;
  const method = types.properties(type).find((each) => each.name === name);
  return method !== undefined && types.isMethod(method) ? `${types.nameOf(type)}.${name}` : undefined;
}

/** The schemas that are others': pg-boss has jobs. */
const foreignTables = /\b(?:jobs|pgboss)\.(?:bam|job|queue|schedule|subscription|version|warning)\w*\b/i;

function foreignTable(node: Node): string | undefined {
  const text = isTemplateExpression(node) ? node.getText() : textOf(node);
  return text === undefined ? undefined : foreignTables.exec(text)?.[0];
}

/** Words that access internals of Node, of undici or of a class, even if the types allow it. */
const insides =
  /^(?:getOwnPropertySymbols|binding|_linkedBinding|internalBinding|ERR_ASSERTION|ERR_INTERNAL_ASSERTION)$/;

function internals(node: Node): string | undefined {
  const isName = isIdentifier(node) && isPropertyAccessExpression(node.parent) && node.parent.name === node;
  const text = isName ? node.getText() : textOf(node);
  if (text === undefined || !insides.test(text)) return undefined;
  if (text === 'binding' && !/\bprocess\b/.test(node.parent.getText())) return undefined;
  return text;
}

function textOf(node: Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) ? node.text : undefined;
}

/** Whose types are. */
class Types {
  readonly #project: Project;
  readonly #root: string;

  constructor(project: Project, root: string) {
    this.#project = project;
    this.#root = root;
  }

  at(node: Node): Type | undefined {
    return this.#project.checker.getTypeAtLocation(node);
  }

  nameOf(type: Type): string {
    return type.getSymbol()?.name ?? this.#project.checker.typeToString(type);
  }

  properties(type: Type): readonly Symbol[] {
    const { checker } = this.#project;
    return checker.getPropertiesOfType(checker.getNonNullableType(type) ?? type);
  }

  /** Of a package, of Node or of the browser; the values of the language itself are data. */
  isForeign(type: Type): boolean {
    const { checker } = this.#project;
    const all = type.isIntersectionType() || type.isUnionType() ? type.getTypes() : [type];
    return all.some((each) => {
      const where = this.#whereIs((checker.getNonNullableType(each) ?? each).getSymbol());
      return (
        where !== undefined && where.includes('/node_modules/') && !/\/lib\.es[\w.]*\.d\.ts$/.test(where)
      );
    });
  }

  isOurs(symbol: Symbol): boolean {
    const where = this.#whereIs(symbol);
    return (
      where !== undefined && where.startsWith(this.#root.toLowerCase()) && !where.includes('/node_modules/')
    );
  }

  isMethod(symbol: Symbol): boolean {
    const kind = symbol.declarations[0]?.kind;
    return kind === SyntaxKind.MethodDeclaration || kind === SyntaxKind.MethodSignature;
  }

  #whereIs(symbol: Symbol | undefined): string | undefined {
    const where = symbol?.declarations[0]?.path;
    return where === undefined ? undefined : String(where).toLowerCase();
  }
}
