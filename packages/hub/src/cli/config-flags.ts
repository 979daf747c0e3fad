/** The flags of commands that read the configuration. Without other imports, so that `parley help` loads no configuration. */
import type { Command } from './command.ts'

/** Flags of every command that reads the configuration. */
export const configFlags = { config: { type: 'string', short: 'c' } } satisfies Command['flags']
export const listenFlags = {
  host: { type: 'string' },
  port: { type: 'string' },
  'grpc-port': { type: 'string' },
  store: { type: 'string' },
  data: { type: 'string' },
} satisfies Command['flags']
