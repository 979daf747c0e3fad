/**
 * Parses the text of a configuration into a tree: YAML, and JSON, which is YAML too. It remembers the line of every value and which
 * values came from references; those are never printed. Also limits the size of such a text.
 */
import { Composer, isMap, isNode, isScalar, isSeq, LineCounter, Parser, visit, YAMLParseError } from 'yaml'
import type { CST, Document, DocumentOptions, Node, ParseOptions, SchemaOptions } from 'yaml'
import { isStruct } from '@parley/a2a/internal'
import { formatPath, type ConfigPath, type ConfigProblem } from './config-problem.ts'
import { nearestName } from '@parley/a2a/command-line'
import { hubReferenceProblem, hubScheme } from './secrets/hub-references.ts'
import type { SecretResult } from './secrets/secret-provider.ts'

export interface ConfigDocument {
  readonly tree: unknown
  /** Why the text cannot be read. */
  readonly problems: readonly ConfigProblem[]
  /** References without a value. The rest is read and checked, with the remainder of each such value. */
  readonly missing: readonly ConfigProblem[]
  /** Values with a reference that was not read. */
  readonly unread: readonly ConfigProblem[]
  /** The line of the path, or of its nearest enclosing value that is in the file. */
  lineOf(path: ConfigPath): number | undefined
  /** The source text of values that contain a reference, keyed by `formatPath`. */
  readonly references: ReadonlyMap<string, string>
  /** The values of all references: they must not be shown. */
  readonly secretValues: ReadonlySet<string>
}

/** Returns the value of `${scheme:name}`; `undefined` for a provider that does not exist. `isInProvider`: within `secrets`. */
export type ResolveReference = (scheme: string, name: string, isInProvider: boolean) => SecretResult | undefined

export type Environment = Readonly<Record<string, string | undefined>>

/** Variables with the keys of the hub, by the section that may contain them: elsewhere an agent or a server would receive them. */
const hubKeyVariables: Readonly<Record<string, RegExp>> = {
  PARLEY_ADMIN_KEY: /^admin\./,
  PARLEY_PREVIOUS_ADMIN_KEYS: /^admin\./,
  PARLEY_MASTER_KEY: /^store\.(masterKey|previousMasterKeys)/,
  PARLEY_PREVIOUS_MASTER_KEYS: /^store\.(masterKey|previousMasterKeys)/,
}

function hubKeyProblem(variable: string, path: ConfigPath): string | undefined {
  if (!Object.hasOwn(hubKeyVariables, variable) || hubKeyVariables[variable]?.test(formatPath(path))) return undefined
  return `\${env:${variable}} cannot be used here: it is a key of the hub, which ${formatPath(path.slice(0, 2))} must not receive`
}

/** More are rarely read: one mistake in YAML often causes all that follow. */
const maxYamlErrors = 100
/** The number of missing variables for which line numbers are reported. */
const maxLineLookups = 100

/** `${env:NAME}`, `${file:/run/secrets/name}`, `${hub:name}`, `${vault:path}`. */
const referencePattern = /\$\{([a-z][a-z0-9-]*):([^}]*)\}/g
const builtInSchemes = ['env', 'file', hubScheme]

/** Without `resolve`, the values of references to files and providers are empty: for reading the text as it is. */
export function parseConfigDocument(
  text: string,
  environment: Environment,
  resolve: ResolveReference = () => ({ value: '' }),
): ConfigDocument {
  const lines = new LineCounter()
  const document = parseYaml(text, { lineCounter: lines, merge: true })
  const lineAt = (offset: number): number => lines.linePos(offset).line
  const problems: ConfigProblem[] = document.errors.slice(0, maxYamlErrors).map(({ message, pos }) => ({
    path: [],
    line: lineAt(pos[0]),
    message: `invalid YAML: ${message}`,
  }))
  const yamlProblem = (offset: number | undefined, why: string): ConfigProblem => ({
    path: [],
    ...lineField(offset === undefined ? undefined : lineAt(offset)),
    message: `invalid YAML: ${why}`,
  })
  const parsed = problems.length === 0 ? toTree(document) : { tree: undefined }
  if ('why' in parsed) problems.push(yamlProblem(undefined, parsed.why))
  else problems.push(...repeatedKeys(document.contents).map((offset) => yamlProblem(offset, 'Map keys must be unique')))
  const missing: ConfigProblem[] = []
  const unread: ConfigProblem[] = []
  const references = new Map<string, string>()
  const secretValues = new Set<string>()
  const lineOf = (path: ConfigPath): number | undefined => {
    const offset = offsetOf(document.contents, path)
    return offset === undefined ? undefined : lineAt(offset)
  }
  if (problems.length > 0) return { tree: undefined, problems, missing, unread, lineOf, references, secretValues }

  const raw = 'tree' in parsed ? parsed.tree : undefined
  const providers = isStruct(raw) && isStruct(raw['secrets']) ? Object.keys(raw['secrets']) : []
  const schemes = [...builtInSchemes, ...providers]

  // Finding a line scans the file.
  const locationOf = (path: ConfigPath) => (missing.length < maxLineLookups ? lineField(lineOf(path)) : {})

  function resolveReferences(value: unknown, path: ConfigPath): unknown {
    if (Array.isArray(value)) return value.map((item, index) => resolveReferences(item, [...path, index]))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, resolveReferences(item, [...path, key])]),
      )
    }
    if (typeof value !== 'string' || !value.includes('${')) return value
    return value.replaceAll(referencePattern, (whole, scheme: string, name: string) => {
      const found = schemes.includes(scheme) ? resolveOne(scheme, name, path, whole) : misspelled(scheme)
      // Text of another language, such as a shell's.
      if (found === undefined) return whole
      references.set(formatPath(path), value)
      if ('problem' in found) missing.push({ path, ...locationOf(path), message: found.problem })
      else if (found.isUnread) unread.push({ path, ...lineField(lineOf(path)), message: `${whole} was not read` })
      else if (found.value !== '' && found.value !== whole) secretValues.add(found.value)
      return 'value' in found ? found.value : ''
    })
  }

  function resolveOne(scheme: string, name: string, path: ConfigPath, whole: string): SecretResult | undefined {
    if (scheme === hubScheme) {
      const problem = hubReferenceProblem(name, path)
      // The store has the value: it is read when the agent opens.
      return problem === undefined ? { value: whole } : { problem }
    }
    if (scheme !== 'env') return resolve(scheme, name, path[0] === 'secrets')
    const problem = hubKeyProblem(name, path)
    if (problem !== undefined) return { problem }
    const value = environment[name]
    return value === undefined ? { problem: missingVariableMessage(name) } : { value }
  }

  function misspelled(scheme: string): SecretResult | undefined {
    const nearest = nearestName(scheme, schemes)
    return nearest === undefined ? undefined : { problem: `unknown provider ${scheme}: did you mean ${nearest}?` }
  }

  return {
    tree: resolveReferences(raw, []),
    problems,
    missing,
    unread,
    lineOf,
    references,
    secretValues,
  }
}

/**
 * Parses YAML in time that depends on its length alone. Keys are not compared: each with all before it took 4 s for 10,000 keys
 * (`repeatedKeys` finds them). Errors have no stacks and do not quote their lines: 3,000 of them on a line of 60 kB took 0.4 s. It
 * stops at `maxYamlErrors`: without that limit, 17,000 of them on such a line took 0.1 s.
 */
export function parseYaml(text: string, options: ParseOptions & DocumentOptions & SchemaOptions = {}): Document.Parsed {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    const composer = new Composer({ ...options, uniqueKeys: false, prettyErrors: false })
    const tokens = untilManyErrors(new Parser(options.lineCounter?.addNewLine).parse(text))
    const [document, next] = composer.compose(tokens, true, text.length)
    // The composer makes a document of any text, also of an empty one.
    if (document === undefined) throw new TypeError('the composer made no document')
    if (next !== undefined) {
      const [start, end] = next.range
      document.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', 'The text contains several documents'))
    }
    return document
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function* untilManyErrors(tokens: Iterable<CST.Token>): Generator<CST.Token, void, void> {
  let errors = 0
  for (const token of tokens) {
    yield token
    if (token.type === 'error' && (errors += 1) >= maxYamlErrors) return
  }
}

/** The library looks for the anchor of each alias in the whole document: 65,000 took minutes. It refuses 100 uses of one anchor. */
const maxAliases = 500

/** Nested aliases expand a few lines into a tree of any size; the library stops at 100, but allows an alias within its own anchor. */
export function toTree(document: Document.Parsed): { readonly tree: unknown } | { readonly why: string } {
  const why = aliasProblem(document)
  if (why !== undefined) return { why }
  try {
    return { tree: document.toJS() as unknown }
  } catch (reason) {
    return { why: reason instanceof RangeError ? 'it is nested too deeply' : (reason as Error).message }
  }
}

function aliasProblem(document: Document.Parsed): string | undefined {
  let aliases = 0
  let why: string | undefined
  visit(document, {
    Alias(_key, { source }, ancestors) {
      aliases += 1
      if (ancestors.some((node) => isNode(node) && 'anchor' in node && node.anchor === source))
        why = 'an alias refers to a value that contains it'
      else if (aliases > maxAliases) why = `it has more than ${maxAliases} aliases`
      return why === undefined ? undefined : visit.BREAK
    },
  })
  return why
}

/** Returns the positions of duplicate keys in a mapping. Several `<<` in one mapping are several merges. */
function repeatedKeys(contents: unknown): readonly number[] {
  const found: number[] = []
  const walk = (node: unknown): void => {
    if (isSeq(node)) node.items.forEach(walk)
    if (!isMap(node)) return
    const keys = new Set<unknown>()
    for (const { key, value } of node.items) {
      const name: unknown = isScalar(key) ? key.value : key
      if (keys.has(name) && name !== '<<') found.push(nodeOffset(key) ?? 0)
      keys.add(name)
      walk(value)
    }
  }
  walk(contents)
  return found
}

function missingVariableMessage(name: string): string {
  return name === ''
    ? 'must name an environment variable: ${env:NAME}'
    : `${name} ${unset}: set it before the hub starts`
}

const unset = 'is not set in the environment'

/** Whether the file is as intended, and a variable that it names is missing. */
export function lacksVariable({ message }: ConfigProblem): boolean {
  return message.includes(` ${unset}: `)
}

export function lineField(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line }
}

/** Returns the position of the key of a pair, or of a list item. */
function offsetOf(contents: Node | null | undefined, path: ConfigPath): number | undefined {
  let node: unknown = contents
  let offset: number | undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step))
      if (pair === undefined) return offset
      offset = nodeOffset(pair.key) ?? offset
      node = pair.value
    } else if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      node = node.items[step]
      offset = nodeOffset(node) ?? offset
    } else return offset
  }
  return offset
}

function nodeOffset(node: unknown): number | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  return Array.isArray(range) ? (range[0] as number) : undefined
}

/**
 * Size limits for a configuration sent to a running hub. Parsing YAML takes up to 40 µs per value, on the event loop, so the text
 * is measured before it is parsed. The file that the hub starts with has no limit.
 */
const textLimits = {
  bytes: 256_000,
  lines: 5_000,
  /** Commas, and opening brackets and braces. */
  marks: 5_000,
  /** Nesting of brackets and braces. */
  depth: 100,
} as const

/** Describes the limit that the text exceeds; `undefined` if it exceeds none. Counts characters in strings and comments too. */
export function exceededTextLimit(text: string): string | undefined {
  if (Buffer.byteLength(text) > textLimits.bytes) return `${textLimits.bytes} bytes`
  let lines = 1
  let marks = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\n') lines++
    else if (char === ',') marks++
    else if (char === '[' || char === '{') {
      marks++
      if (++depth > textLimits.depth) return `${textLimits.depth} brackets in one another`
    } else if ((char === ']' || char === '}') && depth > 0) depth--
  }
  if (lines > textLimits.lines) return `${textLimits.lines} lines`
  return marks > textLimits.marks ? `${textLimits.marks} commas and brackets` : undefined
}
