import type { StreamEvent } from './task.ts'

/** The id of the task that an event belongs to; undefined for a direct message. */
export function taskIdOfEvent(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.id
  if ('statusUpdate' in event) return event.statusUpdate.taskId
  return 'artifactUpdate' in event ? event.artifactUpdate.taskId : undefined
}
