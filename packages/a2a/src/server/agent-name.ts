/** How an agent may be called: its name is a part of paths, so it must mean nothing else there. */

const reserved: ReadonlySet<string> = new Set([
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

/** What is wrong with a name, if anything is. */
export function whatIsWrongWithName(name: string): string | undefined {
  if (reserved.has(name)) return 'this name is reserved: choose another'
  if (/^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/.test(name)) return undefined
  return 'a name is 1 to 64 letters, digits, dots, dashes, underscores or tildes, and begins with a letter or digit'
}
