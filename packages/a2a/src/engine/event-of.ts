/** What of a log is told: the visible records, as streams and webhooks carry them. */
import type { RecordBody } from '../model/record.ts'
import type { StreamEvent } from '../model/task.ts'
import type { StreamItem } from './contract.ts'

/** As streams carry it: one object for all readers but those whose stream it ends. */
export interface TailEvent extends StreamItem {
  readonly seq: number
  readonly final: false
  readonly at: number
  readonly bytes: number
}

/** What streams carry of a record, or nothing if it is internal. */
export function eventOf(taskId: string, contextId: string, body: RecordBody): StreamEvent | undefined {
  if (body.type === 'status') {
    const { type: _, ...rest } = body
    return { statusUpdate: { taskId, contextId, ...rest } }
  }
  if (body.type === 'artifact') {
    const { type: _, ...rest } = body
    return { artifactUpdate: { taskId, contextId, ...rest } }
  }
  return undefined
}
