import { dictionary } from '@zxcvbn-ts/language-common';
import test from 'ava';
import { isCommon, requireGoodPassword } from './password-rules.ts';

const check = (password: string, context: (string | null)[] = []) =>
  requireGoodPassword(password, { field: 'password', lengthMin: 8, context });

test('passwords that attackers try first are refused, in any disguise', (t) => {
  for (const password of [
    ...[
      'password',
      'Password',
      'password1',
      'Password123!',
      'P@ssw0rd',
      'p4ssw0rd2024!',
      'passwords',
      'passwordpassword',
    ],
    ...[
      '12345678',
      '123456789',
      '1234567890',
      '87654321',
      '11111111',
      '00000000',
      '12341234',
      '19841212',
      '2024-12-31',
    ],
    ...[
      'qwertyui',
      'qwertyuiop',
      'qwerty123',
      '1qaz2wsx',
      '1q2w3e4r',
      'qazwsxedc',
      'asdfghjkl',
      'zxcvbnm1',
      'abcdefgh',
    ],
    ...[
      'iloveyou',
      'iloveyou1',
      'sunshine',
      'Sunshine1!',
      'princess',
      'football',
      'baseball',
      'superman',
      'trustno1',
    ],
    ...[
      'letmein1',
      'welcome1',
      'Welcome123',
      'dragon123',
      'monkey12',
      'master12',
      'michael1',
      'Summer2024!',
      'changeme',
    ],
    ...[
      'aaaaaaaa',
      'abababab',
      'abcabcabc',
      'abcd1234',
      '1234abcd',
      'test1234',
      'admin123',
      'Administrator1',
      'almanac2026',
    ],
  ]) {
    t.true(isCommon(password), password);
    t.throws(() => check(password), { code: 'invalid_body' }, password);
  }
});

test('a password made of the holder’s own name or e-mail address is refused', (t) => {
  t.throws(() => check('zoemueller1', ['zoemueller@example.org', null]), { message: /your name/ });
  t.throws(() => check('zoe.vd@example.org', ['zoe.vd@example.org', null]), { message: /your name/ });
  t.throws(() => check('OrgExample-Zoe1', ['zoe.vd@example.org', null]), { message: /your name/ });
  t.throws(() => check('Vandersluys2026', ['z@example.org', 'Zoë Vandersluys']), { message: /your name/ });
  t.notThrows(() => check('vandersluys grows tall beans', ['zoe@example.org', 'Zoë Vandersluys']));
});

const bounds: [rule: string, common: string, good: string][] = [
  ['twelve figures are a number, thirteen are not', '483920175639', '4839201756392'],
  ['signs between figures do not count', '+48 39-20/17:56.39', '+48 39-20/17:56.392'],
  ['figures are alone among signs, not among others', '4839-2017', '4839_2017'],
  ['two characters, in any order, are too few', 'kpkkppkk', 'kpzkkpzz'],
  ['four characters again and again are a repetition, five are not', 'kvzqkvzq', 'kvzqpkvzqp'],
  ['up to three more at the end still are one', 'kvzqkvzqpwm', 'kvzqkvzqpwmr'],
  ['two letters at a keyboard run are a part of it, three are not', 'xk98765432', 'xkp98765432'],
];
for (const [rule, common, good] of bounds) {
  test(`a password is too easy up to a bound: ${rule}`, (t) => {
    t.true(isCommon(common), common);
    t.false(isCommon(good), good);
  });
}

test('four characters besides the own name are too few, five are enough; a single letter does not count as a name', (t) => {
  t.throws(() => check('vandersluyskvzq', ['Vandersluys']), { message: /your name/ });
  t.notThrows(() => check('vandersluyskvzqp', ['Vandersluys']));
  t.throws(() => check('yoyoyokvzq', ['Yo']), { message: /your name/ });
  t.notThrows(() => check('yyyyyykvzq', ['Y']));
});

test('good passwords are accepted unchanged: long, with blanks, in any script, with any character', (t) => {
  for (const password of [
    'correct horse battery staple',
    ' leading blank',
    'Ünïcode-пароль-密码',
    'a\u0000b-c-d-e-f',
    'kX9#mQ2v',
  ]) {
    t.notThrows(() => check(password), password);
  }
});

test('length is counted in characters, from the configured minimum to 256', (t) => {
  t.throws(() => check('kX9#mQ2'), { message: /at least 8/ });
  t.notThrows(() => check('🦊🐙🌵🎻🚲🧭🪁🍋'));
  const long = (length: number) => 'four unrelated words stand in a row '.repeat(10).slice(0, length);
  t.notThrows(() => check(long(256)));
  t.throws(() => check(long(257)), { message: /at most 256/ });
});

test('half a character is refused as a password', (t) => {
  t.throws(() => check('correct horse \ud800'), { message: /Unicode/ });
});

test('the 3,000 most used passwords are refused, and those of them with a year and a sign appended', (t) => {
  const most = (dictionary['passwords-common'] ?? []).slice(0, 3_000).map(String);
  t.is(most.length, 3_000);
  t.true(most.includes('baseball') && most.includes('1qaz2wsx'), 'the most used come first');
  for (const password of most) {
    t.true(isCommon(password), password);
  }
  const words = most.filter((password) => /^[a-z]{4,}$/.test(password));
  t.true(words.length > 1_500);
  for (const word of words) t.true(isCommon(`${word}2026!`), word);
});
