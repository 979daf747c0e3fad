/** `parley up`: runs the hub. */
import type { Command } from './command.ts'
import { configFlags, listenFlags } from './config-flags.ts'

export const upCommand: Command = {
  name: 'up',
  summary: 'Starts the hub. Without a configuration it serves the demo agents.',
  details: [
    '-c, --config <file>   Default: parley.yaml, parley.yml or parley.json in this folder.',
    '--host, --port, --grpc-port, --store, --data   Override the configuration.',
    '--insecure            Allows other addresses than loopback without `access` in the configuration.',
    '--accept-loss         Starts even if the SQLite file has lost acknowledged writes. Default: refuses to start.',
  ],
  flags: { ...configFlags, ...listenFlags, insecure: { type: 'boolean' }, 'accept-loss': { type: 'boolean' } },
  run: async (flags, terminal) => (await import('./run-hub.ts')).runHub(flags, terminal),
}
