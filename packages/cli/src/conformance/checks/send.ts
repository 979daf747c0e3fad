/** SendMessage: what it returns, and to which tasks and contexts it leads. */
import { randomUUID } from 'node:crypto'
import { fail, pass, tryThrice, Undecided, undecided, type Check } from '../check.ts'
import { expectError, expectRefusal, outcomeOf, unknownTaskId } from '../expect.ts'
import { nextItem, requireStream, taskIdOf } from '../record-stream.ts'
import type { Subject } from '../subject.ts'
import { interruptedStates, terminalStates } from '../wire/read-response.ts'
import { allBindings, allVersions, errorCodeLevel, newRule, v1 } from './scope.ts'

const onSend = { versions: allVersions, bindings: allBindings, sends: true } as const

export const sendChecks: readonly Check[] = [
  {
    ...onSend,
    id: 'send.result',
    rules: ['B-49'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §3.1.1', '0.3': 'A2A 0.3 §7.1', '0.2': 'A2A 0.2 §7.1' },
    title: 'SendMessage returns a task or a message',
    async run(subject) {
      const answer = await subject.send('complete')
      if (answer.error !== undefined) return undecided(`the agent refuses an ordinary message: ${outcomeOf(answer)}`)
      if (answer.malformed !== undefined) return fail(`the response is malformed: ${answer.malformed}`, answer)
      const { kind } = answer.view
      return kind === 'task' || kind === 'message'
        ? pass(`it returned a ${kind}`)
        : fail('the result is neither a task nor a message', answer)
    },
  },
  {
    ...onSend,
    id: 'send.waits',
    rules: ['B-63', 'B-66'],
    level: newRule,
    section: {
      '1.0': 'A2A 1.0 §3.2.2',
      '0.3': 'A2A 0.3 §7.1.1: no default of blocking',
      '0.2': 'A2A 0.2 §7.1.1: no default of blocking',
    },
    title: 'By default the task that is returned has ended, or waits for the client',
    async run(subject) {
      const answer = subject.hasScenario('slow') ? await subject.send('slow') : await subject.firstAnswer()
      if (answer.view.kind !== 'task') return undecided('the agent answered with a message')
      const { state } = answer.view.task
      return terminalStates.has(state) || interruptedStates.has(state)
        ? pass(state)
        : fail(`the state is ${state}`, answer)
    },
  },
  {
    ...onSend,
    id: 'send.return-immediately',
    rules: ['B-64'],
    level: newRule,
    section: { '1.0': 'A2A 1.0 §3.2.2', '0.3': 'A2A 0.3 §7.1.1', '0.2': 'A2A 0.2 §7.1.1' },
    title: 'With returnImmediately (0.x: blocking false) the task is returned while work continues',
    async run(subject) {
      const isSlow = subject.hasScenario('slow')
      // An agent that stands still for a moment may return a slow task late once, but not each time.
      for (let left = 3; ; left -= 1) {
        const answer = await subject.send(isSlow ? 'slow' : 'complete', {}, { returnImmediately: true })
        if (answer.error !== undefined) return fail(`it is answered with ${outcomeOf(answer)}`, answer)
        if (answer.view.kind !== 'task') return undecided('the agent answered with a message')
        const { state } = answer.view.task
        if (!terminalStates.has(state)) return pass(state)
        if (!isSlow) return undecided('the task had ended; name a message for the scenario "slow" in the profile')
        if (left > 1) continue
        await tryThrice(() => requireSlowTask(subject))
        return fail(`the task of a slow message is returned as ${state}`, answer)
      }
    },
  },
  {
    ...onSend,
    id: 'send.unique-task-ids',
    rules: ['B-53'],
    level: newRule,
    section: { '1.0': 'A2A 1.0 §3.4.2', '0.3': 'A2A 0.3 §6.1', '0.2': 'A2A 0.2 §6.1' },
    title: 'Each new task has an id of its own',
    async run(subject) {
      const first = await subject.firstAnswer()
      const second = await subject.send('complete')
      if (first.view.kind !== 'task' || second.view.kind !== 'task') return undecided('the agent makes no tasks')
      return first.view.task.id === second.view.task.id
        ? fail(`two messages lead to the same id ${first.view.task.id}`, second)
        : pass()
    },
  },
  {
    ...onSend,
    id: 'send.unknown-task',
    rules: ['B-54'],
    level: errorCodeLevel,
    section: { '1.0': 'A2A 1.0 §3.4.2', '0.3': 'A2A 0.3 §8.2, §11.1.5', '0.2': 'A2A 0.2 §8.2' },
    title: 'A message to an unknown task is refused with TaskNotFoundError',
    async run(subject) {
      const answer = await subject.send('complete', { taskId: unknownTaskId(subject) })
      expectError(answer, 'a message to an unknown task', 'TASK_NOT_FOUND')
      return pass()
    },
  },
  {
    ...onSend,
    id: 'send.finished-task',
    rules: ['B-43'],
    level: newRule,
    section: {
      '1.0': 'A2A 1.0 §3.1.1',
      '0.3': 'A2A 0.3 §7.1: "will result in an error"',
      '0.2': 'A2A 0.2 §7.1: "will result in an error"',
    },
    title: 'A message to a finished task is refused, in 1.0 with UnsupportedOperationError',
    async run(subject) {
      const { task } = await subject.finishedTask()
      const answer = await subject.send('complete', {
        taskId: task.id,
        ...(task.contextId === undefined ? {} : { contextId: task.contextId }),
      })
      if (subject.version === '1.0') expectError(answer, 'a message to a finished task', 'UNSUPPORTED_OPERATION')
      else expectRefusal(answer, 'a message to a finished task')
      return pass()
    },
  },
  {
    ...onSend,
    id: 'send.new-task-in-context',
    rules: ['B-55', 'B-56', 'T-2'],
    level: newRule,
    section: { '1.0': 'A2A 1.0 §3.4.1, §3.4.3', '0.3': 'A2A 0.3 §6.4', '0.2': 'A2A 0.2 §6.4' },
    title: 'A message in an existing context leads to a new task in that context, or is refused',
    async run(subject) {
      const { task } = await subject.finishedTask()
      if (task.contextId === undefined) return undecided('the task has no contextId')
      const answer = await subject.send('complete', { contextId: task.contextId })
      if (answer.error !== undefined) return pass(`the context accepts no more tasks: ${outcomeOf(answer)}`)
      const { view } = answer
      if (view.kind !== 'task') return undecided('the agent answered with a message')
      if (view.task.contextId !== task.contextId)
        return fail(`the contextId is ${view.task.contextId} instead of ${task.contextId}`, answer)
      return view.task.id === task.id ? fail('the message went to the finished task', answer) : pass()
    },
  },
  {
    ...onSend,
    versions: v1,
    id: 'send.client-context',
    rules: ['B-55', 'B-56'],
    level: 'must',
    section: 'A2A 1.0 §3.4.1',
    title: 'A contextId of the client is kept or refused, and never replaced',
    async run(subject) {
      const contextId = `conformance-${randomUUID()}`
      const answer = await subject.send('complete', { contextId })
      if (answer.error !== undefined) return pass(`refused: ${outcomeOf(answer)}`)
      const found =
        answer.view.kind === 'task'
          ? answer.view.task.contextId
          : answer.view.kind === 'message'
            ? answer.view.message.contextId
            : undefined
      return found === contextId
        ? pass('kept')
        : fail(`the contextId is ${found ?? 'missing'} instead of ${contextId}`, answer)
    },
  },
  {
    ...onSend,
    versions: v1,
    id: 'send.context-inferred',
    rules: ['B-57'],
    level: 'must',
    section: 'A2A 1.0 §3.4.3',
    title: 'A message with only a taskId continues that task in its context',
    async run(subject) {
      const { task } = await subject.openTask()
      const answer = await subject.send('complete', { taskId: task.id })
      if (answer.error !== undefined) return undecided(`the open task accepts no message: ${outcomeOf(answer)}`)
      if (answer.view.kind !== 'task')
        return fail(`the answer to a message for a task is a ${answer.view.kind}`, answer)
      const { id, contextId } = answer.view.task
      if (id !== task.id) return fail(`the answer is task ${id} instead of ${task.id}`, answer)
      return contextId === task.contextId
        ? pass()
        : fail(`the contextId is ${contextId} instead of ${task.contextId}`, answer)
    },
  },
  {
    ...onSend,
    versions: v1,
    id: 'send.context-mismatch',
    rules: ['B-58'],
    level: 'must',
    section: 'A2A 1.0 §3.4.3',
    title: 'A message whose contextId is not that of its task is refused',
    async run(subject) {
      const { task } = await subject.openTask()
      const answer = await subject.send('complete', { taskId: task.id, contextId: `conformance-${randomUUID()}` })
      expectRefusal(answer, 'a message with another contextId than its task')
      return pass()
    },
  },
  {
    ...onSend,
    id: 'send.same-message-twice',
    rules: ['B-72', 'B-163'],
    level: 'info',
    section: { '1.0': 'A2A 1.0 §3.3.1: may be idempotent', '0.3': 'A2A 0.3 §7.1', '0.2': 'A2A 0.2 §7.1' },
    title: 'A message that is sent twice leads to one task',
    async run(subject) {
      // Servers may trust only an id that another client cannot guess.
      const message = subject.message('complete', { messageId: randomUUID() })
      const [first, second] = [await subject.send(undefined, message), await subject.send(undefined, message)]
      if (first.view.kind !== 'task') return undecided('the agent makes no tasks')
      const same = second.view.kind === 'task' && second.view.task.id === first.view.task.id
      return same
        ? pass()
        : fail(
            `the second is answered with ${second.view.kind === 'task' ? 'another task' : outcomeOf(second)}`,
            second,
          )
    },
  },
]

/** Throws `Undecided` if a stream shows that the slow message of the profile is not slow: the profile may be for another agent. */
async function requireSlowTask(subject: Subject): Promise<void> {
  if (!subject.capabilities.streaming) return
  const stream = await subject.open('SendStreamingMessage', { message: subject.message('slow') })
  requireStream(stream)
  const first = await nextItem(stream)
  const { task } = await subject.getTask(taskIdOf(first === 'end' ? [] : [first]))
  stream.close()
  if (terminalStates.has(task.state))
    throw new Undecided('the task had ended: the message for "slow" in the profile is not slow')
}
