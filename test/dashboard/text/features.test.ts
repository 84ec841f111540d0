// The names of plan features in the dashboard.
import test from 'ava';
import { featureText } from '../../../dashboard/text/features.ts';
import { projectPlans } from '../../services/services.ts';

test('every feature of the plans has a name, and another is shown by its id', (t) => {
  const features = new Set(projectPlans().all.flatMap((plan) => [...plan.features]));
  t.true(features.size > 3);
  for (const feature of features) t.regex(featureText(feature), /^[A-Z][a-z ]+$/, feature);
  t.is(featureText('own_feature'), 'own_feature');
});
