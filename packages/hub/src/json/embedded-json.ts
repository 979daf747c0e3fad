/**
 * Parses JSON embedded as a string in another value: a message for a tool, arguments that a model made, a task id. The limit on
 * JSON nodes of a request counts such a string as one.
 */
import type { Json } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/internal'
import { attempt } from './attempt.ts'

/** Throws SyntaxError, also for a text of more than 100,000 values. */
export function parseBoundedJson(text: string): unknown {
  if (exceedsJsonNodes(text, defaultJsonNodes))
    throw new SyntaxError(`it holds more than ${defaultJsonNodes} JSON values`)
  return JSON.parse(text) as unknown
}

export function parseJsonOrUndefined(text: string): Json | undefined {
  return attempt(() => parseBoundedJson(text) as Json)
}
