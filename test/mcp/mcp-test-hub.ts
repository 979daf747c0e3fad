/** A hub that runs as a program, with agents for every behaviour, and callers with and without a key. */
import { join } from 'node:path'
import { newFolder, startHub } from '../hub/running-hub.ts'
import type { RunningHub } from '../hub/running-hub.ts'

const scripted = join(import.meta.dirname, 'scripted-agent.ts')
const adminKey = 'the admin of this test'

export interface McpTestHub {
  readonly hub: RunningHub
  readonly folder: string
  readonly url: string
  readonly mcp: string
  admin(method: string, path: string, body?: object): Promise<any>
  /** A new key, as a header. */
  key(...scopes: string[]): Promise<{ readonly authorization: string }>
}

/** `more` is added to the file, and `agents` to its agents. */
export async function openMcpTestHub(more: object = {}, agents: object = {}): Promise<McpTestHub> {
  const skill = (id: string) => ({ id, name: id, description: `It can ${id}`, tags: [`tag-${id}`] })
  const tree = {
    admin: { key: adminKey },
    limits: { perKey: '100000/min', perAddress: '100000/min' },
    agents: {
      scripted: {
        kind: 'module',
        path: scripted,
        name: 'Scripted',
        description: 'Does what the message says',
        skills: [skill('act'), skill('sing')],
        default: true,
      },
      other: { kind: 'module', path: scripted, description: 'Another agent', skills: [skill('knit')] },
      clock: { kind: 'demo', agent: 'clock' },
      ...agents,
    },
    ...more,
  }
  const folder = await newFolder({ 'parley.json': JSON.stringify(tree) })
  const hub = await startHub(folder, [], { GRPC_PORT: '' })
  const { url } = hub
  const admin: McpTestHub['admin'] = async (method, path, body) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await fetch(`${url}${path}`, { method, headers, ...sent })).json()
  }
  return {
    hub,
    folder,
    url,
    mcp: `${url}/mcp`,
    admin,
    async key(...scopes) {
      const { key } = await admin('POST', '/admin/keys', { name: 'test', scopes })
      return { authorization: `Bearer ${key}` }
    },
  }
}
