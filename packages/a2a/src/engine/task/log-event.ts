/** The visible records of a log, as streams and webhooks carry them. */
import type { RecordBody } from '../../model/record.ts'
import type { StreamEvent } from '../../model/task.ts'
import type { StreamItem } from '../contract.ts'

/** An event of a stream: one object for all readers except those whose stream it ends. */
export interface LogEvent extends StreamItem {
  readonly seq: number
  readonly final: false
  readonly at: number
  readonly bytes: number
}

/** The event of a record, or `undefined` if the record is internal. */
export function eventOfRecord(taskId: string, contextId: string, body: RecordBody): StreamEvent | undefined {
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
