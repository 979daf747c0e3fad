import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Report, Turn } from '../../agents/agent.ts'
import { artifact, status } from '../../agents/reports.ts'
import { serve } from '../../server/node.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { connect } from '../connect.ts'
import type { Artifact, StreamEvent, Task, TaskStatus } from '../../model/task.ts'
import { responseFrom, artifactsOf, createStreamState, applyEvent } from './stream-state.ts'

const about = { taskId: 't', contextId: 'c' }
const begun = (over: Partial<Task> = {}): StreamEvent => ({
  task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' }, ...over },
})
const chunk = (artifact: Partial<Artifact>, append?: boolean): StreamEvent => ({
  artifactUpdate: {
    ...about,
    artifact: { artifactId: 'a', parts: [], ...artifact },
    ...(append !== undefined ? { append } : {}),
  },
})
const says = (text: string, append = true): StreamEvent => chunk({ parts: [{ text }] }, append)
const moves = (status: TaskStatus): StreamEvent => ({ statusUpdate: { ...about, status } })
const said = (messageId: string, text: string) => ({ messageId, role: 'ROLE_AGENT' as const, parts: [{ text }] })

function sumOf(...events: readonly StreamEvent[]) {
  const sum = createStreamState()
  const texts = events.map((event) => applyEvent(sum, event))
  return { sum, texts, artifacts: artifactsOf(sum), answer: responseFrom(sum) }
}

describe('the stream state', () => {
  it('appends parts, merges metadata, unites extensions, and sets a later name [B-100]', () => {
    const { artifacts } = sumOf(
      begun(),
      chunk({ parts: [{ text: 'x' }], metadata: { a: 1, b: 1 }, extensions: ['x'] }),
      chunk({ parts: [{ text: 'y' }], metadata: { b: 2 }, extensions: ['x', 'y'], name: 'n', description: 'd' }, true),
    )
    assert.deepEqual(artifacts, [
      {
        artifactId: 'a',
        parts: [{ text: 'xy' }],
        metadata: { a: 1, b: 2 },
        extensions: ['x', 'y'],
        name: 'n',
        description: 'd',
      },
    ])
  })

  it('joins appended text as a server does, and nothing that has more than its text', () => {
    const typed = { text: 'c', mediaType: 'text/markdown' }
    const { artifacts, texts } = sumOf(says('a', false), says('b'), chunk({ parts: [typed, { text: 'd' }] }, true))
    assert.deepEqual(artifacts[0]?.parts, [{ text: 'ab' }, typed, { text: 'd' }])
    assert.deepEqual(texts, ['a', 'b', 'cd'])
    const whole = chunk({ parts: [{ text: 'x' }, { text: 'y' }] })
    assert.deepEqual(sumOf(whole).artifacts[0]?.parts, [{ text: 'x' }, { text: 'y' }])
  })

  it('restarts an artifact without append, and creates a missing one with it [B-100]', () => {
    const { artifacts } = sumOf(says('old', false), chunk({ parts: [{ text: 'new' }], name: 'n' }))
    assert.deepEqual(artifacts, [{ artifactId: 'a', parts: [{ text: 'new' }], name: 'n' }])
    assert.deepEqual(sumOf(says('late')).artifacts, [{ artifactId: 'a', parts: [{ text: 'late' }] }])
  })

  it('returns the text that an event adds, also if a peer sends all of it each time', () => {
    assert.deepEqual(sumOf(says('a', false), says('b'), moves({ state: 'TASK_STATE_WORKING' })).texts, ['a', 'b', ''])
    assert.deepEqual(sumOf(says('a', false), says('abc', false), says('x', false)).texts, ['a', 'bc', 'x'])
    const artifacts = [{ artifactId: 'a', parts: [{ text: 'abc' }] }]
    assert.deepEqual(sumOf(says('ab', false), begun({ artifacts }), says('d')).texts, ['ab', 'c', 'd'])
  })

  it('replaces the task whenever one arrives, but keeps omitted fields [B-96]', () => {
    const history = [said('m', 'hello')]
    const { answer } = sumOf(
      begun({ history, metadata: { k: 1 } }),
      says('x', false),
      begun({ status: { state: 'TASK_STATE_WORKING' } }),
    )
    assert.deepEqual(answer, {
      kind: 'task',
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING' },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
      history,
      metadata: { k: 1 },
    })
    assert.deepEqual(sumOf(says('x', false), begun({ artifacts: [] })).artifacts, [])
  })

  it('moves a replaced status message to the history, once [B-47]', () => {
    const [one, two] = [said('1', 'page 1'), said('2', 'page 2')]
    const { answer } = sumOf(
      begun(),
      moves({ state: 'TASK_STATE_WORKING', message: one }),
      moves({ state: 'TASK_STATE_WORKING', message: two }),
      moves({ state: 'TASK_STATE_COMPLETED' }),
    )
    assert.deepEqual(answer?.kind === 'task' && answer.history, [one, two])
    const again = sumOf(
      begun({ status: { state: 'TASK_STATE_WORKING', message: one }, history: [one] }),
      moves({ state: 'TASK_STATE_COMPLETED' }),
    )
    assert.deepEqual(again.answer?.kind === 'task' && again.answer.history, [one])
  })

  it('keeps a question once, before its answer, as the task of the server does [B-47]', () => {
    const question = said('q', 'Which language?')
    const reply = { messageId: 'r', role: 'ROLE_USER' as const, parts: [{ text: 'French' }] }
    const asks: TaskStatus = { state: 'TASK_STATE_INPUT_REQUIRED', message: question }
    const historyOf = (...events: readonly StreamEvent[]) => {
      const { answer } = sumOf(
        ...events,
        moves({ state: 'TASK_STATE_WORKING' }),
        moves({ state: 'TASK_STATE_COMPLETED' }),
      )
      return answer?.kind === 'task' && answer.history
    }
    assert.deepEqual(historyOf(begun({ status: asks, history: [question, reply] })), [question, reply])
    // The history that an earlier task had.
    assert.deepEqual(historyOf(begun({ history: [question, reply] }), begun({ status: asks })), [question, reply])
    // A later message is not taken for the question.
    const thanks = said('x', 'Thanks')
    assert.deepEqual(
      historyOf(
        begun({ status: asks, history: [question, reply] }),
        moves({ state: 'TASK_STATE_WORKING', message: thanks }),
      ),
      [question, reply, thanks],
    )
  })

  it('is the message without a settled task, and undefined without output', () => {
    const message = said('m', 'hi')
    assert.deepEqual(sumOf({ message }).answer, { kind: 'message', ...message })
    assert.deepEqual(sumOf(begun(), { message }).answer, { kind: 'message', ...message })
    const done = sumOf(begun(), { message }, moves({ state: 'TASK_STATE_COMPLETED' })).answer
    assert.deepEqual(done?.kind === 'task' && done.history, [message])
    assert.equal(sumOf().answer, undefined)
  })

  it('is created without an initial task [B-99]', () => {
    const { answer } = sumOf(moves({ state: 'TASK_STATE_WORKING' }), says('x', false))
    assert.deepEqual(answer, {
      kind: 'task',
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING' },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
    })
  })

  it('is a copy that later events do not change', () => {
    const { sum, artifacts, answer } = sumOf(begun(), says('a', false))
    const before = structuredClone([artifacts, answer])
    applyEvent(sum, says('b'))
    applyEvent(sum, chunk({ parts: [{ data: 1 }] }, true))
    assert.deepEqual([artifacts, answer], before)
  })

  it('costs as much per chunk at the end of a long stream as at its beginning', () => {
    const sum = createStreamState()
    const cost = (chunks: number): number => {
      const from = process.cpuUsage()
      for (let n = 0; n < chunks; n++) applyEvent(sum, says('token '))
      return process.cpuUsage(from).user / 1_000
    }
    cost(20_000)
    // The best of three, because garbage is collected in one of them.
    const best = (): number => Math.min(cost(10_000), cost(10_000), cost(10_000))
    const early = best()
    cost(300_000)
    const late = best()
    // Copying the existing content would take about fifteen times as long; a factor of ten tolerates a busy machine.
    assert.ok(late < 10 * early + 20, `${early} ms, then ${late} ms`)
    assert.deepEqual(artifactsOf(sum)[0]?.parts, [{ text: 'token '.repeat(380_000) }])
  })
})

describe('the result of a stream', () => {
  it('equals GetTask after a question, its answer, and artifacts that were interleaved and replaced', async (t) => {
    async function* agent({ ask }: Turn): AsyncGenerator<Report> {
      yield status('looking')
      yield artifact('draft', { text: 'one ', append: false })
      await ask('Which language?')
      yield artifact('notes', { text: 'n1 ', append: true, metadata: { a: 1 } })
      yield status('writing')
      yield artifact('draft', { text: 'two ', append: true })
      yield artifact('notes', { text: 'n2', append: true, name: 'Notes', metadata: { b: 2 } })
      yield artifact('draft', { text: 'new ', append: false })
      yield artifact('draft', { text: 'end', append: true, last: true })
    }
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const server = await serve({ agent, name: 'Greeter', port: 0, store: memoryStore(), log, drainMs: 0 })
    t.after(() => server.close())
    const remote = await connect(server.url)
    const asked = await remote.stream('Ada').result()
    assert.ok(asked.kind === 'task')
    assert.deepEqual(asked, await remote.get(asked.id))
    const done = await remote.stream('French', { taskId: asked.id }).result()
    assert.deepEqual(done, await remote.get(asked.id))
    assert.deepEqual(
      done.kind === 'task' &&
        done.history?.map(({ parts }) => parts.map((part) => 'text' in part && part.text).join('')),
      ['Ada', 'looking', 'Which language?', 'French'],
    )
  })
})
