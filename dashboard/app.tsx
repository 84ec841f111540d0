// All URLs of the dashboard, one line each. The code of a page is loaded when it is first shown.
// config/gateway.config.yml has the same paths, for which the gateway sends index.html.
import { Route, Switch } from 'wouter-preact';
import { Shell } from './shell/shell.tsx';
import { lazyPage } from './shell/lazy-page.tsx';
import { NotFound } from './shell/not-found.tsx';

const AccountHome = lazyPage(async () => (await import('./pages/account/overview/overview.tsx')).AccountHome);
const Keys = lazyPage(async () => (await import('./pages/account/keys/keys.tsx')).Keys);
const Usage = lazyPage(async () => (await import('./pages/account/usage/usage.tsx')).Usage);
const Webhooks = lazyPage(async () => (await import('./pages/account/webhooks/webhooks.tsx')).Webhooks);
const Following = lazyPage(async () => (await import('./pages/following/following.tsx')).Following);
const Billing = lazyPage(async () => (await import('./pages/account/billing/billing.tsx')).Billing);
const Purchase = lazyPage(async () => (await import('./pages/account/billing/purchase.tsx')).Purchase);
const Security = lazyPage(async () => (await import('./pages/account/security/security.tsx')).Security);
const OperatorSources = lazyPage(async () => (await import('./pages/operator/sources.tsx')).OperatorSources);
const OperatorFacts = lazyPage(
  async () => (await import('./pages/operator/facts/series-facts.tsx')).OperatorFacts,
);
const OperatorAccounts = lazyPage(
  async () => (await import('./pages/operator/accounts.tsx')).OperatorAccounts,
);
const OperatorAccount = lazyPage(async () => (await import('./pages/operator/account.tsx')).OperatorAccount);
const OperatorPlans = lazyPage(async () => (await import('./pages/operator/plans.tsx')).OperatorPlans);
const OperatorLoads = lazyPage(async () => (await import('./pages/operator/loads/loads.tsx')).OperatorLoads);
const OperatorLoad = lazyPage(async () => (await import('./pages/operator/loads/load.tsx')).OperatorLoad);
const OperatorPublish = lazyPage(
  async () => (await import('./pages/operator/publish/publish.tsx')).OperatorPublish,
);
const OperatorUpload = lazyPage(
  async () => (await import('./pages/operator/publish/upload.tsx')).OperatorUpload,
);
const OperatorReleases = lazyPage(
  async () => (await import('./pages/operator/releases/releases.tsx')).OperatorReleases,
);
const OperatorRelease = lazyPage(
  async () => (await import('./pages/operator/releases/release.tsx')).OperatorRelease,
);
const SignIn = lazyPage(async () => (await import('./pages/sign-in/sign-in.tsx')).SignIn);
const SignUp = lazyPage(async () => (await import('./pages/sign-in/sign-up.tsx')).SignUp);
const ForgotPassword = lazyPage(
  async () => (await import('./pages/sign-in/forgot-password.tsx')).ForgotPassword,
);
const SetPassword = lazyPage(async () => (await import('./pages/sign-in/set-password.tsx')).SetPassword);
const VerifyEmail = lazyPage(async () => (await import('./pages/sign-in/verify-email.tsx')).VerifyEmail);
const Unsubscribe = lazyPage(async () => (await import('./pages/following/unsubscribe.tsx')).Unsubscribe);
const Home = lazyPage(async () => (await import('./pages/home/home.tsx')).Home);
const SeriesPage = lazyPage(async () => (await import('./pages/series/series.tsx')).SeriesPage);
const Compare = lazyPage(async () => (await import('./pages/compare/compare.tsx')).Compare);
const Revisions = lazyPage(async () => (await import('./pages/revisions/revisions.tsx')).RevisionsPage);
const Catalogue = lazyPage(async () => (await import('./pages/catalogue.tsx')).Catalogue);
const Calendar = lazyPage(async () => (await import('./pages/calendar.tsx')).Calendar);
const Status = lazyPage(async () => (await import('./pages/status.tsx')).Status);
const Plans = lazyPage(async () => (await import('./pages/plans.tsx')).Plans);
const Docs = lazyPage(async () => (await import('./pages/docs/docs.tsx')).Docs);
const Guide = lazyPage(async () => (await import('./pages/docs/guide.tsx')).Guide);
const Reference = lazyPage(async () => (await import('./pages/docs/reference.tsx')).Reference);

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
        <Route path="/series/:id" component={SeriesPage} />
        <Route path="/compare" component={Compare} />
        <Route path="/series/:id/revisions" component={Revisions} />

        {/* sign-in */}
        <Route path="/sign-in" component={SignIn} />
        <Route path="/sign-up" component={SignUp} />
        <Route path="/forgot-password" component={ForgotPassword} />
        <Route path="/dashboard/set-password" component={SetPassword} />
        <Route path="/dashboard/verify-email" component={VerifyEmail} />
        <Route path="/dashboard/unsubscribe" component={Unsubscribe} />

        {/* account */}
        <Route path="/dashboard" component={AccountHome} />
        <Route path="/dashboard/keys" component={Keys} />
        <Route path="/dashboard/usage" component={Usage} />
        <Route path="/dashboard/webhooks" component={Webhooks} />
        <Route path="/dashboard/following" component={Following} />
        <Route path="/dashboard/billing" component={Billing} />
        <Route path="/dashboard/security" component={Security} />
        <Route path="/billing/return" component={Purchase} />

        {/* operator */}
        <Route path="/dashboard/operator/publish" component={OperatorPublish} />
        <Route path="/dashboard/operator/publish/:id" component={OperatorUpload} />
        <Route path="/dashboard/operator/loads" component={OperatorLoads} />
        <Route path="/dashboard/operator/loads/:load" component={OperatorLoad} />
        <Route path="/dashboard/operator/releases" component={OperatorReleases} />
        <Route path="/dashboard/operator/releases/:release" component={OperatorRelease} />
        <Route path="/dashboard/operator/sources" component={OperatorSources} />
        <Route path="/dashboard/operator/facts" component={OperatorFacts} />
        <Route path="/dashboard/operator/accounts" component={OperatorAccounts} />
        <Route path="/dashboard/operator/accounts/:id" component={OperatorAccount} />
        <Route path="/dashboard/operator/plans" component={OperatorPlans} />

        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}
