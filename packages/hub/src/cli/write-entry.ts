/** Adds an agent to a configuration file and leaves everything else in it as it is, comments too. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isMap, isScalar, parseDocument } from 'yaml'
import type { Document, YAMLMap } from 'yaml'
import { Complaint } from './command.ts'

export interface NewEntry {
  readonly kind: string
  readonly entry: Readonly<Record<string, unknown>>
}

/** Answers the text of the file with the entry in it. */
export function withEntry(text: string, name: string, { kind, entry }: NewEntry): string {
  const document: Document = parseDocument(text)
  if (document.errors.length > 0) throw new Complaint('The configuration is no YAML: see `parley config check`.')
  if (document.contents === null) document.contents = document.createNode({})
  if (!isMap(document.contents))
    throw new Complaint('The configuration is no list of settings: see `parley config check`.')
  const agents = agentsIn(document)
  if (agents.has(name)) throw new Complaint(`There is an agent ${name} already: choose another name with --name.`)
  const node = document.createNode({ kind, ...entry })
  // As its neighbours are written.
  const first = agents.items[0]?.value
  if (isMap(first) && first.flow === true) node.flow = true
  agents.set(name, node)
  return document.toString({ lineWidth: 0 })
}

function agentsIn(document: Document): YAMLMap {
  const found = document.get('agents')
  if (isMap(found)) return found
  if (found !== undefined && found !== null) throw new Complaint('`agents` is no list of settings by name.')
  const made = document.createNode({}) as YAMLMap
  document.set('agents', made)
  return made
}

/** The names that are taken. None of a file that is not there, or that cannot be read: whoever writes to it is told. */
export function namesIn(file: string): readonly string[] {
  if (!existsSync(file)) return []
  // JSON is YAML, too.
  const agents = parseDocument(readFileSync(file, 'utf8')).get('agents')
  return isMap(agents) ? agents.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : []
}

/** JSON stays JSON. */
export function addEntry(file: string, name: string, entry: NewEntry): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const after = file.endsWith('.json') ? withJsonEntry(before, name, entry) : withEntry(before, name, entry)
  // In one step: a hub that watches the file must not see half of it.
  const half = `${file}.new`
  writeFileSync(half, after)
  renameSync(half, file)
}

function withJsonEntry(text: string, name: string, { kind, entry }: NewEntry): string {
  const tree = (text.trim() === '' ? {} : JSON.parse(text)) as { agents?: Record<string, unknown> }
  if (tree.agents?.[name] !== undefined) {
    throw new Complaint(`There is an agent ${name} already: choose another name with --name.`)
  }
  return `${JSON.stringify({ ...tree, agents: { ...tree.agents, [name]: { kind, ...entry } } }, null, 2)}\n`
}
