/** The core of the adapters, on a framework that is a list of calls of the recorder. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { reject } from '../agents/reports.ts'
import type { Part, Task } from '../model/task.ts'
import { eventually } from '../testing/fixtures/eventually.ts'
import { testAgent, type TestAgent } from '../testing/test-agent.ts'
import type { AdapterOptions } from './adapter-options.ts'
import { frameworkAgent, type RunStart } from './framework-agent.ts'
import type { RunRecorder } from './run-recorder.ts'

type Event = (out: RunRecorder) => void

function opened(
  t: TestContext,
  script: (start: RunStart) => readonly Event[],
  options?: AdapterOptions,
  released: unknown[] = [],
): TestAgent {
  const agent = testAgent(
    frameworkAgent<Event>(
      {
        name: 'scripted',
        start(start) {
          async function* events(): AsyncGenerator<Event> {
            yield* script(start)
          }
          return { events: events(), onEvent: (event, out) => event(out) }
        },
        release: (state) => void released.push(state),
      },
      options,
    ),
  )
  t.after(() => agent.close())
  return agent
}

async function taskOf(agent: TestAgent, message: string | readonly Part[], taskId?: string): Promise<Task> {
  const given = typeof message === 'string' ? message : { parts: message }
  const task = await agent.send(given, taskId === undefined ? {} : { taskId })
  assert.ok('status' in task, JSON.stringify(task))
  return task
}

const textOf = (parts: readonly Part[] = []): string => parts.map((part) => ('text' in part ? part.text : '')).join('')
const answerOf = ({ artifacts = [] }: Task): string => artifacts.map(({ parts }) => textOf(parts)).join('')
const questionOf = ({ status }: Task): string => textOf(status.message?.parts)

describe('a run of a framework', () => {
  it('fails with what the caller can do if the conversation exceeds its store, also if the framework wraps the error', async (t) => {
    const agent = testAgent(
      frameworkAgent<Event>({
        name: 'scripted',
        async start({ turn }) {
          const wrap = (cause: unknown): never => {
            throw new Error('checkpoint not saved', { cause })
          }
          await turn.store.set('thread', 'x'.repeat(2_000_001)).catch(turn.text === 'wrapped' ? wrap : undefined)
          throw new Error('not reached')
        },
      }),
    )
    t.after(() => agent.close())
    for (const text of ['plain', 'wrapped']) {
      const task = await taskOf(agent, text)
      assert.equal(task.status.state, 'TASK_STATE_FAILED')
      assert.equal(questionOf(task), 'This conversation has become too long for the agent. Start a new one.')
    }
  })

  it('reports text in blocks, files, data and tool calls', async (t) => {
    const agent = opened(t, () => [
      (out) => out.text('one', 'a'),
      (out) => out.text(' two', 'a'),
      (out) => out.toolStarted({ id: 'c1', name: 'look' }, { q: 'x' }),
      (out) => out.toolEnded({ id: 'c1', name: 'look', outcome: 'succeeded', result: 'found' }),
      (out) => out.text('three', 'b'),
      (out) => out.part({ raw: 'aGk=', mediaType: 'text/plain' }),
      (out) => out.data({ n: 1 }),
    ])
    const events = await agent.stream('go').all()
    const calls = events.flatMap((event) =>
      'statusUpdate' in event ? [event.statusUpdate.metadata?.['toolCall']].filter((call) => call !== undefined) : [],
    )
    assert.deepEqual(calls, [
      { id: 'c1', name: 'look', outcome: 'started', arguments: { q: 'x' } },
      { id: 'c1', name: 'look', outcome: 'succeeded', result: 'found' },
    ])
    const task = await taskOf(agent, 'again')
    assert.equal(textOf(task.artifacts?.[0]?.parts), 'one two\n\nthree')
    assert.deepEqual(
      task.artifacts?.slice(1).map(({ parts }) => parts),
      [[{ raw: 'aGk=', mediaType: 'text/plain' }], [{ data: { n: 1 } }]],
    )
  })

  it('hides arguments, results and reasoning as its options say', async (t) => {
    const script = () => [
      (out: RunRecorder) => out.reasoning('hmm'),
      (out: RunRecorder) => out.toolStarted({ id: 'c1', name: 'look' }, { q: 'secret' }),
      (out: RunRecorder) => out.toolEnded({ id: 'c1', name: 'look', outcome: 'failed', result: 'secret' }),
    ]
    const seen = async (options: AdapterOptions): Promise<string> =>
      JSON.stringify(await opened(t, script, options).stream('go').all())
    const [names, none, all] = [
      await seen({ toolCalls: 'names' }),
      await seen({ toolCalls: 'none' }),
      await seen({ reasoning: true }),
    ]
    assert.match(names, /"name":"look"/)
    assert.doesNotMatch(names, /secret|hmm/)
    assert.doesNotMatch(none, /look/)
    assert.match(all, /"thought":"hmm"/)
    assert.match(all, /secret/)
  })

  it('ends as its guard says', async (t) => {
    const task = await taskOf(
      opened(t, () => [(out) => out.endWith(reject('Not that'))]),
      'go',
    )
    assert.equal(task.status.state, 'TASK_STATE_REJECTED')
  })
})

describe('questions of a run', () => {
  const asks: Event = (out) => {
    out.ask({ kind: 'approval', id: 'a', tool: 'pay', arguments: { amount: 7 } })
    out.ask({
      kind: 'value',
      id: 'v',
      text: 'How many?',
      schema: { type: 'object', properties: { nights: { type: 'integer', minimum: 1 } }, required: ['nights'] },
    })
    out.pause({ run: 1 })
  }
  const script = ({ paused }: RunStart): readonly Event[] =>
    paused === undefined ? [asks] : [(out) => out.text(JSON.stringify(paused))]

  it('are asked one at a time, again if the answer does not fit, and continue the run with all answers', async (t) => {
    const agent = opened(t, script)
    const first = await taskOf(agent, 'go')
    assert.match(questionOf(first), /pay \{"amount":7\}/)
    assert.match(questionOf(await taskOf(agent, 'perhaps', first.id)), /not one of the options[^]*pay/)
    const rejected = [{ data: { optionId: 'reject', reason: 'too much' } }]
    assert.match(questionOf(await taskOf(agent, rejected, first.id)), /How many\?/)
    assert.match(questionOf(await taskOf(agent, 'many', first.id)), /nights must be integer/)
    const done = await taskOf(agent, '3', first.id)
    assert.deepEqual(JSON.parse(answerOf(done)), {
      state: { run: 1 },
      questions: JSON.parse(answerOf(done)).questions as unknown,
      answers: [
        { id: 'a', approved: false, reason: 'too much' },
        { id: 'v', value: { nights: 3 } },
      ],
    })
  })

  it('carry a form', async (t) => {
    const { status } = await taskOf(opened(t, script), 'go')
    const data = status.message?.parts.flatMap((part) => ('data' in part ? [part.data] : []))
    assert.match(JSON.stringify(data), /"requestedSchema":\{"type":"object","properties":\{"optionId"/)
  })

  it('are released when the task is canceled', async (t) => {
    const released: unknown[] = []
    const agent = opened(t, script, {}, released)
    const { id } = await taskOf(agent, 'go')
    await agent.cancel(id)
    assert.deepEqual(released, [{ run: 1 }])
  })

  it('let the client run a tool, by the extension or in text', async (t) => {
    const agent = opened(t, ({ paused }) =>
      paused === undefined
        ? [(out) => out.ask({ kind: 'client-tool', id: 'c1', tool: 'locate', arguments: {} }), (out) => out.pause({})]
        : [(out) => out.text(JSON.stringify(paused.answers))],
    )
    const results: readonly (readonly [readonly Part[], unknown])[] = [
      [[{ data: { toolUseId: 'c1', result: { at: 'home' } } }], { id: 'c1', result: { at: 'home' }, isError: false }],
      [[{ data: { toolUseId: 'c1', error: 'no GPS' } }], { id: 'c1', result: 'no GPS', isError: true }],
      [[{ text: 'Rome' }], { id: 'c1', result: 'Rome', isError: false }],
    ]
    for (const [parts, expected] of results) {
      const { id } = await taskOf(agent, 'go')
      assert.deepEqual(JSON.parse(answerOf(await taskOf(agent, parts, id))), [expected])
    }
  })

  it('takes a message that arrives while an answered run works as a new message, not as the answer again', async (t) => {
    const starts: unknown[] = []
    const working = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const agent = testAgent(
      frameworkAgent<Event>({
        name: 'scripted',
        start({ turn, paused }) {
          starts.push([textOf(turn.message.parts), paused?.answers.length ?? 0])
          const isFirst = starts.length === 1
          async function* events(): AsyncGenerator<Event> {
            if (isFirst) yield (out) => out.ask({ kind: 'approval', id: 'c1', tool: 'delete' })
            else if (paused !== undefined) {
              working.resolve()
              await goOn.promise
            }
            yield (out) => (isFirst ? out.pause({ at: 1 }) : out.text('done'))
          }
          return { events: events(), onEvent: (event, out) => event(out) }
        },
      }),
    )
    t.after(() => agent.close())
    const { id } = await taskOf(agent, 'go')
    const answered = taskOf(agent, 'approve', id)
    await working.promise
    const added = taskOf(agent, 'yes', id)
    await eventually(async () => JSON.stringify((await agent.get(id)).history).includes('"yes"'))
    goOn.resolve()
    await Promise.all([answered, added])
    assert.deepEqual(starts, [
      ['go', 0],
      ['approve', 1],
      ['yes', 0],
    ])
  })
})
