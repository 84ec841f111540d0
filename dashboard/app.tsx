// All URLs of the dashboard, one line each. The code of a page is loaded when it is first shown.
// config/gateway.config.yml has the same paths, for which the gateway sends index.html.
import { Route, Switch } from 'wouter-preact';
import { Shell } from './components/shell.tsx';
import { lazyPage } from './components/lazy-page.tsx';
import { NotFound } from './components/not-found.tsx';

const Home = lazyPage(async () => (await import('./pages/home.tsx')).Home);
const Revisions = lazyPage(async () => (await import('./pages/revisions/revisions.tsx')).RevisionsPage);
const SeriesPage = lazyPage(async () => (await import('./pages/series/series.tsx')).SeriesPage);

export function App() {
  return (
    <Shell>
      <Switch>
        {/* public */}
        <Route path="/" component={Home} />

        {/* series */}
        <Route path="/series/:id/revisions" component={Revisions} />
        <Route path="/series/:id" component={SeriesPage} />

        {/* sign-in */}

        {/* account */}

        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}
