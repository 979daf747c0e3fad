/**
 * `parley key rotate admin` while no hub runs: in the store itself. It needs no admin key: this user can read the data directory, and
 * with it the master key.
 */
import { existsSync } from 'node:fs'
import { overlapField } from '../../admin/routes/key-rotation.ts'
import { openAdminKey, type RotatedAdminKey } from '../../auth/admin-key.ts'
import { isoTime } from '../../http/json-response.ts'
import { openStore, sqliteFile } from '../../store/open-store.ts'
import { readConfig, sectionOf } from '../cli-settings.ts'
import { CliError, exitCodes, usageError, type Flags, type Terminal } from '../command.ts'
import { readStoreSettings } from '../store-location.ts'

export interface RotatedKey {
  readonly key: string
  readonly previousEndsAt: string
  /** Where the file of the admin key has to get it. */
  readonly dataDir?: string | undefined
}

/** `failure` is why no hub rotates it. Throws it if there is no store, or one that only a hub has. */
export async function rotateInStore(flags: Flags, terminal: Terminal, failure: CliError): Promise<RotatedKey> {
  const overlap = overlapField.safeParse(flags.value('overlap'))
  if (!overlap.success) throw usageError(`--overlap ${overlap.error.issues[0]?.message}.`)
  const loaded = await readConfig(flags, terminal)
  if (loaded.references.has('admin.key') || sectionOf(loaded, 'admin', 'key').key !== undefined)
    throw new CliError('The admin key is set by PARLEY_ADMIN_KEY or `admin.key`: set another one there.')
  const log = { info() {}, warn: (message: string) => terminal.printError(message) }
  const settings = { ...(await readStoreSettings(flags, terminal)), log }
  const isMissing = settings.store.startsWith('sqlite:') && !existsSync(sqliteFile(settings))
  if (settings.store === 'memory:' || isMissing) throw failure
  const store = await openStore(settings).catch((reason: Error) => {
    if (!reason.message.includes('is in use by another store')) throw reason
    throw failure.exitCode === exitCodes.unreachable
      ? new CliError('The hub of this store runs at another address. Name it with --url, or stop it.')
      : failure
  })
  try {
    const adminKey = await openAdminKey({ kv: store.kv })
    try {
      const { key, previousEndsAt } = (await adminKey.rotate(overlap.data)) as RotatedAdminKey
      return { key, previousEndsAt: isoTime(previousEndsAt), dataDir: settings.dataDir }
    } finally {
      adminKey.close()
    }
  } finally {
    await store.close()
  }
}
