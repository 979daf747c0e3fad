/** `parley erase`: erases all data of a caller, by a running hub or in a store that no hub has open. */
import { hubDetails, hubFlags } from './admin-request.ts'
import { usageError, type Command } from './command.ts'

export const eraseCommand: Command = {
  name: 'erase',
  summary: 'Erases all data of a caller and prints a receipt.',
  details: [
    '--caller <id>           The principal: key:<id>, <issuer>|<subject>, or the principal of its keys. Required.',
    '--dry-run               Counts what would go, and changes nothing.',
    '--yes                   Does not ask for confirmation. Required without a terminal.',
    '--no-compact            Does not rewrite the store at the end: a running SQLite hub answers nothing meanwhile.',
    'Exits with 1 if the data is erased but the store was not compacted: repeat the command.',
    'With --data, --store or -c and no running hub, the command works on the store itself.',
    ...hubDetails,
  ],
  flags: {
    ...hubFlags,
    caller: { type: 'string' },
    'dry-run': { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
    'no-compact': { type: 'boolean' },
  },
  async run(flags, terminal) {
    const caller = flags.value('caller')
    if (caller === undefined || caller === '') throw usageError('Missing caller: set --caller <id>.')
    // Loaded here, so that `parley help` does not load the store.
    const { runErase } = await import('./store/run-erase.ts')
    return runErase(flags, terminal, caller)
  },
}
