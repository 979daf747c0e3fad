/** Loads a configuration from a file, the environment and flags. Flags override the environment; both override the file. */
import { isStruct, omitUndefined } from '@parley/a2a/internal'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { configBaseDir, checkConfig, type ConfigCheckResult, defaultDataDir } from './check-config.ts'
import { lineField, parseConfigDocument } from './config-document.ts'
import type { ConfigDocument, Environment, ResolveReference } from './config-document.ts'
import type { HubConfig } from './hub-config.ts'
import { hiddenText } from './secret-text.ts'
import { openSecretFiles, type SecretFiles } from './secrets/secret-files.ts'
import type { SecretLookup, SecretProviderConfig, SecretReference } from './secrets/secret-provider.ts'
import { secretsSection } from './sections/secrets.ts'
import { formatPath, type ConfigPath, type ConfigProblem } from './config-problem.ts'

/** Settings from outside the file, in the format of the file. */
export interface ConfigOverrides {
  readonly listen?: { readonly host?: string; readonly port?: number; readonly grpcPort?: number | false }
  readonly store?: {
    readonly url?: string
    readonly direct?: string
    readonly masterKey?: string
    readonly previousMasterKeys?: readonly string[]
  }
  readonly admin?: { readonly key?: string; readonly previousKeys?: readonly string[] }
}

export interface LoadConfigOptions {
  /** If omitted, `fallback` is used. */
  readonly file?: string | undefined
  /** Replaces the content of the file. */
  readonly text?: string | undefined
  readonly fallback: object
  readonly environment: Environment
  /** Folders whose files `${file:…}` may name, beside that of the configuration. Default: where containers mount secrets. */
  readonly secretRoots?: readonly string[] | undefined
  /** The secrets of providers, as far as they were read. Default: none. */
  readonly secrets?: SecretLookup | undefined
  readonly overrides?: ConfigOverrides
  readonly dataDir?: string | undefined
  readonly cwd: string
  readonly kinds: readonly AgentKind[]
}

/** The sources of the configuration, for printing it. */
export type LoadedConfig = ConfigCheckResult & {
  readonly tree: unknown
  readonly references: ReadonlyMap<string, string>
  /** The values of all references: they must not be shown. */
  readonly secretValues: ReadonlySet<string>
  /** References to secrets of providers. Those that were not read are problems, too. */
  readonly providerSecrets: readonly SecretReference[]
  /**
   * Settings with a secret that was not read because its provider must not run. They contain another text, which must not be used. They
   * are the problems of a configuration that has no others, if such a text does not fit its setting.
   */
  readonly unread: readonly ConfigProblem[]
  readonly secretFiles: readonly string[]
  /** For the operator, such as a secret that other users may read. */
  readonly warnings: readonly string[]
}

/** Finding the line of each problem scans the file, so the list is limited. */
const maxProblems = 1_000

const configFileNames = ['parley.yaml', 'parley.yml', 'parley.json']

/** Where a configuration may be in a folder. The first that exists is used. */
export function defaultConfigFiles(folder: string): readonly string[] {
  return configFileNames.map((name) => join(folder, name))
}

/** Returns the configuration file in a folder, if there is one. */
export function findConfig(folder: string): string | undefined {
  return defaultConfigFiles(folder).find((file) => existsSync(file))
}

export function loadConfig(options: LoadConfigOptions): LoadedConfig {
  const { file, overrides = {}, dataDir, cwd, kinds } = options
  const baseDir = file === undefined ? cwd : configBaseDir(resolve(cwd, file))
  const data = dataDir === undefined ? {} : { dataDir: resolve(cwd, dataDir) }
  const secretFiles = openSecretFiles({
    baseDir,
    roots: options.secretRoots,
    dataDir: data.dataDir ?? resolve(baseDir, defaultDataDir),
  })
  const providerSecrets: SecretReference[] = []
  const document = documentOf(options, secretFiles, providerSecrets)
  const { references, missing, secretValues } = document
  const tree = mergeOverrides(document.tree ?? {}, overrides as Record<string, unknown>)
  const unread = document.unread.filter(({ path }) => !isOverridden(path, overrides))
  const about = {
    references,
    secretValues,
    providerSecrets,
    unread,
    secretFiles: [...secretFiles.files],
    warnings: [...secretFiles.warnings],
  }
  if (document.problems.length > 0) return { problems: document.problems, tree, ...about }
  const from = { kinds, baseDir, file: file === undefined ? undefined : resolve(cwd, file), ...data }
  const checked = checkConfig(tree, from)
  const coerced = 'problems' in checked ? coerceReferences(tree, checked.problems, references) : undefined
  const final = coerced === undefined ? checked : checkConfig(coerced, from)
  if ('config' in final && missing.length === 0) {
    const config = about.secretFiles.length === 0 ? final.config : withSecretFiles(final.config, about.secretFiles)
    return { config, tree: coerced ?? tree, ...about }
  }
  const all = 'config' in final ? [] : final.problems
  const found = all.slice(0, maxProblems).filter((problem) => !isCausedByMissing([...missing, ...unread], problem))
  if (missing.length === 0 && found.length === 0) return { problems: unread, tree, ...about }
  const problems = [
    ...missing,
    ...found.map((problem) => ({ ...problem, ...lineField(document.lineOf(problem.path)) })),
  ].map((problem) => ({ ...problem, message: withoutSecrets(problem.message, secretValues) }))
  return { problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)), tree, ...about }
}

function withSecretFiles(config: HubConfig, secretFiles: readonly string[]): HubConfig {
  return Object.freeze({ ...config, secretFiles: Object.freeze(secretFiles) })
}

/** A message may quote a value, which is in a response of the admin API then. Short values are in many words. */
function withoutSecrets(message: string, secrets: ReadonlySet<string>): string {
  return [...secrets]
    .filter((secret) => secret.length >= 4)
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, hiddenText), message)
}

/** A validation error at a value whose variable is missing says nothing about the final value, so it is dropped. */
function isCausedByMissing(missing: readonly ConfigProblem[], { path }: ConfigProblem): boolean {
  return missing.some((one) => one.path.every((step, index) => step === path[index]))
}

/** Adds the references to secrets of providers to `providerSecrets`. */
function documentOf(
  { text, file, cwd, environment, fallback, secrets }: LoadConfigOptions,
  files: SecretFiles,
  providerSecrets: SecretReference[],
): ConfigDocument {
  const parse = (content: string): ConfigDocument => {
    const resolveInProvider: ResolveReference = (scheme, name) =>
      scheme === 'file' ? files.read(name) : { problem: 'only ${env:…} and ${file:…} can be used within secrets' }
    const providers = providersOf(parseConfigDocument(content, environment, resolveInProvider).tree)
    return parseConfigDocument(content, environment, (scheme, name, isInProvider) => {
      if (scheme === 'file' || isInProvider) return resolveInProvider(scheme, name, isInProvider)
      const provider = providers[scheme]
      // The section itself has the problem.
      if (provider === undefined) return { value: '' }
      const reference = { scheme, name, provider }
      providerSecrets.push(reference)
      return secrets?.(reference) ?? { problem: `\${${scheme}:${name}} is read when the configuration is applied` }
    })
  }
  if (text !== undefined) return parse(text)
  return file === undefined ? documentFromTree(fallback) : readFile(resolve(cwd, file), parse)
}

function providersOf(tree: unknown): Readonly<Record<string, SecretProviderConfig>> {
  const read = secretsSection.safeParse(isStruct(tree) ? tree['secrets'] : undefined)
  return read.success ? read.data : {}
}

function documentFromTree(tree: object): ConfigDocument {
  return {
    tree,
    problems: [],
    missing: [],
    unread: [],
    references: new Map(),
    secretValues: new Set(),
    lineOf: () => undefined,
  }
}

/** Its message is for a terminal and for the admin API. */
export class UnreadableConfigError extends Error {
  override readonly name = 'UnreadableConfigError'
  /** Why, without the name of the file. */
  readonly why: string
  constructor(file: string, cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    const causes: Readonly<Record<string, string>> = {
      ENOENT: 'the file does not exist',
      EISDIR: 'it is a folder: a file is needed there',
      EACCES: 'the permission to read the file is missing',
    }
    const why = causes[code ?? ''] ?? String(cause)
    super(`${file} cannot be read: ${why}`, { cause })
    this.why = why
  }
}

/** Throws UnreadableConfigError. */
export function readConfigFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (reason) {
    throw new UnreadableConfigError(file, reason)
  }
}

function readFile(file: string, parse: (text: string) => ConfigDocument): ConfigDocument {
  try {
    return parse(readConfigFile(file))
  } catch (reason) {
    const message = reason instanceof UnreadableConfigError ? reason.why : String(reason)
    return { ...documentFromTree({}), problems: [{ path: [], message }] }
  }
}

/** Whether a setting from outside replaces this value: the url of `store: ${vault:url}`, too. */
function isOverridden(path: ConfigPath, overrides: ConfigOverrides): boolean {
  const { store } = overrides
  if (path.length === 1 && path[0] === 'store') return store?.url !== undefined
  const over = path.reduce<unknown>((value, step) => (isStruct(value) ? value[step] : undefined), overrides)
  return over !== undefined
}

/** Values of `over` win, branch by branch. A branch replaces a plain value of the file. */
function mergeOverrides(under: unknown, over: Readonly<Record<string, unknown>>): unknown {
  if (!isStruct(under)) return under
  return Object.entries(omitUndefined(over)).reduce<Record<string, unknown>>(
    (sum, [key, value]) => ({ ...sum, [key]: isStruct(value) ? mergeBranch(sum[key], value) : value }),
    under,
  )
}

function mergeBranch(under: unknown, over: Readonly<Record<string, unknown>>): unknown {
  // `store: sqlite:…` is short for a branch with a url.
  const expanded = typeof under === 'string' ? { url: under } : (under ?? {})
  return Object.values(over).every((value) => value === undefined) ? under : mergeOverrides(expanded, over)
}

/**
 * Values of references are strings. Where the schema expects a number or boolean and the whole value is a reference, it is parsed as
 * one. Returns `undefined` if that changes nothing.
 */
function coerceReferences(
  tree: unknown,
  problems: readonly ConfigProblem[],
  references: ReadonlyMap<string, string>,
): unknown {
  const paths = problems.map(({ path }) => path).filter((path) => references.has(formatPath(path)))
  if (paths.length === 0) return undefined
  const readings = paths.map((path) => ({ path, value: parseScalar(valueAt(tree, path)) }))
  const useful = readings.filter(({ value }) => value !== undefined)
  return useful.length === 0
    ? undefined
    : useful.reduce<unknown>((sum, { path, value }) => setAt(sum, path, value), tree)
}

const scalarSchema = z.union([z.stringbool({ truthy: ['true'], falsy: ['false'] }), z.coerce.number()])

function parseScalar(value: unknown): unknown {
  const read = typeof value === 'string' && value.trim() !== '' ? scalarSchema.safeParse(value) : undefined
  return read?.success === true ? read.data : undefined
}

function valueAt(tree: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], tree)
}

function setAt(tree: unknown, [step, ...rest]: ConfigPath, value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(tree)) return tree.map((item: unknown, index) => (index === step ? setAt(item, rest, value) : item))
  const record = tree as Record<string, unknown>
  return { ...record, [step]: setAt(record[String(step)], rest, value) }
}
