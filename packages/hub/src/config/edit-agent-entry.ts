/** Adds an agent to the text of a configuration or removes it, and leaves everything else unchanged, comments included. */
import { isMap, parseDocument } from 'yaml'
import type { YAMLMap } from 'yaml'
import { ConfigError } from '@parley/a2a/server'

export type AgentEntry = Readonly<Record<string, unknown>>

/** `undefined` removes the entry. JSON stays JSON. Throws ConfigError for a text that cannot be edited. */
export function setAgentEntry(text: string, name: string, entry: AgentEntry | undefined, isJson: boolean): string {
  if (isJson) return setJsonAgentEntry(text, name, entry)
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false })
  if (document.errors.length > 0) throw new ConfigError('', 'the file is not valid YAML')
  if (document.contents === null) document.set('agents', document.createNode({}))
  const agents = document.get('agents')
  if (agents !== undefined && agents !== null && !isMap(agents)) {
    throw new ConfigError('agents', 'must be a mapping of names to entries')
  }
  if (entry === undefined) document.deleteIn(['agents', name])
  else {
    const node = document.createNode(entry)
    // Keeps the style of the entry, or uses that of its neighbours.
    if (isMap(node) && isMap(agents) && styleModel(agents, name)?.flow === true) node.flow = true
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
