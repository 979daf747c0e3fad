/**
 * The place where the configuration is kept, for changes at run time: by the admin API of a running hub, and by commands in another
 * terminal. It reads the text as written, checks it before it takes effect, and replaces the file only if it is still the text that
 * the change was made from, so that two writers never lose each other's entries.
 */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { defaultConfigFiles, readConfigFile, type LoadedConfig, type LoadConfigOptions } from './load-config.ts'
import { configBaseDir } from './check-config.ts'
import { checkWithSecrets, loadWithSecrets, type SecretReader } from './secrets/load-with-secrets.ts'
import { createSecretCache } from './secrets/secret-cache.ts'
import { attempt } from '../json/attempt.ts'

export interface ConfigRejection {
  /** When the first invalid text was read. */
  readonly since: number
  /** The first problem, with its line. */
  readonly problem: string
}

export interface ConfigSource {
  /** The path of the file, which may not exist until the first write. Without a named file, the first of the default names. */
  readonly file: string
  /** Where the file may appear: one file, or the default names. */
  readonly places: readonly string[]
  /** The last valid text of the file that was loaded or written. */
  readonly loadedText: string | undefined
  /** Why the running hub does not use the current text; `undefined` once a valid text is loaded or written. */
  readonly rejection: ConfigRejection | undefined
  reject(problem: string): void
  /**
   * The current text of the file. Without a file: `loadedText`, which the hub still runs, or the fallback. Throws UnreadableConfigError.
   */
  read(): string
  /** The configuration that the hub runs with this text. */
  load(text: string): Promise<LoadedConfig>
  /** The same without starting a program for secrets that the current text does not have. */
  check(text: string): Promise<LoadedConfig>
  /** Returns `false`, and writes nothing, if `read()` no longer returns `before`. Throws LockedConfigError, or an error of the system. */
  write(text: string, before: string): Promise<boolean>
}

/**
 * Without `cache`, the secrets of providers are read anew by each source. Without `file`, the default names in `cwd`. `wait` passes the
 * time until another writer is done.
 */
export function fileSource(
  options: LoadConfigOptions,
  cache: SecretReader = ownCache(options),
  wait: (ms: number) => Promise<void> = sleep,
): ConfigSource {
  const { cwd, fallback } = options
  const places = options.file === undefined ? defaultConfigFiles(cwd) : [resolve(cwd, options.file)]
  let last: { readonly file: string; readonly text: string } | undefined
  let rejection: ConfigRejection | undefined
  const existing = (): string | undefined => places.find((place) => existsSync(place))
  const fileNow = (): string => existing() ?? last?.file ?? (places[0] as string)
  function read(): string {
    const file = existing()
    if (file !== undefined) return readConfigFile(file)
    return last?.text ?? stringify(fallback, { lineWidth: 0 })
  }
  function accept(file: string, text: string): void {
    last = { file, text }
    rejection = undefined
  }
  return {
    get file() {
      return fileNow()
    },
    places,
    get loadedText() {
      return last?.text
    },
    get rejection() {
      return rejection
    },
    reject(problem) {
      rejection = { since: rejection?.since ?? Date.now(), problem }
    },
    read,
    async load(text) {
      const file = fileNow()
      const loaded = await loadWithSecrets({ ...options, file, text }, cache)
      // Not a text that is still to be written.
      if ('config' in loaded && text === read()) accept(file, text)
      return loaded
    },
    check: (text) => checkWithSecrets({ ...options, file: fileNow(), text }, cache, read()),
    async write(text, before) {
      const file = fileNow()
      const isWritten = await replaceFile(file, text, () => read() === before, wait)
      if (isWritten) accept(file, text)
      return isWritten
    },
  }
}

function ownCache({ file, cwd }: LoadConfigOptions): SecretReader {
  return createSecretCache({ baseDir: file === undefined ? cwd : configBaseDir(resolve(cwd, file)), env: {} })
}

/** Another writer keeps the file, or something else has the name of the lock. */
export class LockedConfigError extends Error {
  override readonly name = 'LockedConfigError'
}

type Wait = (ms: number) => Promise<void>

/** Atomically, so that no reader sees half of it: a new file replaces it when it is complete. */
async function replaceFile(file: string, text: string, isUnchanged: () => boolean, wait: Wait): Promise<boolean> {
  const target = targetOf(file)
  const lock = await takeLock(`${target}.lock`, wait)
  const newFile = `${target}.${process.pid}-${randomUUID()}.tmp`
  try {
    writeNewFile(newFile, text, statSync(target, { throwIfNoEntry: false }))
    if (!lock.isOwn() || !isUnchanged()) return false
    renameSync(newFile, target)
    return true
  } finally {
    rmSync(newFile, { force: true })
    lock.release()
  }
}

/** The target of a link is replaced, not the link. */
function targetOf(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? resolve(dirname(file), readlinkSync(file)) : file
}

/** With the mode and the owner of the file that it replaces. Without one, only its owner can read it: it may contain secrets. */
function writeNewFile(file: string, text: string, replaced: Stats | undefined): void {
  const opened = openSync(file, 'wx', 0o600)
  try {
    // A command that root runs must leave the file readable for the user of the hub. Other users cannot give files away.
    if (replaced !== undefined) attempt(() => fchownSync(opened, replaced.uid, replaced.gid))
    // The umask limits the mode of a file that is created, not a later change of it.
    fchmodSync(opened, (replaced?.mode ?? 0o600) & 0o7777)
    writeFileSync(opened, text, { flush: true })
  } finally {
    closeSync(opened)
  }
}

/** A writer holds the lock without a pause: one that is older belongs to a process that was killed. */
const abandonedMs = 10_000
const lockPollMs = 10
const maxLockWaitMs = 15_000

interface Lock {
  /** `false` if this process stood still for so long that another writer took the lock for abandoned. */
  isOwn(): boolean
  release(): void
}

async function takeLock(file: string, wait: Wait): Promise<Lock> {
  const owner = randomUUID()
  const isOwn = (): boolean => existsSync(file) && readFileSync(file, 'utf8') === owner
  for (let waitedMs = 0; waitedMs < maxLockWaitMs; waitedMs += lockPollMs) {
    try {
      writeFileSync(file, owner, { flag: 'wx', mode: 0o600 })
      return {
        isOwn,
        release() {
          if (isOwn()) rmSync(file, { force: true })
        },
      }
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== 'EEXIST') throw reason
      const stat = lstatSync(file, { throwIfNoEntry: false })
      // No writer leaves a folder or a link.
      if (stat?.isFile() === true && Date.now() - stat.mtimeMs > abandonedMs) rmSync(file, { force: true })
      else await wait(lockPollMs)
    }
  }
  throw new LockedConfigError(`${file} keeps the configuration locked: remove it if no other program is writing`)
}
