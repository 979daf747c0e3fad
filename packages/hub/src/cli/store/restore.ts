/** The work of `parley restore` and `parley import`: a whole store from a file. */
import { formatSize } from '@parley/cli/internal'
import { createReadStream, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BackupManifest, DumpEntry, DumpSummary } from '@parley/a2a/internal'
import { isMasterKeyOf, readDump, readManifest } from '@parley/a2a/stores/dump'
import { describeStore } from '../../store/open-store.ts'
import { createBackupCheck } from '../../verify/check-backup.ts'
import { findingText } from '../../verify/finding-report.ts'
import { CliError, type Flags, type Terminal } from '../command.ts'
import { printResult } from '../output.ts'
import { createProgress } from '../progress.ts'
import { readStoreSettings } from '../store-location.ts'
import { watchInterrupts } from './back-up.ts'
import { contentText, pathArgument } from './file-arguments.ts'
import { directoryProblem, throwIf } from './output-file.ts'
import { withOperatorErrors, wholeStore, type WholeStore } from './whole-store.ts'

export async function restore(flags: Flags, terminal: Terminal): Promise<number> {
  const file = pathArgument(flags, terminal)
  if (flags.has('list')) return list(file, flags, terminal)
  if (flags.has('check')) return check(file, flags, terminal)
  const settings = await readStoreSettings(flags, terminal)
  const { summary, manifest, notes } = await withOperatorErrors(async () => {
    const store = await wholeStore(settings)
    const omitsKeys = flags.has('omit-keys')
    const keys = createMasterKeyPlan(store, omitsKeys, masterKeyPath(flags, terminal))
    const content = createBackupCheck()
    const found: string[] = []
    const restored = await load(store, terminal, file, {
      keys,
      onManifest(about, masterKey) {
        keys.check(requireManifest(about), masterKey)
        content.useMasterKeys(keys.usable())
      },
      async select(all) {
        const entries = omitsKeys ? all.filter(({ type }) => type !== 'key') : all
        await content.add(entries)
        return entries
      },
      onRead(read) {
        found.push(...content.finish(read).map(findingText))
        if (found.length > 0 && !flags.has('accept-findings')) throw contradictions(found, 'Nothing was restored')
      },
    })
    return { summary: restored, manifest: requireManifest(restored.manifest), notes: [...found, ...keys.notes()] }
  })
  const { counts, position, sha256 } = summary
  printResult(flags, terminal, { file, store: describeStore(settings), manifest, counts, position, sha256 }, () => [
    `Restored ${describeStore(settings)} as it was at ${manifest.createdAt}: ${contentText(counts)}.`,
  ])
  for (const note of notes) terminal.printError(note)
  return 0
}

export async function importStore(flags: Flags, terminal: Terminal): Promise<number> {
  const file = pathArgument(flags, terminal)
  const settings = await readStoreSettings(flags, terminal)
  const summary = await withOperatorErrors(async () => {
    const store = await wholeStore(settings)
    return load(store, terminal, file, { onManifest: refuseBackup })
  })
  const { counts, position, sha256 } = summary
  printResult(flags, terminal, { file, store: describeStore(settings), counts, position, sha256 }, () => [
    `Imported into ${describeStore(settings)}: ${contentText(counts)}.`,
  ])
  if (counts.key > 0) {
    const place = settings.store.startsWith('sqlite:') ? 'in parley.db.key beside the database' : 'as store.masterKey'
    terminal.printError(`The hub of this store needs the master key of the exported one, ${place}.`)
  }
  return 0
}

function requireManifest(manifest: BackupManifest | undefined): BackupManifest {
  if (manifest !== undefined) return manifest
  throw new CliError('The file is an export, not a backup: load it with parley import.')
}

/** Only a restore checks the content and the master key. */
function refuseBackup(manifest: BackupManifest | undefined): void {
  if (manifest !== undefined) throw new CliError('The file is a backup: load it with parley restore.')
}

function contradictions(found: readonly string[], outcome: string): CliError {
  return new CliError(
    `The content of the backup contradicts itself. ${outcome}:\n${found.join('\n')}\n` +
      'Use another backup, or restore this one as it is: --accept-findings.',
  )
}

interface LoadOptions {
  readonly keys?: MasterKeyPlan
  /** Before the first entry. May throw to refuse the file. */
  onManifest(manifest: BackupManifest | undefined, masterKey: Uint8Array | undefined): void
  /** Returns the entries to load. Default: all. */
  select?(entries: readonly DumpEntry[]): Promise<readonly DumpEntry[]>
  /** After the last entry, before the store appears. May throw. */
  onRead?(summary: DumpSummary): void
}

/** Nothing of it is visible before all checksums were compared. */
async function load(
  store: WholeStore,
  terminal: Terminal,
  file: string,
  { keys, onManifest, select, onRead }: LoadOptions,
): Promise<DumpSummary> {
  const isInterrupted = watchInterrupts(terminal)
  const { pieces, total } = openInput(file, terminal)
  const progress = createProgress(terminal, { label: 'Loading the store', total })
  const loader = await store.loader()
  try {
    const summary = await readDump(pieces, {
      onManifest,
      async load(entries) {
        throwIf(isInterrupted)
        await loader.load((await select?.(entries)) ?? entries)
      },
      onProgress: (entries, bytes) => progress.update(bytes, `${entries} entries`),
    })
    onRead?.(summary)
    throwIf(isInterrupted)
    keys?.write()
    await store.removeBackupRecord()
    await loader.finish(summary.position)
    keys?.done()
    return summary
  } finally {
    progress.clear()
    keys?.undo()
    await loader.close()
  }
}

function openInput(file: string, { input }: Terminal) {
  const total = file === '-' ? undefined : sizeOf(file)
  const stream = file === '-' ? input : createReadStream(file, { highWaterMark: 2 ** 20 })
  return { pieces: stream as AsyncIterable<Buffer>, total }
}

function sizeOf(file: string): number {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new CliError(`${file} does not exist: check the path.`)
  if (stat.isDirectory()) throw new CliError(directoryProblem(file))
  return stat.size
}

async function list(file: string, flags: Flags, terminal: Terminal): Promise<number> {
  const manifest = await withOperatorErrors(async () =>
    requireManifest(await readManifest(openInput(file, terminal).pieces)),
  )
  printResult(flags, terminal, { file, ...manifest }, () => manifestLines(manifest))
  return 0
}

async function check(file: string, flags: Flags, terminal: Terminal): Promise<number> {
  const { pieces, total } = openInput(file, terminal)
  const progress = createProgress(terminal, { label: 'Checking the backup', total })
  const content = createBackupCheck()
  const summary = await withOperatorErrors(() =>
    readDump(pieces, {
      load: content.add,
      onManifest(about, masterKey) {
        requireManifest(about)
        content.useMasterKeys(masterKey === undefined ? [] : [masterKey])
      },
      onProgress: (entries, bytes) => progress.update(bytes, `${entries} entries`),
    }),
  ).finally(progress.clear)
  const found = content.finish(summary).map(findingText)
  if (found.length > 0) throw contradictions(found, 'Its checksums are correct')
  const { counts, bytes, sha256 } = summary
  const manifest = requireManifest(summary.manifest)
  printResult(flags, terminal, { file, ...manifest, counts, bytes, sha256 }, () => [
    ...manifestLines(manifest),
    `Content    ${contentText(counts)}, ${formatSize(bytes)}`,
    'Checksums  all correct',
  ])
  return 0
}

function manifestLines({
  createdAt,
  store,
  schemaVersion,
  program,
  position,
  keyring,
}: BackupManifest): readonly string[] {
  return [
    `Backup of  ${createdAt}`,
    `Store      ${store}, schema ${schemaVersion}, Parley ${program}`,
    `Position   ${position}`,
    `Keys       ${keyringText[keyring]}`,
  ]
}

const keyringText = {
  wrapped: 'wrapped by the master key, which is not in the file',
  full: 'with the master key',
  none: 'none',
} as const

function masterKeyPath(flags: Flags, { cwd }: Terminal): string | undefined {
  const path = flags.value('master-key-file')
  return path === undefined ? undefined : resolve(cwd, path)
}

type MasterKeyPlan = ReturnType<typeof createMasterKeyPlan>

/** Where the master key of a backup goes, and whether the one that is there can unwrap the keys. */
function createMasterKeyPlan(store: WholeStore, omitsKeys: boolean, path: string | undefined) {
  const notes: string[] = []
  let key: Uint8Array | undefined
  let target: string | undefined
  let written: string | undefined

  return {
    check(manifest: BackupManifest, masterKey: Uint8Array | undefined): void {
      const existing = store.masterKeys()
      if (omitsKeys || manifest.keyring === 'none') {
        notes.push(
          'The keys of the backup were not restored: webhook credentials and signatures made with them are of no use.',
        )
        return
      }
      if (existing.length > 0 && existing.every((one) => isMasterKeyOf(manifest, one) === false)) {
        throw new CliError(
          'The keys in the backup are wrapped by another master key than the one of this store. Put the right master key in its ' +
            'place, or restore without the keys: --omit-keys.',
        )
      }
      if (masterKey !== undefined && path !== undefined && existsSync(path)) {
        throw new CliError(`${path} exists already: choose another file for the master key.`)
      }
      key = masterKey
      target = path ?? (existing.length === 0 && store.file !== undefined ? `${store.file}.key` : undefined)
      if (key === undefined && existing.length === 0) {
        const place = store.file === undefined ? 'store.masterKey' : `${store.file}.key`
        notes.push(`The master key is not in the backup: put it in its place (${place}) before you start the hub.`)
      } else if (key !== undefined && target === undefined && existing.length === 0) {
        notes.push('The backup contains the master key: write it to a file with --master-key-file <file>.')
      }
    },
    /** Those that the hub of the restored store would use; none if they are not known here. */
    usable: (): readonly Uint8Array[] => {
      const existing = store.masterKeys()
      return existing.length > 0 || key === undefined ? existing : [key]
    },
    /** Before the store appears: with it the hub starts, without it the hub refuses. */
    write(): void {
      if (key === undefined || target === undefined) return
      const text = `${Buffer.from(key).toString('base64')}\n`
      // On disk before the store is: the store is of no use without it.
      writeFileSync(target, text, { mode: 0o600, flag: 'wx', flush: true })
      written = target
    },
    done: () => void (written = undefined),
    undo(): void {
      if (written !== undefined) rmSync(written, { force: true })
    },
    notes: (): readonly string[] => notes,
  }
}
