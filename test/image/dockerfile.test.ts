import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { isIgnored, parseDockerfile } from './dockerfile.ts';
import { projectRoot } from '../../kernel/project.ts';
import { importedPackages, toJavaScript } from '../../scripts/runtime-tree.ts';

test('the image runs as a user that is not root, from a base with a version, and is asked for its health', (t) => {
  const stages = parseDockerfile(readFileSync(path.join(projectRoot, 'Dockerfile'), 'utf8'));
  const last = stages.at(-1);
  for (const { base } of stages) t.regex(base, /^node:26-\w+-slim$/);
  t.regex(last?.user ?? '', /^[1-9]\d*:[1-9]\d*$/);
  t.deepEqual(last?.volumes, ['/var/lib/almanac']);
  t.is(last?.env['DATA_DIR'], '/var/lib/almanac');
  t.deepEqual(last?.health.slice(0, 2), ['node', '/app/scripts/health.mjs']);
  for (const name of ['title', 'description', 'licenses', 'version', 'revision'])
    t.truthy(last?.labels[`org.opencontainers.image.${name}`], name);
  const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  t.is(last?.labels['org.opencontainers.image.version'], version);
});

test('steps are read with their arguments and stages, over several lines', (t) => {
  const [first, second] = parseDockerfile(
    [
      '# a comment',
      ...[
        'ARG BASE=node:26',
        'FROM ${BASE} AS build',
        'WORKDIR /src',
        'COPY a b ./',
        'RUN one \\',
        '  && two',
      ],
      ...['FROM debian', 'COPY --from=build /src /app', 'ENV A=1 B="two words"', 'CMD ["x", "y"]'],
    ].join('\n'),
  );
  t.is(first?.base, 'node:26');
  t.deepEqual(first?.steps, [
    { kind: 'workdir', path: '/src' },
    { kind: 'copy', from: undefined, sources: ['a', 'b'], target: './' },
    { kind: 'run', command: 'one && two' },
  ]);
  t.deepEqual(second?.steps, [{ kind: 'copy', from: 'build', sources: ['/src'], target: '/app' }]);
  t.deepEqual(second?.env, { A: '1', B: 'two words' });
  t.deepEqual(second?.command, ['x', 'y']);
});

test('an unknown instruction is an error and never skipped', (t) => {
  for (const line of [
    'ADD a b',
    'ONBUILD RUN x',
    'RUN --mount=type=cache x',
    'COPY --chown=1 a b',
    'SHELL ["x"]',
  ])
    t.throws(() => parseDockerfile(`FROM a\n${line}\n`), undefined, line);
  t.throws(() => parseDockerfile('FROM ${NOTHING}'), { message: /No ARG or ENV gives NOTHING/ });
  t.throws(() => isIgnored('!kept', 'a'), { message: /exceptions/ });
});

test('secrets, tests and files built elsewhere are not sent to the builder', (t) => {
  const ignore = readFileSync(path.join(projectRoot, '.dockerignore'), 'utf8');
  for (const file of [
    '.env',
    '.git/config',
    '.almanac/postgres.password',
    'node_modules/a/b.js',
    'load/a.csv',
    'backups/a.gz',
    'bulk/manifest.json',
    'inbox/a.csv',
  ])
    t.true(isIgnored(ignore, file), file);
  for (const file of ['test/run.ts', 'kernel/settings/settings.test.ts', 'almanac.test.ts'])
    t.true(isIgnored(ignore, file), file);
  for (const file of ['almanac.ts', 'kernel/settings/settings.ts', 'docs/api.md', 'openapi/openapi.json'])
    t.false(isIgnored(ignore, file), file);
});

test('sources become JavaScript that imports JavaScript, line by line', (t) => {
  const code = toJavaScript(
    `import type { A } from './a.ts';\nimport { b } from '../b.ts';\nconst c: A = await import('./c.ts');\nimport z from 'zod';\nnew Worker(new URL('./d.ts', import.meta.url));`,
  );
  t.deepEqual(
    code.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' ')),
    [
      ...['', `import { b } from '../b.mjs';`, `const c = await import('./c.mjs');`, `import z from 'zod';`],
      `new Worker(new URL('./d.mjs', import.meta.url));`,
    ],
  );
  const onNeed = `createRequire(import.meta.url)(\n  'redis',\n);`;
  t.deepEqual(importedPackages(`${code}require('@node-rs/argon2/x');import 'node:fs';${onNeed}`), [
    'zod',
    '@node-rs/argon2',
    'redis',
  ]);
});
