/**
 * Whether a command asks a running hub or works on the store itself. A SQLite file that is locked belongs to a running hub; without
 * a lock no hub has it open. PostgreSQL has no such lock: the command asks the hub, and works on the store if none answers. A hub
 * that uses another store is not asked: the address is often a default, and an erasure there could not be undone.
 */
import { existsSync } from 'node:fs'
import type { FullStore } from '@parley/a2a/stores'
import type { HubHealth } from '../../admin/routes/health.ts'
import { describeStore, openStore, sqliteFile, type StoreSettings } from '../../store/open-store.ts'
import { hubConnection, requestAdmin } from '../admin-request.ts'
import { CliError, exitCodes, type Flags, type Terminal } from '../command.ts'
import { readStoreSettings } from '../store-location.ts'

/** `undefined`: ask the hub. */
export async function openOwnStore(flags: Flags, terminal: Terminal): Promise<FullStore | undefined> {
  const isNamed = ['data', 'store', 'config'].some((name) => flags.value(name) !== undefined)
  if (!isNamed || flags.value('url') !== undefined) return undefined
  const settings = { ...(await readStoreSettings(flags, terminal)), log: { info() {}, warn: logTo(terminal) } }
  if (settings.store === 'memory:') return undefined
  return settings.store.startsWith('sqlite:')
    ? openFile(flags, terminal, settings)
    : openDatabase(flags, terminal, settings)
}

async function openFile(flags: Flags, terminal: Terminal, settings: StoreSettings): Promise<FullStore | undefined> {
  const file = sqliteFile(settings)
  if (!existsSync(file)) throw new CliError(`No store at ${file}: name its directory with --data.`)
  try {
    return await openStore(settings)
  } catch (reason) {
    if (!(reason instanceof Error && reason.message.includes('is in use by another store'))) throw reason
  }
  await requireHubOf(settings, flags, terminal)
  return undefined
}

async function openDatabase(flags: Flags, terminal: Terminal, settings: StoreSettings): Promise<FullStore | undefined> {
  try {
    await requireHubOf(settings, flags, terminal)
    return undefined
  } catch (reason) {
    if (!(reason instanceof CliError && reason.exitCode === exitCodes.unreachable)) throw reason
    return openStore(settings)
  }
}

/** Throws CliError if the hub at the address of the command uses another store. */
async function requireHubOf(settings: StoreSettings, flags: Flags, terminal: Terminal): Promise<void> {
  const { store } = await requestAdmin<Pick<HubHealth, 'store'>>(flags, terminal, 'GET', '/admin/health')
  const name = describeStore(settings)
  if (store.name === name) return
  const { url } = await hubConnection(flags, terminal)
  throw new CliError(`The hub at ${url} uses another store (${store.name}), not ${name}: name the hub with --url.`)
}

function logTo(terminal: Terminal) {
  return (message: string): void => terminal.printError(message)
}
