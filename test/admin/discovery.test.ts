/** The catalog as each caller sees it, and remote agents whose card differs from the approved one. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openFakeRemote } from '../a2a-proxy/fake-remote.ts'
import { openTokenIssuer, openTestHub, type AuthHeaders, type TestHub } from './test-hub.ts'

const issuer = await openTokenIssuer()
const skills = [
  { id: 'say', name: 'Say', description: 'Repeats your text', tags: ['demo', 'talk'] },
  { id: 'sing', name: 'Sing', description: 'Sings what you say', tags: ['music'] },
]
const testHub = await openTestHub({
  config: {
    access: { anonymous: ['echo'], jwt: [{ ...issuer.entry, scopes: { team: ['agent:talker'] } }] },
    agents: {
      talker: { kind: 'module', path: './talker.ts', default: true, description: 'Talks to people', skills },
      secret: { kind: 'demo', agent: 'clock', card: 'private' },
      echo: { kind: 'demo', agent: 'echo' },
    },
  },
})
const { ask, key, url } = testHub
const extension = 'https://parley.dev/extensions/catalog/v1'

const catalog = async (proof: AuthHeaders = {}, query = ''): Promise<any> => {
  const { status, json } = await ask('GET', `/.well-known/ai-catalog.json${query}`, undefined, proof)
  assert.equal(status, 200, JSON.stringify(json))
  return json
}
const named = (document: any): string[] => document.entries.map((entry: any) => entry.extensions[extension].agent)

describe('the catalog', () => {
  it('is an AI Catalog with the card address of each agent, under a stable name', async () => {
    const response = await fetch(`${url}/.well-known/ai-catalog.json`)
    assert.equal(response.headers.get('content-type'), 'application/ai-catalog+json')
    const document = (await response.json()) as any
    assert.equal(document.specVersion, '1.0')
    assert.equal(typeof document.host.displayName, 'string')
    const [entry] = document.entries
    assert.deepEqual(
      [entry.identifier, entry.type, entry.url, entry.tags],
      [
        'urn:air:127.0.0.1:a2a:echo',
        'application/a2a-agent-card+json',
        `${url}/a2a/echo/.well-known/agent-card.json`,
        ['demo'],
      ],
    )
    assert.equal((await fetch(entry.url)).status, 200)
    assert.equal((await fetch(`${url}/.well-known/ai-catalog.json`, { method: 'HEAD' })).status, 200)
  })

  it('has the agents that its caller may use', async () => {
    assert.deepEqual(named(await catalog()), ['echo'])
    assert.deepEqual(named(await catalog(await key({ agents: ['secret'] }))), ['secret', 'echo'])
    assert.deepEqual(named(await catalog(await key({ scopes: ['agent:*'] }))), ['talker', 'secret', 'echo'])
    assert.deepEqual(named(await catalog(await issuer.token({ groups: ['team'] }))), ['talker', 'echo'])
    const { status } = await ask('GET', '/.well-known/ai-catalog.json', undefined, { authorization: 'Bearer nonsense' })
    assert.equal(status, 401)
    const { headers } = await ask('GET', '/.well-known/ai-catalog.json', undefined, {})
    assert.match(headers.get('vary') ?? '', /Authorization/)
    assert.match(headers.get('cache-control') ?? '', /^private/)
  })

  it('has the skills that its caller may use, and no other tags', async () => {
    const singer = await key({ scopes: ['skill:talker/sing'] })
    const [entry] = (await catalog(singer)).entries
    assert.deepEqual([entry.extensions[extension].skills, entry.tags], [['sing'], ['music']])
    const { json } = await ask('GET', '/a2a', undefined, singer)
    assert.deepEqual(
      json.agents[0].skills.map(({ id }: any) => id),
      ['sing'],
    )
    assert.deepEqual(named(await catalog(singer, '?tag=demo')), ['echo'])
  })

  it('is searched by text, by tag and by skill', async () => {
    const all = await key({ scopes: ['agent:*'] })
    assert.deepEqual(named(await catalog(all, '?text=talks%20PEOPLE')), ['talker'])
    assert.deepEqual(named(await catalog(all, '?tag=demo')), ['talker', 'secret', 'echo'])
    assert.deepEqual(named(await catalog(all, '?skill=sing')), ['talker'])
    assert.deepEqual(named(await catalog(all, '?skill=sing&tag=demo&text=nothing')), [])
    assert.equal((await ask('GET', '/.well-known/ai-catalog.json?colour=red', undefined, {})).status, 400)
  })

  it('is served beside the default agent, which accepts messages at the same path', async () => {
    const { json } = await ask('GET', '/a2a', undefined, {})
    assert.deepEqual(
      json.agents.map(({ name, url: at, isAvailable }: any) => [name, at, isAvailable]),
      [['echo', `${url}/a2a/echo`, true]],
    )
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const sent = await ask('POST', '/a2a', body, { ...(await key({ agents: ['talker'] })), 'A2A-Version': '1.0' })
    assert.equal(sent.json.result.task.status.state, 'TASK_STATE_COMPLETED')
  })
})

describe('a remote agent whose card has changed', () => {
  let card: Record<string, unknown> = {}
  const answered: string[] = []

  async function open(drift: 'alert' | 'block' | 'ignore'): Promise<TestHub> {
    card = { version: '1.0.0' }
    const remote = await openFakeRemote(
      ({ method }) => {
        answered.push(method)
        return { result: { message: { messageId: 'r', role: 'ROLE_AGENT', parts: [{ text: 'hello' }] } } }
      },
      { card: () => ({ capabilities: {}, ...card }) },
    )
    after(() => remote.close())
    const opened = await openTestHub({ config: { agents: { partner: { kind: 'a2a', url: remote.url, drift } } } })
    await opened.ask('POST', '/admin/agents/partner/look')
    return opened
  }
  const look = async ({ ask: asking }: TestHub): Promise<any> =>
    (await asking('POST', '/admin/agents/partner/look')).json
  const talk = ({ call }: TestHub) => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    return call('partner', 'SendMessage', { message })
  }
  const isDone = async (opened: TestHub): Promise<void> =>
    assert.equal((await talk(opened)).json.result?.task?.status.state, 'TASK_STATE_COMPLETED')

  it('is reported with the differences, and stays available unless the policy says otherwise', async () => {
    const opened = await open('alert')
    assert.equal((await look(opened)).drift, undefined)
    card = { version: '2.0.0', skills: [{ id: 'new', name: 'New', description: 'New', tags: [] }] }
    assert.equal((await look(opened)).drift, 'changed')
    assert.deepEqual((await opened.ask('GET', '/admin/health')).json.agents.drifted, ['partner'])
    const { remote } = (await opened.ask('GET', '/admin/agents/partner/card')).json
    assert.deepEqual(
      [remote.policy, remote.approved.card.version, remote.changed.card.version],
      ['alert', '1.0.0', '2.0.0'],
    )
    assert.ok(remote.changed.fields.includes('version') && remote.changed.fields.includes('skills.new'))
    assert.ok(opened.logged.some(([message]) => message.includes('has changed since it was approved')))
    await isDone(opened)
    assert.equal((await opened.ask('GET', '/admin/agents/partner')).json.version, '2.0.0')
  })

  it('is not called under the policy `block` until it is approved, and callers still see the old card', async () => {
    const opened = await open('block')
    await isDone(opened)
    card = { version: '6.6.6' }
    assert.equal((await look(opened)).drift, 'blocked')
    const before = answered.length
    const refused = await talk(opened)
    assert.match(refused.json.error.message, /card changed and must be approved by the hub operator/)
    assert.equal(answered.length, before)
    const shown = await (await fetch(`${opened.url}/a2a/partner/.well-known/agent-card.json`)).json()
    assert.equal((shown as any).version, '1.0.0')

    const { remote } = (await opened.ask('GET', '/admin/agents/partner/card')).json
    const { fingerprint } = remote.changed
    assert.equal((await opened.ask('POST', '/admin/agents/partner/card/approve', { fingerprint: 'x' })).status, 409)
    const approved = await opened.ask('POST', '/admin/agents/partner/card/approve', { fingerprint })
    assert.deepEqual([approved.status, approved.json.drift], [200, undefined])
    await isDone(opened)
    const audit = (await opened.ask('GET', '/admin/audit?event=card.approved')).json.entries
    assert.deepEqual([audit.length, audit[0].agent], [1, 'partner'])
  })

  it('stays approved or blocked after a restart', async () => {
    const opened = await open('block')
    card = { version: '2.0.0' }
    await look(opened)
    await opened.restart()
    assert.equal((await look(opened)).drift, 'blocked')
    card = { version: '1.0.0' }
    assert.equal((await look(opened)).drift, undefined)
    await isDone(opened)
  })

  it('is ignored with the policy `ignore`', async () => {
    const opened = await open('ignore')
    card = { version: '2.0.0' }
    assert.equal((await look(opened)).drift, undefined)
    await isDone(opened)
  })
})
