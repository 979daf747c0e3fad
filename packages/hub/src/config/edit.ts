/** Puts an agent into the text of a configuration or takes it out, and leaves everything else as it is, comments too. */
import { isMap, parseDocument } from 'yaml'
import type { YAMLMap } from 'yaml'
import { ConfigError } from '@parley/a2a/server'

export type Entry = Readonly<Record<string, unknown>>

/** With `undefined` it is taken out. JSON stays JSON. Throws ConfigError for a text that nothing can be put into. */
export function withAgent(text: string, name: string, entry: Entry | undefined, isJson: boolean): string {
  if (isJson) return withJsonAgent(text, name, entry)
  const document = parseDocument(text, { uniqueKeys: false })
  if (document.errors.length > 0) throw new ConfigError('', 'the file is no YAML')
  if (document.contents === null) document.set('agents', document.createNode({}))
  const agents = document.get('agents')
  if (agents !== undefined && agents !== null && !isMap(agents)) {
    throw new ConfigError('agents', 'is no list of settings by name')
  }
  if (entry === undefined) document.deleteIn(['agents', name])
  else {
    const node = document.createNode(entry)
    // As it was written, or as its neighbours are.
    if (isMap(node) && isMap(agents) && modelFor(agents, name)?.flow === true) node.flow = true
    document.setIn(['agents', name], node)
  }
  return document.toString({ lineWidth: 0 })
}

function modelFor(agents: YAMLMap, name: string): YAMLMap | undefined {
  const model = agents.get(name) ?? agents.items[0]?.value
  return isMap(model) ? model : undefined
}

function withJsonAgent(text: string, name: string, entry: Entry | undefined): string {
  const tree = (text.trim() === '' ? {} : JSON.parse(text)) as { agents?: Record<string, unknown> }
  const { [name]: _, ...others } = tree.agents ?? {}
  const agents = entry === undefined ? others : { ...tree.agents, [name]: entry }
  return `${JSON.stringify({ ...tree, agents }, null, 2)}\n`
}
