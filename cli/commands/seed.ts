// almanac seed: the built-in demo data, synthetic, and the demo account with its first key.
import { createAccount, createKey, listAccounts } from '../../accounts-api/operator/operator.ts';
import { systemClock } from '../../kernel/clock.ts';
import { examples, type DeclareCommand } from '../command.ts';
import { withDatabase, withInstallation, type Installation } from '../installation.ts';
import { withAccountsOf } from '../with-accounts.ts';

const demoEmail = 'demo@almanac.example';

export const seed: DeclareCommand = (command, { env, stdout }) => {
  command.addHelpText('after', examples('almanac seed')).action(async () => {
    const key = await withInstallation(env, seedDemo, { create: true });
    await (await import('../../ingest/load/load.ts')).inForce();
    stdout.write(key === undefined ? 'the demo is there already\n' : `API key: ${key}\n`);
  });
};

/**
 * Loads the demo data and makes the demo account, unless the installation already has accounts.
 * The account is made last, so a start that was killed in between begins again.
 * @returns the demo account's key, the only time it can be shown; undefined if there are accounts already.
 */
export async function seedDemo(installation: Installation): Promise<string | undefined> {
  return withAccountsOf(installation, async (deps) => {
    if ((await listAccounts(deps)).length > 0) return undefined;
    // Imported here: a start finds the demo loaded, but for the first.
    const { loadDemo } = await import('../../ingest/demo/load-demo.ts');
    const { seriesTimeZone, fiscalYearFirstMonth } = installation.settings;
    await withDatabase(installation.databaseUrl, { command: 'seed', statementTimeoutMs: 0 }, (database) =>
      loadDemo(database, { seriesTimeZone, fiscalYearFirstMonth, clock: systemClock }),
    );
    const account = await createAccount(deps, { email: demoEmail, name: 'Demo', plan: 'pro' });
    return (await createKey(deps, account.id, 'demo')).key;
  });
}
