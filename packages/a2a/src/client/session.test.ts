import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { AgentCapabilities, AgentInterface } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { cursorExtension } from '../model/extension.ts'
import { openRawServers } from '../testing/fixtures/raw-server.ts'
import { connect } from './connect.ts'
import type { ClientCall, ConnectOptions, RemoteAgent } from './contract.ts'

const listen = openRawServers()

interface Called {
  readonly path: string
  readonly method: string
  readonly params: { readonly [key: string]: unknown; readonly message?: { readonly messageId: string } }
  readonly headers: IncomingHttpHeaders
  result(result: unknown): void
  error(code: number, message?: string): void
  readonly response: ServerResponse
}

const done = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } }
const oldDone = { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'completed' } }
const json = { 'content-type': 'application/json' }

/** A peer whose endpoints respond as the test says, and the agent that its card describes. */
async function peer(
  answer: (call: Called, count: number) => void,
  interfaces: readonly Partial<AgentInterface>[] = [{}],
  capabilities: AgentCapabilities = {},
) {
  const calls: Called[] = []
  const { url } = await listen((request, response) => void text(request).then((body) => serve(body, request, response)))
  function serve(body: string, request: IncomingMessage, response: ServerResponse): void {
    const { id, method, params } = JSON.parse(body || '{}') as Called & { id?: number }
    const write = (body: object): void =>
      void response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
    const call: Called = {
      path: request.url ?? '',
      method: method ?? request.method,
      params: params ?? {},
      headers: request.headers,
      response,
      result: (result) => write({ result }),
      error: (code, message = 'no') => write({ error: { code, message } }),
    }
    answer(call, calls.push(call))
  }
  const card = {
    name: 'Peer',
    description: '',
    version: '1',
    capabilities,
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    supportedInterfaces: interfaces.map((one) => ({
      protocolBinding: 'JSONRPC',
      protocolVersion: '1.0',
      ...one,
      url: one.url ?? `${url}/rpc`,
    })),
  }
  const warnings: string[] = []
  return {
    calls,
    warnings,
    url,
    dial: (options: ConnectOptions = {}): Promise<RemoteAgent> =>
      connect(card, {
        log: { warn: (message) => void warnings.push(message) },
        ...options,
        limits: { firstDelayMs: 1, maxDelayMs: 50, attempts: 3, ...options.limits },
      }),
  }
}

async function failure(promise: Promise<unknown>): Promise<A2AError> {
  const reason = await promise.then(
    (value) => assert.fail(`did not fail: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  assert.ok(reason instanceof A2AError, String(reason))
  return reason
}

const methods = (calls: readonly Called[]): string[] => calls.map(({ method }) => method)

describe('a request of a session', () => {
  it('sends the tenant of its interface, requests extensions by the header of its version, and has a trace [B-17 B-142 B-165 B-171]', async () => {
    const { calls, dial } = await peer(
      ({ result, method }) => result(method.includes('/') ? oldDone : done),
      [{ tenant: 'blue' }, { protocolVersion: '0.3' }],
    )
    const options = { extensions: ['urn:a'], trace: () => ({ traceparent: '00-1-2-01', tracestate: 'x=y' }) }
    await (await dial(options)).get('t1', { extensions: ['urn:b', 'urn:a'], headers: { 'x-own': 'one' } })
    await (await dial({ ...options, version: '0.3' })).get('t1')
    const [first, second] = calls
    assert.equal(first?.params['tenant'], 'blue')
    assert.equal(first?.headers['a2a-extensions'], 'urn:a, urn:b')
    assert.equal(first?.headers['x-own'], 'one')
    assert.deepEqual([first?.headers['traceparent'], first?.headers['tracestate']], ['00-1-2-01', 'x=y'])
    assert.equal(second?.params['tenant'], undefined)
    assert.equal(second?.headers['x-a2a-extensions'], 'urn:a')
    assert.equal(second?.headers['a2a-version'], '0.3')
  })

  it('is not sent if the card does not declare the capability [B-169]', async () => {
    const { calls, dial } = await peer(({ result }) => result(done))
    const { session, push, extendedCard, send } = await dial()
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } as const
    const refused = [
      [session.open('SendStreamingMessage', { message }), 'UNSUPPORTED_OPERATION', 'streaming'],
      [session.open('SubscribeToTask', { id: 't1' }), 'UNSUPPORTED_OPERATION', 'streaming'],
      [extendedCard(), 'UNSUPPORTED_OPERATION', 'extendedAgentCard'],
      [push.list('t1'), 'PUSH_NOTIFICATION_NOT_SUPPORTED', 'pushNotifications'],
      [send('hi', { push: { url: 'https://hook.test' } }), 'PUSH_NOTIFICATION_NOT_SUPPORTED', 'pushNotifications'],
    ] as const
    for (const [promise, code, capability] of refused) {
      const error = await failure(promise)
      assert.deepEqual([error.code, error.details['capability']], [code, capability])
    }
    assert.equal(calls.length, 0)
  })

  it('is sent anyway on request, for agents that forgot to declare what they support', async () => {
    const config = { taskId: 't1', id: 'c1', url: 'https://hook.test' }
    const { calls, dial } = await peer(({ result }) => result(config))
    const { push } = await dial()
    assert.equal((await push.set('t1', { url: config.url }, { force: true })).id, 'c1')
    assert.deepEqual(
      calls.map(({ method }) => method),
      ['CreateTaskPushNotificationConfig'],
    )
  })

  it('times out, and a send has the timeout of an answer', { timeout: 120_000 }, async () => {
    const { dial } = await peer(() => {})
    const agent = await dial({ limits: { timeoutMs: 30, answerTimeoutMs: 600, attempts: 2 } })
    const timed = async (promise: Promise<unknown>): Promise<number> => {
      const from = performance.now()
      assert.equal((await failure(promise)).code, 'TIMEOUT')
      return performance.now() - from
    }
    assert.ok((await timed(agent.get('t1'))) >= 59, 'a question is asked again')
    assert.ok((await timed(agent.send('hi'))) >= 599)
    assert.ok((await timed(agent.start('hi'))) >= 29)
    // The caller's limits win.
    const patient = await dial({ limits: { timeoutMs: 600_000, answerTimeoutMs: 600_000 } })
    await timed(patient.send('hi', { timeoutMs: 10 }))
  })

  it('ends with the reason of the caller and removes its listener', async () => {
    const { dial } = await peer(() => {})
    const agent = await dial()
    const controller = new AbortController()
    const reason = new Error('enough')
    const asked = agent.get('t1', { signal: controller.signal })
    setImmediate(() => controller.abort(reason))
    await assert.rejects(asked, (thrown) => thrown === reason)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })
})

describe('a retry', () => {
  const unavailable = ({ response }: Called, headers = {}, status = 503): void =>
    void response.writeHead(status, headers).end('<p>later</p>')

  it('sends the same message under the same id [B-164]', async () => {
    const { calls, dial } = await peer((call, count) => (count < 3 ? unavailable(call) : call.result({ task: done })))
    await (await dial()).send('hi')
    assert.equal(calls.length, 3)
    const ids = calls.flatMap(({ params, headers }) => [params.message?.messageId, headers['idempotency-key']])
    assert.equal(new Set(ids).size, 1)
  })

  it('waits for Retry-After, and is skipped if that is too late', async () => {
    const { calls, dial } = await peer((call, count) =>
      count === 1 ? unavailable(call, { 'retry-after': '0.04' }, 429) : call.result(done),
    )
    const from = performance.now()
    await (await dial()).get('t1')
    assert.ok(performance.now() - from >= 39)
    assert.equal(calls.length, 2)
    const busy = await peer((call) => unavailable(call, { 'retry-after': '3600' }))
    const error = await failure((await busy.dial()).get('t1'))
    assert.deepEqual([error.code, error.details['retryAfterMs'], busy.calls.length], ['UNAVAILABLE', '3600000', 1])
  })

  it('is skipped if the caller would not wait for its end', async () => {
    const { calls, dial } = await peer((call) => unavailable(call, { 'retry-after': '5' }))
    const error = await failure((await dial()).get('t1', { timeoutMs: 4_000 }))
    assert.deepEqual([error.code, calls.length], ['UNAVAILABLE', 1])
  })

  it('ends after the maximum number of attempts', async () => {
    const { calls, dial } = await peer((call) => unavailable(call))
    assert.equal((await failure((await dial()).get('t1'))).code, 'UNAVAILABLE')
    assert.equal(calls.length, 3)
  })

  const lost: Readonly<Record<string, (call: Called) => void>> = {
    'a connection that broke': ({ response }) => void response.destroy(),
    'a gateway that lost the agent': (call) => unavailable(call, {}, 502),
    'an answer that broke off': ({ response }) =>
      void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
  }
  for (const [what, lose] of Object.entries(lost)) {
    it(`of a read follows ${what}, of a message only with a peer that recognizes repeats [B-163 B-164]`, async () => {
      const otherPeer = await peer((call, count) => (count === 1 ? lose(call) : call.result(done)))
      assert.equal((await (await otherPeer.dial()).get('t1')).id, 't1')
      const doubtful = await peer(lose)
      const error = await failure((await doubtful.dial()).send('hi', { messageId: 'm1' }))
      assert.deepEqual([doubtful.calls.length, error.details['messageId']], [1, 'm1'])
      const ours = await peer((call, count) => (count === 1 ? lose(call) : call.result({ task: done })), [{}], {
        extensions: [{ uri: cursorExtension }],
      })
      assert.equal((await (await ours.dial()).send('hi')).kind, 'task')
      assert.equal(new Set(ours.calls.map(({ params }) => params.message?.messageId)).size, 1)
    })
  }

  it('of a message ends with the window of the card [B-163 B-164]', async () => {
    const lose = ({ response }: Called): void => void setTimeout(() => response.destroy(), 5)
    const sends = async (idempotencyWindowMs: number, how: 'send' | 'stream'): Promise<number> => {
      const { calls, dial } = await peer(lose, [{}], {
        streaming: true,
        extensions: [{ uri: cursorExtension, params: { idempotencyWindowMs } }],
      })
      const agent = await dial()
      await failure(how === 'send' ? agent.send('hi') : Promise.resolve(agent.stream('hi').text()))
      return calls.length
    }
    for (const how of ['send', 'stream'] as const) {
      assert.equal(await sends(60_000, how), 3)
      // The response was lost after the window had ended.
      assert.equal(await sends(1, how), 1)
      assert.equal(await sends(0, how), 1)
    }
  })

  it('of a cancel needs a peer that certainly did nothing', async () => {
    const broken = await peer(({ response }) => void response.destroy())
    assert.equal((await failure((await broken.dial()).cancel('t1'))).code, 'UNAVAILABLE')
    assert.equal(broken.calls.length, 1)
    const busy = await peer((call, count) => (count === 1 ? unavailable(call) : call.result(done)))
    assert.equal((await (await busy.dial()).cancel('t1')).id, 't1')
  })
})

describe('another interface', () => {
  // A port that no system hands out, and none of those that fetch blocks: a port that was just closed may be given to the next
  // server that opens.
  const nowhere = 'http://127.0.0.1:2/rpc'

  it('is used when the first cannot be reached, also for a message, and kept [B-20]', async () => {
    const { calls, warnings, dial } = await peer(({ result }) => result({ task: done }), [{ url: nowhere }, {}])
    const agent = await dial()
    assert.equal(agent.interface.url, nowhere)
    await agent.send('hi')
    assert.notEqual(agent.interface.url, nowhere)
    await agent.send('hi')
    assert.deepEqual([calls.length, warnings.length], [2, 1])
  })

  it('is used when the first is unavailable, if it is on another server and nothing was done [B-20]', async () => {
    for (const [status, method] of [
      [503, 'send'],
      [502, 'get'],
    ] as const) {
      const other = await peer(({ result }) => result(method === 'send' ? { task: done } : done))
      const { url } = (await other.dial()).interface
      const { calls, warnings, dial } = await peer(
        ({ response }) => void response.writeHead(status).end(),
        [{}, { protocolVersion: '0.3' }, { url }],
      )
      const agent = await dial()
      assert.equal((await agent[method]('t1')).kind, 'task')
      assert.equal(agent.interface.url, url)
      assert.deepEqual([calls.length, warnings.length, other.calls.length], [1, 1, 1])
    }
    const other = await peer(({ result }) => result({ task: done }))
    const { url } = (await other.dial()).interface
    const lost = await peer(({ response }) => void response.writeHead(502).end(), [{}, { url }])
    assert.equal((await failure((await lost.dial()).send('hi'))).details['status'], '502')
    assert.equal(other.calls.length, 0)
  })

  it('is used when the first does not support its version, or does not exist [A-31 B-20]', async () => {
    const refusals: readonly ((call: Called) => void)[] = [
      ({ error }) => error(-32_009, 'Version not supported'),
      ({ error }) => error(-32_601, 'Method not found'),
      ...[404, 405, 501].map(
        (status) =>
          ({ response }: Called) =>
            void response.writeHead(status).end('<p>no</p>'),
      ),
    ]
    for (const refuse of refusals) {
      const { calls, dial } = await peer(
        (call) => (call.method === 'SendMessage' ? refuse(call) : call.result(oldDone)),
        [{}, { protocolVersion: '0.3' }],
      )
      const agent = await dial()
      assert.equal((await agent.send('hi')).kind, 'task')
      assert.equal(agent.interface.version, '0.3')
      await agent.send('again')
      assert.deepEqual(methods(calls), ['SendMessage', 'message/send', 'message/send'])
    }
  })

  it('is not tried when the interface is known to work, or has returned its own error', async () => {
    const { calls, dial } = await peer(
      ({ method, result, error }) => (method === 'GetTask' ? result(done) : error(-32_601)),
      [{}, { protocolVersion: '0.3' }],
    )
    const agent = await dial()
    await agent.get('t1')
    assert.equal((await failure(agent.list())).code, 'METHOD_NOT_FOUND')
    const strict = await peer(({ error }) => error(-32_001, 'Task not found'), [{}, { protocolVersion: '0.3' }])
    assert.equal((await failure((await strict.dial()).get('t1'))).code, 'TASK_NOT_FOUND')
    assert.deepEqual([calls.length, strict.calls.length], [2, 1])
  })

  it('of the pinned version may be used, and no other [B-9]', async () => {
    const { calls, dial } = await peer(
      ({ path, result }) => result(path === '/rpc' ? oldDone : { task: done }),
      [{ url: nowhere }, { protocolVersion: '0.3' }],
    )
    const error = await failure((await dial({ version: '1.0' })).send('hi'))
    assert.deepEqual([error.code, error.details['reason'], calls.length], ['UNAVAILABLE', 'NETWORK', 0])
  })

  it('does not change the error, if it fails too', async () => {
    const { dial } = await peer(({ error }) => error(-32_601), [{}, { url: nowhere }])
    const agent = await dial()
    assert.equal((await failure(agent.send('hi'))).code, 'METHOD_NOT_FOUND')
    assert.notEqual(agent.interface.url, nowhere)
  })

  it('is also used for a stream', async () => {
    const { calls, dial } = await peer(
      ({ method, error, response }) => {
        if (method !== 'message/stream') return error(-32_601)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: oldDone })}\n\n`)
      },
      [{}, { protocolVersion: '0.3' }],
      { streaming: true },
    )
    assert.equal((await (await dial()).stream('hi').result()).kind, 'task')
    assert.deepEqual(methods(calls), ['SendStreamingMessage', 'message/stream'])
  })
})

describe('a card that declares another version than its agent supports', () => {
  it('is detected and logged: the other version is tried at the same URL [A-31]', async () => {
    const { calls, warnings, dial } = await peer(({ method, result, error }) =>
      method === 'message/send' ? result(oldDone) : error(-32_601, 'Method not found'),
    )
    const agent = await dial()
    await agent.send('hi')
    await agent.send('again')
    assert.deepEqual(methods(calls), ['SendMessage', 'message/send', 'message/send'])
    assert.equal(agent.interface.version, '0.3')
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /declares A2A 1\.0 .* speaks 0\.3/)
    const backwards = await peer(
      ({ method, result, error }) => (method === 'SendMessage' ? result({ task: done }) : error(-32_601)),
      [{ protocolVersion: '0.3' }],
    )
    assert.equal((await (await backwards.dial()).send('hi')).kind, 'task')
  })

  it('is detected over REST, whose paths differ', async () => {
    const { dial } = await peer(
      ({ path, response }) => {
        if (path === '/rpc/v1/tasks/t1')
          response.writeHead(200, json).end(JSON.stringify({ ...done, status: { state: 'TASK_STATE_COMPLETED' } }))
        else response.writeHead(404).end('nothing here')
      },
      [{ protocolBinding: 'HTTP+JSON' }],
    )
    const agent = await dial()
    assert.equal((await agent.get('t1')).id, 't1')
    assert.equal(agent.interface.version, '0.3')
  })

  it('is detected by the shape of a response, and logged once', async () => {
    const { warnings, dial } = await peer(({ result }) => result(oldDone))
    const agent = await dial()
    assert.equal((await agent.send('hi')).kind, 'task')
    await agent.send('hi')
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /declares A2A 1\.0, but it responds as A2A 0\.3/)
  })

  it('is an error that names the cause, if the version is pinned [B-9]', async () => {
    const other = await peer(({ method, result, error }) => (method.includes('/') ? result(oldDone) : error(-32_601)))
    const error = await failure((await other.dial({ version: '1.0' })).send('hi'))
    assert.deepEqual([error.code, error.details['declared'], other.calls.length], ['VERSION_NOT_SUPPORTED', '1.0', 1])
    assert.match(error.message, /does not support SendMessage/)
    const words = await peer(({ result }) => result(oldDone))
    const second = await failure((await words.dial({ version: '1.0' })).send('hi'))
    assert.deepEqual([second.code, words.calls.length], ['VERSION_NOT_SUPPORTED', 1])
    assert.match(second.message, /responds as A2A 0\.3/)
  })

  it('is not suspected because of an unknown operation', async () => {
    const { warnings, dial } = await peer(({ error }) => error(-32_601, 'Method not found'))
    const error = await failure((await dial()).list())
    assert.deepEqual([error.code, warnings.length], ['METHOD_NOT_FOUND', 0])
  })
})

describe('an interceptor', () => {
  it('wraps every exchange, including failed ones and the start of streams, the first outermost', async () => {
    const { dial } = await peer(
      ({ response, method, result }, count) => {
        if (count === 1) response.writeHead(503).end()
        else if (method === 'GetTask') result(done)
        else
          response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .end(`data: ${JSON.stringify({ result: { task: done } })}\n\n`)
      },
      [{}],
      { streaming: true },
    )
    const seen: string[] = []
    const watch = (name: string) => async (call: ClientCall, next: (call: ClientCall) => Promise<never>) => {
      seen.push(`${name} ${call.operation} ${call.attempt}`)
      try {
        const outcome = await next(call)
        seen.push(`${name} ${Object.keys(outcome)[0]}`)
        return outcome
      } catch (reason) {
        seen.push(`${name} ${(reason as A2AError).code}`)
        throw reason
      }
    }
    const agent = await dial({ interceptors: [watch('outer'), watch('inner')] as never })
    await agent.get('t1')
    await agent.stream('hi').result()
    assert.deepEqual(seen, [
      'outer GetTask 1',
      'inner GetTask 1',
      'inner UNAVAILABLE',
      'outer UNAVAILABLE',
      'outer GetTask 2',
      'inner GetTask 2',
      'inner result',
      'outer result',
      'outer SendStreamingMessage 1',
      'inner SendStreamingMessage 1',
      'inner stream',
      'outer stream',
    ])
  })

  it('may change the request and the result', async () => {
    const { calls, dial } = await peer(({ result }) => result(done))
    const agent = await dial({
      interceptors: [
        async (call, next) => {
          const outcome = await next({
            ...call,
            request: { id: 't1', historyLength: 5 },
            headers: { ...call.headers, 'x-seen': 'yes' },
          })
          return { result: { ...(outcome as { result: typeof done }).result, contextId: 'mine' } as never }
        },
      ],
    })
    assert.equal((await agent.get('t1')).contextId, 'mine')
    assert.deepEqual([calls[0]?.params['historyLength'], calls[0]?.headers['x-seen']], [5, 'yes'])
  })
})

describe('the extended card', () => {
  it('is the card from then on [B-139]', async () => {
    const more = {
      name: 'More',
      version: '2',
      supportedInterfaces: [{ url: 'http://agent.test', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { pushNotifications: true },
    }
    const { dial } = await peer(
      ({ method, result }) => result(method === 'GetExtendedAgentCard' ? more : { configs: [] }),
      [{}],
      { extendedAgentCard: true },
    )
    const agent = await dial()
    await failure(agent.push.list('t1'))
    assert.equal((await agent.extendedCard()).name, 'More')
    assert.equal(agent.card.name, 'More')
    assert.deepEqual((await agent.push.list('t1')).configs, [])
  })
})
