/** From a file, the environment and what flags say to one configuration. Flags win over the environment, both over the file. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { baseOf, checkConfig } from './check.ts'
import type { Checked } from './check.ts'
import { at, readDocument } from './document.ts'
import type { ConfigDocument, Environment } from './document.ts'
import { pathText } from './path.ts'
import type { Path } from './path.ts'
import type { Problem } from './problem.ts'

/** What is said outside the file, in the words of the file. */
export interface Overrides {
  readonly listen?: { readonly host?: string; readonly port?: number; readonly grpcPort?: number | false }
  readonly store?: { readonly url?: string; readonly direct?: string; readonly masterKey?: string }
  readonly admin?: { readonly key?: string }
}

export interface LoadOptions {
  /** Without one, `otherwise` is read. */
  readonly file?: string | undefined
  /** Instead of what the file holds. */
  readonly text?: string | undefined
  readonly otherwise: object
  readonly environment: Environment
  readonly overrides?: Overrides
  readonly dataDir?: string | undefined
  readonly cwd: string
  readonly kinds: readonly AgentKind[]
}

/** What it was made of, for whoever prints it. */
export type Loaded = Checked & {
  readonly tree: unknown
  readonly references: ReadonlyMap<string, string>
}

/** To find the line of each takes a look through the file, and nobody reads more. */
const mostProblems = 1_000

const names = ['parley.yaml', 'parley.yml', 'parley.json']

/** The configuration in a folder, if there is one. */
export function findConfig(folder: string): string | undefined {
  return names.map((name) => join(folder, name)).find((file) => existsSync(file))
}

export function loadConfig(options: LoadOptions): Loaded {
  const { file, overrides = {}, dataDir, cwd, kinds } = options
  const document = documentOf(options)
  const { references, missing } = document
  const tree = overlay(document.tree ?? {}, overrides as Record<string, unknown>)
  if (document.problems.length > 0) return { problems: document.problems, tree, references }
  const baseDir = file === undefined ? cwd : baseOf(resolve(cwd, file))
  const from = { kinds, baseDir, file: file === undefined ? undefined : resolve(cwd, file) }
  const data = dataDir === undefined ? {} : { dataDir: resolve(cwd, dataDir) }
  const checked = checkConfig(tree, { ...from, ...data })
  const again = 'problems' in checked ? withNumbers(tree, checked.problems, references) : undefined
  const final = again === undefined ? checked : checkConfig(again, { ...from, ...data })
  if ('config' in final && missing.length === 0) return { ...final, tree: again ?? tree, references }
  const all = 'config' in final ? [] : final.problems
  const found = all.slice(0, mostProblems).filter((problem) => !isAbout(missing, problem))
  const problems = [...missing, ...found.map((problem) => ({ ...problem, ...at(document.lineOf(problem.path)) }))]
  return { problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)), tree, references }
}

/** What is wrong with a value whose variable is missing says nothing of what it will be. */
function isAbout(missing: readonly Problem[], { path }: Problem): boolean {
  return missing.some((one) => one.path.every((step, index) => step === path[index]))
}

function documentOf({ text, file, cwd, environment, otherwise }: LoadOptions): ConfigDocument {
  if (text !== undefined) return readDocument(text, environment)
  return file === undefined ? given(otherwise) : readFile(resolve(cwd, file), environment)
}

function given(tree: object): ConfigDocument {
  return { tree, problems: [], missing: [], references: new Map(), lineOf: () => undefined }
}

function readFile(file: string, environment: Environment): ConfigDocument {
  try {
    return readDocument(readFileSync(file, 'utf8'), environment)
  } catch (reason) {
    const why = (reason as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String(reason)
    return { ...given({}), problems: [{ path: [], message: why }] }
  }
}

/** Names of `over` win, branch by branch; where the file has a plain value, a branch replaces it. */
function overlay(under: unknown, over: Readonly<Record<string, unknown>>): unknown {
  if (!isRecord(under)) return under
  const said = Object.entries(over).filter(([, value]) => value !== undefined)
  return said.reduce<Record<string, unknown>>(
    (sum, [key, value]) => ({ ...sum, [key]: isRecord(value) ? branch(sum[key], value) : value }),
    under,
  )
}

function branch(under: unknown, over: Readonly<Record<string, unknown>>): unknown {
  // `store: sqlite:…` is short for a branch with a url.
  const whole = typeof under === 'string' ? { url: under } : (under ?? {})
  return Object.values(over).every((value) => value === undefined) ? under : overlay(whole, over)
}

/**
 * The environment knows texts only. Where the schema wants a number or a yes or no and the whole value is a reference, it
 * is read as one. Nothing if that helps nowhere.
 */
function withNumbers(tree: unknown, problems: readonly Problem[], references: ReadonlyMap<string, string>): unknown {
  const paths = problems.map(({ path }) => path).filter((path) => references.has(pathText(path)))
  if (paths.length === 0) return undefined
  const readings = paths.map((path) => ({ path, value: readPlain(valueAt(tree, path)) }))
  const useful = readings.filter(({ value }) => value !== undefined)
  return useful.length === 0 ? undefined : useful.reduce<unknown>((sum, { path, value }) => put(sum, path, value), tree)
}

const plain = z.union([z.stringbool({ truthy: ['true'], falsy: ['false'] }), z.coerce.number()])

function readPlain(value: unknown): unknown {
  const read = typeof value === 'string' && value.trim() !== '' ? plain.safeParse(value) : undefined
  return read?.success === true ? read.data : undefined
}

function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], tree)
}

function put(tree: unknown, [step, ...rest]: Path, value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(tree)) return tree.map((item: unknown, index) => (index === step ? put(item, rest, value) : item))
  const record = tree as Record<string, unknown>
  return { ...record, [step]: put(record[String(step)], rest, value) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
