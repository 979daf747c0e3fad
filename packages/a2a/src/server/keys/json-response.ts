/** Reads the response of a key or metadata server: limited in size, and its JSON nodes are counted before it is parsed. */
import { defaultJsonNodes, exceedsJsonNodes } from '../../model/json-nodes.ts'

/** Key lists and metadata have a few kilobytes. */
const maxBytes = 1_000_000

/** Throws if the response is too large or holds too many values. */
export async function readJsonText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  // Leaving the loop early cancels the rest.
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    if (bytes > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
    text += decoder.decode(piece, { stream: true })
  }
  text += decoder.decode()
  if (exceedsJsonNodes(text, defaultJsonNodes))
    throw new Error(`the response holds more than ${defaultJsonNodes} JSON values`)
  return text
}
