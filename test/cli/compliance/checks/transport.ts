/** Checks of transports and versions: the choice from the card, tenants, the version of every request, capabilities, extensions. */
import assert from 'node:assert/strict'
import { wellKnownPath } from '../../fixture/fixture-agent.ts'
import { finishedTask, startTask } from '../workbench.ts'
import type { Checks, JsonError, JsonTask } from '../workbench.ts'

interface CardInterface {
  readonly url: string
  readonly protocolBinding: string
  readonly protocolVersion: string
  readonly tenant?: string
}
const interfacesOf = (card: Record<string, unknown>): CardInterface[] => card['supportedInterfaces'] as CardInterface[]

/** Lists the bindings of the card in this order. */
const inOrder =
  (...order: readonly string[]) =>
  (card: Record<string, unknown>): unknown => {
    const rank = ({ protocolBinding }: CardInterface): number => order.indexOf(protocolBinding)
    const listed = interfacesOf(card).filter((each) => order.includes(each.protocolBinding))
    return { ...card, supportedInterfaces: listed.toSorted((a, b) => rank(a) - rank(b)) }
  }

export const transportChecks: Checks = {
  async A2ACLI_TX_001(bench) {
    const rest = await bench.agent({ card: inOrder('HTTP+JSON', 'JSONRPC') })
    await bench.a2a(['send', '-a', rest.url, 'complete'], { shows: 'uses HTTP+JSON, which the card lists first' })
    assert.deepEqual([...new Set(rest.calls.map(({ binding }) => binding))], ['HTTP+JSON'])
    const rpc = await bench.agent({ card: inOrder('JSONRPC', 'HTTP+JSON') })
    await bench.a2a(['send', '-a', rpc.url, 'complete'], { shows: 'uses JSON-RPC, which this card lists first' })
    assert.deepEqual([...new Set(rpc.calls.map(({ binding }) => binding))], ['JSONRPC'])
  },

  async A2ACLI_TX_002(bench) {
    const agent = await bench.agent({
      card: (card) => ({
        ...card,
        supportedInterfaces: [
          { url: 'https://pigeons.example.com', protocolBinding: 'PIGEON', protocolVersion: '1.0' },
          ...interfacesOf(inOrder('JSONRPC', 'HTTP+JSON')(card) as Record<string, unknown>),
        ],
      }),
    })
    const used = async (args: readonly string[], shows: string): Promise<string | undefined> => {
      const before = agent.calls.length
      await bench.a2a(['send', '-a', agent.url, ...args, 'complete'], { shows })
      return agent.calls.at(before)?.binding
    }
    assert.equal(await used([], 'skips a binding that it does not know and uses the next entry'), 'JSONRPC')
    assert.equal(await used(['--transport', 'rest'], 'follows the preference'), 'HTTP+JSON')
    assert.equal(
      await used(
        ['--transport', 'grpc', '--transport', 'HTTP+JSON', '--transport', 'jsonrpc'],
        'skips a preference that the card does not offer',
      ),
      'HTTP+JSON',
    )
    assert.equal(
      await used(['--transport', 'grpc'], 'falls back to the order of the card if no preference matches'),
      'JSONRPC',
    )
  },

  async A2ACLI_TX_003(bench) {
    const agent = await bench.agent({ settings: { tenants: { declared: ['acme'] }, streaming: false } })
    const plain = await bench.agent({ settings: { streaming: false } })
    const withTenant = await bench.agent({
      settings: { tenants: { declared: ['acme'] }, streaming: false },
      card: (card) => ({
        ...card,
        supportedInterfaces: interfacesOf(card).filter(
          ({ tenant, protocolBinding }) => tenant === 'acme' && protocolBinding === 'JSONRPC',
        ),
      }),
    })
    const { id } = await startTask(bench, withTenant, 'hold tx-003')
    const running = await bench.start(['task', 'get', id, '-a', withTenant.url, '--wait', '--poll-interval', '20ms'])
    const second = Promise.withResolvers<void>()
    withTenant.server.rules.push(() => {
      if (withTenant.sent('GetTask').length >= 2) second.resolve()
      return undefined
    })
    await Promise.race([second.promise, running.ended])
    withTenant.gates.open('tx-003')
    await bench.finish(running, { shows: 'sets the tenant of the interface in every request, also in polls' })
    const calls = withTenant.server.requests.filter(({ method }) => method === 'POST')
    assert.ok(calls.length >= 3)
    for (const { body } of calls)
      assert.equal((JSON.parse(body) as { params: { tenant?: string } }).params.tenant, 'acme')
    await bench.a2a(['send', '-a', plain.url, 'complete'], { shows: 'omits the field where the interface has none' })
    for (const { body } of plain.server.requests.filter(({ method }) => method === 'POST'))
      assert.doesNotMatch(body, /"tenant"/)
    assert.ok(agent.url.length > 0)
  },

  async A2ACLI_VER_001(bench) {
    const agent = await bench.agent({ grpc: true })
    for (const binding of ['jsonrpc', 'rest', 'grpc']) {
      await bench.a2a(['send', '-a', agent.url, '--transport', binding, 'complete'], {
        shows: 'sends A2A-Version 1.0 with every request',
      })
    }
    const http = agent.server.requests.filter(({ path }) => path !== wellKnownPath)
    assert.ok(http.length >= 2 && http.every(({ headers }) => headers['a2a-version'] === '1.0'))
    assert.ok(agent.calls.every(({ header }) => header('a2a-version') === '1.0'))
    const old = await bench.agent({ settings: { card: '0.3', versions: ['0.3'] } })
    const refused = await bench.a2a(['send', '-a', old.url, '-o', 'json', 'complete'], {
      exit: 1,
      shows: 'does not fall below 1.0 by itself: it fails and names --a2a-version',
    })
    const { error } = refused.json<JsonError>()
    assert.equal(error.code, 'VersionNotSupportedError')
    assert.match(error.hint ?? '', /--a2a-version 0\.3/)
    const named = await bench.a2a(['send', '-a', old.url, '-o', 'json', '--a2a-version', '0.3', 'complete'], {
      shows: 'uses 0.3 if it is named, and prints the 1.0 form of the result',
    })
    assert.equal(named.json<{ task: JsonTask }>().task.status.state, 'TASK_STATE_COMPLETED')
    const strict = await bench.agent({ card: inOrder('JSONRPC') })
    strict.server.rules.push(({ method }) =>
      method === 'POST'
        ? {
            answer: Response.json({
              jsonrpc: '2.0',
              id: 1,
              error: { code: -32_009, message: 'Protocol version 1.0 is not supported' },
            }),
          }
        : undefined,
    )
    const rejected = await bench.a2a(['task', 'get', 'x', '-a', strict.url, '--transport', 'jsonrpc', '-o', 'json'], {
      exit: 1,
      shows: 'reports the version error of an agent and does not retry with another version',
    })
    assert.equal(rejected.json<JsonError>().error.code, 'VersionNotSupportedError')
    assert.ok(strict.server.requests.every(({ headers }) => headers['a2a-version'] !== '0.3'))
  },

  async A2ACLI_TX_004(bench) {
    const agent = await bench.agent({ grpc: true })
    for (const [binding, wire] of [
      ['jsonrpc', 'JSONRPC'],
      ['rest', 'HTTP+JSON'],
      ['grpc', 'GRPC'],
    ] as const) {
      const run = await bench.a2a(['send', '-a', agent.url, '--transport', binding, '-o', 'json', 'complete'], {
        shows: `sends over ${wire}`,
      })
      assert.equal(run.json<{ task: JsonTask }>().task.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(agent.calls.at(-1)?.binding, wire)
    }
  },

  async A2ACLI_TX_005(bench) {
    const agent = await bench.agent({ grpc: true })
    const run = await bench.a2a(['send', '-a', agent.url, '--transport', 'grpc', '-o', 'json', '--stream', 'chunks'], {
      shows: 'streams over gRPC',
    })
    assert.match(run.stdout, /TASK_STATE_COMPLETED/)
    assert.ok(agent.calls.every(({ binding }) => binding === 'GRPC'))
    const { id } = await finishedTask(bench, agent, 'parts')
    const overGrpc = await bench.a2a(['task', 'get', id, '-a', agent.url, '--transport', 'grpc', '-o', 'json'], {
      shows: 'prints a task',
    })
    const overHttp = await bench.a2a(['task', 'get', id, '-a', agent.url, '--transport', 'jsonrpc', '-o', 'json'], {
      shows: 'prints the same bytes over JSON-RPC',
    })
    assert.equal(overGrpc.stdout, overHttp.stdout)
    const direct = await bench.a2a(
      ['task', 'get', id, '-e', `127.0.0.1:${agent.grpcPort}`, '--transport', 'grpc', '-o', 'json'],
      {
        shows: 'calls a gRPC endpoint without a card',
      },
    )
    assert.equal(direct.stdout, overGrpc.stdout)
  },

  async A2ACLI_VER_003(bench) {
    const agent = await bench.agent({ settings: { streaming: false }, push: false })
    const { id } = await startTask(bench, agent, 'hold ver-003')
    const before = agent.calls.length
    const cases = [
      [['task', 'subscribe', id], 'UnsupportedOperationError'],
      [['task', 'push-config', 'list', id], 'PushNotificationNotSupportedError'],
      [['card', 'get', '--extended'], 'UnsupportedOperationError'],
    ] as const
    for (const [command, name] of cases) {
      const run = await bench.a2a([...command, '-a', agent.url, '-o', 'json'], {
        exit: 1,
        shows: `reports ${name} from the card, without a call`,
      })
      assert.equal(run.json<JsonError>().error.code, name)
    }
    assert.equal(agent.calls.length, before)
  },

  async A2ACLI_VER_002(bench) {
    const uri = 'https://extensions.example.com/receipts/v1'
    const agent = await bench.agent({ settings: { extensions: [{ uri, required: true }] } })
    const refused = await bench.a2a(['send', '-a', agent.url, '-o', 'json', 'complete'], {
      exit: 1,
      shows: 'declares no extension that it was not asked to support, and reports ExtensionSupportRequiredError',
    })
    assert.equal(refused.json<JsonError>().error.code, 'ExtensionSupportRequiredError')
    await bench.a2a(['send', '-a', agent.url, '-o', 'json', '--extension', uri, 'complete'], {
      shows: 'declares the required extension in A2A-Extensions',
    })
    assert.ok(agent.server.requests.some(({ headers }) => headers['a2a-extensions']?.includes(uri)))
  },
}
