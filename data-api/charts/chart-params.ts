// The parameters for the look of a chart; the parameters of a series select its content.
import { flagParam, integerParam, oneOfParam } from '../../kernel/http/params.ts';
import { themes } from '../../domain/chart/palette.ts';

/** The look of a chart. */
export const lookParams = {
  width: integerParam(240, 1_600).default(800).meta({ override: { default: 800 } }).describe('In pixels; text is always 12 pixels high.'), // prettier-ignore
  height: integerParam(240, 1_200)
    .default(420)
    .meta({ override: { default: 420 } })
    .describe('In pixels.'),
  theme: oneOfParam(themes).default('light').describe('The colours: on white, or on near black.'),
  log: flagParam(false).describe(
    'A logarithmic scale; values at or below zero are left out, and counted in the caption.',
  ),
};

/** The look of a chart, as parsed. */
export interface Look {
  width: number;
  height: number;
  theme: (typeof themes)[number];
  log: boolean;
}

/** The look parameters of a query that has further ones. */
export function lookOf({ width, height, theme, log }: Look): Look {
  return { width, height, theme, log };
}
