// Strict revocation, in many trials: the parts of gateways that look up keys, with the real accounts-api and PostgreSQL, busy and idle. Whatever
// fails between them, no lookup that begins after a revocation was answered finds the key. REVOCATION_TRIALS (default 100) is the number of revoked
// keys.
import test from 'ava';
import { selectAcknowledged } from '../../accounts-api/heartbeat/changes.sql.ts';
import { leaseMs } from '../../kernel/heartbeat/times.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { within } from '../run/until.ts';
import { createWay, passSilently, startLife, type GatewayLife, type Way } from './lives.ts';
import { makeVictims, revoke, tryOut, type Trouble, type Victim } from './revocations.ts';

const trials = Number(process.env['REVOCATION_TRIALS'] ?? 100);

let service: AccountsService;
let lives: GatewayLife[];
let ways: Way[];
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
  ways = Array.from({ length: 4 }, createWay);
  lives = await Promise.all(ways.map(({ through }) => startLife(service, { through })));
});
test.after.always(async () => {
  for (const life of lives ?? []) await life.close();
  await service?.close();
});

const at = (work: () => void) => () => Promise.resolve(work());
const busyWay = () => ways[0] as Way;
const idleWay = () => ways[2] as Way;
const mend = at(() => ways.forEach((way) => way.mend()));

/** Each fault gets a quarter of the trials; in half of these, a change waits for the end of two leases. */
const troubles: Record<string, Trouble> = {
  'while all is well': { begin: at(() => undefined), end: mend },
  'while messages are doubled': { begin: at(() => ways.forEach((way) => way.double())), end: mend },
  'while a busy and an idle gateway cannot reach accounts-api': {
    begin: at(() => [busyWay(), idleWay()].forEach((way) => way.cut())),
    end: mend,
  },
  'while a busy and an idle gateway do not hear accounts-api': {
    begin: at(() => [busyWay(), idleWay()].forEach((way) => way.deafen())),
    end: mend,
  },
};

const names = Object.keys(troubles);
for (const [i, name] of names.entries()) {
  test.serial(
    `of the keys that are revoked ${name}, none is found by a lookup that begins after the answer`,
    async (t) => {
      const victims = await makeVictims(service, Math.ceil((trials - i) / names.length));
      const [one, two, three, four] = lives as [GatewayLife, GatewayLife, GatewayLife, GatewayLife];
      const users = { busy: [one, two], idle: [three, four] };
      const { after, found } = await tryOut({ service, ...users }, victims, troubles[name] as Trouble);
      t.is(found, 0);
      t.true(after >= victims.length * lives.length * 3);
    },
  );
}

test.serial(
  'a revocation is answered once the lease of a paused gateway has ended, and the gateway refuses the key when it resumes',
  async (t) => {
    const way = createWay();
    const stopped = await startLife(service, { through: way.through, clockAdvances: false });
    t.teardown(() => stopped.close());
    const [victim] = (await makeVictims(service, 1)) as [Victim];
    t.true(await stopped.opensFor(victim.hash));
    way.cut();
    const anHourMs = 3_600_000; // its lease must not end within the test by itself
    await passSilently(service, [stopped], -anHourMs);
    let isAnswered = false;
    const answered = revoke(service, victim).then(() => (isAnswered = true));
    for (let reads = 0; reads < 50; reads += 1) {
      t.true((await selectAcknowledged(service.deps.db.sequelize)).gateways.length > 0);
      t.true(await stopped.opensFor(victim.hash));
    }
    t.false(isAnswered);
    await passSilently(service, [stopped], anHourMs + leaseMs + 100);
    await within('the revocation is answered', answered);
    t.false(await stopped.opensFor(victim.hash));
    way.mend();
    t.false(await stopped.opensFor(victim.hash));
  },
);

test.serial('600 keys revoked by one statement are all refused once that is answered', async (t) => {
  const victims = await makeVictims(service, 600);
  for (const life of lives)
    for (const opens of await Promise.all(victims.map(({ hash }) => life.opensFor(hash)))) t.true(opens);
  await service.deps.db.inTransaction((transaction) =>
    service.deps.db.sequelize.query(
      'update accounts.api_keys set revoked_at = $2, slot = null where id = any($1::text[])',
      { bind: [victims.map(({ keyId }) => keyId), service.clock.now()], transaction },
    ),
  );
  for (const life of lives)
    for (const opens of await Promise.all(victims.map(({ hash }) => life.opensFor(hash)))) t.false(opens);
});
