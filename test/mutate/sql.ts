// Finds the plausible changes of SQL statements, and of the Lua scripts that Redis runs. A term is removed whole, with everything
// in its parentheses. A parameter that would be unused stays in a condition that is always true.
import type { Change, Operator } from './candidate.ts';
import { clauses, tokensOf, type Span, type Token } from './sql-tokens.ts';

/** The changes of a statement or of a part of one. */
export function sqlChanges(source: string, span: Span): Change[] {
  const tokens = tokensOf(source, span);
  const found: Change[] = [];
  const replace = (operator: Operator, { start, end }: Token, text: string) =>
    void found.push({ operator, start, end, text });
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'word') found.push(...wordChanges(tokens, i, span));
    if (token.kind === 'number' && isValue(token, tokens[i - 1]))
      for (const text of numberVariants(token.text, isBound(tokens, i))) replace('SQL number', token, text);
    if (token.kind === 'string' && span.isLua !== true) found.push(...stringChanges(tokens, i));
    if (token.kind !== 'operator') continue;
    const bound = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }[token.text];
    if (bound !== undefined) replace('SQL comparison', token, bound);
    const negated = { '=': '<>', '<>': '=', '==': '~=', '~=': '==' }[token.text];
    if (negated === undefined || (token.text === '=' && !isComparison(token, span))) continue;
    replace('SQL comparison', token, negated);
  }
  return found;
}

function wordChanges(tokens: readonly Token[], i: number, span: Span): Change[] {
  const token = at(tokens, i);
  const [before, after] = [at(tokens, i - 1), at(tokens, i + 1)];
  const one = (operator: Operator, from: Token, to: Token, text: string): Change[] => [
    { operator, start: from.start, end: to.end, text },
  ];
  switch (token.text) {
    case 'and':
      if (isBetween(tokens, i)) return [];
      return [...one('SQL and/or', token, token, 'or'), ...droppedTerms(tokens, i, span)];
    case 'or':
      return /^(create|insert|update|delete|truncate)$/.test(before.text)
        ? []
        : one('SQL and/or', token, token, 'and');
    case 'where':
      return droppedWhere(tokens, i);
    case 'is':
      return isChanges(tokens, i);
    case 'not':
      return before.text !== 'is' &&
        before.text !== 'if' &&
        /^(exists|in|like|ilike|any)$|^\($/.test(after.text)
        ? one('SQL null', token, token, '')
        : [];
    case 'max':
    case 'min':
      return after.text === '(' ? one('SQL min/max', token, token, token.text === 'max' ? 'min' : 'max') : [];
    case 'greatest':
    case 'least':
      return one('SQL min/max', token, token, token.text === 'least' ? 'greatest' : 'least');
    case 'asc':
    case 'desc':
      return one('SQL order', token, token, token.text === 'asc' ? 'desc' : 'asc');
    case 'by':
      return before.text === 'order' ? descending(tokens, i) : [];
    case 'union':
      return after.text === 'all'
        ? one('SQL union', token, after, 'union')
        : one('SQL union', token, token, 'union all');
    case 'distinct':
      return /^(is|not)$/.test(before.text) || after.text === 'on'
        ? []
        : one('SQL distinct', token, token, '');
    case 'for':
      return locks(tokens, i);
    default:
      return [];
  }
}

/** `is null`, `is distinct from` and their opposites. */
function isChanges(tokens: readonly Token[], i: number): Change[] {
  const [token, next] = [at(tokens, i), at(tokens, i + 1)];
  const end = next.end;
  if (next.text === 'not' && /^(null|distinct)$/.test(at(tokens, i + 2).text))
    return [{ operator: 'SQL null', start: token.start, end, text: 'is' }];
  if (next.text === 'null' || next.text === 'distinct')
    return [{ operator: 'SQL null', start: token.start, end, text: `is not ${next.text}` }];
  return [];
}

/** Reverses each term of `order by` that states no direction. */
function descending(tokens: readonly Token[], by: number): Change[] {
  const { depth } = at(tokens, by);
  const found: Change[] = [];
  for (let i = by + 1; i <= tokens.length; i += 1) {
    const token = at(tokens, i);
    const ends = token.depth < depth || token.text === '' || endsTerm(token);
    if (token.depth > depth || (!ends && token.text !== ',')) continue;
    const last = at(tokens, i - 1);
    if (last.kind !== 'hole' && last.kind !== 'operator' && !/^(asc|desc|first|last|by)$/.test(last.text))
      found.push({ operator: 'SQL order', start: last.end, end: last.end, text: ' desc' });
    if (ends) break;
  }
  return found;
}

/** `for update`, `for no key update`, `for share`, `skip locked`. */
function locks(tokens: readonly Token[], i: number): Change[] {
  let last = i;
  while (/^(no|key|update|share|of|skip|locked|nowait)$/.test(at(tokens, last + 1).text)) {
    last += at(tokens, last + 1).text === 'of' ? 2 : 1;
  }
  const isLock = tokens.slice(i, last + 1).some(({ text }) => text === 'update' || text === 'share');
  return isLock
    ? [{ operator: 'SQL lock dropped', start: at(tokens, i).start, end: at(tokens, last).end, text: '' }]
    : [];
}

/** The term after an `and`, and the one before it if that is the first. */
function droppedTerms(tokens: readonly Token[], and: number, { isLua = false }: Span): Change[] {
  const token = at(tokens, and);
  if (isLua && token.clause !== 'if' && token.clause !== 'elseif') return [];
  const last = termEnd(tokens, and);
  const found: Change[] = [];
  if (last > and) found.push(dropped(tokens, [and, last], [and + 1, last], 'and '));
  const first = termStart(tokens, and);
  if (first < and && /^(where|on|having|when|if|elsif|elseif|\()$/.test(at(tokens, first - 1).text))
    found.push(dropped(tokens, [first, and], [first, and - 1], '', ' and'));
  return found;
}

/** A condition of a single term. */
function droppedWhere(tokens: readonly Token[], where: number): Change[] {
  const last = termEnd(tokens, where);
  const next = at(tokens, last + 1);
  if (last === where || next.text === 'and' || next.text === 'or') return [];
  const change = dropped(tokens, [where, last], [where + 1, last], 'where ');
  const isFilter = at(tokens, where).opener === 'filter'; // it has no brackets without a WHERE
  return [isFilter && change.text === '' ? { ...change, text: 'where true' } : change];
}

/** @param all the tokens to go; @param term those of them that are the term. */
function dropped(
  tokens: readonly Token[],
  all: readonly [number, number],
  term: readonly [number, number],
  before: string,
  after = '',
): Change {
  const parameters = tokens.slice(term[0], term[1] + 1).filter(({ kind }) => kind === 'parameter');
  const others = [...tokens.slice(0, term[0]), ...tokens.slice(term[1] + 1)];
  // PostgreSQL refuses a value without a parameter.
  const lost = parameters
    .filter(({ text }) => !others.some((other) => other.text === text))
    .map(({ text }) => text);
  const nullChecks = [...new Set(lost)].map((text) => `${text}::text is null`).join(' or ');
  return {
    operator: 'SQL term dropped',
    start: at(tokens, all[0]).start,
    end: at(tokens, all[1]).end,
    text: nullChecks === '' ? '' : `${before}(${nullChecks} or true)${after}`,
  };
}

/** The last token of the term that begins behind a token. */
function termEnd(tokens: readonly Token[], from: number): number {
  const { depth } = at(tokens, from);
  let i = from + 1;
  let cases = 0;
  for (; i < tokens.length; i += 1) {
    const token = at(tokens, i);
    if (token.depth < depth) break;
    if (token.depth > depth) continue;
    if (token.text === 'case') cases += 1;
    else if (token.text === 'end' && cases > 0) cases -= 1;
    else if (cases === 0 && (token.text === 'or' || (token.text === 'and' && !isBetween(tokens, i)))) break;
    else if (cases === 0 && (token.text === ',' || endsTerm(token)) && !isDistinctFrom(tokens, i)) break;
  }
  return i - 1;
}

function termStart(tokens: readonly Token[], and: number): number {
  const { depth } = at(tokens, and);
  let i = and - 1;
  for (; i >= 0; i -= 1) {
    const token = at(tokens, i);
    if (token.kind === 'open' && token.depth < depth) break;
    if (token.depth > depth) continue;
    if (token.text === 'or' || (token.text === 'and' && !isBetween(tokens, i)) || token.text === ',') break;
    if (endsTerm(token) && !isDistinctFrom(tokens, i)) break;
  }
  return i + 1;
}

function endsTerm({ kind, text }: Token): boolean {
  return (kind === 'word' && clauses.has(text)) || text === ';' || kind === 'body';
}

/** `is distinct from` has a FROM that begins no clause. */
function isDistinctFrom(tokens: readonly Token[], i: number): boolean {
  return at(tokens, i).text === 'from' && at(tokens, i - 1).text === 'distinct';
}

/** Whether an `and` belongs to a `between`. */
function isBetween(tokens: readonly Token[], and: number): boolean {
  const { depth } = at(tokens, and);
  for (let i = and - 1; i >= 0; i -= 1) {
    const token = at(tokens, i);
    if (token.depth < depth) return false;
    if (token.depth > depth) continue;
    if (token.text === 'between') return true;
    if (token.text === 'and' || token.text === 'or' || token.text === ',' || endsTerm(token)) return false;
  }
  return false;
}

/** Whether `=` compares: it assigns in SET and in Lua. */
function isComparison({ clause, opener }: Token, { isLua = false }: Span): boolean {
  return !isLua && clause !== 'set' && clause !== 'declare' && clause !== 'default' && opener !== 'with';
}

const sized = /^(numeric|decimal|char|varchar|timestamp|timestamptz|time|bit)$/;

/** Whether a number is a value, not a place of a column or the size of a type. */
function isValue({ clause, opener }: Token, before: Token | undefined): boolean {
  return !sized.test(opener) && clause !== 'order' && clause !== 'group' && before?.text !== '.';
}

function stringChanges(tokens: readonly Token[], i: number): Change[] {
  const { text, start, end } = at(tokens, i);
  const [before, after] = [at(tokens, i - 1), at(tokens, i + 1)];
  const isInterval =
    before.text === 'interval' || (after.text === '::' && at(tokens, i + 2).text === 'interval');
  const number = /\d+/.exec(text);
  if (isInterval) {
    if (number === null) return [];
    const from = start + number.index;
    return numberVariants(number[0], false).map((variant) => {
      return { operator: 'SQL number', start: from, end: from + number[0].length, text: variant };
    });
  }
  return /^'[a-z_]{2,}'$/.test(text)
    ? [{ operator: 'SQL string', start: end - 1, end: end - 1, text: 'x' }]
    : [];
}

/** Whether a number itself, not an expression of it, is compared or limits the rows. */
function isBound(tokens: readonly Token[], i: number): boolean {
  const [before, after] = [at(tokens, i - 1).text, at(tokens, i + 1).text];
  if (/^[-+*/]$/.test(before) || /^[-+*/]$/.test(after)) return false;
  if (/^[<>]=?$/.test(before) || /^[<>]=?$/.test(after)) return true;
  return before === 'limit' || before === 'between' || (before === 'and' && isBetween(tokens, i - 1));
}

/**
 * Plausible mistakes for a number: ten times as much, or one more; 0 and 1 are swapped. From 100 on only a bound is
 * off by one, and any other number has lost a digit: nobody writes 3601 for 3600, and no test should notice it.
 */
export function numberVariants(raw: string, isABound: boolean): string[] {
  const value = Number(raw.replaceAll('_', ''));
  if (!Number.isSafeInteger(value)) return Number.isFinite(value) ? [String(value * 10)] : [];
  if (value === 0) return ['1'];
  if (value === 1) return ['0', '2'];
  const near = value < 100 || isABound ? value + 1 : Math.trunc(value / 10);
  return [String(near), String(value * 10)];
}

const nothing: Token = { kind: 'operator', text: '', start: 0, end: 0, depth: 0, clause: '', opener: '' };

function at(tokens: readonly Token[], i: number): Token {
  return tokens[i] ?? nothing;
}
