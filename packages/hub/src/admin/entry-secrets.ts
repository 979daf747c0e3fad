/**
 * Secrets in an entry that the console or the API writes. Those in clear are kept by the hub, and the entry gets references to them,
 * so that the configuration file contains none.
 */
import { isStruct } from '@parley/a2a/internal'
import type { AgentKind } from '../agents/kind.ts'
import { parseConfigDocument, parseYaml, toTree } from '../config/config-document.ts'
import { formatPath, type ConfigPath, type ConfigProblem } from '../config/config-problem.ts'
import type { ConfigSource } from '../config/config-source.ts'
import type { AgentEntry } from '../config/edit-agent-entry.ts'
import type { HubConfig } from '../config/hub-config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { hiddenText, redactTree } from '../config/print-config.ts'
import { isSecretWord } from '../config/secret-text.ts'
import { hubReference, hubReferencesIn, missingSecretText } from '../config/secrets/hub-references.ts'
import type { HubSecrets } from '../secrets/hub-secrets.ts'
import { invalidFieldError } from './key-fields.ts'
import { secretUsers } from './routes/secrets.ts'

/** An entry without secrets in clear. */
export interface SecretFreeEntry<Entry> {
  readonly entry: Entry
  /** The secrets that were in it, by the names that it refers to now. */
  readonly secrets: ReadonlyMap<string, string>
}

export interface EntryContext {
  readonly agent: string
  readonly kinds: readonly AgentKind[]
  /** The names that are in use. */
  readonly taken: Iterable<string>
}

/** What a person may have meant as a reference is none of ours to keep. */
const reference = /\$\{[a-z][a-z0-9-]*:[^}]*\}/

/** `entry` is a tree, or the text of one, whose comments stay. A text that cannot be parsed stays as it is: applying it reports it. */
export function extractSecrets<Entry extends AgentEntry | string>(
  entry: Entry,
  context: EntryContext,
): SecretFreeEntry<Entry> {
  const document = typeof entry === 'string' ? parseYaml(entry) : undefined
  const parsed = document === undefined ? { tree: entry } : document.errors.length > 0 ? {} : toTree(document)
  const tree: unknown = 'tree' in parsed ? parsed.tree : {}
  const secrets = new Map<string, string>()
  const changes = literalSecrets(tree, context).map(({ path, parts, values }) => {
    const references = values.map((value) => {
      const name = nameOf(path, context, secrets)
      secrets.set(name, value)
      return hubReference(name)
    })
    return { path, text: parts.map((part, at) => part + (references[at] ?? '')).join('') }
  })
  if (changes.length === 0) return { entry, secrets }
  for (const { path, text } of changes) {
    try {
      document?.setIn(path, text)
    } catch {
      // The library changes nothing within an alias.
      throw invalidFieldError('text', `${formatPath(path)} is a secret within an alias: write it without the alias`)
    }
  }
  const made = document === undefined ? changes.reduce<unknown>(setAt, tree) : document.toString({ lineWidth: 0 })
  return { entry: made as Entry, secrets }
}

interface LiteralSecret {
  /** Within the entry. */
  readonly path: ConfigPath
  /** The text around the secrets. */
  readonly parts: readonly string[]
  readonly values: readonly string[]
}

/** What `redactTree` hides is a secret. */
function literalSecrets(tree: unknown, { agent, kinds }: EntryContext): readonly LiteralSecret[] {
  const shown = redactTree({ tree: { agents: { [agent]: tree } }, references: new Map() }, kinds)
  const redacted = (shown as { readonly agents: Readonly<Record<string, unknown>> }).agents[agent]
  const found: LiteralSecret[] = []
  const visit = (value: unknown, hidden: unknown, path: ConfigPath): void => {
    if (typeof value === 'string') {
      if (typeof hidden !== 'string' || value === hidden || value.includes(hiddenText) || reference.test(value)) return
      // All variables are hidden, but most are no secrets, such as NODE_ENV.
      if (path.at(-2) === 'env' && !isSecretWord(String(path.at(-1)))) return
      const parts = hidden.split(hiddenText)
      const values = hiddenValues(value, parts)
      if (values.length > 0) found.push({ path, parts, values })
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) visit(item, (hidden as readonly unknown[])[at], [...path, at])
    } else if (isStruct(value)) {
      for (const [key, item] of Object.entries(value)) visit(item, (hidden as object)[key as never], [...path, key])
    }
  }
  visit(tree, redacted, [])
  return found
}

/** What is between these parts. Each ends as early as it can: a regular expression with 50 gaps took a minute to try all lengths. */
function hiddenValues(value: string, [first = '', ...rest]: readonly string[]): readonly string[] {
  let start = first.length
  const values = rest.map((part, at) => {
    const end = at === rest.length - 1 ? value.length - part.length : value.indexOf(part, start + 1)
    const hidden = value.slice(start, end)
    start = end + part.length
    return hidden
  })
  const whole = first + values.map((hidden, at) => hidden + rest[at]).join('')
  return whole === value && !values.includes('') ? values : []
}

/**
 * After the agent and the setting, and never the name of a secret that exists: until the entry is applied, the agent runs with the
 * old value, and perhaps at another URL.
 */
function nameOf(path: ConfigPath, { agent, taken }: EntryContext, more: ReadonlyMap<string, string>): string {
  const setting = path.filter((step) => typeof step === 'string').at(-1) ?? 'secret'
  return freeSecretName(`${agent}-${setting}`, [...taken, ...more.keys()])
}

/** `gpt-apiKey` is `gpt-api-key`, or `gpt-api-key-2` if that is taken. */
export function freeSecretName(wish: string, taken: Iterable<string>): string {
  const words = wish.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2').replaceAll(/[^A-Za-z0-9._-]+/g, '-')
  const name = words
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 90)
    .toLowerCase()
  const used = new Set(taken)
  for (let count = 1; ; count += 1) {
    const candidate = count === 1 ? name : `${name}-${count}`
    if (!used.has(candidate)) return candidate
  }
}

function setAt(tree: unknown, { path: [step, ...rest], text }: { path: ConfigPath; text: string }): unknown {
  if (step === undefined) return text
  if (Array.isArray(tree))
    return tree.map((item: unknown, at) => (at === step ? setAt(item, { path: rest, text }) : item))
  const record = tree as Readonly<Record<string, unknown>>
  return { ...record, [step]: setAt(record[step], { path: rest, text }) }
}

/**
 * Keeps new secrets for an entry that `apply` applies. If it fails, those that no entry refers to are removed. A secret that a new one
 * replaces stays, because earlier versions of the configuration refer to it.
 */
export async function withNewSecrets<Result>(
  values: ReadonlyMap<string, string>,
  { secrets, config, who }: { readonly secrets: HubSecrets; config(): HubConfig; readonly who: string },
  apply: () => Promise<Result>,
): Promise<Result> {
  const added: string[] = []
  try {
    for (const [name, value] of values) {
      await secrets.set(name, value, { who, isNew: true })
      added.push(name)
    }
    return await apply()
  } catch (reason) {
    // An entry that could not be written to the file is in use until the next restart.
    const users = secretUsers(config())
    for (const name of added) if (!users.has(name)) await secrets.remove(name).catch(() => {})
    throw reason
  }
}

/** A source that refuses new references to secrets that are not set. A file that an editor changes is applied without them. */
export function requireSecrets(
  source: ConfigSource | undefined,
  { secrets, config }: { readonly secrets: HubSecrets; config(): HubConfig },
): ConfigSource | undefined {
  if (source === undefined) return undefined
  const checked =
    (how: 'load' | 'check') =>
    async (text: string): Promise<LoadedConfig> => {
      const loaded = await source[how](text)
      if (!('config' in loaded)) return loaded
      const findMissing = (): readonly ConfigProblem[] => {
        // Those of an agent that is unavailable already must not prevent other changes.
        const known = new Set([...secrets.values.keys(), ...secretUsers(config()).keys()])
        return missingReferences(text, loaded.config, known)
      }
      // Another replica may have just set it.
      if (findMissing().length > 0) await secrets.refresh()
      const missing = findMissing()
      if (missing.length === 0) return loaded
      const { config: _, ...rest } = loaded
      return { ...rest, problems: missing }
    }
  // Inherits: a copy would freeze `file`, which is another one when a default name appears.
  return Object.assign(Object.create(source) as ConfigSource, { load: checked('load'), check: checked('check') })
}

function missingReferences(text: string, { agents }: HubConfig, known: ReadonlySet<string>): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const visit = (value: unknown, path: ConfigPath): void => {
    if (typeof value === 'string') {
      const name = hubReferencesIn(value).find((one) => !known.has(one))
      if (name !== undefined) problems.push({ path, message: missingSecretText(name) })
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) visit(item, [...path, Array.isArray(value) ? Number(key) : key])
    }
  }
  for (const [agent, { own }] of Object.entries(agents)) visit(own, ['agents', agent])
  if (problems.length === 0) return []
  const { lineOf } = parseConfigDocument(text, {})
  return problems.map((problem) => {
    const line = lineOf(problem.path)
    return line === undefined ? problem : { ...problem, line }
  })
}
