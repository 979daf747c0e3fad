/** Loads a configuration from a file, the environment and flags. Flags override the environment; both override the file. */
import { isStruct, omitUndefined } from '@parley/a2a'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { configBaseDir, checkConfig, type ConfigCheckResult } from './check-config.ts'
import { lineField, parseConfigDocument, type ConfigDocument, type Environment } from './config-document.ts'
import { formatPath, type ConfigPath, type ConfigProblem } from './config-problem.ts'

/** Settings from outside the file, in the format of the file. */
export interface ConfigOverrides {
  readonly listen?: { readonly host?: string; readonly port?: number; readonly grpcPort?: number | false }
  readonly store?: { readonly url?: string; readonly direct?: string; readonly masterKey?: string }
  readonly admin?: { readonly key?: string }
}

export interface LoadConfigOptions {
  /** If omitted, `fallback` is used. */
  readonly file?: string | undefined
  /** Replaces the content of the file. */
  readonly text?: string | undefined
  readonly fallback: object
  readonly environment: Environment
  readonly overrides?: ConfigOverrides
  readonly dataDir?: string | undefined
  readonly cwd: string
  readonly kinds: readonly AgentKind[]
}

/** The sources of the configuration, for printing it. */
export type LoadedConfig = ConfigCheckResult & {
  readonly tree: unknown
  readonly references: ReadonlyMap<string, string>
}

/** Finding the line of each problem scans the file, so the list is limited. */
const maxProblems = 1_000

const configFileNames = ['parley.yaml', 'parley.yml', 'parley.json']

/** Returns the configuration file in a folder, if there is one. */
export function findConfig(folder: string): string | undefined {
  return configFileNames.map((name) => join(folder, name)).find((file) => existsSync(file))
}

export function loadConfig(options: LoadConfigOptions): LoadedConfig {
  const { file, overrides = {}, dataDir, cwd, kinds } = options
  const document = documentOf(options)
  const { references, missing } = document
  const tree = mergeOverrides(document.tree ?? {}, overrides as Record<string, unknown>)
  if (document.problems.length > 0) return { problems: document.problems, tree, references }
  const baseDir = file === undefined ? cwd : configBaseDir(resolve(cwd, file))
  const from = { kinds, baseDir, file: file === undefined ? undefined : resolve(cwd, file) }
  const data = dataDir === undefined ? {} : { dataDir: resolve(cwd, dataDir) }
  const checked = checkConfig(tree, { ...from, ...data })
  const coerced = 'problems' in checked ? coerceReferences(tree, checked.problems, references) : undefined
  const final = coerced === undefined ? checked : checkConfig(coerced, { ...from, ...data })
  if ('config' in final && missing.length === 0) return { ...final, tree: coerced ?? tree, references }
  const all = 'config' in final ? [] : final.problems
  const found = all.slice(0, maxProblems).filter((problem) => !isCausedByMissing(missing, problem))
  const problems = [
    ...missing,
    ...found.map((problem) => ({ ...problem, ...lineField(document.lineOf(problem.path)) })),
  ]
  return { problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)), tree, references }
}

/** A validation error at a value whose variable is missing says nothing about the final value, so it is dropped. */
function isCausedByMissing(missing: readonly ConfigProblem[], { path }: ConfigProblem): boolean {
  return missing.some((one) => one.path.every((step, index) => step === path[index]))
}

function documentOf({ text, file, cwd, environment, fallback }: LoadConfigOptions): ConfigDocument {
  if (text !== undefined) return parseConfigDocument(text, environment)
  return file === undefined ? documentFromTree(fallback) : readFile(resolve(cwd, file), environment)
}

function documentFromTree(tree: object): ConfigDocument {
  return { tree, problems: [], missing: [], references: new Map(), lineOf: () => undefined }
}

function readFile(file: string, environment: Environment): ConfigDocument {
  try {
    return parseConfigDocument(readFileSync(file, 'utf8'), environment)
  } catch (reason) {
    const why = (reason as NodeJS.ErrnoException).code === 'ENOENT' ? 'the file does not exist' : String(reason)
    return { ...documentFromTree({}), problems: [{ path: [], message: why }] }
  }
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
 * Environment values are strings. Where the schema expects a number or boolean and the whole value is a reference, it is parsed as
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
