import test from 'ava';
import { readSettings } from './settings.ts';

test('without any variable every setting has its default', (t) => {
  const settings = readSettings({ PATH: '/bin', PORT: '' });
  t.is(settings.port, 8080);
  t.is(settings.host, '127.0.0.1');
  t.is(settings.databaseUrl, undefined);
  t.true(Object.isFrozen(settings));
});

test('every faulty setting is named at once, and no value is shown', (t) => {
  const error = t.throws(() =>
    readSettings({
      PORT: '99999',
      DATABASE_URL: 'mysql://root:hunter2@db',
      SERIES_TIME_ZONE: 'Mars/Olympus',
      IDENTITY_SECRET: 'short',
      TRUSTED_PROXY_HOPS: '-1',
      DASHBOARD_ORIGINS: 'https://dashboard.example/',
    }),
  );
  for (const name of [
    'PORT',
    'DATABASE_URL',
    'SERIES_TIME_ZONE',
    'IDENTITY_SECRET',
    'TRUSTED_PROXY_HOPS',
    'DASHBOARD_ORIGINS',
  ]) {
    t.true(error?.message.includes(name), name);
  }
  t.false(error?.message.includes('hunter2'));
});
