/**
 * JSON that came as a text inside of something else: a message for a tool, the arguments that a model made, the id of a
 * task. The limit on the values of a request counts such a text as one.
 */
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'

/** Throws SyntaxError, also for a text of more than 100,000 values. */
export function parseBoundedJson(text: string): unknown {
  if (exceedsJsonNodes(text, defaultJsonNodes))
    throw new SyntaxError(`it holds more than ${defaultJsonNodes} JSON values`)
  return JSON.parse(text) as unknown
}
