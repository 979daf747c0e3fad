import { createMcpHandler } from '@modelcontextprotocol/server'
import { testAgent } from '@parley/a2a/testing'
import { mcpKind } from '../../packages/hub/src/agents/mcp/index.ts'
import { testParts } from '../../packages/hub/src/agents/testing/kind-parts.ts'
import { scriptedServer } from './mcp-script.ts'
const handler = createMcpHandler(() => scriptedServer({ tell: console.log, gate: async () => {}, die() {} }))
const parts = testParts({ fetch: (async (u: any, i: any) => { console.log('->', i.method, String(i.body).slice(0, 300)); const r = await handler.fetch(new Request(u, i)); console.log('<-', r.status, r.headers.get('content-type')); return r }) as never })
const one = await mcpKind.open(mcpKind.schema.parse({ url: 'http://x.test/mcp' }), parts)
const agent = testAgent(one.agent, { server: { log: parts.log } })
for (let i = 0; i < 2; i++) {
const p = agent.send('book()', {returnImmediately: true} as any) as any; const t = await p; console.log(t.status); await new Promise((r) => setTimeout(r, 500)); const r = await agent.get(t.id)
console.log(JSON.stringify(r))
}
console.log(parts.lines)
process.exit()
