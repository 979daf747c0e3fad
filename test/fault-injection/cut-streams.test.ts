/** A server that cuts every connection after three events, and events that are repeated, late or of another task. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { StreamEvent } from '@parley/a2a'
import type { Exchange } from './exchange.ts'
import { endsTyped, failsWith, faultCase } from './fault-case.ts'
import type { ExchangeHandlers } from './faulty-server.ts'
import { chunk, events, statusUpdate, task, taskAfter, taskId, wholeText } from './sample-task.ts'

/** Sends three events from a position and disconnects. Returns the new position. */
function three(exchange: Exchange, from: number, cursors: boolean): number {
  const to = Math.min(from + 3, events.length)
  for (let index = from; index < to; index++) exchange.event(events[index], cursors ? `e${index}` : undefined)
  exchange.hangUp()
  return to
}

const withCursors: ExchangeHandlers = {
  SendStreamingMessage(exchange) {
    exchange.stream()
    three(exchange, 0, true)
  },
  SubscribeToTask(exchange) {
    const last = exchange.headers['last-event-id']
    exchange.stream()
    if (last === undefined) exchange.event({ task: taskAfter(3) }, 'e2')
    three(exchange, last === undefined ? 3 : Number(last.slice(1)) + 1, true)
  },
}

/** The task produces `lost` events while no client is connected. */
function withoutCursors(lost: number): ExchangeHandlers {
  let reached = 0
  return {
    SendStreamingMessage(exchange) {
      exchange.stream()
      reached = three(exchange, 0, false)
    },
    SubscribeToTask(exchange) {
      reached = Math.min(reached + lost, events.length)
      if (reached === events.length) return exchange.error(-32_004, 'The task has ended', 400)
      exchange.stream()
      exchange.event({ task: taskAfter(reached) })
      reached = three(exchange, reached, false)
    },
    GetTask: (exchange) => exchange.result(taskAfter(reached)),
  }
}

for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
  describe(`a server over ${binding} that cuts every connection after three events`, () => {
    const bindings = [binding]

    faultCase('with cursors is read with each event once [B-98 B-109]', async (stage) => {
      const { signal } = stage
      const server = await stage.open(withCursors, { bindings })
      const agent = await stage.connect(server)
      const stream = agent.stream('go', { signal })
      assert.deepEqual(await stream.all(), events)
      assert.equal(stream.lastEventId, `e${events.length - 1}`)
      assert.equal(await agent.stream('go', { signal }).text(), wholeText)
      assert.equal(server.count('SendStreamingMessage'), 2, 'a message was sent twice')
    })

    faultCase('with cursors is followed from a cursor of another process', async ({ open, connect, signal }) => {
      const agent = await connect(await open(withCursors, { bindings }))
      const rest = await agent.subscribe(taskId, { lastEventId: 'e6', signal }).all()
      assert.deepEqual(rest, events.slice(7))
    })

    for (const lost of [0, 2]) {
      const meanwhile = lost === 0 ? 'waits meanwhile' : 'goes on meanwhile'
      faultCase(`without cursors, while the task ${meanwhile}, delivers the text once`, async (stage) => {
        const { signal } = stage
        const server = await stage.open(withoutCursors(lost), { bindings })
        const agent = await stage.connect(server)
        assert.equal(await agent.stream('go', { signal }).text(), wholeText)
        const result = await agent.stream('go', { signal }).result()
        assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_COMPLETED')
        assert.equal(result.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join(''), wholeText)
        assert.equal(server.count('SendStreamingMessage'), 2, 'a message was sent twice')
      })
    }

    faultCase('delivers each event once [B-98]', async ({ open, connect, signal }) => {
      const agent = await connect(await open(withoutCursors(0), { bindings }))
      const seen = await agent.stream('go', { signal }).all()
      const chunks = seen.filter((event) => 'artifactUpdate' in event)
      assert.deepEqual(
        chunks,
        events.filter((event) => 'artifactUpdate' in event),
      )
    })
  })
}

describe('a stream', () => {
  faultCase('that restarts from the beginning after each cut is delivered once', async ({ open, connect, signal }) => {
    let upTo = 3
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        three(exchange, 0, true)
      },
      // Ignores Last-Event-ID, but has cursors.
      SubscribeToTask(exchange) {
        upTo += 3
        exchange.stream()
        events.slice(0, upTo).forEach((event, index) => exchange.event(event, `e${index}`))
        exchange.hangUp()
      },
    })
    assert.deepEqual(await (await connect(server)).stream('go', { signal }).all(), events)
  })

  faultCase('that repeats an event under one id is delivered once', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        events.forEach((event, index) => {
          exchange.event(event, `e${index}`)
          exchange.event(event, `e${index}`)
        })
        exchange.end()
      },
    })
    assert.deepEqual(await (await connect(server)).stream('go', { signal }).all(), events)
  })

  faultCase('whose ids repeat for different events loses none: some servers send the time', async (stage) => {
    const server = await stage.open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        events.forEach((event, index) => exchange.event(event, 1_700_000_000_000 + Math.floor(index / 4)))
        exchange.end()
      },
    })
    const agent = await stage.connect(server)
    assert.deepEqual(await agent.stream('go', { signal: stage.signal }).all(), events)
  })

  faultCase('whose ids and texts repeat loses none of them', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event({ task: task('WORKING') }, 1)
        for (let count = 0; count < 3; count++) exchange.event(chunk('ha '), 2)
        exchange.event(statusUpdate('COMPLETED'), 3)
        exchange.end()
      },
      GetTask: (exchange) => exchange.result(task('COMPLETED', 'ha ha ha ')),
    })
    assert.equal(await (await connect(server)).stream('go', { signal }).text(), 'ha ha ha ')
  })

  faultCase('whose ids are timestamps is resumed without loss', async ({ open, connect, signal }) => {
    const time = (index: number): number => 1_700_000_000_000 + Math.floor(index / 4)
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        events.slice(0, 6).forEach((event, index) => exchange.event(event, time(index)))
        exchange.hangUp()
      },
      // Ignores Last-Event-ID.
      SubscribeToTask(exchange) {
        exchange.stream()
        exchange.event({ task: taskAfter(6) }, time(6))
        events.slice(6).forEach((event, index) => exchange.event(event, time(index + 6)))
        exchange.end()
      },
    })
    assert.equal(await (await connect(server)).stream('go', { signal }).text(), wholeText)
  })

  faultCase('whose end overtakes the last chunks ends with the final state', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event(statusUpdate('WORKING'))
        exchange.event({ task: task('SUBMITTED') })
        exchange.event(chunk('one ', { append: false }))
        exchange.event(statusUpdate('COMPLETED'))
        exchange.event(chunk('two '))
        exchange.event(statusUpdate('WORKING'))
        exchange.end()
      },
      GetTask: (exchange) => exchange.result(task('COMPLETED', 'one two ')),
    })
    const result = await (await connect(server)).stream('go', { signal }).result()
    assert.ok(result.kind === 'task' && result.status.state === 'TASK_STATE_COMPLETED')
  })

  faultCase('that appends to an unknown artifact starts it [B-100]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event({ task: task('SUBMITTED') })
        exchange.event(chunk('two '))
        exchange.event(statusUpdate('COMPLETED'))
        exchange.end()
      },
    })
    const artifacts = await (await connect(server)).stream('go', { signal }).artifacts()
    assert.deepEqual(artifacts, [{ artifactId: 'answer', parts: [{ text: 'two ' }] }])
  })

  faultCase('that replaces an artifact does not append to it [B-100]', async ({ open, connect, signal }) => {
    const server = await open({
      SendStreamingMessage(exchange) {
        exchange.stream()
        exchange.event({ task: task('SUBMITTED') })
        exchange.event(chunk('draft', { append: false }))
        exchange.event(chunk('final', { append: false }))
        exchange.event(statusUpdate('COMPLETED'))
        exchange.end()
      },
    })
    const artifacts = await (await connect(server)).stream('go', { signal }).artifacts()
    assert.deepEqual(artifacts, [{ artifactId: 'answer', parts: [{ text: 'final' }] }])
  })

  faultCase('with events of another task delivers only its own', async ({ open, connect, signal }) => {
    const foreign = { taskId: 'task-2', contextId: 'context-2' }
    const server = await open({
      SubscribeToTask(exchange) {
        exchange.stream()
        exchange.event({ task: taskAfter(2) })
        for (const event of events.slice(2, -1)) {
          exchange.event(event)
          exchange.event(chunk('foreign ', foreign))
        }
        exchange.event(statusUpdate('FAILED', foreign))
        exchange.event(events.at(-1))
        exchange.end()
      },
      GetTask: (exchange) => exchange.result(taskAfter(events.length)),
    })
    const ended = await endsTyped((await connect(server)).subscribe(taskId, { signal }).text())
    if (typeof ended === 'string') assert.equal(ended, wholeText)
    else assert.equal(ended.code, 'INVALID_AGENT_RESPONSE')
  })

  faultCase('of another task is not mistaken for the requested one', async ({ open, connect, signal }) => {
    const other = { ...task('COMPLETED', 'foreign '), id: 'task-2' }
    const server = await open({
      SubscribeToTask(exchange) {
        exchange.stream()
        exchange.event({ task: other })
        exchange.end()
      },
      GetTask: (exchange) => exchange.result(other),
    })
    const agent = await connect(server)
    await failsWith(agent.subscribe(taskId, { signal }).all(), 'INVALID_AGENT_RESPONSE', 'INTERRUPTED')
    await failsWith(agent.get(taskId, { signal }), 'INVALID_AGENT_RESPONSE')
    await failsWith(agent.wait(taskId, { signal }), 'INVALID_AGENT_RESPONSE', 'INTERRUPTED')
  })

  faultCase('that never ends can be closed, which closes the connection', async (stage) => {
    const { signal } = stage
    const server = await stage.open({ SendStreamingMessage: endless })
    const agent = await stage.connect(server)
    let count = 0
    for await (const event of agent.stream('go', { signal })) {
      if ('artifactUpdate' in event && ++count === 100) break
    }
    for await (const text of agent.stream('go', { signal }).text()) if (text !== '') break
    const frames = agent.stream('go', { signal }).frames()
    await frames.next()
    await frames.return()
    assert.equal(count, 100)
  })

  faultCase('that never ends is ended by its deadline', async ({ open, connect, signal }) => {
    const server = await open({ SendStreamingMessage: endless })
    const agent = await connect(server)
    await failsWith(agent.stream('go', { signal, timeoutMs: 150 }).all(), 'TIMEOUT')
  })

  faultCase("that never ends is ended by the caller's signal, with its reason", async (stage) => {
    const server = await stage.open({ SendStreamingMessage: endless })
    const agent = await stage.connect(server)
    const reason = new Error('enough')
    const seen: StreamEvent[] = []
    await assert.rejects(
      async () => {
        for await (const event of agent.stream('go', { signal: stage.signal })) {
          if (seen.push(event) === 10) stage.abort(reason)
        }
      },
      (thrown) => thrown === reason,
    )
  })
})

async function endless(exchange: Exchange): Promise<void> {
  exchange.stream()
  exchange.event({ task: task('WORKING') })
  while (!exchange.socket.destroyed) {
    exchange.event(chunk('more '))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
