/** Peers of 0.3 that disconnect: they have no cursors, and may continue from any position (B-108). */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { failsWith, faultCase } from './fault-case.ts'
import type { Exchange } from './exchange.ts'
import { cardOf } from './faulty-server.ts'
import type { ExchangeHandler } from './faulty-server.ts'
import { contextId, taskId, wholeText } from './sample-task.ts'

const task = (state: string, text = ''): object => ({
  kind: 'task',
  id: taskId,
  contextId,
  status: { state },
  ...(text !== '' && { artifacts: [{ artifactId: 'answer', parts: [{ kind: 'text', text }] }] }),
})
const status = (state: string, final = false): object => ({
  kind: 'status-update',
  taskId,
  contextId,
  status: { state },
  final,
})

const words = wholeText.split(/(?<= )/)
const chunks = words.map((text, index) => ({
  kind: 'artifact-update',
  taskId,
  contextId,
  artifact: { artifactId: 'answer', parts: [{ kind: 'text', text }] },
  append: index > 0,
  lastChunk: index === words.length - 1,
}))
const events = [task('submitted'), status('working'), ...chunks, status('completed', true)]
const textAfter = (count: number): string => words.slice(0, Math.max(0, count - 2)).join('')

function oldPeer(answers: Readonly<Record<string, ExchangeHandler>>): ExchangeHandler {
  return (exchange) => {
    if (exchange.operation === 'card') return exchange.json(oldCard(`http://${exchange.headers['host']}`))
    const answer = answers[String(exchange.operation)]
    return answer === undefined ? exchange.error(-32_601, 'Method not found') : answer(exchange)
  }
}

function oldCard(url: string): object {
  const { supportedInterfaces: _, ...card } = cardOf([]) as Record<string, unknown>
  return { ...card, protocolVersion: '0.3.0', url: `${url}/rpc`, preferredTransport: 'JSONRPC' }
}

function firstFour(exchange: Exchange): void {
  exchange.stream()
  for (const event of events.slice(0, 4)) exchange.event(event)
  exchange.hangUp()
}

describe('a stream of 0.3 that is cut', () => {
  faultCase('has not ended while the task is WORKING, even if it says `final` [B-97 B-98]', async (world) => {
    const { open, connect, signal } = world
    for (const waits of [false, true]) {
      const server = await open(
        oldPeer({
          'message/stream': (exchange) => {
            exchange.stream()
            for (const event of [...events.slice(0, 4), status('working', true)]) exchange.event(event)
            if (!waits) exchange.end()
          },
          'tasks/resubscribe': (exchange) => exchange.error(-32_004, 'This operation is not supported'),
          'tasks/get': (exchange) => exchange.result(task('completed', wholeText)),
        }),
      )
      const agent = await connect(server)
      const stream = agent.stream('go', { signal })
      const answer = await stream.result()
      assert.ok(answer.kind === 'task')
      assert.equal(answer.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(await stream.text(), wholeText)
    }
  })

  faultCase('is completed by polling [B-98 B-108]', async (stage) => {
    const server = await stage.open(
      oldPeer({
        'message/stream': firstFour,
        'tasks/get': (exchange) => exchange.result(task('completed', wholeText)),
      }),
    )
    const agent = await stage.connect(server)
    const { signal } = stage
    assert.equal(await agent.stream('go', { signal }).text(), wholeText)
    const pieces = await Array.fromAsync(agent.stream('go', { signal }).text())
    assert.equal(pieces.join(''), wholeText)
  })

  faultCase('has ended if the peer marks its last event as final [B-97]', async ({ open, connect, signal }) => {
    const server = await open(
      oldPeer({
        'message/stream': (exchange) => {
          exchange.stream()
          exchange.event(task('submitted'))
          exchange.event(status('input-required', true))
        },
      }),
    )
    const result = await (await connect(server)).stream('go', { signal }).result()
    assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(server.calls.length, 1)
  })

  faultCase('is interrupted if the task cannot be read [B-98]', async ({ open, connect, signal }) => {
    const server = await open(oldPeer({ 'message/stream': firstFour }))
    await failsWith((await connect(server)).stream('go', { signal }).all())
    assert.ok(server.calls.length < 20)
  })
})

/** The first read shows a working task, later reads the end. */
function readOnce(text: string): ExchangeHandler {
  let reads = 0
  return (exchange) => exchange.result(reads++ === 0 ? task('working', text) : task('completed', wholeText))
}

describe('a subscription of 0.3', () => {
  faultCase('that begins with the task delivers what is new in it [B-98 B-108]', async ({ open, connect, signal }) => {
    const server = await open(
      oldPeer({
        'tasks/get': readOnce(textAfter(4)),
        'tasks/resubscribe': (exchange) => {
          exchange.stream()
          exchange.event(task('working', textAfter(6)))
          for (const event of events.slice(6, 7)) exchange.event(event)
          exchange.hangUp()
        },
      }),
    )
    const agent = await connect(server)
    assert.equal(agent.interface.version, '0.3')
    assert.equal(await agent.subscribe(taskId, { signal }).text(), wholeText)
  })

  faultCase(
    'is completed from the task if the task has ended in the meantime [B-98 B-108]',
    async ({ open, connect, signal }) => {
      const endings: Readonly<Record<string, ExchangeHandler>> = {
        'by an error': (exchange) => exchange.error(-32_004, 'The task has ended'),
        'by an error that is an event': (exchange) => {
          exchange.stream()
          exchange.chunk('event: error\ndata: {"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"over"}}\n\n')
          exchange.end()
        },
        'by nothing at all': (exchange) => {
          exchange.stream()
          exchange.end()
        },
        'by the task': (exchange) => {
          exchange.stream()
          exchange.event(task('completed', wholeText))
          exchange.end()
        },
      }
      for (const [how, resubscribe] of Object.entries(endings)) {
        const server = await open(oldPeer({ 'tasks/get': readOnce(textAfter(4)), 'tasks/resubscribe': resubscribe }))
        assert.equal(await (await connect(server)).subscribe(taskId, { signal }).text(), wholeText, how)
      }
    },
  )
})
