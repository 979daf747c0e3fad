/** GetTask: what it returns, what it refuses, and how much history it has. */
import { fail, notApplicable, pass, undecided, type Check } from '../check.ts'
import { expectError, unknownTaskId } from '../expect.ts'
import type { Subject, TaskAnswer } from '../subject.ts'
import { allBindings, allVersions, errorCodeLevel, jsonBindings, newRule, v1 } from './scope.ts'

const onGet = { versions: allVersions, bindings: allBindings, sends: true } as const

/** The finished task with its whole history. Undecided where the agent keeps none. */
async function withHistory(subject: Subject): Promise<TaskAnswer> {
  const { task } = await subject.finishedTask()
  return subject.getTask(task.id)
}

/** 0 is "no limit" in the protobuf of 0.3, which has no presence for it. */
const hasZero = ({ dialect }: Subject): boolean => dialect !== '0.3 proto'

export const getTaskChecks: readonly Check[] = [
  {
    ...onGet,
    id: 'get.unknown-task',
    rules: ['B-160'],
    level: errorCodeLevel,
    section: { '1.0': 'A2A 1.0 §3.1.3, §3.3.2', '0.3': 'A2A 0.3 §8.2, §11.1.5', '0.2': 'A2A 0.2 §8.2' },
    title: 'GetTask of an unknown id is refused with TaskNotFoundError',
    sends: false,
    async run(subject) {
      const answer = await subject.call('GetTask', { id: unknownTaskId(subject) })
      expectError(answer, 'GetTask of an unknown id', 'TASK_NOT_FOUND')
      return pass()
    },
  },
  {
    ...onGet,
    id: 'get.task',
    rules: ['B-6', 'B-162'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §3.1.3', '0.3': 'A2A 0.3 §7.3', '0.2': 'A2A 0.2 §7.3' },
    title: 'GetTask returns the task with its current state and artifacts',
    async run(subject) {
      const { task } = await subject.finishedTask()
      const got = await subject.getTask(task.id)
      if (got.task.id !== task.id) return fail(`the id is ${got.task.id} instead of ${task.id}`, got)
      if (got.task.state !== task.state) return fail(`the state is ${got.task.state} instead of ${task.state}`, got)
      if (got.task.contextId !== task.contextId)
        return fail(`the contextId is ${got.task.contextId} instead of ${task.contextId}`, got)
      const [had, has] = [task.artifacts.length, got.task.artifacts.length]
      return had === has ? pass() : fail(`the task has ${has} artifacts instead of ${had}`, got)
    },
  },
  {
    ...onGet,
    id: 'get.idempotent',
    rules: ['B-162'],
    level: 'info',
    section: { '1.0': 'A2A 1.0 §3.3.1', '0.3': 'A2A 0.3 §7.3', '0.2': 'A2A 0.2 §7.3' },
    title: 'A finished task is the same at every read',
    async run(subject) {
      const { task } = await subject.finishedTask()
      const [first, second] = [await subject.getTask(task.id), await subject.getTask(task.id)]
      return JSON.stringify(first.task.raw) === JSON.stringify(second.task.raw)
        ? pass()
        : fail('the second read differs', second)
    },
  },
  {
    ...onGet,
    id: 'history.zero',
    rules: ['B-73', 'B-75'],
    level: { '1.0': 'should', '0.3': 'info', '0.2': 'info' },
    section: { '1.0': 'A2A 1.0 §3.2.4', '0.3': 'A2A 0.3 §7.3.1', '0.2': 'A2A 0.2 §7.3.1' },
    title: 'historyLength 0 leaves the history out',
    async run(subject) {
      if (!hasZero(subject)) return notApplicable('in this binding 0 is the same as unset')
      const { task } = await subject.finishedTask()
      const got = await subject.getTask(task.id, { historyLength: 0 })
      if (got.task.history === undefined) return pass()
      const count = got.task.history.length
      return count > 0 ? fail(`the task has ${count} messages of history`, got) : pass('an empty list')
    },
  },
  {
    ...onGet,
    id: 'history.limit',
    rules: ['B-73', 'B-75'],
    level: newRule,
    section: { '1.0': 'A2A 1.0 §3.2.4', '0.3': 'A2A 0.3 §7.3.1', '0.2': 'A2A 0.2 §7.3.1' },
    title: 'historyLength n returns at most the n most recent messages',
    async run(subject) {
      const whole = (await withHistory(subject)).task.history ?? []
      if (whole.length === 0) return undecided('the agent keeps no history')
      const got = await subject.getTask((await subject.finishedTask()).task.id, { historyLength: 1 })
      const found = got.task.history ?? []
      if (found.length > 1) return fail(`historyLength 1 returns ${found.length} messages`, got)
      const [only] = found
      const last = whole.at(-1)
      if (only === undefined) return pass('it returned none')
      return only.messageId === last?.messageId ? pass() : fail('the message is not the most recent one', got)
    },
  },
  {
    ...onGet,
    versions: v1,
    id: 'history.send',
    rules: ['B-73'],
    level: 'should',
    section: 'A2A 1.0 §3.2.4',
    title: 'historyLength 0 in SendMessage leaves the history out',
    async run(subject) {
      const answer = await subject.send('complete', {}, { historyLength: 0 })
      if (answer.view.kind !== 'task') return undecided('the agent answered with a message')
      const count = answer.view.task.history?.length ?? 0
      return count === 0 ? pass() : fail(`the task has ${count} messages of history`, answer)
    },
  },
  {
    ...onGet,
    bindings: jsonBindings,
    id: 'history.order',
    rules: ['B-47'],
    level: 'info',
    section: { '1.0': 'A2A 1.0 §3.7', '0.3': 'A2A 0.3 §6.1', '0.2': 'A2A 0.2 §6.1' },
    title: 'The history begins with the message that opened the task',
    async run(subject) {
      const sent = subject.message('complete')
      const answer = await subject.send(undefined, sent)
      if (answer.view.kind !== 'task' || answer.view.task.id === undefined) return undecided('the agent makes no tasks')
      const got = await subject.getTask(answer.view.task.id)
      const [first] = got.task.history ?? []
      if (first === undefined) return undecided('the agent keeps no history')
      return first.messageId === sent['messageId']
        ? pass()
        : fail(`the first message of the history is ${first.messageId}`, got)
    },
  },
]
