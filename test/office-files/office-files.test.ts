// A few of the generated files, published: no file is read wrongly. `npm run try-office-files` publishes thousands.
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { officeFile } from './generate.ts';
import { isWrong, tryFile } from './try.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, {
  applicationName: 'test',
  statementTimeoutMs: 0,
});
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

test('60 files as offices publish them: no file is read wrongly, and most are read right', async (t) => {
  let right = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const file = officeFile(seed);
    const { verdict, why } = await tryFile(database, file);
    t.false(isWrong(verdict), `seed ${seed}, ${Object.values(file.kind).join('; ')}: ${verdict}: ${why}`);
    if (verdict.startsWith('right')) right += 1;
  }
  t.true(right >= 54, `${right} of 60 are right`);
});
