/** Agents of an OpenClaw gateway, called through a hub: what is refused before a task opens, and what the task then is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { AgentLog, Part } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import type { AgentKind } from '../../packages/hub/src/agents/kind.ts'
import { openClawKind } from '../../packages/hub/src/agents/openclaw/index.ts'
import { openOpenClaw } from '../../packages/hub/src/agents/openclaw/open-agent.ts'
import type { OpenClawEntry } from '../../packages/hub/src/agents/openclaw/entry.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { demoKind } from '../../packages/hub/src/demo/index.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import type { GatewayFaults } from '../agents/openclaw-gateway/faults.ts'
import { openFakeGateway } from '../agents/openclaw-gateway/gateway.ts'
import { newFolder } from './running-hub.ts'

/** A restarted gateway that does not resume a run is given up after a third of a second. */
const openClaw: AgentKind<OpenClawEntry> = {
  ...openClawKind,
  open: (entry, services) => openOpenClaw(entry, services, { idleMs: 300, everyMs: 20 }),
}

interface BotOptions {
  readonly entry?: object
  readonly tree?: object
  readonly faults?: Partial<GatewayFaults>
  /** The gateway is down when the hub starts. */
  readonly isDown?: boolean
}

async function startBot(t: TestContext, { entry, tree, faults, isDown = false }: BotOptions = {}) {
  const gateway = await openFakeGateway()
  Object.assign(gateway.faults, faults)
  if (isDown) gateway.stop()
  const bot = { kind: 'openclaw', url: gateway.url, token: gateway.token, ...entry }
  const base = { listen: { port: 0, grpcPort: false }, admin: { key: 'the admin of this test' } }
  const kinds = [openClaw, demoKind]
  const options = { kinds, baseDir: await newFolder() }
  const checked = checkConfig({ ...base, ...tree, agents: { bot, helper: { kind: 'demo', agent: 'echo' } } }, options)
  assert.ok('config' in checked, JSON.stringify(checked))
  const quiet = (): void => {}
  const log: AgentLog = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const hub = await startHub(checked.config, { log, kinds })
  t.after(async () => {
    await hub.close()
    await gateway.close()
  })
  return { gateway, ...callsOf(`${hub.url}/a2a/bot`) }
}

interface Answer {
  readonly status: number
  /** The task, or `undefined`. */
  readonly task: any
  readonly error: any
  readonly answer: string
}

function callsOf(url: string) {
  const post = async (method: string, params: object, version = '1.0'): Promise<any> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'A2A-Version': version },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as any
    return { status: response.status, result, error }
  }
  const answered = ({ status, result, error }: any): Answer => {
    const task = result?.task ?? result
    const parts = (task?.artifacts ?? []).flatMap((artifact: any) => artifact.parts)
    return { status, task, error, answer: parts.map((part: any) => part.text).join('') }
  }
  return {
    url,
    send: async (parts: readonly Part[], messageId: string = crypto.randomUUID()) =>
      answered(await post('SendMessage', { message: { messageId, role: 'ROLE_USER', parts } })),
    /** As a client of 0.3. */
    send0_3: async (parts: readonly object[]) => {
      const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts }
      return answered(await post('message/send', { message }, '0.3'))
    },
    get: async (id: string) => answered(await post('GetTask', { id })),
    get0_3: async (id: string) => answered(await post('tasks/get', { id }, '0.3')),
    tasks: async (): Promise<readonly any[]> => (await post('ListTasks', {})).result.tasks,
  }
}

const text = (said: string): Part[] => [{ text: said }]
const text0_3 = (said: string) => ({ kind: 'text', text: said })
const png = (bytes: number): Part => ({ raw: Buffer.alloc(bytes).toString('base64'), mediaType: 'image/png' })

describe('a bot behind a gateway', () => {
  it('answers at its endpoint, with a file that the gateway gets, and keeps the task [S4-25]', async (t) => {
    const { gateway, send0_3, get0_3 } = await startBot(t)
    const file = { kind: 'file', file: { bytes: 'cGl4ZWxz', mimeType: 'image/png', name: 'a.png' } }
    const sent = await send0_3([text0_3('count to 3'), file])
    assert.deepEqual([sent.status, sent.task.status.state, sent.answer], [200, 'completed', '1 2 3'])
    const [run] = gateway.receivedRequests.filter(({ method }) => method === 'agent')
    assert.deepEqual(run?.params['attachments'], [
      { type: 'image', mimeType: 'image/png', fileName: 'a.png', content: 'cGl4ZWxz' },
    ])
    assert.equal((await get0_3(sent.task.id)).answer, '1 2 3')
  })

  it('streams its answer in chunks, and is stopped at the gateway by a cancel [S4-25]', async (t) => {
    const { gateway, url } = await startBot(t)
    const agent = await connect(url)
    const chunks: string[] = []
    for await (const chunk of agent.stream('count to 3').text()) chunks.push(chunk)
    assert.equal(chunks.join(''), '1 2 3')
    assert.ok(chunks.length > 1, JSON.stringify(chunks))
    const states: string[] = []
    const stream = agent.stream('work for ever')
    for await (const event of stream) {
      if ('statusUpdate' in event) states.push(event.statusUpdate.status.state)
      if ('artifactUpdate' in event) await agent.cancel(stream.taskId ?? '')
    }
    await gateway.responder.stopped()
    assert.equal(states.at(-1), 'TASK_STATE_CANCELED')
  })

  it('has codes for an unknown task, a part that it does not support, and a gateway that is down [S4-12 S4-25]', async (t) => {
    const { gateway, send0_3, get0_3, tasks } = await startBot(t)
    assert.equal((await get0_3('no-such-task')).error.code, -32001)
    const withData = await send0_3([text0_3('count to 3'), { kind: 'data', data: { a: 1 } }])
    assert.equal(withData.error.code, -32005)
    const before = (await tasks()).length
    gateway.stop()
    await eventually(async () => (await send0_3([text0_3('say hello')])).status === 503, 'the end to be noticed')
    const { error } = await send0_3([text0_3('say hello')])
    assert.deepEqual([error.code, error.message], [-32093, 'The OpenClaw gateway is unavailable now'])
    assert.equal(before, 0)
  })
})

describe('a message to a bot whose gateway is down', () => {
  for (const transport of ['auto', 'ws', 'split']) {
    it(`opens no task, and is answered once the gateway is back: ${transport} [S4-12]`, async (t) => {
      const { gateway, send, send0_3, tasks } = await startBot(t, { entry: { transport }, isDown: true })
      await eventually(async () => (await send(text('hi'))).status === 503, 'the first attempts to end')
      const opened = (await tasks()).length
      const [refused, older] = [await send(text('hi')), await send0_3([text0_3('hi')])]
      assert.deepEqual([refused.status, older.status], [503, 503])
      assert.deepEqual([refused.error.code, older.error.code], [-32093, -32093])
      assert.equal((await tasks()).length, opened)
      gateway.start()
      await eventually(async () => (await send(text('count to 2'))).answer === '1 2', 'the gateway to be back')
    })
  }

  it('is answered over HTTP, where that works', async (t) => {
    const { gateway, send } = await startBot(t, { faults: { noWebSocket: true } })
    for (let count = 1; count <= 2; count += 1) assert.equal((await send(text('count to 2'))).answer, '1 2')
    assert.equal(gateway.bodies.length, 2)
  })

  it('gets its task again if it is a repeat', async (t) => {
    const { gateway, send } = await startBot(t)
    const id = crypto.randomUUID()
    const first = await send(text('count to 2'), id)
    gateway.stop()
    await eventually(async () => (await send(text('hi'))).status === 503, 'the end to be noticed')
    assert.equal((await send(text('count to 2'), id)).task.id, first.task.id)
  })

  it('is answered by another agent if a route sends it there', async (t) => {
    const routes = [{ from: 'bot', to: 'helper', when: { text: ['help'] } }]
    const { send } = await startBot(t, { isDown: true, tree: { routes } })
    await eventually(async () => (await send(text('hi'))).status === 503, 'the first attempts to end')
    assert.equal((await send(text('help'))).task.status.state, 'TASK_STATE_COMPLETED')
  })

  it('has a failed task if the gateway dies during the call', async (t) => {
    const { gateway, send } = await startBot(t)
    const sent = send(text('take your time'))
    await gateway.responder.begun()
    gateway.stop()
    gateway.start({ takesUp: false })
    const { status, task } = await sent
    assert.deepEqual([status, task.status.state], [200, 'TASK_STATE_FAILED'])
  })
})

describe('a message to a bot that failed too often', () => {
  it('opens no task while the circuit breaker is open', async (t) => {
    // The endpoint is disabled, so every turn fails.
    const options = { entry: { transport: 'http' }, faults: { http: 'off' as const } }
    const { send, tasks } = await startBot(t, { ...options, tree: { health: { failures: 2 } } })
    for (let count = 1; count <= 2; count += 1) {
      assert.equal((await send(text('hi'))).task.status.state, 'TASK_STATE_FAILED')
    }
    const { status, error } = await send(text('hi'))
    assert.deepEqual([status, error.code], [503, -32093])
    assert.equal((await tasks()).length, 2)
  })
})

describe('a file for a bot', () => {
  it('opens no task if it is larger than the gateway declares, by itself or together with others [S4-10]', async (t) => {
    const { send, tasks } = await startBot(t, { faults: { imageBytes: 20_000, frameBytes: 100_000 } })
    const tooLarge = await send([...text('count to 2'), png(20_001)])
    assert.equal(tooLarge.status, 413)
    assert.equal(tooLarge.error.message, 'message.parts[1] is larger than 20000 bytes, the maximum')
    const together = await send([...text('count to 2'), png(20_000), png(20_000)])
    assert.equal(together.status, 413)
    assert.match(together.error.message, /^message\.parts\[2\] exceeds the size limit together/)
    assert.deepEqual(await tasks(), [])
    assert.equal((await send([...text('count to 2'), png(20_000)])).answer, '1 2')
  })

  it('opens no task if it is larger than 5 MB and the gateway declares nothing [S4-10]', async (t) => {
    const { send, tasks } = await startBot(t, { faults: { imageBytes: undefined, fileBytes: undefined } })
    assert.equal((await send([...text('count to 2'), png(5_000_001)])).status, 413)
    assert.deepEqual(await tasks(), [])
    assert.equal((await send([...text('count to 2'), png(5_000_000)])).answer, '1 2')
  })
})
