/** Hop tokens, by which one hub tells another on whose behalf it calls: forged ones are refused. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { UnsecuredJWT } from 'jose'
import { A2AError, type Struct, type Task } from '@parley/a2a'
import { delegationExtension as uri } from '@parley/a2a/internal'
import type { RemoteAgent } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { corruptToken, createTokenForger, unixSeconds } from './token-forger.ts'
import type { TokenForger } from './token-forger.ts'
import { moduleAgent, openHub, textOf } from './open-hub.ts'

const hub = 'https://b.test'
const messageId = 'the-message'
const parent = 'the-parent'
const about = { audience: `${hub}#leaf`, messageId, parent }
/** The runs of a property: each is a call of a hub. */
const numRuns = process.env['PARLEY_FULL'] === undefined ? 40 : 500

interface Seen {
  readonly chain: { readonly visited: readonly string[]; readonly root: string; readonly tasks: number } | null
  readonly scopes: readonly string[] | null
  readonly deadlineAt: number | null
  readonly metadata: object | null
}

let friend: TokenForger
let middle: TokenForger
let untrusted: TokenForger
before(async () => {
  friend = await createTokenForger({ issuer: 'https://a.test', ...about })
  middle = await createTokenForger({ issuer: 'https://m.test', ...about })
  untrusted = await createTokenForger({ issuer: 'https://x.test', ...about })
})

interface About {
  readonly messageId?: string
  readonly referenceTaskIds?: readonly string[]
  readonly parts?: readonly { readonly text: string }[]
  readonly from?: RemoteAgent
}

interface Stage {
  over(binding: string): Promise<RemoteAgent>
  /** The agent, called with another key. */
  another(): Promise<RemoteAgent>
  task(hop: string, more?: About): Promise<Task>
  /** A message with this metadata. */
  send(metadata: Struct): Promise<unknown>
  /** What the agent sees of a call with this token, or the error. */
  call(hop: string, more?: About): Promise<Seen | string>
}

async function open(t: TestContext): Promise<Stage> {
  const adminKey = 'the admin of this hub'
  const { hub: running, agent } = await openHub(t, {
    listen: { port: 0, grpcPort: 0 },
    agents: { leaf: moduleAgent('leaf'), other: moduleAgent('leaf') },
    access: { anonymous: [] },
    admin: { key: adminKey },
    limits: { perKey: '100000/s' },
    delegation: { issuer: hub, trust: [friend, middle].map(({ issuer, jwks }) => ({ issuer, jwks })) },
  })
  async function makeKey(): Promise<string> {
    const made = await fetch(`${running.url}/admin/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'peer', scopes: ['agent:leaf', 'agent:other', 'files:read', 'files:write'] }),
    })
    return ((await made.json()) as { key: string }).key
  }
  const key = await makeKey()
  const leaf = await agent('leaf', { bearer: key })
  let count = 0

  async function task(hop: string, { from = leaf, ...more }: About = {}): Promise<Task> {
    count += 1
    const parts = [{ text: `call ${count}` }]
    const message = { messageId, referenceTaskIds: [parent], parts, metadata: { [uri]: { hop } }, ...more }
    return (await from.send(message, { extensions: [uri] })) as Task
  }

  return {
    another: async () => agent('leaf', { bearer: await makeKey() }),
    over: (binding) => agent('leaf', { bearer: key, prefer: [binding], bindings: [grpc()] }),
    task,
    send: (metadata) => leaf.send({ parts: [{ text: 'hello' }], metadata }, { extensions: [uri] }),
    async call(hop, more) {
      try {
        return JSON.parse(textOf(await task(hop, more))) as Seen
      } catch (reason) {
        assert.ok(reason instanceof A2AError)
        return `${reason.code} ${reason.details.reason}: ${reason.message}`
      }
    },
  }
}

const refused = /^PERMISSION_DENIED HOP_TOKEN_INVALID: /
/** A message id identifies one message: each run of a property needs its own, and a token for it. */
let ids = 0
const fresh = (): { readonly jti: string; readonly messageId: string } => {
  ids += 1
  return { jti: `m${ids}`, messageId: `m${ids}` }
}

describe('the token of a trusted hub', () => {
  it('is accepted over every binding: the agent knows the chain, and has at most the rights of the first caller', async (t) => {
    const { over, task } = await open(t)
    for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
      const from = await over(binding)
      assert.equal(from.interface.protocolBinding, binding)
      const { jti, messageId: id } = fresh()
      const dl = Date.now() + 60_000
      const seen = JSON.parse(textOf(await task(await friend.token({ jti, dl }), { from, messageId: id }))) as Seen
      assert.deepEqual(seen.chain?.visited, ['https://a.test#front'])
      assert.deepEqual([seen.chain.root, seen.chain.tasks, seen.deadlineAt], ['root', 10, dl])
      assert.deepEqual(seen.scopes, ['agent:leaf', 'agent:other', 'files:read'])
      // The token was for the hub only.
      assert.equal(seen.metadata, null)
    }
  })

  it('that is repeated is the same message, and is invalid for another message', async (t) => {
    const { task, call } = await open(t)
    const { jti, messageId: id } = fresh()
    const message = { messageId: id, parts: [{ text: 'the same' }] }
    const first = await task(await friend.token({ jti }), message)
    const again = await task(await friend.token({ jti }), message)
    assert.equal(again.id, first.id)
    const replayed = await friend.token({ jti })
    assert.match(String(await call(replayed, { messageId: fresh().messageId })), refused)
    assert.match(String(await call(replayed, { messageId: id, referenceTaskIds: ['another'] })), /another task/)
    const { jti: next, ...more } = fresh()
    assert.match(String(await call(await friend.token({ jti: next, aud: `${hub}#other` }), more)), /another agent/)
  })

  it('opens one task: other messages under its id are refused, also of other callers and with a new token [B-163]', async (t) => {
    const { task, call, another } = await open(t)
    const { jti, messageId: id } = fresh()
    const hop = await friend.token({ jti })
    const six = await Promise.all(Array.from({ length: 6 }, () => call(hop, { messageId: id })))
    assert.equal(six.filter((seen) => typeof seen === 'object').length, 1)
    const refusals = six.filter((seen) => typeof seen === 'string')
    assert.deepEqual(
      refusals.map((seen) => seen.split(' ')[0]),
      Array.from({ length: 5 }, () => 'MESSAGE_ID_REUSED'),
    )
    assert.match(String(await call(await friend.token({ jti }), { messageId: id })), /^MESSAGE_ID_REUSED /)
    const { jti: next, messageId: nextId } = fresh()
    const said = { messageId: nextId, parts: [{ text: 'the same' }] }
    const token = await friend.token({ jti: next })
    await task(token, said)
    assert.match(String(await call(token, { ...said, from: await another() })), /^MESSAGE_ID_REUSED /)
  })

  it('is refused if it was altered anywhere', async (t) => {
    const { call } = await open(t)
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 2 }), fc.nat(), async (part, at) => {
        const { jti, ...more } = fresh()
        const seen = await call(corruptToken(await friend.token({ jti }), part, at), more)
        assert.match(String(seen), refused)
      }),
      { numRuns },
    )
  })

  it('is refused if its key is unknown, has another purpose, or is missing', async (t) => {
    const { call } = await open(t)
    const { jti, ...more } = fresh()
    const forged = (header: object = {}): Promise<string> =>
      untrusted.token({ jti, iss: friend.issuer, vis: [`${friend.issuer}#front`] }, header)
    assert.match(String(await call(await forged(), more)), /its signature is invalid/)
    assert.match(String(await call(await forged({ kid: `hop.${friend.issuer}` }), more)), /its signature is invalid/)
    assert.match(String(await call(await friend.token({ jti }, { kid: 'push' }), more)), /for something else/)
    assert.match(String(await call(await friend.token({ jti }, { typ: 'JWT' }), more)), /for something else/)
    const unsecured = new UnsecuredJWT({ iss: friend.issuer, jti }).encode()
    assert.match(String(await call(unsecured, more)), refused)
  })

  it('is refused if it has expired, is not valid yet, or its deadline has passed', async (t) => {
    const { call } = await open(t)
    const { jti, ...more } = fresh()
    const at = async (claims: object): Promise<string> =>
      String(await call(await friend.token({ jti, ...claims }), more))
    assert.match(await at({ iat: unixSeconds() - 420, exp: unixSeconds() - 120 }), /it has expired/)
    assert.match(await at({ iat: unixSeconds() + 600, exp: unixSeconds() + 900 }), /in the future/)
    assert.match(await at({ dl: Date.now() - 1 }), /^UNSUPPORTED_OPERATION DELEGATION_DEADLINE: /)
  })

  it('is refused if it is valid for longer than ten minutes, has no expiry, or expires before it begins', async (t) => {
    const { call } = await open(t)
    const at = async (claims: object): Promise<string> => {
      const { jti, ...more } = fresh()
      const seen = await call(await friend.token({ jti, ...claims }), more)
      return typeof seen === 'string' ? seen : 'called'
    }
    assert.equal(await at({ exp: unixSeconds() + 590 }), 'called')
    assert.match(await at({ exp: unixSeconds() + 86_400 }), /HOP_TOKEN_INVALID: .* at most 600 are accepted/)
    assert.match(await at({ exp: 1e300 }), refused)
    assert.match(await at({ exp: undefined }), refused)
    assert.match(await at({ iat: undefined }), refused)
    assert.match(await at({ iat: unixSeconds() + 50, exp: unixSeconds() }), /expires before it was issued/)
  })

  it('is refused if it is longer than 32768 characters: its limits do not vanish', async (t) => {
    const { call } = await open(t)
    const token = (padding: number): Promise<string> => friend.token({ ...own, pad: 'x'.repeat(padding) })
    const { messageId: id, ...own } = fresh()
    const maxBytes = Math.floor(((32_768 - (await token(0)).length) * 3) / 4)
    assert.equal(typeof (await call(await token(maxBytes - 16), { messageId: id })), 'object')
    const seen = await call(await token(maxBytes + 16), { messageId: id })
    assert.match(String(seen), /HOP_TOKEN_INVALID: .* at most 32768 are accepted/)
  })

  it('is refused if its claims are inconsistent', async (t) => {
    const { call } = await open(t)
    const place = fc.constantFrom(`${friend.issuer}#front`, `${friend.issuer}#back`, 'https://z.test#x')
    const way = fc.record({ vis: fc.array(place, { maxLength: 4 }), dep: fc.integer({ min: 1, max: 4 }) })
    const wrong = fc.oneof(
      fc.record({ dep: fc.integer({ min: -3, max: 12 }).filter((dep) => dep !== 1) }),
      way.filter(
        ({ vis, dep }) =>
          dep !== vis.length || new Set(vis).size !== vis.length || vis.at(-1)?.startsWith(friend.issuer) !== true,
      ),
      fc.record({ bud: fc.constantFrom({}, { tasks: -1 }, { tasks: 1.5 }, { tasks: '9' }, 7) }),
      fc.record({ scp: fc.constantFrom([], 'agent:*', { '': 'agent:*' }, { '': [1] }) }),
      fc.constantFrom({ root: 7 }, { par: null }, { sub: undefined }, { dl: 'soon' }, { dl: -1 }, { exp: undefined }),
    )
    await fc.assert(
      fc.asyncProperty(wrong, async (claims) => {
        const { jti, ...more } = fresh()
        const seen = await call(await friend.token({ jti, ...claims }), more)
        assert.match(String(seen), refused)
      }),
      { numRuns },
    )
  })

  it('is refused for a cycle and for its depth, also if it grants nothing more', async (t) => {
    const { call } = await open(t)
    const { jti, ...more } = fresh()
    const vis = [`${hub}#leaf`, `${friend.issuer}#front`]
    const circle = await call(await friend.token({ jti, vis, dep: 2 }), more)
    assert.match(String(circle), /^UNSUPPORTED_OPERATION DELEGATION_LOOP: /)
    const many = Array.from({ length: 9 }, (_, index) => `${friend.issuer}#a${index}`)
    const deep = await call(await friend.token({ jti, vis: many, dep: 9 }), more)
    assert.match(String(deep), /^UNSUPPORTED_OPERATION DELEGATION_DEPTH: /)
    const spent = await call(await friend.token({ jti, bud: { tasks: 0 } }), more)
    assert.equal(typeof spent === 'object' && spent.chain?.tasks, 0)
  })

  it('grants its caller no additional right: the scopes are the intersection of both', async (t) => {
    const { call } = await open(t)
    const words = ['files:read', 'files:write', 'files:delete', 'admin', 'operation:send']
    await fc.assert(
      fc.asyncProperty(fc.subarray(words), async (given) => {
        const { jti, ...more } = fresh()
        const seen = await call(await friend.token({ jti, scp: { '': given } }), more)
        assert.ok(typeof seen === 'object', String(seen))
        const own = ['files:read', 'files:write']
        const others = seen.scopes?.filter((word) => !/^(agent|operation):/.test(word))
        assert.deepEqual(
          others,
          own.filter((word) => given.includes(word)),
        )
      }),
      { numRuns },
    )
    const { jti, ...more } = fresh()
    const none = await call(await friend.token({ jti, scp: { '': [], [hub]: ['agent:other'] } }), more)
    assert.match(String(none), /^PERMISSION_DENIED .*have no permission/)
  })
})

describe('a token derived from another', () => {
  const first = { aud: 'https://m.test#middle', jti: 'm0', par: 'p0', dl: 4_000_000_000_000 }
  const onward = (claims: object, prv: string): object => ({
    dep: 2,
    vis: [`${friend.issuer}#front`, 'https://m.test#middle'],
    bud: { tasks: 9 },
    scp: { '': ['files:read'], [friend.issuer]: ['agent:*'] },
    dl: first.dl,
    prv,
    ...claims,
  })

  it('is accepted if it is narrower, and refused if it is wider in any claim', async (t) => {
    const { call } = await open(t)
    const prv = await friend.token(first)
    const seen = async (claims: object, of = prv): Promise<Seen | string> => {
      const { jti, ...more } = fresh()
      return call(await middle.token({ jti, ...onward(claims, of) }), more)
    }
    const right = await seen({})
    assert.ok(typeof right === 'object', String(right))
    assert.deepEqual(right.chain?.visited, [`${friend.issuer}#front`, 'https://m.test#middle'])
    const wider: readonly (readonly [RegExp, object])[] = [
      [/wider scopes/, { scp: { '': ['files:read', 'files:write'], [friend.issuer]: ['agent:*'] } }],
      [/wider scopes/, { scp: { '': ['files:read'] } }],
      [/more tasks/, { bud: { tasks: 10 } }],
      [/later deadline/, { dl: first.dl + 1 }],
      [/later deadline/, { dl: undefined }],
      [/another request/, { root: 'another' }],
      [/another request/, { sub: 'another' }],
      [/chain of agents differs/, { dep: 1, vis: ['https://m.test#middle'] }],
      [/chain of agents differs/, { vis: [`${friend.issuer}#front`, 'https://m.test#twin'] }],
    ]
    for (const [why, claims] of wider) {
      const outcome = String(await seen(claims))
      assert.match(outcome, refused)
      assert.match(outcome, why)
    }
    // After its expiry it still proves what was granted.
    assert.equal(
      typeof (await seen({}, await friend.token({ ...first, iat: unixSeconds() - 9_300, exp: unixSeconds() - 9_000 }))),
      'object',
    )
  })

  it('is refused if its parent token is forged or was issued to another hub', async (t) => {
    const { call } = await open(t)
    const seen = async (prv: string): Promise<Seen | string> => {
      const { jti, ...more } = fresh()
      return call(await middle.token({ jti, ...onward({}, prv) }), more)
    }
    const claims = { ...first, iss: friend.issuer, vis: [`${friend.issuer}#front`] }
    const forged = await untrusted.token(claims, { kid: `hop.${friend.issuer}` })
    assert.match(String(await seen(forged)), /signature is invalid/)
    assert.match(String(await seen(await friend.token({ ...first, aud: 'https://x.test#middle' }))), /another hub/)
    // The trusted hub is responsible for a token that it got from an untrusted one.
    assert.equal(typeof (await seen(await untrusted.token(first))), 'object')
  })
})

describe('the token of an untrusted hub', () => {
  it('is refused, whatever its claims: the call is not made without the limits that it states', async (t) => {
    const { call } = await open(t)
    const claims = fc.record({
      dep: fc.integer({ min: 1, max: 20 }),
      bud: fc.record({ tasks: fc.integer() }),
      scp: fc.record({ '': fc.array(fc.string()) }),
      dl: fc.integer(),
    })
    await fc.assert(
      fc.asyncProperty(claims, async (said) => {
        const { jti, ...more } = fresh()
        const seen = await call(await untrusted.token({ jti, ...said }), more)
        assert.match(String(seen), /HOP_TOKEN_INVALID: .*`delegation\.trust`/)
      }),
      { numRuns },
    )
  })

  it('is refused if it is not a token', async (t) => {
    const { call } = await open(t)
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.constantFrom('a.b.c', '..', 'eyJ.eyJ.')), async (text) => {
        assert.match(String(await call(text, { messageId: fresh().messageId })), refused)
      }),
      { numRuns },
    )
  })

  it('is refused if it is not a string, and so is a deadline', async (t) => {
    const { send } = await open(t)
    for (const said of [7, [], 'text', { hop: 7 }, { hop: null }, { hop: ['a'] }, { deadline: 7 }]) {
      await assert.rejects(
        send({ [uri]: said }),
        (reason: A2AError) => reason.code === 'INVALID_PARAMS' && reason.message.includes(uri),
      )
    }
  })
})
