/** The services of a running hub for its agents: in-process client, key-value store, files, webhooks, and closing before the store. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { AgentLog, Turn } from '@parley/a2a'
import { z } from 'zod'
import type { AgentKind, AgentServices, OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { demoKind } from '../../packages/hub/src/demo/index.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import type { Hub, HubOptions } from '../../packages/hub/src/hub.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { call1_0, cardOf } from './raw-calls.ts'
import { newFolder } from './running-hub.ts'

const adminKey = 'the admin of this test'

interface Running extends Hub {
  admin(method: string, path: string, body?: object): Promise<any>
  key(...scopes: string[]): Promise<Record<string, string>>
}

async function run(
  t: TestContext,
  tree: object,
  open: (parts: AgentServices, word: string) => OpenAgent,
  more: Partial<HubOptions> & { readonly folder?: string } = {},
): Promise<Running> {
  const kind: AgentKind<{ word?: string | undefined }> = {
    kind: 'test',
    schema: z.strictObject({ word: z.string().optional() }),
    open: ({ word = '' }, parts) => open(parts, word),
  }
  const kinds = [kind, demoKind]
  const folder = more.folder ?? (await newFolder())
  const base = { listen: { port: 0, grpcPort: false }, admin: { key: adminKey } }
  const checked = checkConfig({ ...base, ...tree }, { kinds, baseDir: folder })
  assert.ok('config' in checked, JSON.stringify(checked))
  const quiet = (): void => {}
  const log: AgentLog = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const hub = await startHub(checked.config, { log, kinds, ...more })
  t.after(() => hub.close())
  const admin: Running['admin'] = async (method, path, body) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await fetch(`${hub.url}${path}`, { method, headers, ...sent })).json()
  }
  return {
    ...hub,
    admin,
    async key(...scopes) {
      const { key } = await admin('POST', '/admin/keys', { name: 'test', scopes })
      return { authorization: `Bearer ${key}` }
    },
  }
}

/** Calls the agent that the text names. */
async function passOn(parts: AgentServices, turn: Turn): Promise<string> {
  let text = ''
  for await (const event of parts.inProcessClient.stream({
    agent: turn.text,
    turn,
    message: { parts: [{ text: 'hi' }] },
  })) {
    if (!('artifactUpdate' in event)) continue
    text += event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
  }
  return `${turn.text} said ${text}`
}

describe('a repeated message to a hub', { timeout: 120_000 }, () => {
  const agents = { counter: { kind: 'test' } }
  const counting = (): OpenAgent => {
    let runs = 0
    return { agent: () => String((runs += 1)) }
  }
  const windowOn = (card: any): unknown =>
    card.capabilities.extensions.find(({ uri }: any) => uri.includes('/cursor/')).params.idempotencyWindowMs
  async function idsOf(hub: Hub, messageId: string, texts: readonly string[]): Promise<readonly string[]> {
    const ids: string[] = []
    for (const text of texts) {
      const message = { messageId, role: 'ROLE_USER', parts: [{ text }] }
      const response = await fetch(`${hub.url}/a2a/counter/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ message }),
      })
      ids.push(((await response.json()) as any).task.id)
    }
    return ids
  }

  it('is recognized within the window that its card declares, and any other message is new [B-163]', async (t) => {
    const hub = await run(t, { agents, idempotency: { window: '2h' } }, counting)
    assert.equal(windowOn(await cardOf(`${hub.url}/a2a/counter`)), 7_200_000)
    const [one, again, other] = await idsOf(hub, crypto.randomUUID(), ['a', 'a', 'b'])
    assert.deepEqual([again === one, other === one], [true, false])
    // Anonymous with a guessable id, like those of the conformance kit.
    assert.equal(new Set(await idsOf(hub, 'tck-1', ['a', 'a', 'b'])).size, 3)
  })

  it('is always new if the window is off, which the card declares [B-163]', async (t) => {
    const hub = await run(t, { agents, idempotency: { window: 'off' } }, counting)
    assert.equal(windowOn(await cardOf(`${hub.url}/a2a/counter`)), 0)
    assert.equal(new Set(await idsOf(hub, crypto.randomUUID(), ['a', 'a'])).size, 2)
  })

  it('is recognized for a day by default', async (t) => {
    const hub = await run(t, { agents }, counting)
    assert.equal(windowOn(await cardOf(`${hub.url}/a2a/counter`)), 86_400_000)
  })
})

describe('the services of the hub for its agents', { timeout: 120_000 }, () => {
  it('let one agent call another with the permissions of the caller [S4-21]', async (t) => {
    const agents = {
      front: { kind: 'test' },
      echo: { kind: 'demo', agent: 'echo' },
      safe: { kind: 'demo', agent: 'echo' },
    }
    const hub = await run(t, { agents, access: { anonymous: ['front', 'echo'] } }, (parts) => ({
      agent: (turn) => passOn(parts, turn),
    }))
    const front = `${hub.url}/a2a/front`
    assert.equal((await call1_0(front, 'echo')).text, 'echo said hi')
    assert.match((await call1_0(front, 'safe')).json.error.message, /Unknown agent safe/)
    assert.equal((await call1_0(front, 'safe', await hub.key('agent:front', 'agent:safe'))).text, 'safe said hi')
    assert.match((await call1_0(front, 'safe', await hub.key('agent:front'))).json.error.message, /Unknown agent safe/)
    assert.match((await call1_0(front, 'none')).json.error.message, /Unknown agent none/)
  })

  it('give each agent its own key-value store, all of one kind a shared one, and keep both over a restart', async (t) => {
    const folder = await newFolder()
    const agents = { a: { kind: 'test' }, b: { kind: 'test' } }
    const open = ({ kv, kindKv }: AgentServices): OpenAgent => ({
      async agent({ text }) {
        if (text !== '?') await kv.write('x', { key: 'k', value: text })
        if (text !== '?') await kindKv?.write('x', { key: 'k', value: text })
        return `${String((await kv.read('x', 'k'))?.value)} ${String((await kindKv?.read('x', 'k'))?.value)}`
      },
    })
    const first = await run(t, { agents }, open, { folder })
    assert.equal((await call1_0(`${first.url}/a2a/a`, 'one')).text, 'one one')
    assert.equal((await call1_0(`${first.url}/a2a/b`, '?')).text, 'undefined one')
    await first.close()
    const second = await run(t, { agents }, open, { folder })
    assert.equal((await call1_0(`${second.url}/a2a/a`, '?')).text, 'one one')
  })

  it('close agents when nothing runs on them, while the store still accepts their writes', async (t) => {
    const folder = await newFolder()
    const said: string[] = []
    const open = ({ kv }: AgentServices, word: string): OpenAgent => ({
      agent: async () => String((await kv.read('last', 'word'))?.value),
      async close() {
        await kv.write('last', { key: 'word', value: word })
        said.push('closed')
      },
    })
    const hub = await run(t, { agents: { a: { kind: 'test', word: 'bye' } } }, open, { folder })
    assert.equal((await call1_0(`${hub.url}/a2a/a`, 'x')).text, 'undefined')
    await hub.close()
    assert.deepEqual(said, ['closed'])
    const again = await run(t, { agents: { a: { kind: 'test' } } }, open, { folder })
    assert.equal((await call1_0(`${again.url}/a2a/a`, 'x')).text, 'bye')
  })

  it('fetch URLs of callers only from public addresses, and do not reveal why not [B-173]', async (t) => {
    const open = ({ readPart }: AgentServices): OpenAgent => ({
      async agent({ text, signal }) {
        const { bytes: got } = await readPart({ url: text }, signal)
        return Buffer.from(got).toString()
      },
    })
    const hub = await run(t, { agents: { a: { kind: 'test' } } }, open)
    assert.equal((await call1_0(`${hub.url}/a2a/a`, 'data:text/plain,inside')).text, 'inside')
    const refused = await call1_0(`${hub.url}/a2a/a`, `${hub.url}/healthz`)
    assert.equal(refused.json.error.code, -32602)
    assert.doesNotMatch(JSON.stringify(refused.json), /127\.0\.0\.1/)
  })

  it('pass webhooks to the agent, know the address of the hub, and list themselves', async (t) => {
    let lent: AgentServices | undefined
    const open = (parts: AgentServices): OpenAgent => {
      lent = parts
      return { agent: () => 'x', handleWebhook: async (request) => new Response(await request.text(), { status: 201 }) }
    }
    const entry = { kind: 'test', persona: 'Terse.', timeout: '1m' }
    const hub = await run(t, { agents: { a: entry }, access: {} }, open, { programEnv: { PATH: '/bin' } })
    const hooked = await fetch(`${hub.url}/a2a/a/hooks/any`, { method: 'POST', body: 'news' })
    assert.deepEqual([hooked.status, await hooked.text()], [201, 'news'])
    assert.deepEqual([lent?.publicUrl(), lent?.persona, lent?.turnTimeoutMs], [hub.url, 'Terse.', 60_000])
    assert.deepEqual(lent?.programEnv, { PATH: '/bin' })
  })

  it('report the health of each agent to the operator', async (t) => {
    const open = (_: AgentServices, word: string): OpenAgent => {
      if (word === 'broken') throw new Error('no such backend')
      return {
        agent: () => 'x',
        async health() {
          if (word === 'ill') throw new Error('the backend does not answer')
        },
      }
    }
    const agents = { ok: { kind: 'test' }, ill: { kind: 'test', word: 'ill' }, bad: { kind: 'test', word: 'broken' } }
    const hub = await run(t, { agents }, open)
    const { agents: listed } = await hub.admin('GET', '/admin/agents')
    assert.deepEqual(
      listed.map(({ name, kind, state, trouble, health }: any) => [
        name,
        kind,
        state,
        health.state,
        trouble ?? health.why,
      ]),
      [
        ['ok', 'test', 'open', 'up', undefined],
        ['ill', 'test', 'open', 'down', 'its health check failed: the backend does not answer'],
        ['bad', 'test', 'unavailable', 'down', 'no such backend'],
      ],
    )
    assert.equal(listed[0].url, `${hub.url}/a2a/ok`)
  })

  it('apply the limits of an agent, also when its card changes', async (t) => {
    const gates = new Map<string, PromiseWithResolvers<void>>()
    const begun: string[] = []
    let skills = 1
    const open = (): OpenAgent => ({
      async agent({ text }) {
        begun.push(text)
        const gate = Promise.withResolvers<void>()
        gates.set(text, gate)
        await gate.promise
        return text
      },
      fetchCard: async () => ({
        skills: Array.from({ length: (skills += 1) }, (_, n) => ({
          id: `s${n}`,
          name: `s${n}`,
          description: 's',
          tags: ['t'],
        })),
      }),
    })
    const hub = await run(t, { agents: { a: { kind: 'test' } }, limits: { perAgent: { a: { concurrent: 1 } } } }, open)
    const first = call1_0(`${hub.url}/a2a/a`, 'one')
    await eventually(() => begun.length > 0)
    const second = call1_0(`${hub.url}/a2a/a`, 'two')
    assert.ok((await cardOf(`${hub.url}/a2a/a`)).skills.length >= 2)
    assert.deepEqual(begun, ['one'])
    gates.get('one')?.resolve()
    assert.equal((await first).text, 'one')
    await eventually(() => begun.length > 1)
    gates.get('two')?.resolve()
    assert.match((await second).text, /two/)
  })

  it('serve simple tasks at the default agent if configured [S0-4 S0-5 S0-17]', async (t) => {
    const open = (): OpenAgent => ({ agent: ({ text }) => `you said ${text}` })
    const send = (hub: Hub, text: string): Promise<Response> =>
      fetch(`${hub.url}/a2a/tasks/send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ message: text }),
      })
    const agents = { other: { kind: 'demo', agent: 'echo' }, main: { kind: 'test', default: true } }
    const hub = await run(t, { agents, profiles: { simpleTasks: true } }, open)
    const { id } = (await (await send(hub, 'hi')).json()) as { id: string }
    let task: { state: string; messages: unknown[] }
    do task = (await (await fetch(`${hub.url}/a2a/tasks/${id}`)).json()) as typeof task
    while (task.state !== 'completed')
    assert.match(JSON.stringify(task.messages), /you said hi/)
    const without = await run(t, { agents: { main: { kind: 'test' } }, profiles: { simpleTasks: true } }, open)
    assert.equal((await send(without, 'hi')).status, 404)
    const off = await run(t, { agents }, open)
    assert.notEqual((await send(off, 'hi')).status, 200)
  })

  it('never become public by a change of the configuration', async (t) => {
    const listen = { host: '0.0.0.0', port: 0, grpcPort: false }
    const agents = { a: { kind: 'demo', agent: 'echo' } }
    const hub = await run(t, { agents, listen, access: {} }, () => ({ agent: () => 'x' }))
    const checked = checkConfig({ agents, listen }, { kinds: [demoKind], baseDir: '/' })
    assert.ok('config' in checked)
    await assert.rejects(() => hub.reload(checked.config), /Configure `access`/)
    assert.equal((await call1_0(`http://127.0.0.1:${hub.port}/a2a/a`, 'hi')).status, 401)
  })
})
