/** Loads the log of a task. */
import type { LogRecord } from './admin.ts'
import { callAdmin, type AdminResponse } from './admin-client.ts'

const pageSize = 1_000

/** All events; `undefined` if there are more than `maxEvents`. */
export async function loadTaskEvents(
  taskId: string,
  { maxEvents = Infinity, ...options }: { readonly signal?: AbortSignal; readonly maxEvents?: number } = {},
): Promise<readonly LogRecord[] | undefined> {
  const events: LogRecord[] = []
  let after: number | undefined = 0
  while (after !== undefined) {
    if (events.length >= maxEvents) return undefined
    const page: AdminResponse<'listTaskEvents'> = await callAdmin('listTaskEvents', {
      params: { taskId },
      query: { limit: pageSize, after },
      ...options,
    })
    events.push(...page.events)
    after = page.after
  }
  return events
}
