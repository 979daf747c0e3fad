/** CancelTask. */
import { fail, pass, type Check } from '../check.ts'
import { expectError, isErrorNamed, outcomeOf, unknownTaskId } from '../expect.ts'
import { readTask, terminalStates } from '../wire/read-response.ts'
import { allBindings, allVersions, errorCodeLevel } from './scope.ts'

const onCancel = { versions: allVersions, bindings: allBindings, sends: true } as const
const codes = { '0.3': 'A2A 0.3 §7.4, §8.2', '0.2': 'A2A 0.2 §7.4, §8.2' } as const

export const cancelChecks: readonly Check[] = [
  {
    ...onCancel,
    id: 'cancel.unknown-task',
    rules: ['B-111'],
    level: errorCodeLevel,
    section: { '1.0': 'A2A 1.0 §3.1.5', ...codes },
    title: 'CancelTask of an unknown id is refused with TaskNotFoundError',
    sends: false,
    async run(subject) {
      const answer = await subject.call('CancelTask', { id: unknownTaskId(subject) })
      expectError(answer, 'CancelTask of an unknown id', 'TASK_NOT_FOUND')
      return pass()
    },
  },
  {
    ...onCancel,
    id: 'cancel.finished-task',
    rules: ['B-111', 'B-112'],
    level: errorCodeLevel,
    section: { '1.0': 'A2A 1.0 §3.1.5', ...codes },
    title: 'CancelTask of a finished task is refused with TaskNotCancelableError',
    async run(subject) {
      const { task } = await subject.finishedTask()
      const answer = await subject.call('CancelTask', { id: task.id })
      expectError(answer, `CancelTask of a task in ${task.state}`, 'TASK_NOT_CANCELABLE')
      return pass()
    },
  },
  {
    ...onCancel,
    id: 'cancel.open-task',
    rules: ['B-110'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §3.1.5', '0.3': 'A2A 0.3 §7.4', '0.2': 'A2A 0.2 §7.4' },
    title: 'CancelTask of an open task returns the task with its new state',
    async run(subject) {
      const { task } = await subject.openTask()
      const answer = await subject.call('CancelTask', { id: task.id })
      if (isErrorNamed(answer, 'TASK_NOT_CANCELABLE')) return pass('the agent cannot cancel it')
      if (answer.error !== undefined) return fail(`it is answered with ${outcomeOf(answer)}`, answer)
      const canceled = readTask(subject.dialect, answer.result)
      if (canceled.id !== task.id)
        return fail(`the result is ${canceled.id === undefined ? 'no task' : `task ${canceled.id}`}`, answer)
      const { task: now } = await subject.getTask(task.id)
      // A task that is not canceled at once may end meanwhile.
      const isOpen = !terminalStates.has(canceled.state)
      return isOpen || now.state === 'TASK_STATE_CANCELED' || now.state === canceled.state
        ? pass(canceled.state)
        : fail(`CancelTask returns ${canceled.state}, and GetTask then ${now.state}`, answer)
    },
  },
  {
    ...onCancel,
    versions: ['1.0'],
    id: 'cancel.twice',
    rules: ['B-112'],
    level: 'must',
    section: 'A2A 1.0 §3.3.1; §3.1.5 allows TaskNotCancelableError',
    title: 'A second cancel has the same effect as the first',
    async run(subject) {
      const { task } = await subject.openTask()
      const first = await subject.call('CancelTask', { id: task.id })
      if (first.error !== undefined) return pass(`the agent cannot cancel it: ${outcomeOf(first)}`)
      const second = await subject.call('CancelTask', { id: task.id })
      if (isErrorNamed(second, 'TASK_NOT_CANCELABLE') || isErrorNamed(second, 'TASK_NOT_FOUND'))
        return pass(outcomeOf(second))
      if (second.error !== undefined) return fail(`the second is answered with ${outcomeOf(second)}`, second)
      const before = readTask(subject.dialect, first.result).state
      const state = readTask(subject.dialect, second.result).state
      return state === before || !terminalStates.has(before) ? pass(state) : fail(`the second returns ${state}`, second)
    },
  },
]
