/** What streams refuse, and what several streams of one task show. */
import { pass, tryThrice, Undecided, type Check } from '../check.ts'
import { expect, expectError, isErrorNamed, outcomeOf, unknownTaskId } from '../expect.ts'
import { nextItem, recordStream, requireStream, requireStreaming, stateOf, taskIdOf } from '../record-stream.ts'
import type { StreamAnswer, StreamItem, Subject } from '../subject.ts'
import { describeError } from '../wire/read-error.ts'
import { interruptedStates, terminalStates } from '../wire/read-response.ts'
import type { JsonObject } from '../wire/spelling.ts'

const allBindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const
const allVersions = ['1.0', '0.3', '0.2'] as const

export const streamingRuleChecks: readonly Check[] = [
  {
    id: 'streaming.unknown-task',
    rules: ['B-104', 'B-54'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'must' },
    section: { '1.0': 'A2A 1.0 §3.1.2', '0.3': 'A2A 0.3 §7.2, §8.2', '0.2': 'A2A 0.2 §7.2, §8.2' },
    title: 'A streamed message to an unknown task is refused with TaskNotFoundError',
    versions: allVersions,
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const message = subject.message('complete', { taskId: unknownTaskId(subject) })
      const answer = await refusalOf(await subject.open('SendStreamingMessage', { message }), subject)
      expectError(answer, 'A streamed message to an unknown task', 'TASK_NOT_FOUND')
      return pass()
    },
  },
  {
    id: 'streaming.finished-task',
    rules: ['B-104', 'B-43'],
    level: { '1.0': 'must', '0.3': 'info', '0.2': 'info' },
    section: {
      '1.0': 'A2A 1.0 §3.1.2',
      '0.3': 'A2A 0.3 §6.3 (which error is open)',
      '0.2': 'A2A 0.2 §6.3 (which error is open)',
    },
    title: 'A streamed message to a finished task is refused with UnsupportedOperationError',
    versions: allVersions,
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const { task } = await subject.finishedTask()
      const message = subject.message('complete', { taskId: task.id })
      const answer = await refusalOf(await subject.open('SendStreamingMessage', { message }), subject)
      const names =
        subject.version === '1.0'
          ? ['UNSUPPORTED_OPERATION']
          : ['UNSUPPORTED_OPERATION', 'INVALID_PARAMS', 'INVALID_REQUEST']
      expectError(answer, 'A streamed message to a finished task', ...names)
      return pass()
    },
  },
  {
    id: 'streaming.plain-refusal',
    rules: ['F-7'],
    level: 'info',
    section: 'A2A 1.0 §9.4.2, §11.7 (silent)',
    title: 'A stream that cannot start is refused with an ordinary error response, not with an event',
    versions: allVersions,
    bindings: ['JSONRPC', 'HTTP+JSON'],
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const message = subject.message('complete', { taskId: unknownTaskId(subject) })
      const stream = await subject.open('SendStreamingMessage', { message })
      await refusalOf(stream, subject)
      expect(stream.answer !== undefined, 'The refusal is an event of a stream', stream)
      return pass()
    },
  },
  {
    id: 'streaming.return-immediately',
    rules: ['B-65'],
    level: 'must',
    section: 'A2A 1.0 §3.2.2',
    title: 'returnImmediately has no effect on a stream: it continues to the end',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const scenario = subject.hasScenario('stream') ? 'stream' : 'complete'
      const payload = { message: subject.message(scenario), configuration: { returnImmediately: true } }
      const stream = await subject.open('SendStreamingMessage', payload)
      requireStream(stream)
      const { items, lastState } = await recordStream(stream, subject)
      if (items[0]?.view.kind === 'message') return pass('the agent answers with a message')
      const isSettled = terminalStates.has(lastState) || interruptedStates.has(lastState)
      expect(isSettled, `The stream ends while the task is in the state ${lastState}`, stream)
      return pass()
    },
  },
  {
    id: 'streaming.history-length',
    rules: ['B-73'],
    level: 'must',
    section: 'A2A 1.0 §3.2.4',
    title: 'The task in a stream has at most historyLength messages',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const scenario = subject.hasScenario('stream') ? 'stream' : 'complete'
      const payload = { message: subject.message(scenario), configuration: { historyLength: 0 } }
      const stream = await subject.open('SendStreamingMessage', payload)
      requireStream(stream)
      const { items } = await recordStream(stream, subject)
      const tasks = items.flatMap(({ view }) => (view.kind === 'task' ? [view.task] : []))
      if (tasks.length === 0) throw new Undecided('the stream has no task')
      const longest = Math.max(...tasks.map(({ history }) => history?.length ?? 0))
      expect(longest === 0, `With historyLength 0 the task has a history of ${longest} messages`, stream)
      return pass()
    },
  },
  {
    id: 'streaming.several',
    rules: ['B-94'],
    level: 'must',
    section: 'A2A 1.0 §3.5.2',
    title: 'Two streams of one task get the same events in the same order',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      const { first, second } = await tryThrice(() => twoStreams(subject))
      const [one, two] = await Promise.all([recordStream(first, subject), recordStream(second, subject)])
      const later = two.items.slice(1).map(keyOf)
      const all = one.items.map(keyOf)
      // What the first got before the second existed is in the snapshot of the second.
      const tail = all.slice(all.length - later.length)
      const at = later.findIndex((key, index) => key !== tail[index])
      expect(
        at < 0,
        `Event ${at + 2} of the second stream is not what the first stream got: ${later[at]} instead of ${tail[at]}`,
        second,
      )
      expect(
        one.lastState === two.lastState,
        `One stream ends with ${one.lastState}, the other with ${two.lastState}`,
        second,
      )
      return pass(`${later.length} events compared`)
    },
  },
  {
    id: 'streaming.close-is-harmless',
    rules: ['B-94', 'B-103'],
    level: 'must',
    section: 'A2A 1.0 §3.5.2',
    title: 'A client that closes its stream stops neither the task nor the other streams',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      const { first, second, taskId } = await tryThrice(() => twoStreams(subject))
      first.close()
      const { lastState } = await recordStream(second, subject)
      expect(lastState !== 'TASK_STATE_CANCELED', 'The task is canceled when a stream is closed', second)
      const { task } = await subject.settle(taskId)
      expect(task.state !== 'TASK_STATE_CANCELED', 'The task is canceled when a stream is closed', second)
      const isSettled = terminalStates.has(lastState) || interruptedStates.has(lastState)
      expect(isSettled, `The other stream ends with ${lastState}`, second)
      return pass()
    },
  },
  {
    id: 'streaming.input-required',
    rules: ['B-91'],
    level: 'info',
    section: 'A2A 1.0 §3.1.2 and §11.7 (contradict each other)',
    title: 'A stream closes when its task waits for input',
    versions: allVersions,
    bindings: allBindings,
    sends: true,
    async run(subject) {
      const { stream, isOpen } = await interruptedStream(subject, 'inputRequired', 'TASK_STATE_INPUT_REQUIRED')
      expect(!isOpen, 'The stream is still open after INPUT_REQUIRED and the answer to a later message', stream)
      return pass()
    },
  },
  {
    id: 'streaming.auth-required',
    rules: ['B-92'],
    level: 'should',
    section: 'A2A 1.0 §7.6.1',
    title: 'A stream stays open while its task waits for a credential that arrives out of band',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      const { stream, isOpen } = await interruptedStream(subject, 'authRequired', 'TASK_STATE_AUTH_REQUIRED', 0)
      expect(isOpen, 'The stream closes after AUTH_REQUIRED', stream)
      return pass()
    },
  },
]

/** What a refused stream says: an ordinary error, or an error as its only event. */
export async function refusalOf(stream: StreamAnswer, subject: Subject) {
  if (stream.answer !== undefined) return stream.answer
  const { items, stream: read } = await recordStream(stream, subject, { isEnough: ({ error }) => error !== undefined })
  const { end, exchange, status, headers } = read
  const error = items.find((item) => item.error !== undefined)?.error ?? (end?.by === 'failure' ? end.error : undefined)
  return {
    exchange,
    status,
    headers,
    result: items[0]?.envelope,
    error,
    malformed: undefined,
    envelope: items[0]?.envelope,
  }
}

/** A task with two streams that it still has events for. Throws `Undecided` if the agent is too quick. */
async function twoStreams(subject: Subject): Promise<{ first: StreamAnswer; second: StreamAnswer; taskId: string }> {
  requireStreaming(subject)
  if (!subject.hasScenario('slow'))
    throw new Undecided('needs a task that runs for a while: name a message for "slow" in the profile')
  const first = await subject.open('SendStreamingMessage', { message: subject.message('slow') })
  requireStream(first)
  const item = await nextItem(first)
  if (item === 'end') throw new Undecided('the stream has no event')
  const taskId = taskIdOf([item])
  const second = await subject.open('SubscribeToTask', { id: taskId })
  const { answer } = second
  if (answer !== undefined) {
    first.close()
    const why = outcomeOf(answer)
    expect(
      isErrorNamed(answer, 'UNSUPPORTED_OPERATION') || isErrorNamed(answer, 'TASK_NOT_FOUND'),
      `SubscribeToTask of a running task is answered with ${why}`,
      answer,
    )
    throw new Undecided(`there is no second stream of the task: ${why}`)
  }
  return { first, second, taskId }
}

async function interruptedStream(
  subject: Subject,
  scenario: 'inputRequired' | 'authRequired',
  state: string,
  withinMs?: number,
) {
  requireStreaming(subject)
  if (!subject.hasScenario(scenario)) throw new Undecided(`name a message for "${scenario}" in the profile`)
  const stream = await subject.open('SendStreamingMessage', { message: subject.message(scenario) })
  requireStream(stream)
  const recorded = await recordStream(stream, subject, withinMs === undefined ? {} : { withinMs })
  const failure = recorded.items.find(({ error }) => error !== undefined)?.error
  if (failure !== undefined) throw new Undecided(`the stream ends with ${describeError(failure)}`)
  if (recorded.lastState !== state) throw new Undecided(`the task reaches ${recorded.lastState} instead of ${state}`)
  return recorded
}

/** What makes two events the same for two readers. Tasks compare by state: a snapshot may be sent again. */
function keyOf(item: StreamItem): string {
  const { view } = item
  const detail: JsonObject =
    view.kind === 'artifact'
      ? { id: view.artifact.artifactId, text: view.artifact.text, append: view.append }
      : { state: stateOf(item) }
  return `${view.kind} ${JSON.stringify(detail)}`
}
