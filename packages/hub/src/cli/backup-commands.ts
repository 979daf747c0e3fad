/** `parley backup | restore | export | import`: whole stores as files. They open the store themselves and need no running hub. */
import type { Command } from './command.ts'
import { storeDetails, storeFlags } from './config-flags.ts'
import { outputDetails, outputFlags } from './output.ts'

export const backupCommand: Command = {
  name: 'backup',
  takes: '<file>',
  summary: 'Writes a backup of the whole store to a file, while the hub runs.',
  details: [
    ...storeDetails,
    '--keyring <keys>      wrapped (default): keys without the master key. full: with the master key. none: no keys.',
    ...outputDetails,
  ],
  flags: { ...storeFlags, keyring: { type: 'string' }, ...outputFlags },
  async run(flags, terminal) {
    const { backUp } = await import('./store/back-up.ts')
    return backUp(flags, terminal)
  },
}

export const restoreCommand: Command = {
  name: 'restore',
  takes: '<file>',
  summary: 'Restores a backup into an empty store of either kind. Stop the hub first.',
  details: [
    ...storeDetails,
    '--list                Shows what the backup is, and restores nothing.',
    '--check               Also compares all checksums of the file.',
    '--omit-keys           Restores without the keys of the keyring, for when the master key is lost.',
    '--accept-findings     Restores a backup whose content contradicts itself, and lists what is wrong.',
    '--master-key-file <file>   Writes the master key of a backup with --keyring full to this file.',
    ...outputDetails,
  ],
  flags: {
    ...storeFlags,
    list: { type: 'boolean' },
    check: { type: 'boolean' },
    'omit-keys': { type: 'boolean' },
    'accept-findings': { type: 'boolean' },
    'master-key-file': { type: 'string' },
    ...outputFlags,
  },
  async run(flags, terminal) {
    const { restore } = await import('./store/restore.ts')
    return restore(flags, terminal)
  },
}

export const exportCommand: Command = {
  name: 'export',
  takes: '<file|->',
  summary: 'Writes the whole store as JSON lines, to move it to another kind of store. Stop the hub first.',
  details: [...storeDetails, ...outputDetails],
  flags: { ...storeFlags, ...outputFlags },
  async run(flags, terminal) {
    const { exportStore } = await import('./store/back-up.ts')
    return exportStore(flags, terminal)
  },
}

export const importCommand: Command = {
  name: 'import',
  takes: '<file|->',
  summary: 'Fills an empty store from an export. Stop the hub first.',
  details: [...storeDetails, ...outputDetails],
  flags: { ...storeFlags, ...outputFlags },
  async run(flags, terminal) {
    const { importStore } = await import('./store/restore.ts')
    return importStore(flags, terminal)
  },
}
