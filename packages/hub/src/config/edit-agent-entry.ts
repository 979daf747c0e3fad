/** Edits the entry of one agent in the text of a configuration. */
import { isMap, type YAMLMap } from 'yaml'
import { ConfigError } from '@parley/a2a/server'
import { parseYaml } from './config-document.ts'

export type AgentEntry = Readonly<Record<string, unknown>>

/**
 * Sets or, with `undefined`, removes an agent in the text of a configuration, and leaves everything else unchanged, comments
 * included. JSON stays JSON. Throws ConfigError for a text that cannot be edited.
 */
export function setAgentEntry(text: string, name: string, entry: AgentEntry | undefined, isJson: boolean): string {
  if (isJson) return setJsonAgentEntry(text, name, entry)
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
    const node = document.createNode(entry)
    // Keeps the style of the entry, or uses that of its neighbours.
    if (isMap(node) && agents !== undefined && styleModel(agents, name)?.flow === true) node.flow = true
    document.setIn(['agents', name], node)
  }
  return document.toString({ lineWidth: 0 })
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
