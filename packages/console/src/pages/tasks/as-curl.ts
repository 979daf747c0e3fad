/** The same request for a terminal. The key is named, never shown. */
import { fillFreshId, freshId } from '../../parts/fresh-id.ts'

export function asCurl(origin: string, path: string): string {
  return `curl -H "Authorization: Bearer $PARLEY_ADMIN_KEY" ${quoted(origin + path)}`
}

/** A first message to an agent, as the empty list teaches it. */
export function sendAsCurl(origin: string, agent: string): string {
  return [
    `curl ${quoted(`${origin}/a2a/${encodeURIComponent(agent)}`)} \\`,
    `  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \\`,
    `  -d '{ "jsonrpc": "2.0", "id": 1, "method": "SendMessage",`,
    `    "params": { "message": { "role": "ROLE_USER",`,
    fillFreshId(`      "messageId": "${freshId}",`),
    `      "parts": [{ "text": "Hello" }] } } }'`,
  ].join('\n')
}

/** For a POSIX shell, whatever it holds. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
