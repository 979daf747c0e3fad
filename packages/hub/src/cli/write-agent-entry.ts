/** Adds an agent to a configuration file and leaves everything else in it unchanged, comments included. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMap, isScalar, parseDocument, type Document, type YAMLMap } from 'yaml'
import { CliError } from './command.ts'

export interface NewAgentEntry {
  readonly kind: string
  readonly entry: Readonly<Record<string, unknown>>
}

/** Returns the text of the file with the entry added. */
export function insertAgentEntry(text: string, name: string, { kind, entry }: NewAgentEntry): string {
  const document: Document = parseDocument(text)
  if (document.errors.length > 0) throw new CliError('The configuration is not valid YAML: see `parley config check`.')
  if (document.contents === null) document.contents = document.createNode({})
  if (!isMap(document.contents)) throw new CliError('The configuration is not a mapping: see `parley config check`.')
  const agents = agentsIn(document)
  if (agents.has(name)) throw new CliError(`The agent ${name} already exists: choose another name with --name.`)
  const node = document.createNode({ kind, ...entry })
  // In the style of its neighbours.
  const first = agents.items[0]?.value
  if (isMap(first) && first.flow === true) node.flow = true
  agents.set(name, node)
  return document.toString({ lineWidth: 0 })
}

function agentsIn(document: Document): YAMLMap {
  const found = document.get('agents')
  if (isMap(found)) return found
  if (found !== undefined && found !== null) throw new CliError('`agents` is not a mapping of names to entries.')
  const made = document.createNode({}) as YAMLMap
  document.set('agents', made)
  return made
}

/** The agent names in use. Empty for a file that does not exist or cannot be parsed: writing to it reports the error. */
export function agentNamesIn(file: string): readonly string[] {
  if (!existsSync(file)) return []
  // JSON is YAML, too.
  const agents = parseDocument(readFileSync(file, 'utf8')).get('agents')
  return isMap(agents) ? agents.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
}

/** JSON stays JSON. */
export function writeAgentEntry(file: string, name: string, entry: NewAgentEntry): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = file.endsWith('.json')
    ? insertJsonAgentEntry(before, name, entry)
    : insertAgentEntry(before, name, entry)
  // Atomically: a hub that watches the file must not read half of it.
  const temporaryFile = `${file}.new`
  writeFileSync(temporaryFile, after)
  renameSync(temporaryFile, file)
}

function insertJsonAgentEntry(text: string, name: string, { kind, entry }: NewAgentEntry): string {
  const tree = (text.trim() === '' ? {} : JSON.parse(text)) as { agents?: Record<string, unknown> }
  if (tree.agents?.[name] !== undefined) {
    throw new CliError(`The agent ${name} already exists: choose another name with --name.`)
  }
  return `${JSON.stringify({ ...tree, agents: { ...tree.agents, [name]: { kind, ...entry } } }, null, 2)}\n`
}
