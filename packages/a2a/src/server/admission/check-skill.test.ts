import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authRequired } from '../../agents/reports.ts'
import type { Caller } from '../../model/caller.ts'
import type { AgentSkill } from '../../model/card.ts'
import { testMessage, legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { allOf, anyOf, apiKey, type Authenticate, bearer, allowAnonymous } from '../index.ts'

const { open, post, get } = openServers()
const modern = { 'a2a-version': '1.0' }

const skill = (id: string, ...alternatives: Record<string, string[]>[]): AgentSkill => ({
  id,
  name: id,
  description: id,
  tags: ['test'],
  ...(alternatives.length === 0
    ? {}
    : {
        securityRequirements: alternatives.map((schemes) => ({
          schemes: Object.fromEntries(Object.entries(schemes).map(([name, list]) => [name, { list }])),
        })),
      }),
})
const skills = [
  skill('talk'),
  skill('pay', { bearer: ['pay'] }),
  skill('rule', { bearer: ['rule', 'pay'] }, { apiKey: [] }),
]

/** Tokens hold their scopes; any key is valid. */
const tokens = bearer({ verify: (token) => ({ id: 'ann', scopes: token.split(' ') }) })
const authenticate = anyOf(tokens, apiKey({ lookup: () => ({ id: 'key' }) }), allowAnonymous())

async function send(params: object, headers: Record<string, string> = {}, over: object = {}) {
  const handler = open({ skills, authenticate, ...over })
  const message = rpc('SendMessage', { message: testMessage(), ...params })
  const { status, headers: answered, json } = await post(handler, message, { ...modern, ...headers })
  return { status, challenge: answered.get('www-authenticate'), error: json.error }
}
const naming = (skillId: unknown) => ({ metadata: { skillId } })
const as = (scopes: string) => ({ authorization: `Bearer ${scopes}` })

describe('a skill that a message names', () => {
  it('is available to callers with its scopes, and refused with 403 to others [B-154 T-13]', async () => {
    assert.equal((await send(naming('pay'), as('pay'))).status, 200)
    const { status, challenge, error } = await send(naming('pay'), as('talk'))
    assert.deepEqual([status, error.code], [403, -32091])
    assert.equal(error.message, `Insufficient permissions for skill 'pay'`)
    assert.equal(challenge, 'Bearer error="insufficient_scope", scope="pay"')
    assert.equal((await send(naming('rule'), as('pay'))).status, 403)
    assert.equal((await send(naming('rule'), as('pay rule'))).status, 200)
    assert.equal((await send(naming('talk'), as('x'))).status, 200)
  })

  it('may require one of several schemes, which must be the one that was used [B-154]', async () => {
    assert.equal((await send(naming('rule'), { 'x-api-key': 'k' })).status, 200)
    assert.equal((await send(naming('pay'), { 'x-api-key': 'k' })).status, 403)
    // A caller from an operator's own `authenticate` function has scopes only.
    const own: Authenticate = (): Caller => ({ id: 'ann', scopes: ['pay'] })
    assert.equal((await send(naming('pay'), {}, { authenticate: own })).status, 200)
    const two = allOf(tokens, apiKey({ lookup: () => ({ id: 'key' }) }))
    assert.equal((await send(naming('pay'), { ...as('pay'), 'x-api-key': 'k' }, { authenticate: two })).status, 200)
  })

  it('is 401 for anonymous callers: signing in may help [B-151 B-154]', async () => {
    const { status, challenge } = await send(naming('pay'))
    assert.equal(status, 401)
    assert.match(challenge ?? '', /Bearer/)
    assert.equal((await send(naming('talk'))).status, 200)
  })

  it('is refused as invalid if the agent has no such skill, with the field that names it [B-38 B-154]', async () => {
    for (const skillId of ['fly', 7, {}, '']) {
      const { status, error } = await send(naming(skillId), as('pay'))
      assert.deepEqual([status, error.code], [200, -32602])
      assert.deepEqual(error.data[1].fieldViolations, [
        { field: 'metadata.skillId', description: 'is not a skill of this agent' },
      ])
    }
    // An agent that lists no skills accepts any name.
    assert.equal((await send(naming('fly'), as('x'), { skills: undefined })).status, 200)
  })

  it('may also be named by the message; if both name one, both must be allowed [B-154]', async () => {
    const message = testMessage('hi', { metadata: { skillId: 'pay' } })
    assert.equal((await send({ message }, as('x'))).status, 403)
    assert.equal((await send({ message, ...naming('talk') }, as('x'))).status, 403)
    assert.equal((await send({ message, ...naming('talk') }, as('pay'))).status, 200)
  })

  it('is checked on a stream, over REST and in 0.3 [B-154 B-168]', async () => {
    const handler = open({ skills, authenticate })
    const pay = { message: testMessage(), ...naming('pay') }
    const headers = { ...modern, ...as('x') }
    assert.equal((await post(handler, rpc('SendStreamingMessage', pay), headers)).status, 403)
    assert.equal((await post(handler, pay, headers, '/message:send')).status, 403)
    const old = rpc('message/send', { message: legacyTestMessage(), ...naming('pay') })
    const { status, headers: answered } = await post(handler, old, as('x'))
    assert.equal(status, 403)
    assert.match(answered.get('www-authenticate') ?? '', /insufficient_scope/)
  })

  it('may be one of the extended card, only for callers that may see it [B-138 B-154]', async () => {
    const extendedCard = ({ id }: Caller) =>
      id === 'ann' ? { skills: [skill('secret', { bearer: ['pay'] })] } : undefined
    assert.equal((await send(naming('secret'), as('pay'), { extendedCard })).status, 200)
    assert.equal((await send(naming('secret'), as('x'), { extendedCard })).status, 403)
    const unknown = await send(naming('secret'), { 'x-api-key': 'k' }, { extendedCard })
    assert.deepEqual([unknown.status, unknown.error.code], [200, -32602])
  })
})

describe('a message that names no skill', () => {
  it('is passed to the agent, unless its caller may use no skill [B-154]', async () => {
    assert.equal((await send({}, as('x'))).status, 200)
    const guarded = { skills: skills.slice(1) }
    assert.equal((await send({}, as('x'), guarded)).status, 403)
    assert.equal((await send({}, as('pay'), guarded)).status, 200)
    assert.equal((await send({}, {}, guarded)).status, 401)
  })

  it('is refused if the agent requires one, except when it continues a task [B-154]', async () => {
    const over = { requireSkill: true }
    const { error } = await send({}, as('pay'), over)
    assert.equal(error.code, -32602)
    assert.equal(error.data[1].fieldViolations[0].field, 'metadata.skillId')
    assert.equal((await send(naming('talk'), as('x'), over)).error, undefined)
    const goesOn = await send({ message: testMessage('hi', { taskId: 'gone' }) }, as('x'), over)
    assert.equal(goesOn.error.code, -32001)
  })
})

describe('the extended card', () => {
  it('has only the skills that its caller may use [B-138 B-154]', async () => {
    const handler = open({ skills, authenticate, extendedCard: { description: 'More' } })
    const shown = async (headers: Record<string, string>) => {
      const { json } = await post(handler, rpc('GetExtendedAgentCard'), { ...modern, ...headers })
      return (json.result.skills as AgentSkill[]).map(({ id }) => id)
    }
    assert.deepEqual(await shown(as('x')), ['talk'])
    assert.deepEqual(await shown(as('pay')), ['talk', 'pay'])
    assert.deepEqual(await shown(as('pay rule')), ['talk', 'pay', 'rule'])
    assert.deepEqual(await shown({ 'x-api-key': 'k' }), ['talk', 'rule'])
    // The public card lists the skills and their requirements.
    const { json } = await get(handler, '/.well-known/agent-card.json', { ...modern, ...as('x') })
    assert.deepEqual(json.skills, skills)
  })

  it('is 401 with a challenge for anonymous callers, 403 for others without access, in every version [B-137]', async () => {
    const { A2AError } = await import('../../model/error.ts')
    const extendedCard = ({ scopes = [] }: Caller) => {
      if (!scopes.includes('see')) throw new A2AError('PERMISSION_DENIED', 'Not for you')
      return { description: 'More' }
    }
    const handler = open({ authenticate, extendedCard })
    const ways = [
      (headers: object) => post(handler, rpc('GetExtendedAgentCard'), { ...modern, ...headers }),
      (headers: object) => post(handler, rpc('agent/getAuthenticatedExtendedCard'), { ...headers }),
      (headers: object) => get(handler, '/extendedAgentCard', { ...modern, ...headers }),
      (headers: object) => get(handler, '/v1/card', { ...headers }),
      (headers: object) => get(handler, '/agent/authenticatedExtendedCard', { ...headers }),
    ]
    for (const [index, ask] of ways.entries()) {
      const unauthenticated = await ask({})
      assert.equal(unauthenticated.status, 401, String(index))
      assert.match(unauthenticated.headers.get('www-authenticate') ?? '', /Bearer/)
      assert.equal((await ask(as('x'))).status, 403, String(index))
      const shown = await ask(as('see'))
      assert.equal(shown.status, 200, String(index))
      assert.equal((shown.json.result ?? shown.json).description, 'More')
    }
  })
})

describe('a task that waits for a credential', () => {
  it('grants nothing by that: each message is authorized again, by its caller and its skill [B-158]', async () => {
    const turns: string[] = []
    const handler = open({
      skills,
      authenticate: anyOf(tokens, apiKey({ lookup: () => ({ id: 'key' }) })),
      agent: ({ text }) => {
        turns.push(text)
        return turns.length === 1 ? authRequired('Sign in at the bank') : 'paid'
      },
    })
    const say = async (text: string, more: object, headers: Record<string, string>) => {
      const params = { message: testMessage(text, more), ...naming('pay') }
      const { status, json } = await post(handler, rpc('SendMessage', params), { ...modern, ...headers })
      return { status, task: json.result?.task, code: json.error?.code as number | undefined }
    }
    const { task } = await say('pay', {}, as('pay'))
    assert.equal(task.status.state, 'TASK_STATE_AUTH_REQUIRED')
    const taskId = task.id as string
    assert.equal((await say('go on', { taskId }, as('talk'))).status, 403)
    assert.equal((await say('go on', { taskId }, {})).status, 401)
    const other = await post(handler, rpc('GetTask', { id: taskId }), { ...modern, 'x-api-key': 'k' })
    assert.equal(other.json.error.code, -32001)
    assert.deepEqual(turns, ['pay'])
    assert.equal((await say('go on', { taskId }, as('pay'))).task.status.state, 'TASK_STATE_COMPLETED')
  })
})

describe('a caller that may use some skills only', () => {
  const limited: Authenticate = () => ({ id: 'ann', scopes: ['pay'], skills: ['talk', 'rule'] })

  it('names one of them in every message, also in one that continues a task [B-154]', async () => {
    const handler = open({ skills, authenticate: limited, agent: () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }) })
    const ask = (params: object) => post(handler, rpc('SendMessage', { message: testMessage(), ...params }), modern)
    const { json } = await ask(naming('talk'))
    const { id: taskId } = json.result.task
    assert.equal((await ask({ message: testMessage('on', { taskId }), ...naming('talk') })).status, 200)
    for (const params of [{}, naming('pay'), naming('fly'), naming(7), { message: testMessage('on', { taskId }) }]) {
      const { status, json: refused } = await ask(params)
      assert.deepEqual([status, refused.error.code], [403, -32091], JSON.stringify(params))
    }
  })

  it('also needs what the skill itself requires [B-154]', async () => {
    const poor: Authenticate = () => ({ id: 'ann', skills: ['pay'] })
    assert.equal((await send(naming('pay'), {}, { authenticate: poor })).status, 403)
  })

  it('is limited to its list by an agent that lists no skills [B-154]', async () => {
    const over = { authenticate: limited, skills: undefined }
    assert.equal((await send(naming('talk'), {}, over)).status, 200)
    assert.equal((await send(naming('pay'), {}, over)).status, 403)
    assert.equal((await send({}, {}, over)).status, 403)
  })

  it('sees no others in the extended card, and the agent sees the list [B-139 B-154]', async () => {
    const handler = open({
      skills: [skill('talk'), skill('sing')],
      extendedCard: { description: 'More' },
      authenticate: limited,
      agent: ({ caller }) => JSON.stringify(caller.skills),
    })
    const card = await post(handler, rpc('GetExtendedAgentCard'), modern)
    assert.deepEqual(
      card.json.result.skills.map(({ id }: AgentSkill) => id),
      ['talk'],
    )
    const { json } = await post(handler, rpc('SendMessage', { message: testMessage(), ...naming('talk') }), modern)
    assert.equal(json.result.task.artifacts[0].parts[0].text, '["talk","rule"]')
  })

  it('with two credentials may use what both allow [B-154]', async () => {
    const other: Authenticate = () => ({ id: 'key', skills: ['talk', 'sing'] })
    const both = allOf(limited, other)
    assert.equal((await send(naming('talk'), {}, { authenticate: both })).status, 200)
    assert.equal((await send(naming('rule'), {}, { authenticate: both })).status, 403)
    const open = allOf(limited, () => ({ id: 'key' }))
    assert.equal((await send(naming('talk'), {}, { authenticate: open })).status, 200)
    assert.equal((await send({}, {}, { authenticate: open })).status, 403)
  })
})
