// The constraints that sessions, sign-ups, mailed links, Google identities, second factors and passkeys have, as cases.
import { argon, at, hashes, ids, later, ofAccount, one, two, twoAccounts } from './account-rows.ts';
import { checksOf, hex, key, type TableCases } from './tables.ts';

const session = {
  ...{ id: `sess_${'a'.repeat(16)}`, account_id: one, secret_hash: hex('0'), created_at: at },
  ...{
    last_seen_at: at,
    idle_expires_at: at,
    absolute_expires_at: later,
    auth_time: at,
    two_factors: 'false',
    ip: '',
    user_agent: '',
  },
};

function signIn(): TableCases[] {
  const is = checksOf('sessions');
  const sessionIds = ids('sess_', 16);
  const signups = checksOf('signups');
  const signup = {
    ...{ id: `sup_${'a'.repeat(20)}`, email: 'a@b', password_hash: argon, created_at: at, expires_at: later },
  };
  const signupIds = ids('sup_', 20);
  return [
    {
      table: 'accounts.sessions',
      before: twoAccounts,
      row: session,
      cases: [
        key('sessions_pkey', ['id'], session, { id: `sess_${'b'.repeat(16)}` }),
        ...is.pattern('id', sessionIds.accepted, sessionIds.refused),
        ...is.pattern('secret_hash', hashes.accepted, hashes.refused),
        ...is.check('check', [{ absolute_expires_at: at }], [{ absolute_expires_at: later }]),
        ...is.textUpTo(64, 'ip'),
        ...is.textUpTo(256, 'user_agent'),
      ],
      references: [ofAccount('sessions')],
    },
    {
      table: 'accounts.signups',
      row: signup,
      cases: [
        key('signups_pkey', ['id'], signup, { id: `sup_${'b'.repeat(20)}` }),
        ...signups.pattern('id', signupIds.accepted, signupIds.refused),
        ...signups.pattern('email', ['a@b', 'a'.repeat(254)], ['a@', 'a'.repeat(255)]),
        ...signups.text(100, 'name'),
        ...signups.pattern('password_hash', [argon], ['', '$argon2i$a', ` ${argon}`]),
      ],
    },
  ];
}

function mailTokens(): TableCases {
  const is = checksOf('mail_tokens');
  const signupId = `sup_${'a'.repeat(20)}`;
  const toAccount = { account_id: one, credential_version: '1' };
  const row = {
    ...{ hash: hex('0'), purpose: 'sign_up', email: 'a@b' },
    ...{ created_at: at, expires_at: later },
  };
  const forAccount = { ...toAccount, signup_id: null };
  return {
    table: 'accounts.mail_tokens',
    before: [
      ...twoAccounts,
      `insert into accounts.signups (id, email, password_hash, created_at, expires_at)
       values ('${signupId}', 'a@b', '${argon}', '${at}', '${later}')`,
    ],
    row,
    needs: { signup_id: signupId },
    cases: [
      key('mail_tokens_pkey', ['hash'], row, { hash: hex('1') }),
      ...is.pattern('hash', hashes.accepted, hashes.refused),
      {
        constraint: 'mail_tokens_purpose_check',
        refused: ['other', '', 'SIGN_UP'].map((purpose) => ({ ...forAccount, purpose })),
        accepted: [
          {},
          ...['verify_email', 'change_email', 'reset_password'].map((purpose) => ({
            ...forAccount,
            purpose,
          })),
        ],
      },
      ...is.pattern('email', ['a@b', 'a'.repeat(254)], ['a@', 'a'.repeat(255)]),
      ...is.check(
        'check',
        [{ signup_id: null }, { ...toAccount, purpose: 'verify_email' }],
        [{ ...forAccount, purpose: 'verify_email' }],
      ),
      ...is.check('check1', [toAccount, { signup_id: null, purpose: 'verify_email' }], [{}]),
      ...is.check(
        'check2',
        [
          { credential_version: '1' },
          { purpose: 'verify_email', signup_id: null, account_id: one, credential_version: null },
        ],
        [{ ...forAccount, purpose: 'verify_email' }],
      ),
    ],
    references: [
      ofAccount('mail_tokens', 'account_id', { ...forAccount, purpose: 'verify_email' }),
      {
        constraint: 'mail_tokens_signup_id_fkey',
        refused: { signup_id: `sup_${'b'.repeat(20)}` },
        deleteParent: 'delete from accounts.signups',
        outcome: 'the row goes too',
      },
    ],
  };
}

function google(): TableCases[] {
  const identities = checksOf('identities');
  const identity = { issuer: 'https://i', subject: 's', account_id: one, email: 'a@b', created_at: at };
  const other = { issuer: 'https://j', subject: 't', account_id: two };
  const is = checksOf('google_flows');
  const flow = { state_hash: hex('0'), cookie_hash: hex('0'), return_to: '/', expires_at: at };
  const coded = (hash: string) => ({
    ...{ code_hash: hash, code_account_id: one, code_expires_at: at, credential_version: '1' },
  });
  const linking = { link_account_id: one, session_id: session.id, credential_version: '1' };
  return [
    {
      table: 'accounts.identities',
      before: twoAccounts,
      row: identity,
      cases: [
        key('identities_pkey', ['issuer', 'subject'], identity, other),
        key('identities_account_id_issuer_key', ['account_id', 'issuer'], identity, other),
        ...identities.textUpTo(255, 'issuer'),
        ...identities.text(255, 'subject'),
        ...identities.textUpTo(254, 'email'),
      ],
      references: [ofAccount('identities')],
    },
    {
      table: 'accounts.google_flows',
      before: [
        ...twoAccounts,
        `insert into accounts.sessions (${Object.keys(session).join(', ')})
         values ('${Object.values(session).join("', '")}')`,
      ],
      row: flow,
      cases: [
        key('google_flows_pkey', ['state_hash'], flow, { state_hash: hex('1') }),
        {
          constraint: 'google_flows_code_hash_key',
          existing: coded(hex('0')),
          refused: [{ state_hash: hex('1'), ...coded(hex('0')) }],
          accepted: [{ state_hash: hex('1'), ...coded(hex('1')) }, { state_hash: hex('1') }],
        },
        ...is.textOf(64, 'state_hash', 'cookie_hash'),
        ...is.textUpTo(512, 'return_to'),
        {
          constraint: 'google_flows_code_hash_check',
          refused: ['', hex('0').slice(1), `${hex('0')}0`].map(coded),
          accepted: [coded(hex('0'))],
        },
        ...is.check(
          'check',
          [
            { ...coded(hex('0')), code_account_id: null, credential_version: null },
            { code_account_id: one, credential_version: '1' },
          ],
          [coded(hex('0'))],
        ),
        ...is.check(
          'check1',
          [{ ...coded(hex('0')), code_expires_at: null }, { code_expires_at: at }],
          [coded(hex('0'))],
        ),
        ...is.check(
          'check2',
          [
            { ...linking, session_id: null },
            { ...linking, link_account_id: null, credential_version: null },
          ],
          [linking],
        ),
        ...is.check(
          'check3',
          [
            { credential_version: '1' },
            { ...linking, credential_version: null },
            { ...coded(hex('0')), credential_version: null },
          ],
          [linking, coded(hex('0'))],
        ),
        ...is.check('check4', [{ ...linking, ...coded(hex('0')) }], [linking, coded(hex('0'))]),
      ],
      references: [
        ofAccount('google_flows', 'link_account_id', linking),
        ofAccount('google_flows', 'code_account_id', coded(hex('0'))),
        {
          constraint: 'google_flows_session_id_fkey',
          refused: { ...linking, session_id: `sess_${'b'.repeat(16)}` },
          accepted: linking,
          deleteParent: 'delete from accounts.sessions',
          outcome: 'the row goes too',
        },
      ],
    },
  ];
}

function secondFactor(): TableCases[] {
  const app = { account_id: one, secret: 's', created_at: at };
  const is = checksOf('authenticators');
  const code = { account_id: one, hash: hex('0'), created_at: at };
  const pending = {
    ...{ hash: hex('0'), account_id: one, credential_version: '1' },
    ...{ how: 'password', known_device: 'false', expires_at: at },
  };
  const ofPending = checksOf('pending_sign_ins');
  return [
    {
      table: 'accounts.authenticators',
      before: twoAccounts,
      row: app,
      cases: [
        key('authenticators_pkey', ['account_id'], app, { account_id: two }),
        ...is.textUpTo(200, 'secret'),
        ...is.wholeFrom(0, 'last_step'),
        ...is.check(
          'check',
          [{ confirmed_at: at }],
          [{ confirmed_at: at, last_step: '0' }, { last_step: '0' }],
        ),
      ],
      references: [ofAccount('authenticators')],
    },
    {
      table: 'accounts.recovery_codes',
      before: [
        ...twoAccounts,
        `insert into accounts.authenticators (account_id, secret, created_at)
         values ('${one}', 's', '${at}'), ('${two}', 's', '${at}')`,
      ],
      row: code,
      cases: [
        key('recovery_codes_pkey', ['account_id', 'hash'], code, { account_id: two, hash: hex('1') }),
        ...checksOf('recovery_codes').pattern('hash', hashes.accepted, hashes.refused),
      ],
      references: [
        {
          ...ofAccount('recovery_codes'),
          deleteParent: `delete from accounts.authenticators where account_id = '${one}'`,
        },
      ],
    },
    {
      table: 'accounts.pending_sign_ins',
      before: twoAccounts,
      row: pending,
      cases: [
        key('pending_sign_ins_pkey', ['hash'], pending, { hash: hex('1') }),
        ...ofPending.pattern('hash', hashes.accepted, hashes.refused),
        ...ofPending.oneOf('how', 'password', 'google', 'mailed_link'),
      ],
      references: [ofAccount('pending_sign_ins')],
    },
  ];
}

function passkeys(): TableCases[] {
  const passkeyIds = ids('psk_', 20);
  const passkey = {
    ...{ id: `psk_${'a'.repeat(20)}`, account_id: one, credential_id: 'a', public_key: '\\x00' },
    ...{ sign_count: '0', name: 'n', created_at: at },
  };
  const other = { id: `psk_${'b'.repeat(20)}`, credential_id: 'b' };
  const is = checksOf('passkeys');
  const challenge = { hash: hex('0'), expires_at: at };
  const adding = { account_id: one, session_id: session.id, credential_version: '1' };
  const ofChallenge = checksOf('passkey_challenges');
  return [
    {
      table: 'accounts.passkeys',
      before: twoAccounts,
      row: passkey,
      cases: [
        key('passkeys_pkey', ['id'], passkey, other),
        key('passkeys_credential_id_key', ['credential_id'], passkey, other),
        ...is.pattern('id', passkeyIds.accepted, passkeyIds.refused),
        ...is.pattern('credential_id', ['a', '-_09'.repeat(341)], ['', 'a=', 'a'.repeat(1365)]),
        ...is.pattern('public_key', ['\\x00', `\\x${'00'.repeat(2000)}`], ['\\x', `\\x${'00'.repeat(2001)}`]),
        ...is.pattern('sign_count', ['0', '4294967295'], ['-1', '4294967296']),
        ...is.text(100, 'name'),
      ],
      references: [ofAccount('passkeys')],
    },
    {
      table: 'accounts.passkey_challenges',
      before: [
        ...twoAccounts,
        `insert into accounts.sessions (${Object.keys(session).join(', ')})
         values ('${Object.values(session).join("', '")}')`,
      ],
      row: challenge,
      cases: [
        key('passkey_challenges_pkey', ['hash'], challenge, { hash: hex('1') }),
        ...ofChallenge.pattern('hash', hashes.accepted, hashes.refused),
        ...ofChallenge.check(
          'check',
          [
            { ...adding, session_id: null },
            { ...adding, account_id: null, credential_version: null },
          ],
          [adding, {}],
        ),
        ...ofChallenge.check(
          'check1',
          [{ credential_version: '1' }, { ...adding, credential_version: null }],
          [adding, {}],
        ),
      ],
      references: [
        ofAccount('passkey_challenges', 'account_id', adding),
        {
          constraint: 'passkey_challenges_session_id_fkey',
          refused: { ...adding, session_id: `sess_${'b'.repeat(16)}` },
          accepted: adding,
          deleteParent: 'delete from accounts.sessions',
          outcome: 'the row goes too',
        },
      ],
    },
  ];
}

export const signInTables: readonly TableCases[] = [
  ...signIn(),
  mailTokens(),
  ...google(),
  ...secondFactor(),
  ...passkeys(),
];
