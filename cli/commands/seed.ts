// almanac seed: the built-in demo data, synthetic, and the demo account with its first key.
import { hasAccounts } from '../../accounts-api/operator/accounts.sql.ts';
import { createAccount, createKey } from '../../accounts-api/operator/operator.ts';
import { systemClock } from '../../kernel/clock.ts';
import { examples, type DeclareCommand } from '../command.ts';
import { withDatabase, withInstallation, type Installation } from '../installation.ts';
import { withAccountsOf } from '../with-accounts.ts';

const demoEmail = 'demo@almanac.example';

export const seed: DeclareCommand = (command, { env, stdout }) => {
  command.addHelpText('after', examples('almanac seed')).action(async () => {
    const key = await withInstallation(
      env,
      async (installation) =>
        (await loadDemoData(installation)) ? makeDemoAccount(installation) : undefined,
      { create: true },
    );
    await (await import('../../ingest/load/load.ts')).waitForGatewayLeases();
    stdout.write(key === undefined ? 'the demo data and account exist already\n' : `API key: ${key}\n`);
  });
};

/**
 * Loads the demo data, unless the installation has accounts. The account is made after it, so a start that was killed in between
 * begins again. @param onFile called before the first file and after each. @returns whether it was loaded.
 */
export async function loadDemoData(
  { databaseUrl, settings }: Installation,
  onFile?: (done: number, of: number) => void,
): Promise<boolean> {
  const connection = { command: 'seed', statementTimeoutMs: 0 };
  return withDatabase(databaseUrl, connection, async (database) => {
    if (await hasAccounts(database)) return false;
    // Imported here, as only the first start loads the demo.
    const { loadDemo } = await import('../../ingest/demo/load-demo.ts');
    const { seriesTimeZone, fiscalYearFirstMonth } = settings;
    await loadDemo(database, { seriesTimeZone, fiscalYearFirstMonth, clock: systemClock, onFile });
    return true;
  });
}

/** Makes the demo account. @returns its key, the only time it can be shown. */
export function makeDemoAccount(installation: Installation): Promise<string> {
  return withAccountsOf(installation, async (deps) => {
    const account = await createAccount(deps, { email: demoEmail, name: 'Demo', plan: 'pro' });
    return (await createKey(deps, account.id, 'demo')).key;
  });
}
