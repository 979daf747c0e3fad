/** Edits the entry of one agent in the text of a configuration, and converts an entry between tree and text. */
import { isDeepStrictEqual } from 'node:util'
import { Document, isMap, isScalar, type Node, type YAMLMap } from 'yaml'
import { ConfigError } from '@parley/a2a/server'
import { attempt } from '../json/attempt.ts'
import { parseYaml, toTree } from './config-document.ts'

export type AgentEntry = Readonly<Record<string, unknown>>

/**
 * Sets or, with `undefined`, removes an agent in the text of a configuration, and leaves everything else unchanged, comments
 * included. An entry may be a tree, or a text whose comments are kept. JSON stays JSON. Throws ConfigError for a text that cannot
 * be edited, and for a change that would change other parts of the file, too: those that use an anchor of the entry.
 */
export function setAgentEntry(
  text: string,
  name: string,
  entry: AgentEntry | string | undefined,
  isJson: boolean,
): string {
  if (isJson) return setJsonAgentEntry(text, name, typeof entry === 'string' ? parseEntry(entry) : entry)
  const before = treeWithout(text, name)
  if (before === undefined) throw new ConfigError('', 'the file is not valid YAML')
  // The library throws for an alias whose anchor was removed.
  const edited = orUndefinedIfUnresolved(() => setYamlAgentEntry(text, name, entry))
  if (edited !== undefined && parseYaml(edited).errors.some(({ message }) => !/unresolved alias/i.test(message))) {
    throw new ConfigError('', 'the file would not be valid YAML with this entry')
  }
  if (edited === undefined || !isDeepStrictEqual(treeWithout(edited, name), before)) {
    throw new ConfigError('', `other parts of the file refer to agents.${name} or its anchors: edit the whole file`)
  }
  return edited
}

/** The agent names in use. Empty for a text that cannot be parsed: writing to it reports the error. JSON is YAML, too. */
export function agentNamesIn(text: string): readonly string[] {
  const agents = parseYaml(text).get('agents')
  return isMap(agents) ? agents.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
}

/** The configuration without this agent; `undefined` if it cannot be parsed. */
function treeWithout(text: string, name: string): { readonly tree: unknown } | undefined {
  const document = parseYaml(text, { merge: true })
  const parsed = document.errors.length > 0 ? {} : toTree(document)
  if (!('tree' in parsed)) return undefined
  const tree = parsed.tree ?? {}
  if (!isTree(tree)) return { tree }
  const { agents, ...rest } = tree
  if (!isTree(agents)) return { tree: agents === undefined || agents === null ? rest : tree }
  const { [name]: _, ...others } = agents
  return { tree: Object.keys(others).length === 0 ? rest : { ...rest, agents: others } }
}

function orUndefinedIfUnresolved<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (reason) {
    const isUnresolved = reason instanceof Error && /unresolved alias|alias anchor/i.test(reason.message)
    if (reason instanceof ConfigError || !isUnresolved) throw reason
    return undefined
  }
}

function setYamlAgentEntry(text: string, name: string, entry: AgentEntry | string | undefined): string {
  const document = parseYaml(text)
  if (document.errors.length > 0) throw new ConfigError('', 'the file is not valid YAML')
  if (document.contents !== null && !isMap(document.contents)) throw new ConfigError('', 'the file is not a mapping')
  const agents = document.get('agents') ?? undefined
  if (agents !== undefined && !isMap(agents)) {
    throw new ConfigError('agents', 'must be a mapping of names to entries')
  }
  if (entry === undefined) agents?.delete(name)
  else {
    if (agents === undefined) document.set('agents', document.createNode({}))
    const known = agents?.get(name)
    const block = blockEntry(text, document, name)
    if (block !== undefined) {
      const own = typeof entry === 'string' ? entry : mergeEntryText(block.text, entry, false)
      entryNode(own)
      return text.slice(0, block.start) + indented(own, block.indent) + text.slice(block.end)
    }
    if (typeof entry !== 'string' && isMap(known)) mergeEntry(document, known, entry)
    else {
      const node = typeof entry === 'string' ? entryNode(entry) : document.createNode(entry)
      // Keeps the style of the entry, or uses that of its neighbours.
      if (isMap(node) && agents !== undefined) setFlow(node, styleModel(agents, name)?.flow === true)
      // The comment behind a mapping in flow style is not part of its text.
      if (isMap(known) && known.flow === true) node.comment ??= known.comment ?? null
      document.setIn(['agents', name], node)
    }
  }
  return document.toString({ lineWidth: 0 })
}

/** The entry of an agent as text in block style, with its comments; `undefined` if there is none. */
export function agentEntryText(text: string, name: string, isJson: boolean): string | undefined {
  const document = parseYaml(text)
  const node = document.getIn(['agents', name], true) as Node | undefined
  const tree = (attempt((): unknown => document.toJS()) as { agents?: Record<string, unknown> } | undefined)?.agents?.[
    name
  ]
  if (node === undefined || tree === undefined || tree === null) return undefined
  if (isJson) return `${JSON.stringify(tree, null, 2)}\n`
  const block = blockEntry(text, document, name)
  if (block !== undefined) return block.text
  if (isMap(node) && node.flow === true) Object.assign(node, { flow: false, comment: undefined })
  const own = new Document(node)
  // An alias refers to a part of the file that this text does not have; then the expanded values are shown.
  return attempt(() => own.toString({ lineWidth: 0 })) ?? new Document(tree).toString({ lineWidth: 0 })
}

/**
 * The text with these values, and with the comments of the values that stay. Text that is not a mapping is replaced. Throws
 * ConfigError if an alias in the text cannot be resolved.
 */
export function mergeEntryText(text: string, entry: AgentEntry, isJson: boolean): string {
  if (isJson) return `${JSON.stringify(entry, null, 2)}\n`
  const document = parseYaml(text)
  const { contents } = document
  const plain = (): string => new Document(entry).toString({ lineWidth: 0 })
  if (document.errors.length > 0 || !isMap(contents)) return plain()
  requireTree(document)
  const merged = attempt(() => {
    mergeEntry(document, contents, entry)
    return document.toString({ lineWidth: 0 })
  })
  // A changed value may have an anchor that others use, and a removed one may come from a merge key.
  return merged !== undefined && hasValues(merged, entry) ? merged : plain()
}

function hasValues(text: string, entry: AgentEntry): boolean {
  const parsed = toTree(parseYaml(text, { merge: true }))
  return 'tree' in parsed && isDeepStrictEqual(parsed.tree, JSON.parse(JSON.stringify(entry)))
}

/** Throws ConfigError if an alias has no anchor in this text, or there are too many. */
function requireTree(document: ReturnType<typeof parseYaml>): unknown {
  const parsed = toTree(document)
  if ('tree' in parsed) return parsed.tree
  throw new ConfigError('', `the entry is not valid YAML: ${parsed.why}`)
}

interface BlockEntry {
  /** Without its indentation. */
  readonly text: string
  /** The position after the colon of its name. */
  readonly start: number
  readonly end: number
  readonly indent: number
}

/**
 * An entry in block style as it is written, so that it can be replaced without writing the rest of the file anew: the library
 * breaks long lines elsewhere. `undefined` for one in flow style, and for one that refers to other parts of the file.
 */
function blockEntry(text: string, document: ReturnType<typeof parseYaml>, name: string): BlockEntry | undefined {
  const agents: unknown = document.get('agents')
  const pair = isMap(agents) ? agents.items.find(({ key }) => isScalar(key) && key.value === name) : undefined
  const { key, value } = pair ?? {}
  if (!isScalar(key) || !isMap(value) || value.flow === true || !key.range || !value.range) return undefined
  const start = text.indexOf(':', key.range[1]) + 1
  const [from, , nodeEnd] = value.range
  const indent = from - (text.lastIndexOf('\n', from - 1) + 1)
  const end = endOfBlock(text, from, nodeEnd, indent)
  const own = text
    .slice(start, end)
    .split('\n')
    .map((line, index) => (index === 0 ? line.trim() : /^ *$/.test(line.slice(0, indent)) ? line.slice(indent) : line))
  const written = own[0] === '' ? own.slice(1) : own
  const plain = `${written.join('\n').trimEnd()}\n`
  const parsed = parseYaml(plain)
  const isWhole = indent > 0 && parsed.errors.length === 0 && 'tree' in toTree(parsed)
  return isWhole ? { text: plain, start, end, indent } : undefined
}

/**
 * The node of an entry that ends with a comment also has the comments of the next one, and the indentation of its name. Neither is
 * part of the entry.
 */
function endOfBlock(text: string, from: number, nodeEnd: number, indent: number): number {
  let end = /\S/.test(text.slice(text.lastIndexOf('\n', nodeEnd - 1) + 1, nodeEnd))
    ? nodeEnd
    : text.lastIndexOf('\n', nodeEnd - 1) + 1
  for (;;) {
    const start = text.lastIndexOf('\n', end - 2) + 1
    const line = text.slice(start, end)
    const isForeign = line.trim() === '' || (/^ *#/.test(line) && line.indexOf('#') < indent)
    if (start <= from || !isForeign) return end
    end = start
  }
}

function indented(text: string, indent: number): string {
  const lines = text.trimEnd().split('\n')
  return `\n${lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line)).join('\n')}\n`
}

function parseEntry(text: string): AgentEntry {
  const document = parseYaml(text, { merge: true })
  if (document.errors.length > 0) throw new ConfigError('', 'the entry is not valid YAML')
  const tree = requireTree(document)
  if (isTree(tree)) return tree
  throw new ConfigError('', 'an entry must be a mapping')
}

function entryNode(text: string): YAMLMap {
  const document = parseYaml(text)
  const { contents, commentBefore, errors } = document
  if (errors.length > 0) throw new ConfigError('', 'the entry is not valid YAML')
  if (!isMap(contents)) throw new ConfigError('', 'an entry must be a mapping')
  requireTree(document)
  // A comment with an empty line below it belongs to the document.
  if (commentBefore !== null) {
    contents.commentBefore = [commentBefore, contents.commentBefore ?? []].flat().join('\n')
  }
  return contents
}

/** A mapping with comments stays in block style. */
function setFlow(node: YAMLMap, isFlow: boolean): void {
  if (isFlow && !/(^|\s)#/m.test(new Document(node).toString())) node.flow = true
}

/** Changes, adds and removes keys; what is equal keeps its comments and its style. */
function mergeEntry(document: ReturnType<typeof parseYaml>, node: YAMLMap, entry: AgentEntry): void {
  const keyOf = (key: unknown): string => String(isScalar(key) ? key.value : key)
  for (const key of node.items.map((pair) => keyOf(pair.key))) {
    if (!Object.hasOwn(entry, key) && key !== '<<') node.delete(key)
  }
  for (const [key, value] of Object.entries(entry)) {
    const known = node.get(key, true)
    if (known !== undefined && isEqual(known.toJS(document), value)) continue
    const before: unknown = known
    if (isMap(before) && isTree(value)) mergeEntry(document, before, value)
    else if (isScalar(before) && (typeof value !== 'object' || value === null)) before.value = value
    else node.set(key, document.createNode(value))
  }
}

function isTree(value: unknown): value is AgentEntry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function styleModel(agents: YAMLMap, name: string): YAMLMap | undefined {
  const model = agents.get(name) ?? agents.items[0]?.value
  return isMap(model) ? model : undefined
}

function setJsonAgentEntry(text: string, name: string, entry: AgentEntry | undefined): string {
  const tree = (text.trim() === '' ? {} : JSON.parse(text)) as { agents?: Record<string, unknown> }
  const { [name]: _, ...others } = tree.agents ?? {}
  const agents = entry === undefined ? others : { ...tree.agents, [name]: entry }
  return `${JSON.stringify({ ...tree, agents }, null, 2)}\n`
}
