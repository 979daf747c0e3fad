/** The flags of commands that read the configuration. Without other imports, so that `parley help` loads no configuration. */
import type { Command } from './command.ts'

/** Flags of every command that reads the configuration. */
export const configFlags = { config: { type: 'string', short: 'c' } } satisfies Command['flags']
/** Flags of commands that read the configuration and do not run it: `secretReader` reads them. */
export const runSecretsFlags = { 'run-secrets': { type: 'boolean' } } satisfies Command['flags']
export const runSecretsDetails = [
  '--run-secrets           Starts the programs and modules of `secrets` in the configuration. Default: PARLEY_RUN_SECRETS=1; otherwise no.',
]

export const listenFlags = {
  host: { type: 'string' },
  port: { type: 'string' },
  'grpc-port': { type: 'string' },
  store: { type: 'string' },
  data: { type: 'string' },
} satisfies Command['flags']

/** Flags of commands that open a store without the hub: `readStoreSettings` reads them. */
export const storeFlags = {
  ...configFlags,
  ...runSecretsFlags,
  store: { type: 'string' },
  data: { type: 'string' },
} satisfies Command['flags']
export const storeDetails = [
  '-c, --config <file>   The configuration that names the store. Default: parley.yaml, parley.yml or parley.json in this folder.',
  '--data <dir>          The SQLite store in this directory.',
  '--store <url>         sqlite:<file> or postgres://user:password@host/database. Overrides the configuration.',
  ...runSecretsDetails,
]
