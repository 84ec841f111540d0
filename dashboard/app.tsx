// All URLs of the dashboard, one line each. The code of a page is loaded when it is first shown.
// config/gateway.config.yml has the same paths, for which the gateway sends index.html.
import { Route, Switch } from 'wouter-preact';
import { Shell } from './components/shell.tsx';
import { lazyPage } from './components/lazy-page.tsx';
import { NotFound } from './components/not-found.tsx';

const Home = lazyPage(async () => (await import('./pages/home.tsx')).Home);
const Catalogue = lazyPage(async () => (await import('./pages/catalogue.tsx')).Catalogue);
const Calendar = lazyPage(async () => (await import('./pages/calendar.tsx')).Calendar);
const Status = lazyPage(async () => (await import('./pages/status.tsx')).Status);
const Plans = lazyPage(async () => (await import('./pages/plans.tsx')).Plans);
const Docs = lazyPage(async () => (await import('./pages/docs/docs.tsx')).Docs);
const Guide = lazyPage(async () => (await import('./pages/docs/guide.tsx')).Guide);
const Reference = lazyPage(async () => (await import('./pages/docs/reference.tsx')).Reference);
const SeriesPage = lazyPage(async () => (await import('./pages/series/series.tsx')).SeriesPage);
const Revisions = lazyPage(async () => (await import('./pages/revisions/revisions.tsx')).RevisionsPage);
const Compare = lazyPage(async () => (await import('./pages/compare/compare.tsx')).Compare);

export function App() {
  return (
    <Shell>
      <Switch>
        {/* public */}
        <Route path="/" component={Home} />
        <Route path="/catalogue" component={Catalogue} />
        <Route path="/calendar" component={Calendar} />
        <Route path="/status" component={Status} />
        <Route path="/plans" component={Plans} />
        <Route path="/docs" component={Docs} />
        <Route path="/docs/reference" component={Reference} />
        <Route path="/docs/:guide" component={Guide} />

        {/* series */}
        <Route path="/series/:id/revisions" component={Revisions} />
        <Route path="/series/:id" component={SeriesPage} />
        <Route path="/compare" component={Compare} />

        {/* sign-in */}

        {/* account */}

        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}
