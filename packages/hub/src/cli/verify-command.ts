/** `parley verify`: checks a whole store, while a hub may use it. */
import type { Command } from './command.ts'
import { storeDetails, storeFlags } from './config-flags.ts'
import { outputDetails, outputFlags } from './output.ts'

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Checks that every log, snapshot, counter, blob and index of a store is right.',
  details: [
    'Reads the store at one moment and changes nothing; the hub may run. Exits with 1 if something is wrong.',
    ...storeDetails,
    ...outputDetails,
  ],
  flags: { ...storeFlags, ...outputFlags },
  async run(flags, terminal) {
    const { verify } = await import('./store/verify.ts')
    return verify(flags, terminal)
  },
}
