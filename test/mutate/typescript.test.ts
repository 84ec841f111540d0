// The changes of TypeScript, and code that is never changed.
import test from 'ava';
import fc from 'fast-check';
import { projectRoot } from '../../kernel/project.ts';
import { applied, type Candidate } from './candidate.ts';
import { candidatesIn, candidatesOf, createDraw, defaultFolders, isProgram } from './draw.ts';

const { sourceOf } = createDraw(projectRoot, [], 0);
const all = candidatesIn(projectRoot, defaultFolders);
const anyCandidate = fc.integer({ min: 0, max: all.length - 1 }).map((i) => all[i] as Candidate);

/** The texts that the changes of a file make. */
function changed(source: string, file = 'kernel/some.ts'): string[] {
  return candidatesOf(file, source).map((candidate) => applied(source, candidate));
}

test('each change of the project gives another program', (t) => {
  fc.assert(
    fc.property(anyCandidate, (candidate) => isProgram(candidate, sourceOf(candidate.file))),
    { numRuns: 200 },
  );
  t.true(all.length > 1_000);
});

test('no change is in a comment or an import', (t) => {
  for (const candidate of all.filter(({ file }) => file.endsWith('.ts'))) {
    const { file, start } = candidate;
    const source = sourceOf(file);
    const line = source.slice(source.lastIndexOf('\n', start - 1) + 1, start + 1);
    if (/^\s*(\/\/|\/?\*|import\b)/.test(line)) t.fail(`${file}: ${line}`);
  }
  t.pass();
});

test('the same seed gives the same changes, and no two of one line', (t) => {
  const draw = (seed: number) => createDraw(projectRoot, ['kernel', 'migrations'], seed).first(20);
  t.deepEqual(draw(3), draw(3));
  t.notDeepEqual(draw(3), draw(4));
  t.is(draw(3).length, 20);
});

test('changes are drawn from every folder in proportion to its possible changes', (t) => {
  const folders = createDraw(projectRoot, defaultFolders, 1)
    .first(70)
    .map(({ file }) => file.split('/')[0]);
  for (const folder of defaultFolders) t.true(folders.includes(folder), folder);
  t.is(folders.length, 70);
});

const examples: [source: string, ...made: string[]][] = [
  ['if (a < b) c();', 'if (a <= b) c();', 'if (true) c();', 'if (false) c();', 'if (a < b) ;'],
  ['const x = a === b;', 'const x = a !== b;'],
  ['const x = (a as number) >= /* >= */ b;', 'const x = (a as number) > /* >= */ b;'],
  ['const x = a && !b;', 'const x = a || !b;', 'const x = a && b;'],
  ['const x = a ? b : c;', 'const x = a ? c : b;'],
  ['const x = a ?? b;', 'const x = a;'],
  ['const x = f(a, b);', 'const x = f(b, a);'],
  ['const x = f({ a, b: c as D, });', 'const x = f({  b: c as D, });', 'const x = f({ a,  });'],
  ['const x = f({ a, b: c as D });', 'const x = f({  b: c as D });', 'const x = f({ a});'],
  ['const x = { a, ...b };', 'const x = { a};'],
  ['const x = [a, b];', 'const x = [ b];', 'const x = [a];'],
  ['const x = a?.filter(b).c;', 'const x = a.c;'],
  ['const x = Math.max(a);', 'const x = Math.min(a);'],
  ['const x = a.some(b);', 'const x = a.every(b);'],
  ['const x = 5;', 'const x = 6;', 'const x = 50;'],
  ['const x = 99;', 'const x = 100;', 'const x = 990;'],
  ['const x = 1_234;', 'const x = 123;', 'const x = 12340;'],
  ['const x = { a: 100 };', 'const x = { a: 10 };', 'const x = { a: 1000 };'],
  ['const x = a <= 500;', 'const x = a < 500;', 'const x = a <= 501;', 'const x = a <= 5000;'],
  [
    'const x = b.c(1_000, Math.abs(500));',
    ...['100', '10000'].map((n) => `const x = b.c(${n}, Math.abs(500));`),
    ...['50', '5000'].map((n) => `const x = b.c(1_000, Math.abs(${n}));`),
  ],
  [
    'const x = z.string().max(500);',
    ...['.max(501)', '.max(5000)', ''].map((call) => `const x = z.string()${call};`),
  ],
  ['const x = integerParam(500);', 'const x = integerParam(501);', 'const x = integerParam(5000);'],
  [
    'const a = 500; b(idsParam(c, a));',
    ...['501', '5000'].map((n) => `const a = ${n}; b(idsParam(c, a));`),
    'const a = 500; b(idsParam(a, c));',
    'const a = 500; ;',
  ],
  ['const x = true;', 'const x = false;'],
  ["const x = 'active';", "const x = 'activex';"],
  ['const x = /^a$/;', 'const x = /a$/;', 'const x = /^a/;'],
  ['const x = `${a}:${b}`;', 'const x = `:${b}`;', 'const x = `${a}:`;'],
  ['await f(a);', ';'],
  ['this.a = b;', ';'],
];
for (const [source, ...made] of examples) {
  test(`${source} is changed in ${made.length} ways`, (t) => {
    t.deepEqual(changed(source).sort(), made.sort());
  });
}

const untouched = [
  "import { a } from './a.ts';",
  "export { a } from './a.ts';",
  "type A = 'b' | 1;",
  '// if (a < b) return;',
  "log.info({ a: 1 }, 'b');",
  "log.error('b');",
  "throw new Error('short');",
  "fail('x y z', `${a < b}`);",
  "const x = 'Two words are for people';",
  "const x = { message: 'invalid' };",
];
for (const source of untouched.slice(0, -3)) {
  test(`${source} is left as it is`, (t) => t.deepEqual(changed(source), []));
}
test('messages are left as they are', (t) => {
  for (const source of untouched.slice(-2)) t.deepEqual(changed(source), []);
  t.false(changed("fail('code', `${a < b}`);").some((text) => text.includes('<=')));
});
