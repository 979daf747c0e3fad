/** The simple module, outbound: the scenarios and error cases of its document, with its names and values. */
import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { A2AError, memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import {
  clearAgentCardCache,
  clearTaskStore,
  discoverAgent,
  ExternalServiceError,
  fetchAgentCard,
  invokeRemoteAgent,
  ValidationError,
} from '@parley/a2a/simple'
import type { A2AAgentCard, RemoteInvocationResult } from '@parley/a2a/simple'
import { openSimplePeer } from './simple-peer.ts'

beforeEach(clearAgentCardCache)

const baseUrl = 'https://agent.example.com'
const minute = 60_000
const limits = { pollMs: 20, firstDelayMs: 5 }

interface Seen {
  readonly line: string
  readonly body: unknown
  readonly at: number
}

const lost: Seen = { line: 'nothing was sent', body: {}, at: 0 }

/** The network: one peer at the address of the document. Everything else is 404. */
function network(t: TestContext, answer: (line: string) => { status?: number; body?: unknown } | undefined): Seen[] {
  const seen: Seen[] = []
  t.mock.method(globalThis, 'fetch', async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    assert.equal(typeof url, 'string')
    const { origin, pathname } = new URL(String(url))
    assert.equal(origin, baseUrl)
    const { method = 'GET', body: sent } = init
    const line = `${method} ${pathname}`
    seen.push({ line, body: typeof sent === 'string' ? JSON.parse(sent) : undefined, at: Date.now() })
    const { status = 200, body = { error: 'no' } } = answer(line) ?? { status: 404 }
    return Response.json(body, { status })
  })
  return seen
}

/** Advances the time as far as the work needs it. */
async function passing<T>(t: TestContext, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => (isDone = true))
  while (!isDone) {
    await nextTurn()
    if (!isDone) t.mock.timers.tick(100)
  }
  return done
}

const fakeTime = (t: TestContext): void => t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })

/** Loads everything that is loaded on demand: from then on a call takes the same number of turns each time. */
before(async () => {
  await invokeRemoteAgent('http://127.0.0.1:1', 'x', { limits: { attempts: 1 } })
  await invokeRemoteAgent(baseUrl, 'x', {
    limits: { firstDelayMs: 1 },
    fetch: async (request) =>
      request.url.includes('/a2a/tasks/')
        ? Response.json({ id: 't', state: 'completed' })
        : new Response(null, { status: 404 }),
  })
})

const agentSaid = (text: string) => ({ role: 'agent', parts: [{ text }] })
const submitted = { id: 't1', state: 'working', messages: [{ role: 'user', parts: [{ text: 'Summarize this' }] }] }

/** Answers the polls of its task in order, and repeats the last one. */
function peer(...looks: { status?: number; body?: unknown }[]) {
  let count = 0
  return (line: string) => {
    if (line === 'POST /a2a/tasks/send') return { body: submitted }
    return line === 'GET /a2a/tasks/t1' ? looks[Math.min(count++, looks.length - 1)] : undefined
  }
}

describe('Scenario: Remote agent invocation', () => {
  const done = { body: { id: 't1', state: 'completed', messages: [agentSaid('Thinking'), agentSaid('Summary...')] } }

  it('posts to /a2a/tasks/send, polls every 3 seconds and returns the last agent message [S0-4 S0-5 S0-7 S0-11 S0-24 S0-25 S0-31]', async (t) => {
    fakeTime(t)
    const seen = network(t, peer({ body: submitted }, { body: submitted }, done))
    const result: RemoteInvocationResult = await passing(t, invokeRemoteAgent(baseUrl, 'Summarize this'))
    assert.deepEqual(result, { success: true, taskId: 't1', responseText: 'Summary...' })
    const [sent = lost, ...looks] = seen.filter(({ line }) => line.includes('/a2a/tasks/'))
    assert.equal(sent.line, 'POST /a2a/tasks/send')
    assert.equal((sent.body as { message: string }).message, 'Summarize this')
    assert.deepEqual((sent.body as { params: object }).params, { message: 'Summarize this', timeoutMs: 300_000 })
    assert.deepEqual(
      looks.map(({ line, at }) => [line, at - sent.at]),
      [3_000, 6_000, 9_000].map((after) => ['GET /a2a/tasks/t1', after]),
    )
  })

  it('reports each failure with its own message [S0-34]', async (t) => {
    fakeTime(t)
    const failing = async (answer: ReturnType<typeof peer>, options = {}) => {
      t.mock.reset()
      fakeTime(t)
      clearAgentCardCache()
      network(t, answer)
      return passing(t, invokeRemoteAgent(baseUrl, 'Summarize this', options))
    }
    for (const status of [500, 400]) {
      const refusing = (line: string) => (line.startsWith('POST') ? { status } : undefined)
      assert.deepEqual(await failing(refusing), { success: false, error: `Submit failed: HTTP ${status}` })
    }
    assert.deepEqual(await failing(peer({ body: submitted }), { timeoutMs: 10_000 }), {
      success: false,
      taskId: 't1',
      error: 'Timed out after 10000ms',
    })
    assert.deepEqual(await failing(peer({ body: { ...submitted, state: 'failed' } })), {
      success: false,
      taskId: 't1',
      error: 'Task failed',
    })
    const said = { ...submitted, state: 'failed', messages: [agentSaid('Task timed out')] }
    assert.deepEqual(await failing(peer({ body: said })), {
      success: false,
      taskId: 't1',
      responseText: 'Task timed out',
      error: 'Task timed out',
    })
  })

  it('has another message for every kind of failure [S0-34]', async (t) => {
    const refusing = (status: number) => (line: string) => (line.startsWith('POST') ? { status } : undefined)
    const cardOnly = (card: { status?: number; body?: unknown }) => (line: string) =>
      line.startsWith('GET /.well-known/') ? card : undefined
    const said = (text: string) => ({ body: { ...submitted, state: 'failed', messages: [agentSaid(text)] } })
    const failures: Readonly<Record<string, [error: string, answer: ReturnType<typeof peer> | 'no connection']>> = {
      'no connection': [
        `Submit failed: ${baseUrl}/.well-known/agent-card.json cannot be reached: ENOTFOUND`,
        'no connection',
      ],
      'no access to the card': [
        `Submit failed: HTTP 401: ${baseUrl}/.well-known/agent-card.json returned HTTP 401 instead of an agent card`,
        cardOnly({ status: 401 }),
      ],
      'a card without a version': [
        "Submit failed: The peer's response is malformed: version is required",
        cardOnly({ body: { name: 'Remote' } }),
      ],
      'no access': ['Submit failed: HTTP 403', refusing(403)],
      'an invalid text': ['Submit failed: HTTP 422', refusing(422)],
      'no capacity': ['Submit failed: HTTP 503', refusing(503)],
      'a task that is lost': ['HTTP 404', peer({ status: 404 })],
      'a task that takes too long': ['Timed out after 300000ms', peer({ body: submitted })],
      'a failed task': ['Task failed', peer({ body: { ...submitted, state: 'failed' } })],
      'a failed task with a reason': ['The disk is full', peer(said('The disk is full'))],
    }
    for (const [name, [expected, answer]] of Object.entries(failures)) {
      t.mock.reset()
      fakeTime(t)
      clearAgentCardCache()
      if (answer !== 'no connection') network(t, answer)
      else {
        const cause = Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })
        t.mock.method(globalThis, 'fetch', () => Promise.reject(new TypeError('fetch failed', { cause })))
      }
      const { success, error } = await passing(t, invokeRemoteAgent(baseUrl, 'Summarize this'))
      assert.deepEqual([success, error], [false, expected], name)
    }
  })

  it('submits nothing to a peer whose card exists but cannot be fetched [S0-34]', async (t) => {
    for (const status of [401, 403, 500]) {
      t.mock.reset()
      fakeTime(t)
      const seen = network(t, (line) => (line.startsWith('POST') ? { body: submitted } : { status }))
      const { success, error } = await passing(t, invokeRemoteAgent(baseUrl, 'Summarize this'))
      assert.equal(success, false)
      assert.match(error ?? '', new RegExp(`^Submit failed: HTTP ${status}: .*agent card`))
      assert.ok(seen.every(({ line }) => line.startsWith('GET')))
    }
    const silent = async (request: Request): Promise<Response> =>
      new Promise((_, reject) => {
        const { signal } = request
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    const late = await passing(t, invokeRemoteAgent(baseUrl, 'x', { timeoutMs: 5_000, fetch: silent }))
    assert.deepEqual(late, { success: false, error: 'Timed out after 5000ms' })
  })

  it('sends its credentials for the card too [S0-11]', async () => {
    const server = await serve({
      port: 0,
      name: 'Protected',
      store: memoryStore(),
      protectCard: true,
      authenticate: (credentials) => (credentials.header('authorization') === 'Bearer k' ? { id: 'me' } : undefined),
      agent: ({ text }) => `You said ${text}`,
    })
    try {
      const { success, responseText } = await invokeRemoteAgent(server.url, 'hi', { bearer: 'k' })
      assert.deepEqual([success, responseText], [true, 'You said hi'])
      const { error } = await invokeRemoteAgent(server.url, 'hi', { bearer: 'other' })
      assert.match(error ?? '', /^Submit failed: HTTP 401: /)
    } finally {
      await server.close()
    }
  })

  it('keeps polling while single polls fail, however many [S0-24]', async (t) => {
    fakeTime(t)
    const gone = { status: 503 }
    network(t, peer({ body: submitted }, ...Array.from({ length: 30 }, () => gone), done))
    const { success, responseText } = await passing(t, invokeRemoteAgent(baseUrl, 'Summarize this'))
    assert.deepEqual([success, responseText], [true, 'Summary...'])
  })

  const postsOf = (seen: readonly Seen[]): readonly string[] =>
    seen.flatMap(({ line }) => (line.startsWith('POST') ? [line] : []))
  const statuses = [400, 404, 405, 429, 500, 501, 502, 503, 504]
  const found = { name: 'Remote', version: '1.2.0', capabilities: { streaming: true }, skills: [] }
  const declared = 'whose card declares 0.2 and a url'
  const cards = {
    'without a card': undefined,
    'whose card has no interface': found,
    'whose card has a url': { ...found, url: `${baseUrl}/` },
    [declared]: { ...found, url: `${baseUrl}/`, protocolVersion: '0.2.0' },
  }

  for (const [name, document] of Object.entries(cards)) {
    it(`reports the status of a peer ${name}, and does not submit again [S0-34]`, async (t) => {
      // Where the declared interface is not served either, the error is about that one.
      const isServed = (status: number): boolean => document !== cards[declared] || ![404, 405, 501].includes(status)
      for (const status of statuses.filter(isServed)) {
        t.mock.reset()
        fakeTime(t)
        clearAgentCardCache()
        const seen = network(t, (line) => {
          if (line === 'POST /a2a/tasks/send') return { status }
          return line === 'GET /.well-known/agent-card.json' && document ? { body: document } : undefined
        })
        const result = await passing(t, invokeRemoteAgent(baseUrl, 'Summarize this'))
        assert.deepEqual(result, { success: false, error: `Submit failed: HTTP ${status}` })
        assert.equal(postsOf(seen).filter((line) => line === 'POST /a2a/tasks/send').length, 1, `HTTP ${status}`)
      }
    })
  }

  it('sends the text to /a2a/tasks/send only, if the card has a url and nothing else about interfaces [S0-4]', async (t) => {
    const urls = [baseUrl, `${baseUrl}/`, `${baseUrl}/rpc`, '/rpc', 'https://elsewhere.example.com/rpc']
    for (const url of urls) {
      t.mock.reset()
      fakeTime(t)
      clearAgentCardCache()
      const answer = peer(done)
      const seen = network(t, (line) =>
        line === 'GET /.well-known/agent-card.json' ? { body: { ...found, url } } : answer(line),
      )
      const { success, responseText } = await passing(t, invokeRemoteAgent(`${baseUrl}/`, 'Summarize this'))
      assert.deepEqual([success, responseText], [true, 'Summary...'])
      assert.deepEqual(postsOf(seen), ['POST /a2a/tasks/send'])
    }
  })

  it('calls only the addresses that egress allows [S0-36]', async () => {
    const peer = await openSimplePeer()
    const reached = { allow: ['127.0.0.1'], allowHttp: true }
    try {
      for (const egress of [{}, { allow: ['127.0.0.1'] }, { allowHttp: true }]) {
        await assert.rejects(fetchAgentCard(peer.url, { egress }), { code: 'PERMISSION_DENIED' })
        assert.equal(await discoverAgent(peer.url, { egress }), null)
        const { success, error } = await invokeRemoteAgent(peer.url, 'hi', { egress })
        assert.equal(success, false)
        assert.match(error ?? '', /^Submit failed: .*(Blocked|not allowed)/)
      }
      assert.deepEqual(peer.requests, [])
      assert.equal((await fetchAgentCard(peer.url, { egress: reached })).name, 'Parley')
      assert.equal((await discoverAgent(peer.url, { egress: { ...reached } }))?.name, 'Parley')
      assert.equal(peer.requests.length, 1, 'the card is cached for the same addresses')
      assert.equal((await invokeRemoteAgent(peer.url, 'hi', { egress: reached, limits })).responseText, 'You said hi')
      // By default every address is called.
      assert.equal((await fetchAgentCard(peer.url)).name, 'Parley')
      assert.equal((await invokeRemoteAgent(peer.url, 'hi', { limits })).responseText, 'You said hi')
    } finally {
      await peer.close()
      clearTaskStore()
    }
  })

  it('sends the requested skill', async (t) => {
    fakeTime(t)
    const seen = network(t, peer(done))
    await passing(t, invokeRemoteAgent(baseUrl, 'Summarize this', { skill: 'sum', timeoutMs: 60_000 }))
    const { body } = seen.find(({ line }) => line.startsWith('POST')) ?? lost
    const { params } = body as { params: object }
    assert.deepEqual(params, { message: 'Summarize this', skill: 'sum', timeoutMs: 60_000 })
  })
})

describe('Scenario: Agent card caching', () => {
  const card = { name: 'Remote', version: '1.2.0', url: baseUrl, skills: [] }
  const cards = (body: unknown) => (line: string) =>
    line === 'GET /.well-known/agent-card.json' ? { body } : undefined

  it('returns the cached card after 2 minutes and makes a fresh request after 6 [S0-8 S0-22 S0-32]', async (t) => {
    fakeTime(t)
    const seen = network(t, cards(card))
    const first: A2AAgentCard = await fetchAgentCard(baseUrl)
    assert.deepEqual([first.name, first.version, first.url], ['Remote', '1.2.0', baseUrl])
    t.mock.timers.tick(2 * minute)
    assert.deepEqual(await fetchAgentCard(baseUrl), first)
    assert.equal(seen.length, 1)
    t.mock.timers.tick(4 * minute)
    assert.deepEqual(await fetchAgentCard(baseUrl), first)
    assert.equal(seen.length, 2)
  })

  it('clears its cache on request [S0-10]', async (t) => {
    const seen = network(t, cards(card))
    await fetchAgentCard(baseUrl)
    clearAgentCardCache()
    await fetchAgentCard(baseUrl)
    assert.equal(seen.length, 2)
  })

  it('accepts a card with a name and a version and nothing else [S0-8]', async (t) => {
    network(t, cards({ name: 'Remote', version: '1' }))
    assert.equal((await fetchAgentCard(baseUrl)).url, baseUrl)
  })

  it('throws ExternalServiceError with the HTTP status without a card [S0-34]', async (t) => {
    for (const status of [404, 403, 500]) {
      t.mock.reset()
      network(t, () => ({ status }))
      await assert.rejects(
        fetchAgentCard(baseUrl),
        (error) =>
          error instanceof ExternalServiceError &&
          error instanceof A2AError &&
          error.details.status === String(status) &&
          error.message.includes(`HTTP ${status}`),
        String(status),
      )
    }
  })

  it('throws ValidationError with the fields for a card without name or version [S0-23]', async (t) => {
    for (const field of ['name', 'version']) {
      t.mock.reset()
      network(t, cards({ ...card, [field]: undefined }))
      await assert.rejects(fetchAgentCard(baseUrl), (error) => {
        assert.ok(error instanceof ValidationError && error instanceof A2AError)
        assert.equal(error.code, 'INVALID_AGENT_RESPONSE')
        assert.deepEqual(error.details.violations, [{ field, description: 'is required' }])
        return true
      })
    }
  })

  it('discoverAgent returns null instead [S0-9]', async (t) => {
    network(t, () => ({ status: 500 }))
    assert.equal(await discoverAgent(baseUrl), null)
    t.mock.reset()
    network(t, cards(card))
    assert.equal((await discoverAgent(baseUrl))?.name, 'Remote')
  })
})
