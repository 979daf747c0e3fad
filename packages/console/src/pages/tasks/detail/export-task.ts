/** Exports one task: everything known about it as JSON, or a runnable test. */
import type { LogRecord, TaskDetail } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { toProblem } from '../../../api/problem.ts'
import { showToast } from '../../../app/announce.ts'
import { download } from '../../../components/content/download.ts'
import type { TaskLog } from './task-log.ts'
import { a2aTaskOf } from './use-task.ts'
import { writeTest } from './write-test.ts'

const pageSize = 1_000

/** Loads the task again: the page may be slightly out of date. */
export async function exportTaskJson({ id }: Pick<TaskDetail, 'id'>): Promise<void> {
  try {
    const [task, events] = await Promise.all([callAdmin('getTask', { params: { taskId: id } }), eventsOf(id)])
    const text = `${JSON.stringify({ ...task, events }, null, 2)}\n`
    download(new Blob([text], { type: 'application/json' }), `task-${id}.json`)
    showToast('Task exported')
  } catch (reason) {
    showToast(`The export failed: ${toProblem(reason).message}`)
  }
}

async function eventsOf(taskId: string): Promise<readonly LogRecord[]> {
  const events: LogRecord[] = []
  let after: number | undefined = 0
  do {
    const page: Awaited<ReturnType<typeof callAdmin<'listTaskEvents'>>> = await callAdmin('listTaskEvents', {
      params: { taskId },
      query: { limit: pageSize, after },
    })
    events.push(...page.events)
    after = page.after
  } while (after !== undefined)
  return events
}

/** Whether there is an answer to compare with. */
export function canExportTest({ state }: Pick<TaskDetail, 'state'>): boolean {
  return !/_(SUBMITTED|WORKING)$/.test(state)
}

export async function exportTaskTest(detail: TaskDetail, log: TaskLog): Promise<void> {
  try {
    const { agent, id } = detail
    const task = await callAdmin('getTask', { params: { taskId: id } })
    const events = log.isFromStart.value ? await eventsOf(id) : []
    const text = writeTest({ agent, origin: location.origin, task: a2aTaskOf(task), events })
    download(new Blob([text], { type: 'text/javascript' }), `${agentFileName(agent)}-${id.slice(0, 8)}.test.mjs`)
    showToast('Test exported')
  } catch (reason) {
    showToast(`The export failed: ${toProblem(reason).message}`)
  }
}

function agentFileName(agent: string): string {
  return agent.replaceAll(/[^\w-]+/g, '-')
}
