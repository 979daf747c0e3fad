/** Rejects a response with too many JSON values before it is parsed. Loaded with the first response that is long enough. */
import { defaultJsonNodes, exceedsJsonNodes, responseTooManyNodes } from '../../model/json-nodes.ts'

/** Throws INVALID_AGENT_RESPONSE. */
export function checkJsonNodes(text: string, maxNodes = defaultJsonNodes): void {
  if (exceedsJsonNodes(text, maxNodes)) throw responseTooManyNodes(maxNodes)
}

/** Parses a response; `undefined` if it is not JSON. Throws INVALID_AGENT_RESPONSE if it holds too many values. */
export function parseResponse(text: string, maxNodes?: number): unknown {
  checkJsonNodes(text, maxNodes)
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
