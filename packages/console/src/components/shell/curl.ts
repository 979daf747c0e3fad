/** Requests as curl commands. The key is a variable, never its value. */
import type { Agent } from '../../api/admin.ts'

export function adminCurl(origin: string, path: string): string {
  return `curl -H "Authorization: Bearer $PARLEY_ADMIN_KEY" ${shellQuote(origin + path)}`
}

/**
 * The header with the caller's key, for agents that require one. Agents that permit anonymous access get none: an empty key is
 * rejected, but no key is accepted.
 */
export function curlKeyHeader({ isOpen }: Pick<Agent, 'isOpen'>): readonly string[] {
  return isOpen ? [] : ['-H "Authorization: Bearer $PARLEY_KEY"']
}

/** A first message to an agent, as the empty state shows it. */
export function sendMessageCurl(origin: string, agent: Pick<Agent, 'name' | 'isOpen'>): string {
  return [
    `curl ${shellQuote(`${origin}/a2a/${encodeURIComponent(agent.name)}`)} \\`,
    `  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \\`,
    ...curlKeyHeader(agent).map((header) => `  ${header} \\`),
    `  -d '{ "jsonrpc": "2.0", "id": 1, "method": "SendMessage",`,
    `    "params": { "message": { "role": "ROLE_USER",`,
    fillMessageId(`      "messageId": "${messageIdPlaceholder}",`),
    `      "parts": [{ "text": "Hello" }] } } }'`,
  ].join('\n')
}

/** Quotes any text for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/**
 * A new message id on each run, because the same id with the same text would be the same message. It is a UUID, because repeats of
 * anonymous callers are recognized only under ids that cannot be guessed. macOS and most of Linux have the first command, the rest
 * of Linux the second.
 */
const shellUuid = '$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)'

/** Stands for the id in a request that is not yet quoted for a shell. */
export const messageIdPlaceholder = '{a new id}'

/** Takes a single-quoted text: closes the quotes before the first id and reopens them after it. */
export function fillMessageId(quoted: string): string {
  return quoted.replace(messageIdPlaceholder, () => `'${shellUuid}'`)
}
