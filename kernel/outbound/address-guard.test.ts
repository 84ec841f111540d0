// Security test 31 as a list: which URLs a webhook may have, and which addresses may be connected to.
import test from 'ava';
import { createAddressGuard, UrlRefused, type AddressRules, type Resolve } from './address-guard.ts';

const rules = (change: Partial<AddressRules> = {}): AddressRules => ({
  allowCidrs: [],
  allowHttp: false,
  ...change,
});
const names =
  (known: Record<string, string[]>): Resolve =>
  (name) =>
    known[name] === undefined
      ? Promise.reject(new Error('There is no such name.'))
      : Promise.resolve(known[name]);
const strict = createAddressGuard(rules(), names({}));
const lenient = createAddressGuard(
  rules({ allowCidrs: ['0.0.0.0/0', '::/0'], allowHttp: true }),
  names({ 'hooks.corp': ['10.1.2.3'] }),
);

/** Whether a URL may be stored, and connected to. */
async function isAdmitted(guard: ReturnType<typeof createAddressGuard>, text: string): Promise<boolean> {
  try {
    await guard.addressesOf(guard.parse(text));
    return true;
  } catch (error) {
    if (error instanceof UrlRefused) return false;
    throw error;
  }
}

const loopbackForms = [
  '127.0.0.1',
  '127.255.255.254',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '１２７.０.０.１',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '127.0.0.1.',
];
const mapped = [
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:10.0.0.1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:7f00:1::1]',
];
const ofClouds = [
  '169.254.169.254',
  '[::ffff:a9fe:a9fe]',
  '168.63.129.16',
  '100.100.100.200',
  '[fd00:ec2::254]',
];
const reserved = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '169.254.0.1', '172.16.0.1'],
  ...[
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
  ],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '[::]',
    '[::1]',
    '[100::1]',
    '[2001::1]',
    '[2001:2::1]',
    '[2001:10::1]',
    '[2001:20::1]',
    '[2001:db8::1]',
  ],
  ...['[3fff::1]', '[5f00::1]', '[fc00::1]', '[fdff::1]', '[fe80::1]', '[febf::1]', '[fec0::1]', '[ff02::1]'],
  ...['[4000::1]', '[100:0:0:1::1]', '[e000::1]'],
];

test('127.0.0.1 is refused in every form that a URL can give it', async (t) => {
  for (const host of loopbackForms) t.false(await isAdmitted(strict, `https://${host}/`), host);
});

test('an IPv4 address within an IPv6 address is refused where it would be refused itself', async (t) => {
  for (const host of mapped) t.false(await isAdmitted(strict, `https://${host}/`), host);
});

test('private, reserved, link-local and multicast networks are refused, and the addresses of clouds', async (t) => {
  for (const host of [...reserved, ...ofClouds]) t.false(await isAdmitted(strict, `https://${host}/`), host);
  t.false(await isAdmitted(strict, 'https://[fe80::1%25eth0]/'));
  t.false(await isAdmitted(strict, 'https://[fe80::1%eth0]/'));
});

test('a name is refused if one of its addresses is not public, wherever it is among them', async (t) => {
  const bad = [...reserved, ...ofClouds, ...mapped].map((host) =>
    new URL(`https://${host}/`).hostname.replace(/^\[|\]$/g, ''),
  );
  for (const address of [...bad, 'fe80::1%eth0', '10.0.0.1 ', '']) {
    const guard = createAddressGuard(
      rules(),
      names({
        'only.example': [address],
        'first.example': [address, '93.184.215.14'],
        'last.example': ['93.184.215.14', '2606:2800:21f::1', address],
      }),
    );
    for (const name of ['only', 'first', 'last'])
      t.false(await isAdmitted(guard, `https://${name}.example/`), address);
  }
});

test('a name with public addresses only is admitted, with all of them and nothing else', async (t) => {
  const addresses = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'];
  const guard = createAddressGuard(rules(), names({ 'hooks.example': addresses }));
  t.deepEqual(await guard.addressesOf(guard.parse('https://hooks.example/a?b=c')), addresses);
  t.deepEqual(await guard.addressesOf(guard.parse('https://8.8.8.8:8443/')), ['8.8.8.8']);
  t.deepEqual(await guard.addressesOf(guard.parse('https://[2606:4700::1111]/')), ['2606:4700::1111']);
});

test('a name is resolved once for each connection: what a name server says next is not asked for', async (t) => {
  let asked = 0;
  const guard = createAddressGuard(rules(), () => {
    asked += 1;
    return Promise.resolve([asked === 1 ? '93.184.215.14' : '127.0.0.1']);
  });
  const url = guard.parse('https://rebinding.example/');
  t.is(asked, 0);
  t.deepEqual(await guard.addressesOf(url), ['93.184.215.14']);
  t.is(asked, 1);
  await t.throwsAsync(guard.addressesOf(url), { instanceOf: UrlRefused });
});

test('schemes other than https, ports of other services, user names, fragments and line breaks are refused', async (t) => {
  const guard = createAddressGuard(rules(), () => Promise.resolve(['93.184.215.14']));
  const refused = [
    ...['http', 'ftp', 'file', 'gopher', 'unix', 'ws', 'data', 'javascript', 'blob:https'].map(
      (each) => `${each}://hooks.example/`,
    ),
    ...[22, 25, 80, 5432, 6379, 8080, 0, 65535].map((port) => `https://hooks.example:${port}/`),
    ...['user@hooks.example', 'user:secret@hooks.example', '@hooks.example', ':@hooks.example'].map(
      (each) => `https://${each}/`,
    ),
    ...['https://hooks.example/#', 'https://hooks.example/#fragment', 'https://hooks.example./'],
    ...['\r\n', '\n', '\t', ' ', '\u0000', '\u007f'].flatMap((each) => [
      `https://hooks.example/a${each}b`,
      `https://hooks${each}.example/`,
      `${each}https://hooks.example/`,
    ]),
    ...['https:\\\\hooks.example/', 'https://hooks.example\\@evil.example/', 'https:////@hooks.example/'],
    ...[
      '',
      'hooks.example',
      '//hooks.example/',
      'https://',
      'https:///',
      'https://[::1',
      `https://hooks.example/${'a'.repeat(2048)}`,
    ],
  ];
  for (const text of refused) t.false(await isAdmitted(guard, text), JSON.stringify(text).slice(0, 80));
  for (const text of [
    'https://hooks.example',
    'https://hooks.example:443/',
    'https://hooks.example:8443/a@b',
    'HTTPS://HOOKS.example/%0d%0a',
  ])
    t.true(await isAdmitted(guard, text), text);
});

test('the operator can allow private networks, on any port, and http; nothing makes link-local and the addresses of clouds allowed', async (t) => {
  for (const host of [
    '10.1.2.3',
    '127.0.0.1',
    '192.168.1.1:5432',
    '100.64.0.1',
    '[fd12:3456::1]:8080',
    '[::1]',
    'hooks.corp:3000',
  ]) {
    t.true(await isAdmitted(lenient, `http://${host}/`), host);
  }
  const never = [
    '169.254.1.1',
    '[fe80::1]',
    '224.0.0.1',
    '[ff02::1]',
    '0.0.0.0',
    '[::]',
    '255.255.255.255',
    '[2002:7f00:1::]',
    '[64:ff9b::7f00:1]',
  ];
  for (const host of [...ofClouds, ...never]) t.false(await isAdmitted(lenient, `http://${host}/`), host);
  t.false(await isAdmitted(lenient, 'http://8.8.8.8:22/'), 'a public address on another port');

  const narrow = createAddressGuard(rules({ allowCidrs: ['10.20.0.0/16', 'fd12::/32'] }), names({}));
  t.true(await isAdmitted(narrow, 'https://10.20.255.1:9000/'));
  t.true(await isAdmitted(narrow, 'https://[::ffff:10.20.0.1]/'), 'the same address in another form');
  for (const host of ['10.21.0.1', '127.0.0.1', '[fd13::1]', '[::1]'])
    t.false(await isAdmitted(narrow, `https://${host}/`), host);
  t.false(await isAdmitted(narrow, 'http://10.20.0.1/'));
});

test('the message is the same for a name without an address, a private one and a failed lookup', async (t) => {
  const guard = createAddressGuard(rules(), (name) =>
    name === 'private.example'
      ? Promise.resolve(['10.0.0.1'])
      : name === 'empty.example'
        ? Promise.resolve([])
        : Promise.reject(new Error('SERVFAIL 10.0.0.53')),
  );
  const messages = new Set<string>();
  for (const name of ['private.example', 'empty.example', 'unknown.example']) {
    const error = await t.throwsAsync(guard.addressesOf(guard.parse(`https://${name}/`)), {
      instanceOf: UrlRefused,
    });
    messages.add(error?.message ?? '');
  }
  t.is(messages.size, 1);
  t.notRegex([...messages].join(''), /\d+\.\d+\.\d+\.\d+/);
});
