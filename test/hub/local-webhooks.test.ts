/** A hub without a configuration file calls webhooks on its own machine, until a file is loaded. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { loadConfig } from '../../packages/hub/src/config/load-config.ts'
import { demoConfig } from '../../packages/hub/src/demo/index.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { newFolder } from './running-hub.ts'

describe('a hub without a configuration file', () => {
  it('calls webhooks on this machine until a file is loaded [B-129]', async (t) => {
    const cwd = await newFolder({ 'parley.yaml': 'agents: { echo: { kind: demo, agent: echo } }\n' })
    const load = (file?: string) => {
      const listen = { port: 0, grpcPort: false } as const
      const loaded = loadConfig({
        file,
        fallback: demoConfig,
        environment: {},
        overrides: { listen, store: { url: 'memory:' } },
        cwd,
        kinds: agentKinds,
      })
      assert.ok('config' in loaded, JSON.stringify(loaded))
      return loaded.config
    }
    const received = Promise.withResolvers<void>()
    const receiver = createServer((request, response) => {
      request.resume()
      response.writeHead(204).end()
      received.resolve()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    t.after(() => receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const quiet = (): void => {}
    const hub = await startHub(load(), { log: { debug: quiet, info: quiet, warn: quiet, error: quiet } })
    t.after(() => hub.close())
    const agent = await connect(`${hub.url}/a2a/echo`)

    await agent.send('hi', { push: { url } })
    await received.promise
    await hub.reload(load(join(cwd, 'parley.yaml')))
    await assert.rejects(agent.send('hi', { push: { url } }), { code: 'INVALID_PARAMS', message: /push\.allow/ })
    await hub.reload(load())
    await agent.send('hi', { push: { url } })
  })
})
