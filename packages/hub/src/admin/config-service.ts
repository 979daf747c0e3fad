/**
 * Changes the configuration at run time: it restores the redacted secrets in the submitted text, then checks, applies and writes
 * it. The previous version is kept and can be restored. Changes run one after the other.
 */
import { createHash } from 'node:crypto'
import { newId, type Json } from '@parley/a2a'
import { omitUndefined, type Sealer } from '@parley/a2a/internal'
import type { KeyValueStore } from '@parley/a2a/stores'
import { parse } from 'yaml'
import { ConfigError } from '@parley/a2a/server'
import type { AgentKind } from '../agents/kind.ts'
import type { HubConfig } from '../config/hub-config.ts'
import { exceededTextLimit } from '../config/config-document.ts'
import { type AgentEntry, agentNamesIn, setAgentEntry } from '../config/edit-agent-entry.ts'
import { type AgentEntryDraft, type AgentEntryReview, draftAgentEntry, reviewedProblems } from './review-agent-entry.ts'
import { formatPath, type ConfigProblem } from '../config/config-problem.ts'
import { redactConfigText, restoreConfigText } from '../config/redact-config-text.ts'
import { LockedConfigError, type ConfigSource } from '../config/config-source.ts'
import { UnreadableConfigError } from '../config/load-config.ts'
import type { ReloadResult } from '../config/diff-config.ts'
import { RouteError } from '../http/json-response.ts'
import { type DiffLine, lineDiff } from './line-diff.ts'
import { attempt } from '../json/attempt.ts'

export interface ConfigServiceDeps {
  /** `undefined` if a program started the hub; then only that program can change the configuration. */
  readonly source: ConfigSource | undefined
  readonly kinds: readonly AgentKind[]
  readonly kv: KeyValueStore
  secrets(): Promise<Sealer>
  /** Which changes would take effect at once, and which only after a restart. Throws ConfigError. */
  preview(config: HubConfig): ReloadResult
  reload(config: HubConfig): Promise<ReloadResult>
  readonly now: () => number
  /** How many versions are kept. Default 50. */
  maxVersions?(): number | undefined
}

export interface ConfigVersion {
  readonly id: string
  readonly at: number
  /** The caller that applied it; `undefined` for a manual edit that was found when it was replaced. */
  readonly who?: string
  readonly note?: string
  readonly hash: string
}

export interface ConfigVersionDetail extends ConfigVersion {
  readonly text: string
  readonly diff: readonly DiffLine[]
  /** What restoring it would do; `undefined` if it can no longer be restored. */
  readonly effects?: ReloadResult
}

export interface AppliedConfig {
  readonly version: string
  readonly hash: string
  readonly effects: ReloadResult
}

/** What a configuration changes. */
export interface ConfigDiff {
  readonly diff: readonly DiffLine[]
  readonly effects: ReloadResult
}

export interface ConfigService {
  readonly file: string | undefined
  /** The text, with secrets redacted. */
  text(): string
  /** The hash of the text with its secrets: changes whenever the text does. */
  hash(): string
  check(edited: string): Promise<readonly ConfigProblem[]>
  /** Throws RouteError if the text is invalid. */
  diff(edited: string): Promise<ConfigDiff>
  /** Reads the file again and applies it. Throws RouteError if it is invalid; then nothing changes. */
  reload(): Promise<ReloadResult>
  apply(edited: string, about: ConfigEdit): Promise<AppliedConfig>
  /** The entry of an agent in the file, with secrets redacted; `undefined` if there is no file. */
  entry(agent: string): unknown
  /** Checks and compares an edited entry of an agent; without an edit, the current one. Throws RouteError. */
  reviewAgent(name: string, draft: AgentEntryDraft): Promise<AgentEntryReview>
  /** Sets or removes the entry of an agent, given as a tree or as text. Throws RouteError. */
  putAgent(name: string, entry: AgentEntry | string | undefined, about: ConfigEdit): Promise<AppliedConfig>
  versions(): Promise<readonly ConfigVersion[]>
  /** The version with secrets redacted, compared with the current configuration. */
  version(id: string): Promise<ConfigVersionDetail | undefined>
  restore(id: string, about: ConfigEdit): Promise<AppliedConfig>
  /** Seals all versions again, under the newest key. */
  reseal(): Promise<void>
}

export interface ConfigEdit {
  readonly who: string
  readonly note?: string | undefined
  /** The entry of an agent must not replace another. */
  readonly isNew?: boolean | undefined
  /** The hash of the edited text: if the file has changed since, the change is refused. */
  readonly base?: string | undefined
}

interface ConfigTree {
  readonly agents?: Readonly<Record<string, unknown>>
}

interface StoredConfigVersion extends Omit<ConfigVersion, 'id'> {
  readonly sealed: string
}

const kind = 'config-version'
export const configVersionPurpose = 'config-version'
const defaultMaxVersions = 50

export function createConfigService(parts: ConfigServiceDeps): ConfigService {
  const { kinds, kv, now } = parts
  const maxVersions = (): number => parts.maxVersions?.() ?? defaultMaxVersions
  let changing: Promise<unknown> = Promise.resolve()

  function sourceOf(): ConfigSource {
    if (parts.source !== undefined) return parts.source
    throw new RouteError(
      'UNAVAILABLE',
      'The hub has no configuration file, so its configuration cannot be changed here',
    )
  }

  /** Throws RouteError. */
  function currentText(): string {
    try {
      return sourceOf().read()
    } catch (reason) {
      if (!(reason instanceof UnreadableConfigError)) throw reason
      throw Object.assign(new RouteError('UNAVAILABLE', reason.message), { cause: reason })
    }
  }

  /** Restores the secrets. Throws RouteError. */
  function withSecrets(edited: string): string {
    requireTextLimits(edited)
    const restored = restoreConfigText(edited, currentText(), kinds)
    if ('problems' in restored) throw problemsError(restored.problems)
    return restored.text
  }

  async function load(text: string, how: 'load' | 'check' = 'load'): Promise<HubConfig> {
    const loaded = await sourceOf()[how](text)
    if ('problems' in loaded) throw problemsError(loaded.problems)
    return loaded.config
  }

  function runExclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = changing.then(work)
    changing = done.catch(() => {})
    return done
  }

  /**
   * `make` runs when all earlier changes are done, with the text at that time, and again if a command or an editor has written the
   * file before this change could.
   */
  function change(make: (current: string) => string, { who, note, base }: ConfigEdit): Promise<AppliedConfig> {
    return runExclusive(async () => {
      const source = sourceOf()
      let effects: ReloadResult | undefined
      const applyTo = async (before: string) => {
        if (base !== undefined && base !== configHash(before)) {
          throw new RouteError('CONFLICT', 'The configuration was changed meanwhile: look at it again')
        }
        const text = make(before)
        return { text, applied: await withRouteErrors(async () => parts.reload(await load(text))) }
      }
      for (;;) {
        const before = currentText()
        const { text, applied } = await applyTo(before).catch(async (reason: unknown) => {
          // The hub runs this change since an earlier round, and the file has the other one.
          if (effects !== undefined)
            await load(before)
              .then(parts.reload)
              .catch(() => {})
          throw reason
        })
        // Those of a later round are of the other change.
        effects ??= applied
        if (!(await writeSource(source, text, before))) continue
        await storeManualEdit(before)
        const version = await storeVersion(text, { who, ...omitUndefined({ note }) })
        return { version, hash: configHash(text), effects }
      }
    })
  }

  /** Manual edits of the file are kept as a version, too. */
  async function storeManualEdit(text: string): Promise<void> {
    const [newest] = await list(1)
    if (newest?.hash !== configHash(text)) await storeVersion(text, {})
  }

  async function storeVersion(text: string, about: Pick<ConfigVersion, 'who' | 'note'>): Promise<string> {
    const id = newId()
    const sealed = await (await parts.secrets()).seal(configVersionPurpose, text, id)
    const kept: StoredConfigVersion = { ...about, at: now(), hash: configHash(text), sealed }
    await kv.write(kind, { key: id, value: kept as unknown as Json })
    for (const { id: old } of (await list(Infinity)).slice(maxVersions())) await kv.remove(kind, old)
    return id
  }

  async function list(limit: number): Promise<readonly ConfigVersion[]> {
    const found = await kv.list(kind, { descending: true, limit })
    return found.map(({ key, value }) => {
      const { sealed: _, ...version } = value as unknown as StoredConfigVersion
      return { id: key, ...version }
    })
  }

  async function readVersion(id: string): Promise<string | undefined> {
    const stored = await kv.read(kind, id)
    if (stored === undefined) return undefined
    return (await parts.secrets()).unseal(
      configVersionPurpose,
      (stored.value as unknown as StoredConfigVersion).sealed,
      id,
    )
  }

  async function reseal(): Promise<void> {
    const sealer = await parts.secrets()
    for (const { id } of await list(Infinity)) {
      const stored = await kv.read(kind, id)
      if (stored === undefined) continue
      const value = stored.value as unknown as StoredConfigVersion
      const text = await sealer.unseal(configVersionPurpose, value.sealed, id).catch(ignoreLostKey)
      if (text === undefined) continue
      const sealed = await sealer.seal(configVersionPurpose, text, id)
      // Versions never change: if this one was removed meanwhile, it stays removed.
      await kv.write(kind, { key: id, value: { ...value, sealed } }, stored.version)
    }
  }

  /** A formerly valid version may refer to things that no longer exist. */
  async function effectsOf(text: string): Promise<ReloadResult | undefined> {
    const loaded = await sourceOf().check(text)
    if ('problems' in loaded) return undefined
    return attempt(() => parts.preview(loaded.config))
  }

  async function check(edited: string): Promise<readonly ConfigProblem[]> {
    requireTextLimits(edited)
    const restored = restoreConfigText(edited, currentText(), kinds)
    if ('problems' in restored) return restored.problems
    const loaded = await sourceOf().check(restored.text)
    return 'problems' in loaded ? loaded.problems : []
  }

  async function diffWithCurrent(edited: string): Promise<ConfigDiff> {
    const text = withSecrets(edited)
    const config = await load(text, 'check')
    const diff = lineDiff(redactConfigText(currentText(), kinds), redactConfigText(text, kinds))
    return { diff, effects: withRouteErrorsSync(() => parts.preview(config)) }
  }

  return {
    get file() {
      return parts.source?.file
    },
    text: () => redactConfigText(currentText(), kinds),
    hash: () => configHash(currentText()),
    check,
    diff: diffWithCurrent,
    async reviewAgent(name, edit) {
      requireTextLimits(edit.text ?? '')
      const isJson = sourceOf().file.endsWith('.json')
      const current = redactConfigText(currentText(), kinds)
      const field = edit.text === undefined ? 'entry' : 'text'
      const { text, entry, problems } = withRouteErrorsSync(() => draftAgentEntry(current, name, edit, isJson), field)
      const draft = { format: isJson ? 'json' : 'yaml', text, ...omitUndefined({ entry }) } as const
      if (problems.length > 0) return { ...draft, problems }
      const whole = withRouteErrorsSync(() => setAgentEntry(current, name, text, isJson), field)
      const found = reviewedProblems(await check(whole), name, text)
      if (found.length > 0) return { ...draft, problems: found }
      return { ...draft, problems: [], ...(await diffWithCurrent(whole)) }
    },
    entry(agent) {
      const tree =
        parts.source === undefined
          ? undefined
          : (parse(redactConfigText(currentText(), kinds), { uniqueKeys: false }) as ConfigTree | undefined)
      return tree?.agents?.[agent]
    },
    reload: () =>
      runExclusive(() =>
        withRouteErrors(async () => {
          const config = await load(currentText())
          return parts.reload(config).catch((reason: Error) => {
            // The file was valid, which ended an earlier rejection.
            sourceOf().reject(reason.message)
            throw reason
          })
        }),
      ),
    apply: (edited, about) => change(() => withSecrets(edited), about),
    putAgent: (name, entry, about) =>
      change((current) => {
        const isJson = sourceOf().file.endsWith('.json')
        // Also one that a command has written and that does not run yet.
        if (about.isNew === true && agentNamesIn(current).includes(name)) {
          throw new RouteError('CONFLICT', `There is an agent ${name} already`)
        }
        const redacted = redactConfigText(current, kinds)
        const field = entry === undefined ? 'agent' : typeof entry === 'string' ? 'text' : 'entry'
        return withSecrets(withRouteErrorsSync(() => setAgentEntry(redacted, name, entry, isJson), field))
      }, about),
    reseal,
    versions: () => list(maxVersions()),
    async version(id) {
      const [text, found] = [await readVersion(id), (await list(maxVersions())).find((one) => one.id === id)]
      if (text === undefined || found === undefined) return undefined
      const redacted = redactConfigText(text, kinds)
      const effects = await effectsOf(text)
      const diff = lineDiff(redactConfigText(currentText(), kinds), redacted)
      return { ...found, text: redacted, diff, ...omitUndefined({ effects }) }
    },
    async restore(id, about) {
      const text = await readVersion(id)
      if (text === undefined) throw new RouteError('NOT_FOUND', 'Unknown version')
      return change(() => text, about)
    },
  }
}

function requireTextLimits(text: string): void {
  const exceeded = exceededTextLimit(text)
  if (exceeded === undefined) return
  const message = `text: at most ${exceeded} are accepted here: edit the file and reload the hub`
  throw new RouteError('PAYLOAD_TOO_LARGE', message)
}

async function writeSource(source: ConfigSource, text: string, before: string): Promise<boolean> {
  try {
    return await source.write(text, before)
  } catch (cause) {
    const why =
      cause instanceof LockedConfigError
        ? cause.message
        : `${source.file} could not be written (${(cause as NodeJS.ErrnoException).code}): the hub needs write access to the file and its folder`
    const message = `Applied until the next restart: ${why}`
    throw Object.assign(new RouteError('UNAVAILABLE', message), { cause })
  }
}

function configHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function problemsError(problems: readonly ConfigProblem[]): RouteError {
  const violations = problems.map(({ path, line, message }) => ({
    field: formatPath(path) || 'text',
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

async function withRouteErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (reason) {
    throw toRouteError(reason)
  }
}

/** `field` is the field of the request that an error is about. */
function withRouteErrorsSync<Result>(work: () => Result, field?: string): Result {
  try {
    return work()
  } catch (reason) {
    throw toRouteError(reason, field)
  }
}

function toRouteError(reason: unknown, field = 'text'): unknown {
  if (!(reason instanceof ConfigError)) return reason
  // An error without a path begins with the colon behind it.
  return problemsError([{ path: [field], message: reason.message.replace(/^: /, '') }])
}

/** What a lost key sealed, such as after a restore without the keys, must not prevent a rotation. Other errors may pass. */
export function ignoreLostKey(reason: unknown): undefined {
  const { name, message } = reason as Error
  if (name === 'OperationError' || message.startsWith('No key for ')) return undefined
  throw reason
}
