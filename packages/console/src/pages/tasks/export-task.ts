/** One task as a file: all that is known of it, or a test that runs. */
import type { LogRecord, TaskDetail } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import { problemOf } from '../../api/problem.ts'
import { tell } from '../../app/announce.ts'
import { download } from '../../parts/download.ts'
import type { TaskLog } from './task-log.ts'
import { taskIn } from './use-task.ts'
import { writeTest } from './write-test.ts'

const pageSize = 1_000

/** Looked up anew: what is on the page may be a moment old. */
export async function exportWhole({ id }: Pick<TaskDetail, 'id'>): Promise<void> {
  try {
    const [task, events] = await Promise.all([call('getTask', { params: { taskId: id } }), eventsOf(id)])
    const text = `${JSON.stringify({ ...task, events }, null, 2)}\n`
    download(new Blob([text], { type: 'application/json' }), `task-${id}.json`)
    tell('Task exported')
  } catch (reason) {
    tell(`The export failed: ${problemOf(reason).message}`)
  }
}

async function eventsOf(taskId: string): Promise<readonly LogRecord[]> {
  const events: LogRecord[] = []
  let after: number | undefined = 0
  do {
    const page: Awaited<ReturnType<typeof call<'listTaskEvents'>>> = await call('listTaskEvents', {
      params: { taskId },
      query: { limit: pageSize, after },
    })
    events.push(...page.events)
    after = page.after
  } while (after !== undefined)
  return events
}

/** Whether there is an answer to hold another against. */
export function canBeTest({ state }: Pick<TaskDetail, 'state'>): boolean {
  return !/_(SUBMITTED|WORKING)$/.test(state)
}

export async function exportTest(detail: TaskDetail, log: TaskLog): Promise<void> {
  try {
    const { agent, id } = detail
    const task = await call('getTask', { params: { taskId: id } })
    const events = log.isFromStart.value ? await eventsOf(id) : []
    const text = writeTest({ agent, origin: location.origin, task: taskIn(task), events })
    download(new Blob([text], { type: 'text/javascript' }), `${fileName(agent)}-${id.slice(0, 8)}.test.mjs`)
    tell('Test exported')
  } catch (reason) {
    tell(`The export failed: ${problemOf(reason).message}`)
  }
}

function fileName(agent: string): string {
  return agent.replaceAll(/[^\w-]+/g, '-')
}
