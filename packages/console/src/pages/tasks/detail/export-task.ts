/** Exports one task: everything known about it as JSON, or a runnable test. */
import type { TaskDetail } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { toProblem } from '../../../api/problem.ts'
import { loadTaskEvents } from '../../../api/task-events.ts'
import { showToast } from '../../../app/announce.ts'
import { download, downloadJson } from '../../../components/content/download.ts'
import type { TaskLog } from './task-log.ts'
import { a2aTaskOf } from './use-task.ts'

async function reportExport(done: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
    showToast(done)
  } catch (reason) {
    showToast(`Export failed: ${toProblem(reason).message}`)
  }
}

/** Loads the task again: the page may be slightly out of date. */
export function exportTaskJson({ id }: Pick<TaskDetail, 'id'>): Promise<void> {
  return reportExport('Task exported', async () => {
    const [task, events] = await Promise.all([callAdmin('getTask', { params: { taskId: id } }), loadTaskEvents(id)])
    downloadJson(`task-${id}.json`, { ...task, events })
  })
}

/** Whether there is an answer to compare with. */
export function canExportTest({ state }: Pick<TaskDetail, 'state'>): boolean {
  return !/_(SUBMITTED|WORKING)$/.test(state)
}

export function exportTaskTest(detail: TaskDetail, log: TaskLog): Promise<void> {
  return reportExport('Test exported', async () => {
    const { agent, id } = detail
    const task = await callAdmin('getTask', { params: { taskId: id } })
    const events = (log.isFromStart.value ? await loadTaskEvents(id) : undefined) ?? []
    const { writeTest } = await import('./write-test.ts')
    const text = writeTest({ agent, origin: location.origin, task: a2aTaskOf(task), events })
    download(new Blob([text], { type: 'text/javascript' }), `${agentFileName(agent)}-${id.slice(0, 8)}.test.mjs`)
  })
}

function agentFileName(agent: string): string {
  return agent.replaceAll(/[^\w-]+/g, '-')
}
