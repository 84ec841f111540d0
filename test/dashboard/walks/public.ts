// Look at the pages that are open to all, as they are when nobody has chosen anything.
import type { Walk } from '../walks.ts';

/** Path, name in file names, the heading of the page. */
const pages = [
  ['/catalogue', 'catalogue', 'Catalogue'],
  ['/calendar', 'calendar', 'Calendar'],
  ['/status', 'status', 'Status'],
  ['/plans', 'plans', 'Plans'],
  ['/docs', 'docs', 'Docs'],
  ['/docs/errors', 'docs-errors', 'Errors'],
  ['/docs/reference', 'docs-reference', 'Reference'],
  ['/compare', 'compare-empty', 'Compare'],
  ['/sign-in', 'sign-in', 'Sign in'],
  ['/forgot-password', 'forgot-password', 'Set a new password'],
] as const;

export const openPages: Walk = {
  name: 'look at the pages that are open to all',
  async run(_stage, visitor) {
    for (const [path, name, heading] of pages) {
      await visitor.open(path);
      await visitor.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await visitor.look(name);
    }
  },
};
