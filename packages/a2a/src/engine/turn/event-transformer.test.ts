/** What a server's author does with events: transforms them before the log, and listens to them after it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { artifact, data, inputRequired, reply, status } from '../../agents/reports.ts'
import { A2AError } from '../../model/error.ts'
import type { StreamEvent } from '../../model/task.ts'
import {
  artifactText,
  chunksOf,
  eventually,
  openTestEngine,
  textOfMessage,
  short,
  statesOf,
  typesOf,
} from '../../testing/fixtures/test-engine.ts'
import { openReplicas } from '../../testing/fixtures/replicas.ts'
import type { EventContext, OnEvent, TransformEvent } from '../contract.ts'

const talks: Agent = async function* () {
  yield status('Looking')
  yield 'one '
  yield 'two '
  yield 'three'
  yield data({ a: 1 })
}

/** Its texts, in capitals. */
const shout: TransformEvent = (event) => {
  if (!('artifactUpdate' in event)) return event
  const { artifact: chunk, ...rest } = event.artifactUpdate
  const parts = chunk.parts.map((part) => ('text' in part ? { ...part, text: part.text.toUpperCase() } : part))
  return { artifactUpdate: { ...rest, artifact: { ...chunk, parts } } }
}

const textIn = (event: StreamEvent): string =>
  'artifactUpdate' in event
    ? event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
    : ''

describe('a transform', () => {
  it('changes events before any reader sees them, also in the log [S2-33]', async (t) => {
    const testEngine = await openTestEngine(t, talks, { entry: { transformEvent: shout } })
    const items = await (await testEngine.stream('go')).rest()
    assert.deepEqual(chunksOf(items).slice(0, 4), ['ONE ', 'TWO ', 'THREE', '{"data":{"a":1}}'])
    const [first] = items
    assert.ok(first !== undefined && 'task' in first.event)
    const { id } = first.event.task
    assert.equal(artifactText(await testEngine.get(id)), 'ONE TWO THREE')
    assert.doesNotMatch(JSON.stringify(await testEngine.log(id)), /one|two|three/)
  })

  it('may be slow, and events stay in order', async (t) => {
    const slow: TransformEvent = async (event, about) => {
      for (let turn = textIn(event).length; turn < 6; turn++) await nextTick()
      return shout(event, about)
    }
    const testEngine = await openTestEngine(t, talks, { entry: { transformEvent: slow } })
    assert.equal(artifactText(await testEngine.task('go')), 'ONE TWO THREE')
  })

  it('gets the task and caller of the event', async (t) => {
    const abouts: EventContext[] = []
    const testEngine = await openTestEngine(t, () => 'x', {
      entry: {
        transformEvent(event, about) {
          abouts.push(about)
          return event
        },
      },
    })
    const task = await testEngine.task('go', { as: { tenant: 'acme' } })
    const { id: taskId, contextId } = task
    assert.deepEqual(abouts[0], { agent: 'agent', tenant: 'acme', owner: 'alice', taskId, contextId })
  })

  it('may drop any event, and the next chunk of an artifact is then its first [B-100 S2-33]', async (t) => {
    const dropping =
      (fits: (event: StreamEvent) => boolean): TransformEvent =>
      (event) =>
        fits(event) ? null : event
    const first = await openTestEngine(t, talks, { entry: { transformEvent: dropping((e) => textIn(e) === 'one ') } })
    const items = await (await first.stream('go')).rest()
    const chunk = items.find(({ event }) => 'artifactUpdate' in event)?.event
    assert.ok(chunk !== undefined && 'artifactUpdate' in chunk)
    assert.deepEqual([textIn(chunk), chunk.artifactUpdate.append], ['two ', undefined])
    const all = await openTestEngine(t, talks, { entry: { transformEvent: () => undefined } })
    const task = await all.task('go')
    assert.deepEqual([short(task.status.state), task.artifacts], ['COMPLETED', undefined])
    const asking = await openTestEngine(t, () => inputRequired('Which?'), {
      entry: { transformEvent: () => undefined },
    })
    assert.equal(short((await asking.task('go')).status.state), 'COMPLETED')
  })

  it('gets states, direct replies and questions during a turn, and may change them', async (t) => {
    const polite: TransformEvent = (event) => {
      if ('message' in event) return { message: { ...event.message, parts: [{ text: 'Dear client' }] } }
      if (!('statusUpdate' in event) || event.statusUpdate.status.message === undefined) return event
      const { status: old, ...rest } = event.statusUpdate
      const message = { ...event.statusUpdate.status.message, parts: [{ text: 'Pardon?' }] }
      return { statusUpdate: { ...rest, status: { ...old, message } } }
    }
    const entry = { transformEvent: polite }
    const direct = await (await openTestEngine(t, () => reply('hi'), { entry })).send('go')
    assert.equal('message' in direct && textOfMessage(direct.message), 'Dear client')
    const asked = await (await openTestEngine(t, () => inputRequired('What?'), { entry })).task('go')
    assert.equal(textOfMessage(asked.status.message), 'Pardon?')
    const testEngine = await openTestEngine(
      t,
      async function* ({ ask }: Turn) {
        yield await ask('What?')
      },
      { entry },
    )
    const { id } = await testEngine.start('go')
    assert.equal(textOfMessage((await testEngine.reaches(id, 'TASK_STATE_INPUT_REQUIRED')).status.message), 'Pardon?')
    assert.equal(artifactText(await testEngine.task({ taskId: id, parts: [{ text: 'that' }] })), 'that')
  })

  for (const [how, transformEvent] of [
    ['throws', () => assert.fail('no such rule')],
    ['rejects', () => Promise.reject(new Error('no such rule'))],
    ['throws what a caller would read', () => assert.fail(new A2AError('INVALID_PARAMS', 'no such rule'))],
    ['makes nonsense', () => ({ artifactUpdate: { artifact: { artifactId: '', parts: [] } } }) as never],
    ['makes another kind of thing', () => ({ task: { id: 'no such rule' } }) as never],
  ] satisfies [string, TransformEvent][]) {
    it(`that ${how} fails the task, with its cause in the operator's log and none of it in the client's view [S2-33]`, async (t) => {
      const testEngine = await openTestEngine(t, talks, { entry: { transformEvent } })
      const task = await testEngine.task('go')
      assert.deepEqual([short(task.status.state), textOfMessage(task.status.message)], ['FAILED', 'The agent failed'])
      assert.doesNotMatch(JSON.stringify(task), /no such rule/)
      assert.deepEqual(typesOf(await testEngine.log(task.id)).slice(0, 3), ['message', 'status', 'turn-started'])
      const line = testEngine.lines.find(({ level }) => level === 'error')
      assert.match(String(line?.fields?.['cause']), /transformEvent failed/)
      assert.equal(statesOf(await (await testEngine.subscribe(task.id, { lastEventId: 0 })).rest()).at(-1), 'FAILED')
    })
  }

  it('stops an agent that it fails, and lets it clean up', async (t) => {
    let isLetGo = false
    const testEngine = await openTestEngine(
      t,
      async function* () {
        try {
          for (;;) yield 'more'
        } finally {
          isLetGo = true
        }
      },
      { entry: { transformEvent: () => assert.fail('no') } },
    )
    await testEngine.task('go')
    await eventually(() => isLetGo)
  })

  it('does not continue for a task that was canceled in the meantime', async (t) => {
    const entered = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, () => artifact('a', { text: 'x' }), {
      entry: {
        transformEvent: () => {
          entered.resolve()
          return new Promise(() => {})
        },
      },
    })
    const { id } = await testEngine.start('go')
    await entered.promise
    assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
  })
})

describe('an event listener', () => {
  const listening = (): { received: [string, number][]; onEvent: OnEvent } => {
    const received: [string, number][] = []
    return { received, onEvent: (event, { seq }) => void received.push([Object.keys(event)[0] ?? '', seq]) }
  }

  it('gets each event once it is in the log, with its position [S2-33]', async (t) => {
    const inLog: boolean[] = []
    const { received, onEvent } = listening()
    const testEngine = await openTestEngine(t, () => 'x', {
      entry: {
        async onEvent(event, about) {
          onEvent(event, about)
          const records = await testEngine.log(about.taskId)
          inLog.push(records.some(({ seq }) => seq === about.seq))
        },
      },
    })
    const task = await testEngine.task('go')
    const visible = (await testEngine.log(task.id)).filter(
      ({ body }) => body.type === 'status' || body.type === 'artifact',
    )
    await eventually(() => inLog.length === visible.length)
    assert.deepEqual(
      received.map(([, seq]) => seq),
      visible.map(({ seq }) => seq),
    )
    assert.ok(inLog.every((is) => is))
  })

  it('gets the events that this process wrote, and not those that it only reads', async (t) => {
    const { received, onEvent } = listening()
    const { here, there } = await openReplicas(t, () => 'x', { entry: { onEvent } })
    const task = await here.task('go')
    assert.equal((await there.get(task.id)).id, task.id)
    assert.equal(received.length, new Set(received.map(([, seq]) => seq)).size)
  })

  it('may throw: the task continues, and the log has the error', async (t) => {
    for (const onEvent of [() => assert.fail('no'), () => Promise.reject(new Error('no'))]) {
      const testEngine = await openTestEngine(t, () => 'x', { entry: { onEvent } })
      assert.equal(artifactText(await testEngine.task('go')), 'x')
      await eventually(() => testEngine.lines.some(({ message }) => message === 'onEvent failed'))
    }
  })
})
