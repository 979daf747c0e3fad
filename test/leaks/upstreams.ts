/**
 * The upstreams of the hub's agents, in a separate process: fakes record all requests, which must not be
 * measured. Prints their addresses, and exits when its input ends.
 */
import { createMcpHandler } from '@modelcontextprotocol/server'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { toolResultsIn } from '../agents/loop-fixture.ts'
import { openFakeGateway } from '../agents/openclaw-gateway/gateway.ts'
import { serveFetchHandler } from '../agents/mcp-http.ts'
import { createScriptedMcpServer } from '../agents/scripted-mcp-server.ts'

export interface Upstreams {
  /** Of the chat completions API. With tools it calls the first one, and answers with its result. */
  readonly model: string
  readonly gateway: { readonly url: string; readonly token: string }
  readonly mcp: string
  readonly remote: string
}

const model = await scriptedModel(({ body, said }) => {
  const [tool] = body.tools ?? []
  const results = toolResultsIn(body)
  if (tool === undefined || results.length > 0)
    return { say: ['You said: ', ...(results.length > 0 ? results : [said])] }
  return { calls: [{ name: tool.function.name, input: { message: said, text: said } }] }
})
const gateway = await openFakeGateway()
const handler = createMcpHandler(() =>
  createScriptedMcpServer({ report() {}, crash() {}, waitForRelease: async () => {} }),
)
const mcp = await serveFetchHandler((request) => handler.fetch(request))
const remote = await serve({
  port: 0,
  grpcPort: 0,
  store: memoryStore(),
  log: { debug() {}, info() {}, warn() {}, error() {} },
  limits: { tasksPerCaller: Infinity },
  agent: async function* ({ text }) {
    yield 'You said: '
    yield text
  },
})

const found: Upstreams = {
  model: model.url,
  gateway: { url: gateway.url, token: gateway.token },
  mcp: mcp.url,
  remote: remote.url,
}
process.stdout.write(`${JSON.stringify(found)}\n`)
process.stdin.resume().once('end', () => process.exit(0))
