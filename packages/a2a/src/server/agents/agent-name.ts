/** Rules for agent names: a name is a path segment, so it must not have another meaning there. */

const reservedAgentNames: ReadonlySet<string> = new Set([
  'tasks',
  'agents',
  'agent',
  'v1',
  'admin',
  'api',
  'mcp',
  'healthz',
  'readyz',
  'metrics',
  'agent-card',
  'extendedAgentCard',
])

/**
 * Checks an agent name: 1 to 64 URL-safe characters that are not reserved. Returns what is wrong with it, or
 * `undefined` if it is valid.
 */
export function validateAgentName(name: string): string | undefined {
  if (reservedAgentNames.has(name)) return 'is reserved: choose another name'
  if (/^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/.test(name)) return undefined
  return 'a name is 1 to 64 letters, digits, dots, dashes, underscores or tildes, and begins with a letter or digit'
}
