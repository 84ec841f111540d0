import test from 'ava';
import { readMail, tokenIn } from './sign-in.ts';

test('a token is read completely even if a line of the e-mail breaks within it, also before two hyphens', (t) => {
  const token = `abcdefghij--${'k'.repeat(31)}`;
  const raw = [
    'From: Almanac <a@b.example>',
    'Subject: Confirm',
    'Content-Type: multipart/alternative; boundary="--_Part_1"',
    '',
    '----_Part_1',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Open =E2=80=9Cthis=E2=80=9D:',
    `http://127.0.0.1/#token=3D${token.slice(0, 10)}=`,
    token.slice(10),
    '----_Part_1',
    'Content-Type: text/html',
    '',
    '<p>this</p>',
    '----_Part_1--',
  ].join('\r\n');
  const mail = readMail(raw, 'ada@example.org');
  t.is(mail.text, `Open “this”:\nhttp://127.0.0.1/#token=${token}`);
  t.is(tokenIn(mail), token);
});
