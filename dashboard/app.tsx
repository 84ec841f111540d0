// All URLs of the dashboard, one line each. The code of a page is loaded when it is first shown.
// config/gateway.config.yml has the same paths, for which the gateway sends index.html.
import { Route, Switch } from 'wouter-preact';
import { Shell } from './shell/shell.tsx';
import { lazyPage } from './shell/lazy-page.tsx';
import { NotFound } from './shell/not-found.tsx';

const pages = {
  // public
  '/': async () => (await import('./pages/home/home.tsx')).Home,
  '/catalogue': async () => (await import('./pages/catalogue.tsx')).Catalogue,
  '/calendar': async () => (await import('./pages/calendar.tsx')).Calendar,
  '/status': async () => (await import('./pages/status.tsx')).Status,
  '/plans': async () => (await import('./pages/plans.tsx')).Plans,
  '/docs': async () => (await import('./pages/docs/docs.tsx')).Docs,
  '/docs/reference': async () => (await import('./pages/docs/reference.tsx')).Reference,
  '/docs/:guide': async () => (await import('./pages/docs/guide.tsx')).Guide,

  // series
  '/series/:id': async () => (await import('./pages/series/series.tsx')).SeriesPage,
  '/compare': async () => (await import('./pages/compare/compare.tsx')).Compare,
  '/series/:id/revisions': async () => (await import('./pages/revisions/revisions.tsx')).RevisionsPage,

  // sign-in
  '/sign-in': async () => (await import('./pages/sign-in/sign-in.tsx')).SignIn,
  '/sign-up': async () => (await import('./pages/sign-in/sign-up.tsx')).SignUp,
  '/forgot-password': async () => (await import('./pages/sign-in/forgot-password.tsx')).ForgotPassword,
  '/dashboard/set-password': async () => (await import('./pages/sign-in/set-password.tsx')).SetPassword,
  '/dashboard/verify-email': async () => (await import('./pages/sign-in/verify-email.tsx')).VerifyEmail,
  '/dashboard/unsubscribe': async () => (await import('./pages/following/unsubscribe.tsx')).Unsubscribe,

  // account
  '/dashboard': async () => (await import('./pages/account/overview/overview.tsx')).AccountHome,
  '/dashboard/keys': async () => (await import('./pages/account/keys/keys.tsx')).Keys,
  '/dashboard/usage': async () => (await import('./pages/account/usage/usage.tsx')).Usage,
  '/dashboard/webhooks': async () => (await import('./pages/account/webhooks/webhooks.tsx')).Webhooks,
  '/dashboard/following': async () => (await import('./pages/following/following.tsx')).Following,
  '/dashboard/billing': async () => (await import('./pages/account/billing/billing.tsx')).Billing,
  '/dashboard/security': async () => (await import('./pages/account/security/security.tsx')).Security,
  '/billing/return': async () => (await import('./pages/account/billing/purchase.tsx')).Purchase,

  // operator
  '/dashboard/operator/publish': async () =>
    (await import('./pages/operator/publish/choose-file.tsx')).OperatorPublish,
  '/dashboard/operator/publish/:id': async () =>
    (await import('./pages/operator/publish/publish-upload.tsx')).OperatorUpload,
  '/dashboard/operator/loads': async () => (await import('./pages/operator/loads/loads.tsx')).OperatorLoads,
  '/dashboard/operator/loads/:load': async () =>
    (await import('./pages/operator/loads/load.tsx')).OperatorLoad,
  '/dashboard/operator/releases': async () =>
    (await import('./pages/operator/releases/releases.tsx')).OperatorReleases,
  '/dashboard/operator/releases/:release': async () =>
    (await import('./pages/operator/releases/release.tsx')).OperatorRelease,
  '/dashboard/operator/sources': async () => (await import('./pages/operator/sources.tsx')).OperatorSources,
  '/dashboard/operator/facts': async () =>
    (await import('./pages/operator/facts/series-facts.tsx')).OperatorFacts,
  '/dashboard/operator/accounts': async () =>
    (await import('./pages/operator/accounts.tsx')).OperatorAccounts,
  '/dashboard/operator/accounts/:id': async () =>
    (await import('./pages/operator/account.tsx')).OperatorAccount,
  '/dashboard/operator/plans': async () => (await import('./pages/operator/plans.tsx')).OperatorPlans,
};

const routes = Object.entries(pages).map(([path, load]) => (
  <Route key={path} path={path} component={lazyPage(load)} />
));

export function App() {
  return (
    <Shell>
      <Switch>
        {routes}
        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}
