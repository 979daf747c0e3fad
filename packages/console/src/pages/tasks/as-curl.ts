/** The same request for a terminal. The key is named, never shown. */
import type { Agent } from '../../api/admin.ts'
import { fillFreshId, freshId } from '../../parts/fresh-id.ts'

export function asCurl(origin: string, path: string): string {
  return `curl -H "Authorization: Bearer $PARLEY_ADMIN_KEY" ${quoted(origin + path)}`
}

/**
 * The header that carries the key of a caller, for agents that need one. Agents that may be called anonymously get none: an
 * empty key is refused, where no key is not.
 */
export function keyHeader({ isOpen }: Pick<Agent, 'isOpen'>): readonly string[] {
  return isOpen ? [] : ['-H "Authorization: Bearer $PARLEY_KEY"']
}

/** A first message to an agent, as the empty list teaches it. */
export function sendAsCurl(origin: string, agent: Pick<Agent, 'name' | 'isOpen'>): string {
  return [
    `curl ${quoted(`${origin}/a2a/${encodeURIComponent(agent.name)}`)} \\`,
    `  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \\`,
    ...keyHeader(agent).map((header) => `  ${header} \\`),
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
