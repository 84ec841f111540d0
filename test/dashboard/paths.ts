// A URL of each kind that the dashboard has: of every route of the gateway that serves it, but its files.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../../kernel/project.ts';

const { apiEndpoints } = parse(readFileSync(path.join(projectRoot, 'config/gateway.config.yml'), 'utf8')) as {
  apiEndpoints: { dashboard: { paths: string[] } };
};

/** The paths as they are in config/gateway.config.yml: `/series/:id`. */
const dashboardRoutes = apiEndpoints.dashboard.paths.filter((at) => !at.startsWith('/assets/'));

export const dashboardPaths = dashboardRoutes.map((at) =>
  at.replaceAll(':id', 'DEMO.CPI').replaceAll(':guide', 'api').replace('*', 'keys'),
);
