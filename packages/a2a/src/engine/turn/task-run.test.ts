/** Turns: one at a time, one per message, and what happens to messages that arrive meanwhile. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurnOfTheLoop, setTimeout as sleep } from 'node:timers/promises'
import type { Turn } from '../../agents/agent.ts'
import { authRequired, fail, inputRequired, reject, reply, status } from '../../agents/reports.ts'
import { A2AError } from '../../model/error.ts'
import {
  artifactText,
  eventually,
  historyOf,
  openTestEngine,
  textOfMessage,
  short,
  stateOfItem,
  statesOf,
  typesOf,
} from '../../testing/fixtures/test-engine.ts'

/** An agent that works on each message until it is released, and counts its concurrent turns. */
function workshop() {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gate = (text: string): PromiseWithResolvers<void> => {
    const known = gates.get(text) ?? Promise.withResolvers<void>()
    gates.set(text, known)
    return known
  }
  const seen = { atOnce: 0, most: 0, order: [] as string[] }
  async function* agent({ text }: Turn) {
    seen.atOnce += 1
    seen.most = Math.max(seen.most, seen.atOnce)
    seen.order.push(text)
    yield `begin ${text},`
    await gate(text).promise
    yield `end ${text}`
    seen.atOnce -= 1
  }
  return { agent, seen, finish: (text: string) => gate(text).resolve() }
}

describe('a message to a busy task', () => {
  it('waits for its own turn, and turns never overlap [B-45]', async (t) => {
    const { agent, seen, finish } = workshop()
    const testEngine = await openTestEngine(t, agent)
    const { id } = await testEngine.start('a')
    const more = ['b', 'c', 'd'].map((text) => testEngine.task({ taskId: id, parts: [{ text }] }))
    await eventually(async () => (await testEngine.get(id)).history?.length === 4)
    for (const text of ['d', 'c', 'b', 'a']) finish(text)
    const [done] = await Promise.all(more)
    assert.ok(done !== undefined)
    assert.deepEqual(seen.order, ['a', 'b', 'c', 'd'])
    assert.equal(seen.most, 1)
    assert.deepEqual(
      done.artifacts?.map(({ artifactId }) => [artifactId, artifactText(done, artifactId)]),
      [
        ['answer', 'begin a,end a'],
        ['answer-2', 'begin b,end b'],
        ['answer-3', 'begin c,end c'],
        ['answer-4', 'begin d,end d'],
      ],
    )
  })

  it('keeps the task from COMPLETED until it had its turn [B-45]', async (t) => {
    const { agent, finish } = workshop()
    const testEngine = await openTestEngine(t, agent)
    const stream = await testEngine.stream('a')
    const [first] = await stream.through((item) => stateOfItem(item) === 'TASK_STATE_WORKING')
    assert.ok(first !== undefined && 'task' in first.event)
    const { id } = first.event.task
    await testEngine.start({ taskId: id, parts: [{ text: 'b' }] })
    finish('a')
    finish('b')
    const rest = await stream.rest()
    assert.deepEqual(statesOf(rest), ['COMPLETED'], 'once, at the very end')
    const types = typesOf(await testEngine.log(id))
    assert.ok(types.indexOf('turn-ended') < types.lastIndexOf('turn-started'))
  })

  it('is accepted even at the moment when the turn ends, a thousand times', async (t) => {
    for (const ending of ['complete', 'ask']) {
      const testEngine = await openTestEngine(t, async ({ text }) => {
        if (text !== 'first') return `did ${text}`
        await nextTurnOfTheLoop()
        return ending === 'ask' ? inputRequired('What?') : undefined
      })
      let took = 0
      for (let run = 0; run < 500; run += 1) {
        const { id } = await testEngine.start('first')
        for (let step = 0; step < run % 10; step += 1) await Promise.resolve()
        if (run % 3 === 0) await nextTurnOfTheLoop()
        const second = await testEngine
          .task({ taskId: id, parts: [{ text: 'second' }] })
          .catch((reason: { code: string }) => {
            assert.equal(reason.code, 'UNSUPPORTED_OPERATION')
          })
        if (second === undefined) continue
        took += 1
        assert.equal(artifactText(second, 'answer-2'), 'did second')
        assert.equal(short(second.status.state), 'COMPLETED')
      }
      assert.ok(took > 50, `${took} of 500`)
    }
  })

  it('is refused if the agent rejects messages, but not as the answer to its question [B-45]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(
      t,
      async ({ text }) => {
        if (text === 'ask') return inputRequired('Which?')
        await gate.promise
        return `did ${text}`
      },
      { options: { whenBusy: 'reject' } },
    )
    const { id } = await testEngine.task('ask')
    const answer = testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })
    await assert.rejects(testEngine.task({ taskId: id, parts: [{ text: 'Oslo' }] }), { code: 'UNSUPPORTED_OPERATION' })
    await nextTurnOfTheLoop()
    await assert.rejects(testEngine.task({ taskId: id, parts: [{ text: 'Oslo' }] }), { code: 'UNSUPPORTED_OPERATION' })
    gate.resolve()
    assert.deepEqual(historyOf(await answer), ['ask', 'Which?', 'Rome'])
  })

  it('steers the running turn if the agent supports it [B-45]', async (t) => {
    const testEngine = await openTestEngine(
      t,
      async function* ({ messages }: Turn) {
        yield 'began,'
        for await (const message of messages) {
          yield `${textOfMessage(message)},`
          if (textOfMessage(message) === 'stop') return
        }
      },
      { options: { whenBusy: 'steer' } },
    )
    const { id } = await testEngine.start('go')
    await testEngine.start({ taskId: id, parts: [{ text: 'left' }] })
    const done = await testEngine.task({ taskId: id, parts: [{ text: 'stop' }] })
    assert.equal(artifactText(done), 'began,left,stop,')
    assert.equal(done.artifacts?.length, 1)
    assert.deepEqual(historyOf(done), ['go', 'left', 'stop'])
  })

  it('starts its own turn if the steered one ended without reading it [B-45]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(
      t,
      async function* ({ text, messages }: Turn) {
        if (text !== 'go') yield `did ${text}`
        else {
          for await (const message of messages) {
            yield `read ${textOfMessage(message)}`
            break
          }
          await gate.promise
        }
      },
      { options: { whenBusy: 'steer' } },
    )
    const { id } = await testEngine.start('go')
    await testEngine.start({ taskId: id, parts: [{ text: 'one' }] })
    const second = testEngine.task({ taskId: id, parts: [{ text: 'two' }] })
    await eventually(async () => (await testEngine.get(id)).history?.length === 3)
    gate.resolve()
    const done = await second
    assert.equal(artifactText(done), 'read one')
    assert.equal(artifactText(done, 'answer-2'), 'did two')
  })

  it('steers a turn that begins while it waits [B-45]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(
      t,
      async ({ text, messages }) => {
        if (text === 'go') return gate.promise
        for await (const message of messages) return `${text} with ${textOfMessage(message)}`
      },
      { options: { whenBusy: 'steer' } },
    )
    const { id } = await testEngine.start('go')
    await testEngine.start({ taskId: id, parts: [{ text: 'one' }] })
    const last = testEngine.task({ taskId: id, parts: [{ text: 'two' }] })
    await eventually(async () => (await testEngine.get(id)).history?.length === 3)
    gate.resolve()
    assert.equal(artifactText(await last, 'answer-2'), 'one with two')
  })

  it('is dropped with a note when the turn before it fails or rejects [B-45 B-50]', async (t) => {
    for (const [how, state] of [
      [fail('no'), 'FAILED'],
      [reject('no'), 'REJECTED'],
      [undefined, 'FAILED'],
    ] as const) {
      const gate = Promise.withResolvers<void>()
      const testEngine = await openTestEngine(t, async () => {
        await gate.promise
        if (how === undefined) throw new Error('broken')
        return how
      })
      const { id } = await testEngine.start('a')
      const second = testEngine.task({ taskId: id, parts: [{ text: 'b' }] })
      await eventually(async () => (await testEngine.get(id)).history?.length === 2)
      gate.resolve()
      assert.equal(short((await second).status.state), state)
      const notes = (await testEngine.log(id)).flatMap(({ body }) => (body.type === 'note' ? [body.text] : []))
      assert.ok(notes.includes(`queued messages were dropped: TASK_STATE_${state}`))
      const dropped = (await testEngine.log(id)).findLast(({ body }) => body.type === 'message')
      assert.equal((await testEngine.store.tasks.load(id))?.consumedSeq, dropped?.seq)
    }
  })
})

describe('a question', () => {
  it('that ends the turn is answered by the next one, repeatedly', async (t) => {
    const testEngine = await openTestEngine(t, async ({ text, history }) => {
      const said = (await history()).length
      return said < 5 ? inputRequired(`And after ${text}?`) : 'enough'
    })
    const asked = await testEngine.task('one')
    assert.equal(short(asked.status.state), 'INPUT_REQUIRED')
    assert.equal(textOfMessage(asked.status.message), 'And after one?')
    const again = await testEngine.task({ taskId: asked.id, parts: [{ text: 'two' }] })
    assert.equal(short(again.status.state), 'INPUT_REQUIRED')
    const done = await testEngine.task({ taskId: asked.id, parts: [{ text: 'three' }] })
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.deepEqual(historyOf(done), ['one', 'And after one?', 'two', 'And after two?', 'three'])
  })

  it('during a turn is answered during it', async (t) => {
    const testEngine = await openTestEngine(t, async function* (turn: Turn) {
      yield 'Flying'
      const city = await turn.ask('Which city?')
      yield ` to ${city}`
      const answer = await turn.askMessage({ parts: [{ text: 'When?' }], metadata: { kind: 'date' } })
      yield ` on ${JSON.stringify(answer.parts)}`
    })
    const first = await testEngine.task('go')
    assert.equal(short(first.status.state), 'INPUT_REQUIRED')
    assert.equal(textOfMessage(first.status.message), 'Which city?')
    assert.equal(artifactText(first), 'Flying')
    const second = await testEngine.task({ taskId: first.id, parts: [{ text: 'Rome' }] })
    assert.deepEqual(second.status.message?.metadata, { kind: 'date' })
    const done = await testEngine.task({ taskId: first.id, parts: [{ data: 42 }] })
    assert.equal(artifactText(done), 'Flying to Rome on [{"data":42}]')
    assert.deepEqual(historyOf(done), ['go', 'Which city?', 'Rome', 'When?', '{"data":42}'])
    assert.equal(typesOf(await testEngine.log(first.id)).filter((type) => type === 'turn-started').length, 1)
  })

  it('accepts a waiting message as its answer', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async (turn) => {
      await gate.promise
      return `to ${await turn.ask('Which?')}`
    })
    const { id } = await testEngine.start('go')
    const early = testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })
    await eventually(async () => (await testEngine.get(id)).history?.length === 2)
    gate.resolve()
    assert.equal(artifactText(await early), 'to Rome')
  })

  it('belongs to its turn, even if one turn follows another at once', async (t) => {
    const testEngine = await openTestEngine(
      t,
      async (turn) => `${turn.text}: ${await turn.ask(`What of ${turn.text}?`)}`,
    )
    const first = await testEngine.task('one')
    assert.equal(textOfMessage(first.status.message), 'What of one?')
    const said = (text: string) => testEngine.start({ taskId: first.id, parts: [{ text }] })
    await Promise.all([said('this'), said('two')])
    await eventually(async () => textOfMessage((await testEngine.get(first.id)).status.message) === 'What of two?')
    const done = await testEngine.task({ taskId: first.id, parts: [{ text: 'that' }] })
    assert.equal(artifactText(done), 'one: this')
    assert.equal(artifactText(done, 'answer-2'), 'two: that')
    assert.equal(typesOf(await testEngine.log(first.id)).filter((type) => type === 'question').length, 2)
  })

  it('may ask for credentials, during a turn or at its end [B-155]', async (t) => {
    const testEngine = await openTestEngine(t, async (turn) => {
      if (turn.text === 'yield') return authRequired('Sign in at https://id.example.com')
      return `as ${await turn.ask('Who are you?', { auth: true })}`
    })
    for (const text of ['yield', 'ask']) {
      const asked = await testEngine.task(text)
      assert.equal(short(asked.status.state), 'AUTH_REQUIRED')
      assert.ok(asked.status.message !== undefined)
      const done = await testEngine.task({ taskId: asked.id, parts: [{ text: 'alice' }] })
      assert.match(JSON.stringify(done), /as alice|Who are you/)
    }
  })

  it('that is not awaited causes no error when the turn ends without its answer', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async (turn) => {
      void turn.ask('Which?')
      void turn.ask('And again?')
      await gate.promise
      return 'never mind'
    })
    const { id } = await testEngine.task('go')
    gate.resolve()
    const done = await testEngine.reaches(id, 'TASK_STATE_COMPLETED')
    assert.equal(artifactText(done), 'never mind')
    await nextTurnOfTheLoop()
  })
})

describe('the opening of a task', () => {
  it('does not happen for an immediate direct reply', async (t) => {
    const testEngine = await openTestEngine(t, () => reply({ parts: [{ data: { hi: 1 } }] }))
    const answer = await testEngine.send('hi')
    assert.ok('message' in answer)
    assert.deepEqual(answer.message.parts, [{ data: { hi: 1 } }])
    assert.equal((await testEngine.store.feed.read(0, 10)).length, 0, 'and nothing is in any log')
  })

  it('happens at the first other report, and a later reply is the message of COMPLETED', async (t) => {
    const testEngine = await openTestEngine(t, async function* () {
      yield status('Let me see')
      yield reply('Hi')
      yield 'never read'
    })
    const task = await testEngine.task('hi')
    assert.equal(short(task.status.state), 'COMPLETED')
    assert.equal(textOfMessage(task.status.message), 'Hi')
    assert.equal(task.artifacts, undefined)
  })

  it('happens when the agent is slow, and then a reply is no direct reply', async (t) => {
    const testEngine = await openTestEngine(
      t,
      async () => {
        await sleep(15)
        return reply('Hi')
      },
      { options: { openAfterMs: 5 } },
    )
    const stream = await testEngine.stream('hi')
    const items = await stream.rest()
    assert.deepEqual(statesOf(items), ['SUBMITTED', 'WORKING', 'COMPLETED'])
  })

  it('happens at once if the caller does not wait, whatever the agent reports', async (t) => {
    const testEngine = await openTestEngine(t, () => reply('Hi'))
    const started = await testEngine.start('hi')
    const done = await testEngine.reaches(started.id, 'TASK_STATE_COMPLETED')
    assert.equal(textOfMessage(done.status.message), 'Hi')
  })

  it('does not happen when the agent refuses the call with a protocol error', async (t) => {
    const testEngine = await openTestEngine(t, () => {
      throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'Send a PDF')
    })
    await assert.rejects(testEngine.send('hi'), { code: 'CONTENT_TYPE_NOT_SUPPORTED', message: 'Send a PDF' })
    await assert.rejects(testEngine.stream('hi'), { code: 'CONTENT_TYPE_NOT_SUPPORTED' })
    assert.equal((await testEngine.store.feed.read(0, 10)).length, 0)
    const started = await testEngine.start('hi')
    const failed = await testEngine.reaches(started.id, 'TASK_STATE_FAILED')
    assert.equal(textOfMessage(failed.status.message), 'Send a PDF')
  })
})
