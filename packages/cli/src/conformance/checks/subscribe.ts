/** SubscribeToTask: where a subscription begins, what it brings, and when it ends. */
import { pass, tryThrice, Undecided, type Check } from '../check.ts'
import { expect, expectError, outcomeOf, unknownTaskId } from '../expect.ts'
import {
  artifactsOf,
  foldArtifacts,
  nextItem,
  recordStream,
  requireStream,
  requireStreaming,
  stateOf,
  within,
  type RecordedStream,
} from '../record-stream.ts'
import type { Subject } from '../subject.ts'
import { describeError } from '../wire/read-error.ts'
import { interruptedStates, terminalStates } from '../wire/read-response.ts'
import { refusalOf } from './streaming-rules.ts'

const allBindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const
const allVersions = ['1.0', '0.3', '0.2'] as const
const sections = { '1.0': 'A2A 1.0 §3.1.6', '0.3': 'A2A 0.3 §7.9', '0.2': 'A2A 0.2 §7.9' } as const

export const subscribeChecks: readonly Check[] = [
  {
    id: 'subscribe.unknown-task',
    rules: ['B-106'],
    level: 'must',
    section: sections,
    title: 'A subscription to an unknown task is refused with TaskNotFoundError',
    versions: allVersions,
    bindings: allBindings,
    sends: false,
    async run(subject) {
      requireStreaming(subject)
      const answer = await refusalOf(await subject.open('SubscribeToTask', { id: unknownTaskId(subject) }), subject)
      expectError(answer, 'A subscription to an unknown task', 'TASK_NOT_FOUND')
      return pass()
    },
  },
  {
    id: 'subscribe.finished-task',
    rules: ['B-106'],
    level: 'must',
    section: 'A2A 1.0 §3.1.6',
    title: 'A subscription to a finished task is refused with UnsupportedOperationError',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const { task } = await subject.finishedTask()
      const answer = await refusalOf(await subject.open('SubscribeToTask', { id: task.id }), subject)
      expectError(answer, 'A subscription to a finished task', 'UNSUPPORTED_OPERATION')
      return pass()
    },
  },
  {
    id: 'subscribe.finished-task-0.x',
    rules: ['B-108'],
    level: 'info',
    section: { '0.3': 'A2A 0.3 §7.9 (silent)', '0.2': 'A2A 0.2 §7.9 (silent)' },
    title: 'A subscription to a finished task brings the task once and closes',
    versions: ['0.3', '0.2'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const { task } = await subject.finishedTask()
      const stream = await subject.open('SubscribeToTask', { id: task.id })
      const { answer } = stream
      expect(answer === undefined, `It is answered with ${answer === undefined ? '' : outcomeOf(answer)}`, stream)
      const { items, lastState, isOpen } = await recordStream(stream, subject)
      expect(
        terminalStates.has(lastState) && !isOpen,
        `The stream shows ${items.length} events, the last state is ${lastState}`,
        stream,
      )
      return pass()
    },
  },
  {
    id: 'subscribe.first-event',
    rules: ['B-105'],
    level: 'must',
    section: 'A2A 1.0 §3.1.6',
    title: 'A subscription begins with the task in its current state',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      const { stream, items, before } = await subscription(subject)
      const view = items[0]?.view
      expect(view?.kind === 'task', `The first event is of the kind ${view?.kind}`, stream)
      expect(view.task.id === before.id, `The first event is the task ${view.task.id} instead of ${before.id}`, stream)
      expect(
        view.task.state !== undefined && view.task.state !== 'TASK_STATE_UNSPECIFIED',
        'The first event has no state',
        stream,
      )
      return pass()
    },
  },
  {
    id: 'subscribe.opens',
    rules: ['B-105'],
    level: { '1.0': 'must', '0.3': 'should', '0.2': 'should' },
    section: sections,
    title: 'Every task that has not ended can be subscribed to',
    versions: allVersions,
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      const { stream } = await subscriptionAnswer(subject)
      const { answer } = stream
      expect(
        answer === undefined,
        `A subscription to an open task is answered with ${answer === undefined ? '' : outcomeOf(answer)}`,
        stream,
      )
      const failure = stream.received.find(({ error }) => error !== undefined)?.error
      expect(
        failure === undefined,
        `A subscription to an open task brings ${failure === undefined ? '' : describeError(failure)}`,
        stream,
      )
      return pass()
    },
  },
  {
    id: 'subscribe.ends',
    rules: ['B-90', 'B-107'],
    level: { '1.0': 'must', '0.3': 'info', '0.2': 'info' },
    section: sections,
    title: 'A subscription brings the end of the task, and closes then',
    versions: allVersions,
    bindings: allBindings,
    sends: true,
    async run(subject) {
      const { stream, items, lastState, isOpen, after } = await subscription(subject)
      if (!terminalStates.has(after.state))
        throw new Undecided(`the task does not end: it is ${after.state} after CancelTask`)
      // §11.7 lets a stream close when its task asks for input; §3.1.6 does not.
      const began = items[0] === undefined ? undefined : stateOf(items[0])
      if (!isOpen && interruptedStates.has(lastState) && began !== lastState)
        throw new Undecided(`the stream closed with ${lastState}, before the task ended`)
      expect(lastState === after.state, `The subscription ends with ${lastState}, the task with ${after.state}`, stream)
      expect(!isOpen, `The subscription is still open after ${lastState} and the answer to a later message`, stream)
      return pass()
    },
  },
  {
    id: 'subscribe.nothing-lost',
    rules: ['B-105', 'B-93'],
    level: 'must',
    section: 'A2A 1.0 §3.1.6, §3.5.2',
    title: 'The task at the start of a subscription and its later events add up to the task that GetTask returns',
    versions: ['1.0'],
    bindings: allBindings,
    sends: true,
    async run(subject) {
      requireStreaming(subject)
      if (!subject.hasScenario('slow'))
        throw new Undecided('needs a task that runs for a while: name a message for "slow" in the profile')
      const { id, stream } = await tryThrice(async () => {
        const sent = await subject.send('slow', {}, { returnImmediately: true })
        const task = sent.view.kind === 'task' ? sent.view.task.id : undefined
        if (task === undefined) throw new Undecided('the agent makes no task')
        const opened = await subject.open('SubscribeToTask', { id: task })
        requireStream(opened)
        return { id: task, stream: opened }
      })
      const { items } = await recordStream(stream, subject)
      const { task } = await subject.settle(id)
      const streamed = foldArtifacts(items)
      for (const [artifactId, content] of artifactsOf(task)) {
        const found = streamed.get(artifactId)
        expect(
          found === content,
          `The artifact ${artifactId} is ${JSON.stringify(found)} in the subscription and ${JSON.stringify(content)} in the task`,
          stream,
        )
      }
      return pass()
    },
  },
  {
    id: 'subscribe.verbs',
    rules: ['A-1'],
    level: 'info',
    section: 'A2A 1.0 §11.3.2 and a2a.proto (contradict each other)',
    title: 'Over REST a subscription can be asked for with GET and with POST',
    versions: ['1.0', '0.3'],
    bindings: ['HTTP+JSON'],
    sends: false,
    async run(subject) {
      requireStreaming(subject)
      const path = `${subject.version === '1.0' ? '' : '/v1'}/tasks/${unknownTaskId(subject)}:subscribe`
      for (const method of ['GET', 'POST']) {
        const answer = await subject.http({ method, path, ...(method === 'POST' ? { body: {} } : {}) })
        // An unknown task is a 404 too, so the route is known by the A2A error in it.
        const isRoute = /TASK_NOT_FOUND|-32001|not found/i.test(answer.text) && answer.status !== 405
        expect(isRoute, `${method} ${path} is answered with ${answer.status}`, { exchange: answer })
      }
      return pass()
    },
  },
]

interface Subscription extends RecordedStream {
  readonly before: { readonly id: string; readonly state: string | undefined }
  readonly after: { readonly state: string | undefined }
}

/** A subscription to an open task, which is canceled then: so it ends without the agent's help. Made once per interface. */
async function subscription(subject: Subject): Promise<Subscription> {
  requireStreaming(subject)
  const made = await subscriptionAnswer(subject)
  requireStream(made.stream)
  return made
}

function subscriptionAnswer(subject: Subject): Promise<Subscription> {
  return subject.once('subscription', async () => {
    const { task } = await subject.openTask()
    const before = { id: task.id, state: task.state }
    const stream = await subject.open('SubscribeToTask', { id: task.id })
    await within(nextItem(stream), subject.patienceMs)
    if (stream.answer !== undefined || stream.received[0]?.error !== undefined) {
      const { task: now } = await subject.getTask(task.id)
      if (terminalStates.has(now.state)) throw new Undecided(`the task had ended before the subscription: ${now.state}`)
      stream.close()
      return { stream, items: stream.received, lastState: undefined, isOpen: false, before, after: before }
    }
    const canceled = await subject.call('CancelTask', { id: task.id })
    // A task that ends by itself cannot be canceled then, and ends the stream as well.
    const isEnding = canceled.error === undefined || terminalStates.has((await subject.settle(task.id)).task.state)
    if (!isEnding) stream.close()
    const recorded = await recordStream(stream, subject, { isSettled: true })
    const { task: after } = await subject.getTask(task.id)
    return { ...recorded, before, after: { state: after.state } }
  })
}
