// Reads SQL, or Lua as Redis runs it, into tokens with their place, their depth in parentheses and their clause.
// Hides comments, quoting and the expressions of a TypeScript template.

export interface Token {
  kind: 'word' | 'number' | 'string' | 'operator' | 'open' | 'close' | 'parameter' | 'hole' | 'body';
  /** Words in lower case. */
  text: string;
  start: number;
  end: number;
  depth: number;
  /** The last word of `clauses` before it at its depth; '' if there is none. */
  clause: string;
  /** The word before its parenthesis; '' outside parentheses. */
  opener: string;
}

export interface Span {
  start: number;
  end: number;
  /** `${…}` of a template. */
  holes?: readonly { start: number; end: number }[];
  isLua?: boolean;
}

/** Words that end a condition or a list of columns. */
export const clauses: ReadonlySet<string> = new Set(
  (
    'select from where on group order having limit offset union except intersect returning set values using window fetch for ' +
    'join left right inner outer cross full natural when then else end case if elsif loop while do begin declare ' +
    'insert update delete create alter drop with as execute default return raise conflict filter over elseif local'
  ).split(' '),
);

const patterns: [kind: Token['kind'] | 'nothing', pattern: RegExp][] = [
  ['nothing', /\s+|--[^\n]*|\/\*[^]*?\*\//y],
  ['string', /[eE]?'(?:[^']|'')*'/y],
  ['word', /"(?:[^"]|"")*"/y],
  ['body', /\$[a-zA-Z_]*\$/y],
  ['parameter', /\$\d+/y],
  ['number', /\d[\d_]*(?:\.\d+)?/y],
  ['word', /[A-Za-z_][\w$]*/y],
  ['open', /[([]/y],
  ['close', /[)\]]/y],
  ['operator', /::|:=|<=|>=|<>|!=|==|~=|->>|->|#>>|@>|<@|\|\||=>|&&|\.\.|[^]/y],
];

/** The tokens of a part of a text. */
export function tokensOf(source: string, { start, end, holes = [] }: Span): Token[] {
  const tokens: Token[] = [];
  const scopes: { clause: string; opener: string }[] = [{ clause: '', opener: '' }];
  let at = start;
  while (at < end) {
    const { kind, length } = next(source, at, holes);
    if (kind !== 'nothing') {
      const text = source.slice(at, at + length);
      if (kind === 'close' && scopes.length > 1) scopes.pop();
      const scope = scopes.at(-1) ?? { clause: '', opener: '' };
      const token = { kind, text: kind === 'word' ? text.toLowerCase() : text, start: at, end: at + length };
      tokens.push({ ...token, depth: scopes.length, ...scope });
      if (kind === 'word' && clauses.has(token.text)) scope.clause = token.text;
      if (text === ';' || kind === 'body') scope.clause = '';
      if (kind === 'open') {
        const before = tokens.at(-2);
        scopes.push({ clause: '', opener: before?.kind === 'word' ? before.text : '' });
      }
    }
    at += length;
  }
  return tokens;
}

function next(
  source: string,
  at: number,
  holes: readonly { start: number; end: number }[],
): { kind: Token['kind'] | 'nothing'; length: number } {
  const hole = holes.find(({ start }) => start === at || (source[at] === '$' && start === at + 1));
  if (hole !== undefined) return { kind: hole.start === at ? 'hole' : 'parameter', length: hole.end - at };
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) return { kind, length: found[0].length };
  }
  return { kind: 'operator', length: 1 };
}
