// The interface of a policy: a plain (request, response, next) function, built once per occurrence in gateway.config.yml after its `action` is
// validated.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';

/** One step of a pipeline. It calls `next`, answers, or throws a Failure, which is answered with the envelope. */
export type Policy = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void | Promise<void>;

/** Runs the call if a compiled, read-only pipeline serves its path. @returns undefined if none does; the engine then handles the call. */
export type RunCompiled = (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined;

/** Builds a policy from its `action` in the file. @throws Error if the action is invalid. */
export type BuildPolicy = (action: unknown) => Policy;

/** A policy whose action has the given schema. */
export function withAction<Schema extends z.ZodType>(
  schema: Schema,
  build: (action: z.output<Schema>) => Policy,
): BuildPolicy {
  return (action) => {
    const parsed = schema.safeParse(action);
    if (!parsed.success)
      throw new Error(`Invalid action in gateway.config.yml: ${z.prettifyError(parsed.error)}`);
    return build(parsed.data);
  };
}

/** A policy without an action. */
export function withoutAction(policy: Policy): BuildPolicy {
  return withAction(z.strictObject({}), () => policy);
}
