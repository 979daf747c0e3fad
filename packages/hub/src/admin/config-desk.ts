/**
 * The configuration, changed while the hub runs: what is sent is put together with the secrets that were not shown, checked,
 * made to hold, and written; what was there before is kept, so that one can go back to it. One change after the other.
 */
import { createHash } from 'node:crypto'
import { newId, type Json, type Notes } from '@parley/a2a'
import { parse } from 'yaml'
import { ConfigError, type Sealer } from '@parley/a2a/server'
import type { AgentKind } from '../agents/kind.ts'
import type { HubConfig } from '../config/config.ts'
import { type Entry, withAgent } from '../config/edit.ts'
import { pathText } from '../config/path.ts'
import { exceededTextLimit } from '../config/text-limits.ts'
import type { Problem } from '../config/problem.ts'
import { redactText, restoreText } from '../config/redact.ts'
import type { ConfigSource } from '../config/source.ts'
import type { Reloaded } from '../reloaded.ts'
import { RouteError } from './answer.ts'
import { type DiffLine, lineDiff } from './line-diff.ts'

export interface ConfigDeskParts {
  /** Without one the hub was started by a program, which alone can change what it is told. */
  readonly source: ConfigSource | undefined
  readonly kinds: readonly AgentKind[]
  readonly notes: Notes
  secrets(): Promise<Sealer>
  /** What would take effect, and what only after a restart. Throws ConfigError. */
  preview(config: HubConfig): Reloaded
  reload(config: HubConfig): Promise<Reloaded>
  readonly now: () => number
}

export interface ConfigVersion {
  readonly id: string
  readonly at: number
  /** Who applied it; nothing for one that was found when another took its place. */
  readonly who?: string
  readonly note?: string
  readonly hash: string
}

export interface Tried {
  readonly diff: readonly DiffLine[]
  readonly effects: Reloaded
}

export interface ShownVersion extends ConfigVersion {
  readonly text: string
  readonly diff: readonly DiffLine[]
  /** What going back to it would do; nothing if it cannot be gone back to any more. */
  readonly effects?: Reloaded
}

export interface Applied {
  readonly version: string
  readonly hash: string
  readonly effects: Reloaded
}

export interface ConfigDesk {
  readonly file: string | undefined
  /** Without its secrets. */
  text(): string
  /** Of the text with its secrets: changes whenever that does. */
  hash(): string
  check(edited: string): readonly Problem[]
  /** Throws RouteError for what is not right. */
  diff(edited: string): Tried
  apply(edited: string, about: Change): Promise<Applied>
  /** What the file says of an agent, without its secrets; nothing where there is no file. */
  entry(agent: string): unknown
  /** An entry of an agent, or none. Throws RouteError. */
  putAgent(name: string, entry: Entry | undefined, about: Change): Promise<Applied>
  versions(): Promise<readonly ConfigVersion[]>
  /** Without its secrets, and beside what holds now. */
  version(id: string): Promise<ShownVersion | undefined>
  restore(id: string, about: Change): Promise<Applied>
}

export interface Change {
  readonly who: string
  readonly note?: string | undefined
  /** The hash of what was edited: if it is another by now, nothing is changed. */
  readonly base?: string | undefined
}

interface Tree {
  readonly agents?: Readonly<Record<string, unknown>>
}

interface Kept extends Omit<ConfigVersion, 'id'> {
  readonly sealed: string
}

const kind = 'config-version'
const purpose = 'config-version'
const mostVersions = 50

export function createConfigDesk(parts: ConfigDeskParts): ConfigDesk {
  const { kinds, notes, now } = parts
  let changing: Promise<unknown> = Promise.resolve()

  function sourceOf(): ConfigSource {
    if (parts.source !== undefined) return parts.source
    throw new RouteError(
      'UNAVAILABLE',
      'This hub was started without a configuration file: whoever started it can change it',
    )
  }

  /** With its secrets. Throws RouteError. */
  function whole(edited: string): string {
    requireLimits(edited)
    const restored = restoreText(edited, sourceOf().read(), kinds)
    if ('problems' in restored) throw wrong(restored.problems)
    return restored.text
  }

  function load(text: string): HubConfig {
    const loaded = sourceOf().load(text)
    if ('problems' in loaded) throw wrong(loaded.problems)
    return loaded.config
  }

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = changing.then(work)
    changing = done.catch(() => {})
    return done
  }

  /** `make` is asked when its turn comes, of the text as it is then. */
  function change(make: (current: string) => string, { who, note, base }: Change): Promise<Applied> {
    return inTurn(async () => {
      const source = sourceOf()
      const before = source.read()
      if (base !== undefined && base !== hashOf(before)) {
        throw new RouteError('CONFLICT', 'The configuration was changed meanwhile: look at it again')
      }
      const text = make(before)
      const effects = await asRefusal(() => parts.reload(load(text)))
      write(source, text)
      await keepFound(before)
      const version = await keep(text, { who, ...(note !== undefined ? { note } : {}) })
      return { version, hash: hashOf(text), effects }
    })
  }

  /** What somebody wrote by hand since is to be found again, too. */
  async function keepFound(text: string): Promise<void> {
    const [newest] = await list(1)
    if (newest?.hash !== hashOf(text)) await keep(text, {})
  }

  async function keep(text: string, about: Pick<ConfigVersion, 'who' | 'note'>): Promise<string> {
    const id = newId()
    const sealed = await (await parts.secrets()).seal(purpose, text, id)
    const kept: Kept = { ...about, at: now(), hash: hashOf(text), sealed }
    await notes.write(kind, { key: id, value: kept as unknown as Json })
    for (const { id: old } of (await list(mostVersions + 20)).slice(mostVersions)) await notes.remove(kind, old)
    return id
  }

  async function list(limit: number): Promise<readonly ConfigVersion[]> {
    const found = await notes.list(kind, { descending: true, limit })
    return found.map(({ key, value }) => {
      const { sealed: _, ...version } = value as unknown as Kept
      return { id: key, ...version }
    })
  }

  async function open(id: string): Promise<string | undefined> {
    const note = await notes.read(kind, id)
    if (note === undefined) return undefined
    return (await parts.secrets()).unseal(purpose, (note.value as unknown as Kept).sealed, id)
  }

  /** One that was good once may name what is not there any more. */
  function effectsOf(text: string): Reloaded | undefined {
    const loaded = sourceOf().load(text)
    if ('problems' in loaded) return undefined
    try {
      return parts.preview(loaded.config)
    } catch {
      return undefined
    }
  }

  return {
    file: parts.source?.file,
    text: () => redactText(sourceOf().read(), kinds),
    hash: () => hashOf(sourceOf().read()),
    check(edited) {
      requireLimits(edited)
      const restored = restoreText(edited, sourceOf().read(), kinds)
      if ('problems' in restored) return restored.problems
      const loaded = sourceOf().load(restored.text)
      return 'problems' in loaded ? loaded.problems : []
    },
    diff(edited) {
      const text = whole(edited)
      const config = load(text)
      const diff = lineDiff(redactText(sourceOf().read(), kinds), redactText(text, kinds))
      return { diff, effects: asRefusalNow(() => parts.preview(config)) }
    },
    entry(agent) {
      const { source } = parts
      const tree =
        source === undefined
          ? undefined
          : (parse(redactText(source.read(), kinds), { uniqueKeys: false }) as Tree | undefined)
      return tree?.agents?.[agent]
    },
    apply: (edited, about) => change(() => whole(edited), about),
    putAgent: (name, entry, about) =>
      change((current) => {
        const edited = withAgent(redactText(current, kinds), name, entry, sourceOf().file.endsWith('.json'))
        return whole(edited)
      }, about),
    versions: () => list(mostVersions),
    async version(id) {
      const [text, found] = [await open(id), (await list(mostVersions)).find((one) => one.id === id)]
      if (text === undefined || found === undefined) return undefined
      const shown = redactText(text, kinds)
      const effects = effectsOf(text)
      const diff = lineDiff(redactText(sourceOf().read(), kinds), shown)
      return { ...found, text: shown, diff, ...(effects !== undefined ? { effects } : {}) }
    },
    async restore(id, about) {
      const text = await open(id)
      if (text === undefined) throw new RouteError('NOT_FOUND', 'There is no such version')
      return change(() => text, about)
    },
  }
}

function requireLimits(text: string): void {
  const exceeded = exceededTextLimit(text)
  if (exceeded === undefined) return
  const message = `text: a configuration has up to ${exceeded} here: write the file and reload the hub`
  throw new RouteError('PAYLOAD_TOO_LARGE', message)
}

function write(source: ConfigSource, text: string): void {
  try {
    source.write(text)
  } catch (cause) {
    const message = 'It holds until the next restart: the file could not be written'
    throw Object.assign(new RouteError('UNAVAILABLE', message), { cause })
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function wrong(problems: readonly Problem[]): RouteError {
  const violations = problems.map(({ path, line, message }) => ({
    field: pathText(path) || 'text',
    description: line === undefined ? message : `line ${line}: ${message}`,
  }))
  return new RouteError(
    'INVALID_PARAMS',
    violations.map(({ field, description }) => `${field}: ${description}`).join('; '),
    {
      violations,
    },
  )
}

async function asRefusal<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (reason) {
    throw ofConfig(reason)
  }
}

function asRefusalNow<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (reason) {
    throw ofConfig(reason)
  }
}

function ofConfig(reason: unknown): unknown {
  return reason instanceof ConfigError ? wrong([{ path: [], message: reason.message }]) : reason
}
