// Finds the plausible changes of a migration: dropped table constraints, dropped triggers, and the changes of any SQL.
// Hides irrelevant changes: plain indexes affect only speed, and changes of old rows find none in a test.
import type { Change } from './candidate.ts';
import { sqlChanges } from './sql.ts';
import { tokensOf, type Token } from './sql-tokens.ts';

/** @param replaced functions that a later migration writes again. */
export function migrationChanges(source: string, replaced: ReadonlySet<string>): Change[] {
  return statementsOf(tokensOf(source, { start: 0, end: source.length })).flatMap((statement) => {
    const words = statement.slice(0, 3).map(({ text }) => text);
    const [start, end] = [statement[0]?.start ?? 0, statement.at(-1)?.end ?? 0];
    if (words[0] !== 'create' && words[0] !== 'alter') return [];
    if (words[1] === 'index') return [];
    if (words.includes('function') && replaced.has(functionName(source.slice(start, end)))) return [];
    const changes = sqlChanges(source, { start, end }).filter(({ operator }) => operator !== 'SQL string');
    if (words[1] === 'trigger') changes.push({ operator: 'SQL trigger dropped', start, end, text: '' });
    if (words[1] === 'unique') changes.push(constraint(statement, 1, 1));
    if (words[1] === 'table') changes.push(...constraintsOf(statement));
    return changes;
  });
}

/** The functions that a migration writes anew. */
export function replacedFunctions(source: string): string[] {
  return [...source.matchAll(/create or replace function ([\w.]+)/gi)].map(([, name = '']) =>
    name.toLowerCase(),
  );
}

function functionName(statement: string): string {
  return /function ([\w.]+)/i.exec(statement)?.[1]?.toLowerCase() ?? '';
}

/** Each statement's tokens, its semicolon last; those of a function's body belong to the statement. */
function statementsOf(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = [[]];
  let isBody = false;
  for (const token of tokens) {
    if (token.kind === 'body') isBody = !isBody;
    statements.at(-1)?.push(token);
    if (token.text === ';' && !isBody) statements.push([]);
  }
  return statements.filter((statement) => statement.length > 0);
}

function constraintsOf(statement: readonly Token[]): Change[] {
  const found: Change[] = [];
  for (const [i, { text, kind }] of statement.entries()) {
    if (kind !== 'word') continue;
    const next = statement[i + 1]?.text;
    if (text === 'not' && next === 'null' && statement[i - 1]?.text !== 'is')
      found.push(constraint(statement, i, i + 1));
    else if (text === 'check' && next === '(')
      found.push(item(statement, named(statement, i), closing(statement, i + 1)));
    else if (text === 'unique') {
      const isPlain = next !== '(' && next !== 'nulls';
      const last = isPlain
        ? i
        : closing(
            statement,
            statement.findIndex((token, j) => j > i && token.text === '('),
          );
      found.push(item(statement, named(statement, i), last));
    } else if (text === 'references')
      found.push(item(statement, foreign(statement, i), referenceEnd(statement, i)));
  }
  return found;
}

function constraint(statement: readonly Token[], first: number, last: number): Change {
  const [from, to] = [statement[first], statement[last]];
  return { operator: 'SQL constraint dropped', start: from?.start ?? 0, end: to?.end ?? 0, text: '' };
}

/** A constraint of a column is removed alone, one of the table with a comma or with the statement that only adds it. */
function item(statement: readonly Token[], first: number, last: number): Change {
  const isAdded = statement[first - 1]?.text === 'add';
  const from = isAdded ? first - 1 : first;
  const [before, after] = [statement[from - 1]?.text, statement[last + 1]?.text];
  if (before === ',') return constraint(statement, from - 1, last);
  if ((before === '(' || isAdded) && after === ',') return constraint(statement, from, last + 1);
  return isAdded ? constraint(statement, 0, statement.length - 1) : constraint(statement, from, last);
}

/** Where a rule begins, its name with it. */
function named(statement: readonly Token[], i: number): number {
  return statement[i - 2]?.text === 'constraint' ? i - 2 : i;
}

/** Where `foreign key (…) references` begins; that of a column begins with its own word. */
function foreign(statement: readonly Token[], i: number): number {
  const { depth = 0, kind } = statement[i - 1] ?? {};
  if (kind !== 'close') return named(statement, i);
  let open = i - 1;
  while (open > 0 && !(statement[open]?.kind === 'open' && statement[open]?.depth === depth)) open -= 1;
  return statement[open - 1]?.text === 'key' ? named(statement, open - 2) : i;
}

function referenceEnd(statement: readonly Token[], i: number): number {
  const { depth } = statement[i] ?? { depth: 0 };
  let last = i + 1;
  for (; last + 1 < statement.length; last += 1) {
    const next = statement[last + 1];
    if (next === undefined || next.depth < depth || (next.depth === depth && /^[,;]$/.test(next.text))) break;
    if (next.depth === depth && /^(check|not|default|unique|primary|constraint)$/.test(next.text)) break;
  }
  return last;
}

function closing(statement: readonly Token[], open: number): number {
  const { depth } = statement[open] ?? { depth: 0 };
  const close = statement.findIndex(
    (token, i) => i > open && token.kind === 'close' && token.depth === depth,
  );
  return close === -1 ? statement.length - 1 : close;
}
