// Reads config/gateway.config.yml, refuses an unsafe file, and turns its paths into patterns: anchored and case-sensitive, where the engine is
// tolerant.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const methods = ['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const pathSchema = z
  .string()
  .regex(
    /^(?:\*|\/|(?:\/:?[A-Za-z][A-Za-z0-9._-]*)+(?:\/\*)?)$/,
    'must be a path such as /v1/series/:id, or "*"',
  );

const endpointSchema = z.strictObject({
  methods: z.array(z.enum(methods)).min(1).optional().describe('none: every method'),
  paths: z.array(pathSchema).min(1),
});

const stepSchema = z
  .strictObject({
    action: z.record(z.string(), z.unknown()).optional(),
    condition: z.undefined('is not allowed: the engine could mount the policy behind `forward`').optional(),
  })
  .nullable();

const fileSchema = z.strictObject({
  apiEndpoints: z.record(z.string(), z.union([endpointSchema, z.array(endpointSchema).min(1)])),
  policies: z.array(z.string()),
  pipelines: z.record(
    z.string(),
    z.strictObject({
      apiEndpoints: z.array(z.string()).min(1),
      policies: z.array(z.record(z.string(), stepSchema)).min(1),
    }),
  ),
});

type Endpoint = z.output<typeof endpointSchema>;
type RouteFile = z.output<typeof fileSchema>;

/** A pipeline with the paths it serves, in the order of the file. */
export type PipelineRoutes = ReturnType<typeof pipelineRoutes>;

export interface Place {
  /** The segment after /v1, such as `series`, or the first segment, such as `auth`; `dashboard` for its pages, `other` without a route. */
  group: string;
  /** The path as written in the file, such as `/v1/series/:id`; undefined if there is no route. */
  route: string | undefined;
}

export type GatewayRoutes = ReturnType<typeof parseRoutes>;

/** Reads the file. @throws Error as `parseRoutes` does, with the file's name. */
export function loadRoutes(file: string, registered: readonly string[]): GatewayRoutes {
  try {
    return parseRoutes(readFileSync(file, 'utf8'), registered);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * @param text the YAML. @param registered the names of the existing policies.
 * @throws Error for a condition, an unknown policy, an endpoint without a pipeline, or an invalid structure.
 */
export function parseRoutes(text: string, registered: readonly string[]) {
  const parsed = fileSchema.safeParse(parse(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const file = parsed.data;
  checkPolicies(file, registered);
  checkEndpoints(file);
  const routes = Object.values(file.apiEndpoints)
    .flat()
    .flatMap(routesOf)
    .filter(({ path }) => path !== '*');
  const byGroup = Map.groupBy(routes, ({ path }) => groupName(path));
  const pipelines = Object.values(file.pipelines).map((pipeline) => pipelineRoutes(file, pipeline));
  const pages = pipelines
    .filter(({ steps }) => steps.some(({ policy }) => policy === 'dashboard'))
    .flatMap((pipeline) => pipeline.routes);
  const isPage = (path: string) =>
    !path.startsWith('/v1/') && pages.some(({ pattern }) => pattern.test(path));
  return {
    /** The group and route of a path. */
    placeOf(path: string): Place {
      const name = groupName(path);
      const route = byGroup.get(name)?.find(({ pattern }) => pattern.test(path))?.path;
      if (isPage(path)) return { group: 'dashboard', route }; // a page such as /series/GDP is not in group `series`
      return { group: byGroup.has(name) ? name : 'other', route };
    },
    /** The methods of the path, with HEAD and OPTIONS if supported; empty if there is no route. */
    methodsAt(path: string): readonly string[] {
      const found = routes.filter((route) => route.pattern.test(path));
      const allowed = new Set(found.flatMap((route) => route.methods ?? methods));
      // In one order, whichever endpoints of the file define them.
      const those = methods.filter((method) => allowed.has(method));
      return those.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    },
    pipelines,
    /** The routes in express-gateway's format, every path an anchored pattern. */
    forEngine: {
      apiEndpoints: Object.fromEntries(
        Object.entries(file.apiEndpoints).map(([name, endpoints]) => [name, engineEndpoints(endpoints)]),
      ),
      policies: file.policies,
      pipelines: file.pipelines,
    },
  };
}

/** The pattern of a path of the file: anchored, case-sensitive; `:name` is one segment, a trailing `*` the rest. */
export function patternOf(path: string): RegExp {
  if (path === '*') return /^/;
  const source = path
    .replaceAll('.', '\\.')
    .replace(/:[A-Za-z][A-Za-z0-9_-]*/g, '[^/]+')
    .replace(/\*$/, '.+');
  return new RegExp(`^${source}$`);
}

/** The segment after /v1 of a path, such as `series`, or the first segment, such as `auth`. */
export function groupName(path: string): string {
  const begin = path.startsWith('/v1/') ? 4 : 1;
  const end = path.indexOf('/', begin);
  return end < 0 ? path.slice(begin) : path.slice(begin, end);
}

function checkPolicies(file: RouteFile, registered: readonly string[]): void {
  const used = Object.entries(file.pipelines).flatMap(([pipeline, { policies }]) =>
    policies.map((step) => ({ pipeline, names: Object.keys(step) })),
  );
  for (const { pipeline, names } of used) {
    if (names.length !== 1) throw new Error(`pipelines.${pipeline}: each step must name exactly one policy`);
  }
  const unknown = [...file.policies, ...used.flatMap(({ names }) => names)].filter(
    (name) => !registered.includes(name) || !file.policies.includes(name),
  );
  if (unknown.length > 0) {
    throw new Error(`these policies do not exist: ${[...new Set(unknown)].join(', ')}`);
  }
}

function checkEndpoints(file: RouteFile): void {
  const served = Object.values(file.pipelines).flatMap((pipeline) => pipeline.apiEndpoints);
  for (const name of served) {
    if (!(name in file.apiEndpoints)) throw new Error(`pipelines: unknown endpoint "${name}"`);
    if (served.filter((other) => other === name).length > 1) {
      throw new Error(`pipelines: "${name}" is served twice`);
    }
  }
  for (const name of Object.keys(file.apiEndpoints)) {
    if (!served.includes(name)) throw new Error(`apiEndpoints: no pipeline serves "${name}"`);
  }
}

function routesOf({ paths, methods }: { paths: readonly string[]; methods?: readonly string[] | undefined }) {
  return paths.map((path) => ({ path, pattern: patternOf(path), methods }));
}

function pipelineRoutes(file: RouteFile, pipeline: RouteFile['pipelines'][string]) {
  return {
    routes: pipeline.apiEndpoints.flatMap((name) => [file.apiEndpoints[name] ?? []].flat().flatMap(routesOf)),
    steps: pipeline.policies
      .flatMap((step) => Object.entries(step))
      .map(([policy, settings]) => ({ policy, action: settings?.action ?? {} })),
  };
}

function engineEndpoints(endpoints: Endpoint | Endpoint[]) {
  return [endpoints]
    .flat()
    .flatMap(routesOf)
    .map((route) => ({
      host: '*',
      pathRegex: route.pattern.source,
      ...(route.methods === undefined ? {} : { methods: route.methods }),
    }));
}
