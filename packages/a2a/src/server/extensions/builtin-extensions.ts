/** The built-in extensions. Each is off until `extensions` lists it, and then until a request asks for it (B-149). */
import { type StreamEvent, taskIdOfEvent } from '../../model/task.ts'
import type { StreamItem } from '../../engine/contract.ts'
import {
  clientToolsExtension,
  credentialsExtension,
  cursorExtension,
  timestampsExtension,
  traceExtension,
} from '../../model/extension.ts'
import { spanIdOfEvent, traceIdOf, traceIdOfTask } from '../../model/trace.ts'
import type { Extension } from './extension.ts'

/**
 * Adds the position of an event in its task, for bindings and webhooks without another field for it, and reveals missing events.
 */
export function cursor(): Extension {
  return {
    uri: cursorExtension,
    description: 'Adds the position of each event in the task to its metadata, and marks missing events',
    required: false,
    decorate({ seq, gap }) {
      if (seq === undefined) return undefined
      return { [cursorExtension]: { cursor: String(seq), ...(gap === true ? { gap } : {}) } }
    },
  }
}

/** Adds the time at which each event was logged. A snapshot has the time of its status. */
export function timestamps(): Extension {
  return {
    uri: timestampsExtension,
    description: 'Adds the time of each event to its metadata',
    required: false,
    decorate({ event, at }) {
      const time = at === undefined ? statusTime(event) : new Date(at).toISOString()
      return time === undefined ? undefined : { [timestampsExtension]: { at: time } }
    },
  }
}

/**
 * Adds the trace and the span of each event: those of the request whose turn reported it, or of the task if that was not traced.
 * Also written without the URI, because clients of older drafts look for them there (S2-31).
 */
export function trace(): Extension {
  return {
    uri: traceExtension,
    description: 'Adds the trace of each event to its metadata',
    required: false,
    decorate({ event, seq = 0, traceparent }: StreamItem) {
      const taskId = taskIdOfEvent(event)
      if (taskId === undefined) return undefined
      const traceId = traceIdOf(traceparent) ?? traceIdOfTask(taskId)
      const spanId = spanIdOfEvent(taskId, seq)
      return { traceId, spanId, [traceExtension]: { traceId, spanId } }
    },
  }
}

/** Declares that this agent may call tools of its client, and ask its user (S2-13, S2-14). */
export function clientTools(): Extension {
  return {
    uri: clientToolsExtension,
    description: 'The agent may call tools that run at the client, and ask its user',
    required: false,
  }
}

/** Declares that this agent may accept credentials inside a task. Secrets are kept out of the log with or without it. */
export function credentials(): Extension {
  return {
    uri: credentialsExtension,
    description: 'Names the credentials that a task needs, and accepts them in a message that is not stored',
    required: false,
  }
}

function statusTime(event: StreamEvent): string | undefined {
  return 'task' in event ? event.task.status.timestamp : undefined
}
