/** The global options that the help of every command that calls an agent describes. */
export const callOptions: readonly string[] = [
  'agent-card',
  'transport',
  'a2a-version',
  'output',
  'timeout',
  'insecure',
  'verbose',
]
