/** Refuses an answer of too many JSON values before it is parsed. Loaded with the first answer that is long enough. */
import { answerTooManyNodes } from '../bindings/json-body.ts'
import { defaultJsonNodes, exceedsJsonNodes } from '../model/json-nodes.ts'

/** Throws INVALID_AGENT_RESPONSE. */
export function checkNodes(text: string, maxNodes = defaultJsonNodes): void {
  if (exceedsJsonNodes(text, maxNodes)) throw answerTooManyNodes(maxNodes)
}
