// Finds the plausible changes of a TypeScript file. Types are blanked out by Node's own stripping, which keeps every offset;
// acorn parses the remaining text. Hides which text is relevant: messages, log lines and imports are not changed.
import { stripTypeScriptTypes } from 'node:module';
import {
  parse,
  type AnyNode,
  type Expression,
  type Literal,
  type SpreadElement,
  type TemplateLiteral,
} from 'acorn';
import type { Change, Operator } from './candidate.ts';
import { numberVariants, sqlChanges } from './sql.ts';

/** @throws SyntaxError where the text is no program that Node would run. */
export function parseTypeScript(source: string): { program: AnyNode; bare: string } {
  const stripped = stripTypeScriptTypes(source);
  const comments: [number, number][] = [];
  const program = parse(stripped, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowHashBang: true,
    preserveParens: true,
    onComment: (_block, _text, start, end) => comments.push([start, end]),
  });
  const bare = comments
    .map(([start, end], i) => {
      const code = stripped.slice(comments[i - 1]?.[1] ?? 0, start);
      return code + stripped.slice(start, end).replace(/[^\n]/g, ' ');
    })
    .concat(stripped.slice(comments.at(-1)?.[1] ?? 0))
    .join('');
  return { program, bare };
}

/** All changes of a file, in no order. @param isSql whether its strings are SQL. */
export function typescriptChanges(source: string, isSql: boolean): Change[] {
  const { program, bare } = parseTypeScript(source);
  const finder = new Finder(source, bare, isSql);
  finder.clientInfo(program, []);
  return finder.changes;
}

const messageKeys = /^(message|error|description|summary|usage|help|detail|meaning|reason|title)$/;
const logMethods = /^(trace|debug|info|warn|error|fatal|log)$/;
/** A term of a WHERE that is handed on: `p.date <= …`. */
const isCondition = /^\(?\w+\.\w+ (?:=|<>|<=?|>=?|is|in|@>|~) /;

/** Properties without which a statement does not run, and those that only a log shows. */
const unneeded = /^(bind|replacements|type|cause)$/;
const links =
  /^(filter|trim|toLowerCase|toUpperCase|sort|toSorted|reverse|toReversed|min|max|int|refine|regex|positive|nonnegative|length)$/;

class Finder {
  readonly changes: Change[] = [];
  readonly #source: string;
  readonly #bare: string;
  readonly #isSql: boolean;
  /** The names that bound schemas: `.max(batchMax)`, `idsParam('city', citiesMax)`. */
  readonly #bounds: ReadonlySet<string>;

  constructor(source: string, bare: string, isSql: boolean) {
    this.#source = source;
    this.#bare = bare;
    this.#isSql = isSql;
    const uses = bare.matchAll(/(?:\.(?:max|min|length)\(|\w+Param\((?:[^()]*, )?)(\w+)\)/g);
    this.#bounds = new Set([...uses].map(([, name = '']) => name));
  }

  /** @param above the nodes around this one, the nearest last. */
  clientInfo(node: AnyNode, above: readonly AnyNode[]): void {
    if (isImport(node) || isLogCall(node)) return;
    if (isMessage(node, above)) return;
    this.#changesOf(node, above);
    for (const child of childrenOf(node)) this.clientInfo(child, [...above, node]);
  }

  #add(operator: Operator, start: number, end: number, text: string): void {
    this.changes.push({ operator, start, end, text });
  }

  #changesOf(node: AnyNode, above: readonly AnyNode[]): void {
    switch (node.type) {
      case 'BinaryExpression':
        return this.#binary(node.operator, node.left as Expression, node.right);
      case 'LogicalExpression':
        return this.#logical(node.operator, node.left, node.right);
      case 'IfStatement': {
        const { start, end } = unwrapped(node.test);
        this.#add('condition fixed', start, end, 'true');
        return this.#add('condition fixed', start, end, 'false');
      }
      case 'ConditionalExpression': {
        const { consequent: yes, alternate: no } = node;
        const text = this.#text(no) + this.#source.slice(yes.end, no.start) + this.#text(yes);
        return this.#add('arms swapped', yes.start, no.end, text);
      }
      case 'UnaryExpression':
        if (node.operator === '!') this.#add('negation dropped', node.start, node.start + 1, '');
        return;
      case 'AssignmentExpression':
        return this.#assignment(node.operator, node.left.end, node.right, above);
      case 'ExpressionStatement':
        return this.#statement(node.expression, node.start, node.end);
      case 'CallExpression':
        return this.#call(node.callee, node.arguments, node.end);
      case 'NewExpression':
        return this.#swaps(node.arguments);
      case 'ObjectExpression':
        for (const property of node.properties) {
          if (property.type === 'SpreadElement' || isArgument(above))
            this.#dropped('property dropped', property);
        }
        return;
      case 'ArrayExpression':
        if (node.elements.length > 1 && !isBound(above))
          for (const element of node.elements)
            if (element !== null) this.#dropped('element dropped', element);
        return;
      case 'Literal':
        return this.#literal(node, above);
      case 'TemplateLiteral':
        return this.#template(node);
      default:
    }
  }

  #binary(operator: string, left: Expression, right: Expression): void {
    const to = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }[operator];
    const at = this.#bare.indexOf(operator, left.end);
    const end = at + operator.length;
    if (to !== undefined) this.#add('comparison bound', at, end, to);
    const negated = { '===': '!==', '!==': '===', '==': '!=', '!=': '==' }[operator];
    if (negated !== undefined) this.#add('comparison negated', at, end, negated);
    const other = { '+': '-', '-': '+', '*': '/', '/': '*' }[operator];
    if (other !== undefined && !isText(left) && !isText(right)) this.#add('arithmetic', at, end, other);
  }

  #logical(operator: string, left: Expression, right: Expression): void {
    if (operator === '??') return this.#add('fallback dropped', left.end, right.end, '');
    const at = this.#bare.indexOf(operator, left.end);
    this.#add('and/or', at, at + 2, operator === '&&' ? '||' : '&&');
  }

  #assignment(operator: string, from: number, right: Expression, above: readonly AnyNode[]): void {
    if ((operator !== '+=' && operator !== '-=') || isText(right)) return;
    if (above.at(-1)?.type === 'ForStatement') return; // would never end
    const at = this.#bare.indexOf(operator, from);
    this.#add('arithmetic', at, at + 2, operator === '+=' ? '-=' : '+=');
  }

  #statement(expression: Expression, start: number, end: number): void {
    const inner = expression.type === 'AwaitExpression' ? expression.argument : expression;
    const acts =
      (inner.type === 'CallExpression' && inner.callee.type !== 'Super' && !isLogCall(inner)) ||
      (inner.type === 'AssignmentExpression' && inner.left.type === 'MemberExpression') ||
      (inner.type === 'UnaryExpression' && inner.operator === 'delete');
    if (acts) this.#add('statement dropped', start, end, ';');
  }

  #call(callee: AnyNode, args: readonly (Expression | SpreadElement)[], end: number): void {
    this.#swaps(args);
    for (const arg of args) if (arg.type === 'SpreadElement') this.#dropped('property dropped', arg);
    if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
    const { name, start } = callee.property;
    if (callee.object.type === 'Identifier' && callee.object.name === 'Math') {
      if (name === 'max' || name === 'min')
        this.#add('min/max', start, start + 3, name === 'max' ? 'min' : 'max');
      return;
    }
    if (name === 'some') this.#add('some/every', start, start + 4, 'every');
    if (name === 'every') this.#add('some/every', start, start + 5, 'some');
    if (!links.test(name)) return;
    const dot = this.#bare.lastIndexOf('.', start);
    const from = this.#bare[dot - 1] === '?' ? dot - 1 : dot;
    this.#add('link dropped', from, end, '');
  }

  #swaps(args: readonly (Expression | SpreadElement)[]): void {
    for (const [i, left] of args.entries()) {
      const right = args[i + 1];
      if (left.type !== 'Identifier' || right?.type !== 'Identifier' || left.name === right.name) continue;
      const text = right.name + this.#source.slice(left.end, right.start) + left.name;
      this.#add('arguments swapped', left.start, right.end, text);
    }
  }

  /** Removes an element of a list, with the comma after or before it. */
  #dropped(operator: Operator, { start, end }: AnyNode): void {
    const next = skipBlank(this.#bare, end);
    if (this.#bare[next] === ',') return this.#add(operator, start, next + 1, '');
    let before = start - 1;
    while (/\s/.test(this.#bare[before] ?? '')) before -= 1;
    this.#add(operator, this.#bare[before] === ',' ? before : start, next, '');
  }

  #literal(node: Literal, above: readonly AnyNode[]): void {
    const { start, end, value, raw = '' } = node;
    if (typeof value === 'boolean') return this.#add('boolean', start, end, String(!value));
    if (typeof value === 'number')
      for (const text of numberVariants(raw, this.#isBound(node, above)))
        this.#add('number', start, end, text);
    if (node.regex !== undefined && node.regex !== null) return this.#anchors(start, raw);
    if (typeof value !== 'string' || isKey(node, above)) return;
    if (this.#isSql && isSqlText(value)) {
      if (!raw.includes('\\'))
        this.changes.push(...sqlChanges(this.#source, { start: start + 1, end: end - 1 }));
    } else if (value !== '' && !isProse(value)) {
      this.#add('string', end - 1, end - 1, 'x');
    }
  }

  /** Whether a number is compared, or bounds a schema: there, or by the name that it is given. */
  #isBound(node: Literal, above: readonly AnyNode[]): boolean {
    const parent = above.at(-1);
    if (parent?.type === 'BinaryExpression') return /^[<>]=?$/.test(parent.operator);
    if (parent?.type === 'VariableDeclarator') return this.#bounds.has(nameOf(parent.id));
    return parent?.type === 'CallExpression' && parent.arguments.includes(node) && isOfSchema(parent.callee);
  }

  #anchors(start: number, raw: string): void {
    const last = raw.lastIndexOf('/');
    if (raw.startsWith('/^') && last > 2) this.#add('regex anchor', start + 1, start + 2, '');
    if (raw[last - 1] === '$' && raw[last - 2] !== '\\' && last > 2)
      this.#add('regex anchor', start + last - 1, start + last, '');
  }

  #template({ start, end, quasis }: TemplateLiteral): void {
    const text = quasis.map((quasi) => quasi.value.raw).join(' … ');
    const holes = quasis.slice(1).map((quasi, i) => ({ start: quasis[i]?.end ?? 0, end: quasi.start }));
    const isLua = text.includes('redis.call');
    if (isLua || isCondition.test(text) || (this.#isSql && isSqlText(text))) {
      this.changes.push(...sqlChanges(this.#source, { start: start + 1, end: end - 1, holes, isLua }));
    } else if (!this.#isSql && !isSentence(text)) {
      if (holes.length > 1 || /\S/.test(text))
        for (const hole of holes) this.#add('template part dropped', hole.start, hole.end, '');
    }
  }

  #text({ start, end }: AnyNode): string {
    return this.#source.slice(start, end);
  }
}

function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flat()
    .filter((value: unknown) => isNode(value));
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function unwrapped(node: Expression): Expression {
  return node.type === 'ParenthesizedExpression' ? unwrapped(node.expression) : node;
}

function isImport(node: AnyNode): boolean {
  if (node.type === 'ExportNamedDeclaration') return node.source !== null && node.source !== undefined;
  return ['ImportDeclaration', 'ImportExpression', 'ExportAllDeclaration'].includes(node.type);
}

function isLogCall(node: AnyNode): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { object, property } = node.callee;
  const on =
    object.type === 'Identifier'
      ? object.name
      : object.type === 'MemberExpression'
        ? nameOf(object.property)
        : '';
  return /^(log|logger|console)$/i.test(on) && logMethods.test(nameOf(property));
}

/** Whether a node is the text of a failure for people: of an Error, the second argument of `fail`, `message: …`. */
function isMessage(node: AnyNode, above: readonly AnyNode[]): boolean {
  const parent = above.at(-1);
  if (parent?.type === 'NewExpression' && /(Error|Failure|Fault)$/.test(nameOf(parent.callee)))
    return node === parent.arguments[0] && isText(node);
  if (parent?.type === 'CallExpression' && nameOf(parent.callee) === 'fail')
    return node === parent.arguments[1];
  return (
    parent?.type === 'Property' &&
    node === parent.value &&
    isText(node) &&
    messageKeys.test(nameOf(parent.key))
  );
}

/** `….max(…)`, `….min(…)`, `….length(…)` of a schema, and `integerParam(…)`. */
function isOfSchema(callee: AnyNode): boolean {
  if (callee.type !== 'MemberExpression') return nameOf(callee).endsWith('Param');
  return nameOf(callee.object) !== 'Math' && /^(max|min|length)$/.test(nameOf(callee.property));
}

function nameOf(node: AnyNode): string {
  return node.type === 'Identifier' || node.type === 'PrivateIdentifier' ? node.name : '';
}

function isText(node: AnyNode): boolean {
  if (node.type === 'ParenthesizedExpression') return isText(node.expression);
  if (node.type === 'ConditionalExpression') return isText(node.consequent) || isText(node.alternate);
  if (node.type === 'BinaryExpression' && node.operator === '+')
    return isText(node.left) || isText(node.right);
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

function isKey(node: AnyNode, above: readonly AnyNode[]): boolean {
  const parent = above.at(-1);
  return parent?.type === 'Property' && parent.key === node && !parent.computed;
}

/** Whether an object is handed to a call, itself or within one that is. */
function isArgument(above: readonly AnyNode[]): boolean {
  const outer = above.findLast(
    (node) => !/^(Property|ObjectExpression|ParenthesizedExpression)$/.test(node.type),
  );
  return outer?.type === 'CallExpression' || outer?.type === 'NewExpression';
}

/** Whether a list is destructured, or has the values of a statement: nothing works if one of them is missing. */
function isBound(above: readonly AnyNode[]): boolean {
  const parent = above.at(-1);
  if (parent?.type === 'VariableDeclarator') return parent.id.type === 'ArrayPattern';
  if (parent?.type === 'Property') return unneeded.test(nameOf(parent.key));
  if (parent?.type !== 'CallExpression' || parent.callee.type !== 'MemberExpression') return false;
  return nameOf(parent.callee.property) === 'query';
}

/** Sentences are for people; text that a program compares or sends never has two adjacent words. */
function isProse(text: string): boolean {
  return /[A-Za-z]{2,} [A-Za-z]{2,}/.test(text) || /[a-z][.:?!]\s*$/.test(text);
}

/** The same of a text with holes: two words, or one between two holes. */
function isSentence(text: string): boolean {
  const words = text.split(/\s+/);
  const plain = words.filter((word) => /^[A-Za-z]{2,}[.,:;]?$/.test(word)).length;
  return isProse(text) || plain > 1 || (plain === 1 && words.filter((word) => word === '…').length > 1);
}

function isSqlText(text: string): boolean {
  return (
    /\b(select|insert|update|delete|from|where|and|or|order by|join|is null|is not null|values|coalesce|exists|any|case)\b/i.test(
      text,
    ) || /[<>=]/.test(text)
  );
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}
