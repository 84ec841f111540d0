// Every order of what may happen between two gateways and accounts-api, with the functions that decide in production.
import test from 'ava';
import { exploreScenario, scenarios } from './scenarios.ts';

for (const [name, scenario] of Object.entries(scenarios)) {
  test(`all laws of the heartbeat hold in every state when ${name}`, (t) => {
    const { states, broken } = exploreScenario(scenario);
    t.is(broken, null, broken === null ? '' : `${broken.law}: ${broken.way.join(' · ')}`);
    t.log(`${states} states`);
  });
  for (const [fault, rules] of Object.entries(scenario.faults))
    test(`when ${name}, it is found that ${fault}`, (t) => {
      t.not(exploreScenario(scenario, rules).broken, null);
    });
}
