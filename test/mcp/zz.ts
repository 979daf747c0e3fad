import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as T1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { mkdtempSync } from 'node:fs'
import { startHub } from '../../packages/hub/src/hub.ts'
import { loadConfig } from '../../packages/hub/src/config/load.ts'
import { demoConfig } from '../../packages/hub/src/demo/index.ts'
import { kinds } from '../../packages/hub/src/agents/kinds.ts'
const cwd = mkdtempSync('/tmp/mcp-bridge/h-')
const loaded = loadConfig({ file: undefined, otherwise: demoConfig, environment: {}, overrides: { listen: { port: 0, grpcPort: false } } as any, dataDir: undefined, cwd, kinds }) as any
const line = (m: string, f: any) => console.log('LOG', m, f)
const hub = await startHub(loaded.config, { log: { debug: line, info: line, warn: line, error: line } })
console.log(hub.url)
for (const era of ['legacy', 'modern'] as const) {
  console.log('=====', era)
  let c: any
  const url = new URL(hub.url + '/mcp')
  if (era === 'legacy') {
    c = new Client1({ name: 't', version: '1' }, { capabilities: { elicitation: {} } })
    c.setRequestHandler(ElicitRequestSchema, async (r: any) => { console.log('ELICIT', JSON.stringify(r.params)); return { action: 'accept', content: { answer: 'Rome, two' } } })
    await c.connect(new T1(url) as any)
  } else {
    c = new Client({ name: 't', version: '1' }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } } as any)
    c.setRequestHandler('elicitation/create', async (r: any) => { console.log('ELICIT', JSON.stringify(r.params)); return { action: 'accept', content: { answer: 'Rome, two' } } })
    await c.connect(new StreamableHTTPClientTransport(url) as any)
  }
  console.log(c.getServerVersion(), c.getServerCapabilities(), c.getNegotiatedProtocolVersion?.())
  const { tools } = await c.listTools()
  console.log(tools.map((t: any) => t.name))
  if (era === 'legacy') console.log(JSON.stringify(tools.find((t: any) => t.name === 'send_message'), null, 1))
  const call = async (name: string, args: any, opts?: any) => { const r = era === 'legacy' ? await c.callTool({ name, arguments: args }, undefined, opts) : await c.callTool({ name, arguments: args }, opts); console.log(name, JSON.stringify(r).slice(0, 1500)); return r }
  await call('list_agents', {})
  await call('discover_agent', { agent: 'echo' })
  await call('send_message', { agent: 'echo', message: 'hi' })
  await call('send_message', { agent: 'nope', message: 'hi' })
  await call('send_message', { agent: 'echo' })
  await call('send_message', { agent: 'concierge', message: 'A table' })
  await call('send_message', { agent: 'clock', message: '2' }, { onprogress: (p: any) => console.log('PROGRESS', p) })
  const r = await call('send_message', { agent: 'clock', message: '60', waitSeconds: 0 })
  await call('get_task', { agent: 'clock', taskId: r.structuredContent.taskId, waitSeconds: 1 })
  await call('cancel_task', { agent: 'clock', taskId: r.structuredContent.taskId })
  await call('invoke_remote_agent', { url: hub.url + '/a2a/echo', message: 'x' })
  await c.close()
}
await hub.close()
