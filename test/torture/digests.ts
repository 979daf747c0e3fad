/** A digest of each finished task, so that the end of a long run can show that all of them are still there, unchanged. */
import { createHash } from 'node:crypto'
import type { TaskLog } from '../cluster/check-history.ts'

export function digestOf({ records }: TaskLog): string {
  return createHash('sha256').update(JSON.stringify(records)).digest('base64')
}

/** What is wrong with the tasks of earlier rounds, a sentence each. Both maps go from task id to digest. */
export function findLost(earlier: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly string[] {
  return [...earlier].flatMap(([taskId, digest]) => {
    const found = now.get(taskId)
    if (found === undefined) return [`${taskId} was complete in an earlier round and is gone`]
    return found === digest ? [] : [`${taskId} was complete in an earlier round and has changed`]
  })
}
