/** `parley prune`: removes what is older than the retention settings allow, or shows what would go. */
import { hubDetails, hubFlags } from './admin-request.ts'
import type { Command } from './command.ts'

export const pruneCommand: Command = {
  name: 'prune',
  summary: 'Removes data that is older than `retention` allows, or shows what would go.',
  details: [
    '--dry-run               Counts what would go, and changes nothing.',
    'A running hub also removes it by itself, a few seconds later.',
    'With --data, --store or -c and no running hub, the command works on the store itself.',
    ...hubDetails,
  ],
  flags: { ...hubFlags, 'dry-run': { type: 'boolean' } },
  async run(flags, terminal) {
    const { runPrune } = await import('./store/run-prune.ts')
    return runPrune(flags, terminal)
  },
}
