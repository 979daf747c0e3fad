/**
 * The text of a configuration as a tree: YAML, and JSON, which is YAML too. It remembers on which line everything stands,
 * and which values came out of the environment: those are never printed.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { Node } from 'yaml'
import { pathText } from './path.ts'
import type { Path } from './path.ts'
import type { Problem } from './problem.ts'

export interface ConfigDocument {
  readonly tree: unknown
  /** Why there is nothing to read. */
  readonly problems: readonly Problem[]
  /** Variables that the environment lacks. The rest can be read and checked: the value there is what is left of it. */
  readonly missing: readonly Problem[]
  /** Of what the path names, or of the nearest thing around it that is written down. */
  lineOf(path: Path): number | undefined
  /** As it is written, by `pathText`, for values that hold something of the environment. */
  readonly references: ReadonlyMap<string, string>
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Of so many missing variables the lines are told. */
const mostLines = 100

const reference = /\$\{env:([^}]*)\}/g

export function readDocument(text: string, environment: Environment): ConfigDocument {
  const lines = new LineCounter()
  // The parser looks for a key among all before it, which for 10,000 keys took 4 s: see `repeatedKeys`.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys: false })
  const lineAt = (offset: number): number => lines.linePos(offset).line
  const problems: Problem[] = document.errors.map(({ message, pos }) => ({
    path: [],
    line: lineAt(pos[0]),
    message: `this is no YAML: ${message}`,
  }))
  const noYaml = (offset: number | undefined, why: string): Problem => ({
    path: [],
    ...at(offset === undefined ? undefined : lineAt(offset)),
    message: `this is no YAML: ${why}`,
  })
  const written = problems.length === 0 ? asTree(document) : { tree: undefined }
  if ('why' in written) problems.push(noYaml(undefined, written.why))
  else problems.push(...repeatedKeys(document.contents).map((offset) => noYaml(offset, 'Map keys must be unique')))
  const missing: Problem[] = []
  const references = new Map<string, string>()
  const lineOf = (path: Path): number | undefined => {
    const offset = offsetOf(document.contents, path)
    return offset === undefined ? undefined : lineAt(offset)
  }
  if (problems.length > 0) return { tree: undefined, problems, missing, lineOf, references }

  // To find a line takes a look through the file.
  const placeOf = (path: Path) => (missing.length < mostLines ? at(lineOf(path)) : {})

  function fill(value: unknown, path: Path): unknown {
    if (Array.isArray(value)) return value.map((item, index) => fill(item, [...path, index]))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key])]))
    }
    if (typeof value !== 'string' || !value.includes('${env:')) return value
    references.set(pathText(path), value)
    return value.replaceAll(reference, (_, name: string) => {
      const found = environment[name]
      if (found === undefined) missing.push({ path, ...placeOf(path), message: missingSentence(name) })
      return found ?? ''
    })
  }

  return { tree: fill('tree' in written ? written.tree : undefined, []), problems, missing, lineOf, references }
}

/** Aliases that stand for one another make a tree of any size out of a few lines: the library stops at 100. */
function asTree(document: ReturnType<typeof parseDocument>): { readonly tree: unknown } | { readonly why: string } {
  try {
    return { tree: document.toJS() as unknown }
  } catch (reason) {
    return { why: reason instanceof RangeError ? 'it is nested too deeply' : (reason as Error).message }
  }
}

/** Where keys stand that their mapping has already. Several `<<` in one are several merges. */
function repeatedKeys(contents: unknown): readonly number[] {
  const found: number[] = []
  const walk = (node: unknown): void => {
    if (isSeq(node)) node.items.forEach(walk)
    if (!isMap(node)) return
    const keys = new Set<unknown>()
    for (const { key, value } of node.items) {
      const name: unknown = isScalar(key) ? key.value : key
      if (keys.has(name) && name !== '<<') found.push(startOf(key) ?? 0)
      keys.add(name)
      walk(value)
    }
  }
  walk(contents)
  return found
}

function missingSentence(name: string): string {
  return name === ''
    ? 'name a variable of the environment: ${env:NAME}'
    : `the environment has no ${name}: set it before the hub starts`
}

export function at(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line }
}

/** Where the key of the pair stands, or the item of the list. */
function offsetOf(contents: Node | null | undefined, path: Path): number | undefined {
  let node: unknown = contents
  let offset: number | undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step))
      if (pair === undefined) return offset
      offset = startOf(pair.key) ?? offset
      node = pair.value
    } else if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      node = node.items[step]
      offset = startOf(node) ?? offset
    } else return offset
  }
  return offset
}

function startOf(node: unknown): number | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  return Array.isArray(range) ? (range[0] as number) : undefined
}
