// The code of a first call to a series of this installation, to paste into a shell.
import { api } from '../../../api/clients.ts';
import { shownIn, useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { CodePanel } from '../../../components/code-panel.tsx';

/** @param apiKey shown once; undefined: the code reads it from a variable. */
export function FirstCallCode({ apiKey }: { apiKey: string | undefined }) {
  const loaded = useLoad(async (signal) => {
    const [first] = rowsOf(await api.get('/v1/catalog', { query: { limit: 1 }, signal }));
    return first?.id;
  }, []);
  const id = shownIn(loaded) ?? 'CPI';
  const target = `${location.origin}/v1/series/${encodeURIComponent(id)}/latest`;
  const codeWith = (key: string) => `curl -H "X-API-Key: ${key}" \\\n  "${target}"`;
  if (apiKey === undefined) return <CodePanel code={codeWith('$ALMANAC_KEY')} />;
  return <CodePanel code={codeWith(`${apiKey.slice(0, 12)}…`)} copies={codeWith(apiKey)} />;
}
