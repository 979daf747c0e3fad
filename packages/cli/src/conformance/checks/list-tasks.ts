/** ListTasks: pages, order, filters, and the parameters that it refuses. 1.0 only. */
import { CheckFailure, fail, pass, undecided, Undecided, type Check } from '../check.ts'
import { expectResult, outcomeOf } from '../expect.ts'
import type { Answer, Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import { readTask, type TaskView } from '../wire/read-response.ts'
import type { JsonObject } from '../wire/spelling.ts'
import { objectsOf } from './card-shape.ts'
import { allBindings, jsonBindings, v1 } from './scope.ts'

const onList = { versions: v1, bindings: allBindings, sends: true, level: 'must' } as const
const section = 'A2A 1.0 §3.1.4'

interface Page extends Answer {
  readonly body: JsonObject
  readonly tasks: readonly TaskView[]
  readonly nextPageToken: string
}

async function listPage(subject: Subject, request: JsonObject): Promise<Page> {
  const answer = await subject.call('ListTasks', request)
  expectResult(answer, `ListTasks ${JSON.stringify(request)}`)
  const body = isObject(answer.result) ? answer.result : {}
  const tasks = objectsOf(body['tasks']).map((task) => readTask(subject.dialect, task))
  return {
    ...answer,
    body,
    tasks,
    nextPageToken: typeof body['nextPageToken'] === 'string' ? body['nextPageToken'] : '',
  }
}

/** Three tasks in a context of their own, so that what others do does not matter. */
function ownTasks(subject: Subject): Promise<{ readonly contextId: string; readonly ids: readonly string[] }> {
  return subject.once('listed tasks', async () => {
    const { task } = await subject.finishedTask()
    if (task.contextId === undefined) throw new Undecided('tasks have no contextId to list them by')
    const ids = [task.id]
    for (let count = 0; count < 2; count += 1) {
      const answer = await subject.send('complete', { contextId: task.contextId })
      if (
        answer.view.kind !== 'task' ||
        answer.view.task.id === undefined ||
        answer.view.task.contextId !== task.contextId
      ) {
        throw new Undecided('the agent makes no further tasks in a context')
      }
      ids.push(answer.view.task.id)
    }
    return { contextId: task.contextId, ids }
  })
}

async function expectInvalid(subject: Subject, what: string, request: JsonObject): Promise<void> {
  const answer = await subject.call('ListTasks', request)
  if (answer.error === undefined) throw new CheckFailure(`ListTasks with ${what} returns a result`, answer.exchange)
  const isInvalid =
    subject.binding === 'JSONRPC'
      ? answer.error.code === -32602
      : subject.binding === 'GRPC'
        ? answer.error.grpcStatus === 'INVALID_ARGUMENT'
        : answer.status === 400
  if (!isInvalid)
    throw new CheckFailure(
      `ListTasks with ${what} is answered with ${outcomeOf(answer)} instead of invalid parameters`,
      answer.exchange,
    )
}

export const listTasksChecks: readonly Check[] = [
  {
    ...onList,
    id: 'list.fields',
    rules: ['J-8', 'B-84'],
    section: `${section}, §5.7`,
    title: 'A page has tasks, nextPageToken, pageSize and totalSize',
    bindings: jsonBindings,
    sends: false,
    async run(subject) {
      const page = await listPage(subject, { pageSize: 1 })
      const types = {
        tasks: Array.isArray(page.body['tasks']),
        nextPageToken: typeof page.body['nextPageToken'] === 'string',
        pageSize: typeof page.body['pageSize'] === 'number',
        totalSize: typeof page.body['totalSize'] === 'number',
      }
      const wrong = Object.entries(types).filter(([, isRight]) => !isRight)
      return wrong.length === 0
        ? pass()
        : fail(`missing or of the wrong type: ${wrong.map(([name]) => name).join(', ')}`, page)
    },
  },
  {
    ...onList,
    id: 'list.context-filter',
    rules: ['B-82'],
    section,
    title: 'The filter by contextId returns the tasks of that context and no others',
    async run(subject) {
      const { contextId, ids } = await ownTasks(subject)
      const page = await listPage(subject, { contextId })
      const missing = ids.filter((id) => !page.tasks.some((task) => task.id === id))
      if (missing.length > 0) return fail(`${missing.length} of ${ids.length} tasks of the context are missing`, page)
      const foreign = page.tasks.find((task) => task.contextId !== contextId)
      return foreign === undefined ? pass() : fail(`a task has the context ${foreign.contextId}`, page)
    },
  },
  {
    ...onList,
    id: 'list.status-filter',
    rules: ['B-82'],
    section,
    title: 'The filter by status returns tasks in that state only',
    async run(subject) {
      const { contextId } = await ownTasks(subject)
      const { task } = await subject.finishedTask()
      const same = await listPage(subject, { contextId, status: task.state })
      if (!same.tasks.some(({ id }) => id === task.id))
        return fail(`the filter ${task.state} leaves out a task in that state`, same)
      const other = task.state === 'TASK_STATE_REJECTED' ? 'TASK_STATE_WORKING' : 'TASK_STATE_REJECTED'
      const none = await listPage(subject, { contextId, status: other })
      const wrong = none.tasks.find(({ state }) => state !== other)
      return wrong === undefined ? pass() : fail(`the filter ${other} returns a task in ${wrong.state}`, none)
    },
  },
  {
    ...onList,
    id: 'list.time-filter',
    rules: ['B-82'],
    section: `${section}; a2a.proto, statusTimestampAfter`,
    title: 'The filter by time leaves out tasks whose status is older',
    async run(subject) {
      const { contextId } = await ownTasks(subject)
      const page = await listPage(subject, { contextId, statusTimestampAfter: '2100-01-01T00:00:00.000Z' })
      if (page.tasks.length > 0) return fail(`statusTimestampAfter 2100 returns ${page.tasks.length} tasks`, page)
      const all = await listPage(subject, { contextId, statusTimestampAfter: '2000-01-01T00:00:00.000Z' })
      return all.tasks.length >= 3
        ? pass()
        : fail(`statusTimestampAfter 2000 returns ${all.tasks.length} of 3 tasks`, all)
    },
  },
  {
    ...onList,
    id: 'list.order',
    rules: ['B-78'],
    section,
    title: 'Tasks are ordered by the time of their status, newest first',
    async run(subject) {
      const { contextId } = await ownTasks(subject)
      const page = await listPage(subject, { contextId })
      const times = page.tasks.map(({ timestamp }) => (timestamp === undefined ? Number.NaN : Date.parse(timestamp)))
      if (times.some(Number.isNaN)) return undecided('tasks have no timestamps')
      const wrong = times.findIndex((time, index) => index > 0 && time > (times[index - 1] ?? time))
      return wrong < 0 ? pass() : fail(`task ${wrong + 1} of the page is newer than the one before`, page)
    },
  },
  {
    ...onList,
    id: 'list.pages',
    rules: ['B-79', 'B-80', 'B-84'],
    section,
    title: 'Pages of one task each lead by their token to every task once, and end with an empty token',
    async run(subject) {
      const { contextId, ids } = await ownTasks(subject)
      const seen: string[] = []
      let pageToken = ''
      for (let count = 0; count <= ids.length + 1; count += 1) {
        const page = await listPage(subject, { contextId, pageSize: 1, ...(pageToken === '' ? {} : { pageToken }) })
        if (page.tasks.length > 1) return fail(`pageSize 1 returns ${page.tasks.length} tasks`, page)
        for (const { id } of page.tasks) {
          if (id !== undefined && seen.includes(id)) return fail(`task ${id} is on two pages`, page)
          seen.push(id ?? '')
        }
        pageToken = page.nextPageToken
        if (pageToken === '') {
          const missing = ids.filter((id) => !seen.includes(id))
          return missing.length === 0 ? pass() : fail(`${missing.length} of ${ids.length} tasks are on no page`, page)
        }
      }
      return fail('the pages do not end with an empty nextPageToken')
    },
  },
  {
    ...onList,
    id: 'list.total-size',
    rules: ['B-85'],
    section: `${section}; a2a.proto, totalSize`,
    title: 'totalSize counts every match, not only those of the page',
    async run(subject) {
      const { contextId, ids } = await ownTasks(subject)
      const page = await listPage(subject, { contextId, pageSize: 1 })
      const total = page.body['totalSize']
      return typeof total === 'number' && total >= ids.length
        ? pass()
        : fail(`totalSize is ${String(total)} for ${ids.length} tasks`, page)
    },
  },
  {
    ...onList,
    id: 'list.artifacts-omitted',
    rules: ['B-83'],
    section,
    title: 'Without includeArtifacts tasks have no field artifacts',
    bindings: jsonBindings,
    async run(subject) {
      const { contextId } = await ownTasks(subject)
      const page = await listPage(subject, { contextId })
      return page.tasks.some(({ raw }) => 'artifacts' in raw) ? fail('a task has the field artifacts', page) : pass()
    },
  },
  {
    ...onList,
    id: 'list.artifacts-included',
    rules: ['B-83', 'J-8'],
    level: 'should',
    section,
    title: 'With includeArtifacts tasks have their artifacts',
    async run(subject) {
      const { contextId } = await ownTasks(subject)
      const page = await listPage(subject, { contextId, includeArtifacts: true })
      const { task } = await subject.finishedTask()
      const listed = page.tasks.find(({ id }) => id === task.id)
      if (listed === undefined) return undecided('the task is not listed')
      if (listed.artifacts.length !== task.artifacts.length)
        return fail(`the task has ${listed.artifacts.length} artifacts instead of ${task.artifacts.length}`, page)
      const isAbsent = subject.binding !== 'GRPC' && !('artifacts' in listed.raw)
      return isAbsent ? fail('the field artifacts is absent', page) : pass()
    },
  },
  {
    ...onList,
    id: 'list.history-length',
    rules: ['B-73'],
    level: 'should',
    section: 'A2A 1.0 §3.2.4',
    title: 'historyLength 0 leaves the history of listed tasks out',
    async run(subject) {
      const { contextId } = await ownTasks(subject)
      const page = await listPage(subject, { contextId, historyLength: 0 })
      const found = page.tasks.find(({ history }) => (history?.length ?? 0) > 0)
      return found === undefined ? pass() : fail(`a task has ${found.history?.length} messages of history`, page)
    },
  },
  {
    ...onList,
    id: 'list.page-size-range',
    rules: ['B-80'],
    section: 'A2A 1.0 §3.3.2, §6.5; a2a.proto, pageSize 1 to 100',
    title: 'A pageSize outside 1 to 100 is refused',
    sends: false,
    async run(subject) {
      for (const pageSize of [0, -1, 150]) await expectInvalid(subject, `pageSize ${pageSize}`, { pageSize })
      return pass()
    },
  },
  {
    ...onList,
    id: 'list.invalid-status',
    rules: ['B-81'],
    section: 'A2A 1.0 §3.3.2, §6.5',
    title: 'An unknown state in the filter is refused',
    bindings: jsonBindings,
    sends: false,
    async run(subject) {
      await expectInvalid(subject, 'status TASK_STATE_RUNNING', { status: 'TASK_STATE_RUNNING' })
      return pass()
    },
  },
  {
    ...onList,
    id: 'list.invalid-history-length',
    rules: ['B-81'],
    section: 'A2A 1.0 §3.3.2, §6.5',
    title: 'A negative historyLength is refused',
    sends: false,
    async run(subject) {
      await expectInvalid(subject, 'historyLength -5', { historyLength: -5 })
      return pass()
    },
  },
  {
    ...onList,
    id: 'list.invalid-time',
    rules: ['B-81'],
    section: 'A2A 1.0 §3.3.2, §5.6.1',
    title: 'A time that is no ISO 8601 timestamp is refused',
    bindings: jsonBindings,
    sends: false,
    async run(subject) {
      await expectInvalid(subject, 'statusTimestampAfter "yesterday"', { statusTimestampAfter: 'yesterday' })
      return pass()
    },
  },
  {
    ...onList,
    id: 'list.invalid-token',
    rules: ['B-81'],
    section: 'A2A 1.0 §3.3.2',
    title: 'A page token that the agent did not issue is refused',
    sends: false,
    async run(subject) {
      await expectInvalid(subject, 'pageToken "conformance-no-such-token"', { pageToken: 'conformance-no-such-token' })
      return pass()
    },
  },
]
