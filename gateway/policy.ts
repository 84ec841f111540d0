// The interface of a policy: a plain (request, response, next) function, built once per place in gateway.config.yml.
// Hides how the `action` in the file is checked before a policy is built from it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';

/** One step of a pipeline. It calls `next`, or answers, or throws a Failure, which is answered as the envelope. */
export type Policy = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void | Promise<void>;

/** Builds a policy from the `action` in the file. @throws Error where the action is not what the policy takes. */
export type BuildPolicy = (action: unknown) => Policy;

/** A policy that takes an action of the given shape. */
export function withAction<Schema extends z.ZodType>(
  schema: Schema,
  build: (action: z.output<Schema>) => Policy,
): BuildPolicy {
  return (action) => {
    const parsed = schema.safeParse(action);
    if (!parsed.success)
      throw new Error(`The action in gateway.config.yml is wrong: ${z.prettifyError(parsed.error)}`);
    return build(parsed.data);
  };
}

/** A policy that takes no action. */
export function withoutAction(policy: Policy): BuildPolicy {
  return withAction(z.strictObject({}), () => policy);
}
