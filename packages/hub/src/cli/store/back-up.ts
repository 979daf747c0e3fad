/** The work of `parley backup` and `parley export`: a whole store into a file. */
import { formatSize } from '@parley/cli/internal'
import type { BackupKeyring, DumpCounts, StoreReader } from '@parley/a2a/internal'
import { writeDump } from '@parley/a2a/stores/dump'
import { hubVersion } from '../../config/hub-version.ts'
import { describeStore } from '../../store/open-store.ts'
import { CliError, usageError, type Flags, type Terminal } from '../command.ts'
import { commandText, storeNameFlags } from '../command-text.ts'
import { printResult, writeOutput } from '../output.ts'
import { createProgress } from '../progress.ts'
import { readStoreSettings } from '../store-location.ts'
import { contentText, pathArgument } from './file-arguments.ts'
import { throwIf, writeNewFile } from './output-file.ts'
import { withOperatorErrors, wholeStore } from './whole-store.ts'
import { openWithMasterKey } from './wrapping-master-key.ts'

export async function backUp(flags: Flags, terminal: Terminal): Promise<number> {
  const file = pathArgument(flags, terminal)
  if (file === '-')
    throw usageError('A backup is a file: parley backup <file>. Only parley export writes to the standard output.')
  const keyring = (flags.value('keyring') ?? 'wrapped') as BackupKeyring
  const settings = await readStoreSettings(flags, terminal)
  const isInterrupted = watchInterrupts(terminal)
  const summary = await withOperatorErrors(async () => {
    const store = await wholeStore(settings)
    if (keyring === 'full' && store.masterKeys().length === 0) {
      throw usageError(`--keyring full needs the master key, which ${describeStore(settings)} does not have.`)
    }
    const createdAt = Date.now()
    const { reader, foreignKeys, isForeign, ...found } = await openWithMasterKey(store)
    // With the check of a wrong key in its manifest, the backup could not be restored with the right one.
    const masterKey = isForeign ? undefined : found.masterKey
    const { onProgress, clear } = await reading(reader, terminal)
    try {
      if (keyring === 'full' && masterKey === undefined) {
        throw new CliError('The master key is not the one that wraps the keys in the store. No backup was written.')
      }
      const about = { program: hubVersion(), createdAt, keyring, masterKey }
      const written = await writeNewFile(file, writeDump(reader, { backup: about, onProgress }), isInterrupted)
      await store
        .recordBackup({ at: createdAt, bytes: written.bytes, position: written.position })
        .catch((error: unknown) => terminal.printError(notRecorded(error)))
      if (found.masterKey !== undefined && foreignKeys > 0 && keyring !== 'none') {
        terminal.printError(
          `The master key does not unwrap ${foreignKeys} of the keys in the store: run "${commandText(flags, terminal, 'verify', storeNameFlags)}".`,
        )
      }
      return written
    } finally {
      clear()
      await reader.close()
    }
  })
  if (keyring === 'full') {
    terminal.printError(`${file} contains the master key: keep it where no other user can read it.`)
  }
  const { manifest, counts, bytes, sha256 } = summary
  printResult(flags, terminal, { file, ...manifest, counts, bytes, sha256 }, () => [
    `Backed up ${describeStore(settings)} to ${file}: ${contentText(counts)}, ${formatSize(bytes)}.`,
    ...(keyring === 'wrapped' ? [masterKeyNote(settings.store)] : []),
  ])
  return 0
}

/** The backup is complete: a role that may only read, or a standby, is a good place to take one from. */
function notRecorded(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return `The time of the backup was not recorded: ${reason}. The backup is complete, but "parley status" and /metrics do not show it.`
}

function masterKeyNote(store: string): string {
  const place = store.startsWith('sqlite:') ? 'the file parley.db.key' : 'store.masterKey'
  return `The master key (${place}) is not in the file: keep a copy of it in another place.`
}

export async function exportStore(flags: Flags, terminal: Terminal): Promise<number> {
  const file = pathArgument(flags, terminal)
  const settings = await readStoreSettings(flags, terminal)
  const isInterrupted = watchInterrupts(terminal)
  const summary = await withOperatorErrors(async () => {
    const store = await wholeStore(settings)
    const reader = await store.reader()
    const { onProgress, clear } = await reading(reader, terminal)
    try {
      const lines = writeDump(reader, { onProgress })
      return await (file === '-' ? writeTo(terminal, lines, isInterrupted) : writeNewFile(file, lines, isInterrupted))
    } finally {
      clear()
      await reader.close()
    }
  })
  const { counts, bytes, sha256, position } = summary
  const line = `Exported ${describeStore(settings)}: ${contentText(counts)}, ${formatSize(bytes)}.`
  // Standard output has the dump.
  if (file === '-') terminal.printError(line)
  else printResult(flags, terminal, { file, position, counts, bytes, sha256 }, () => [line])
  return 0
}

/** Whether Ctrl-C was pressed. The command then ends at its next step and removes what it has written. */
export function watchInterrupts(terminal: Terminal): () => boolean {
  let isInterrupted = false
  void terminal.untilShutdown().then(() => (isInterrupted = true))
  return () => isInterrupted
}

async function reading(reader: StoreReader, terminal: Terminal) {
  const total = terminal.isErrorTerminal ? sum(await reader.count()) : undefined
  const progress = createProgress(terminal, { label: 'Reading the store', total })
  return { onProgress: (entries: number) => progress.update(entries, `${entries} entries`), clear: progress.clear }
}

function sum(counts: DumpCounts): number {
  return Object.values(counts).reduce((all, count) => all + count, 0)
}

async function writeTo<Result>(
  terminal: Terminal,
  pieces: AsyncGenerator<Uint8Array, Result, undefined>,
  isInterrupted: () => boolean,
): Promise<Result> {
  let next = await pieces.next()
  for (; next.done !== true; next = await pieces.next()) {
    throwIf(isInterrupted)
    await writeOutput(terminal, next.value)
  }
  return next.value
}
