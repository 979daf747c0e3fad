/**
 * Reading a notification of any version: the 1.0 wrapper, or a bare Task or event of 0.x. Told by the shape, because
 * most senders name no version, and those of 0.x wrap at times and at times do not (B-121, B-122).
 */
import { A2AError, invalidParams } from '../model/error.ts'
import type { StreamEvent } from '../model/task.ts'
import { versionOf } from '../versions/index.ts'
import { isBag } from '../versions/read.ts'
import type { Bag } from '../versions/read.ts'
import type { Dialect } from '../versions/version.ts'

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate', 'status_update', 'artifact_update', 'msg']

export function readNotification(payload: unknown, version: string | undefined): StreamEvent {
  try {
    return dialectOf(payload, version).decodeEvent(payload)
  } catch (reason) {
    // To the sender it is its request that is malformed, not the answer of a peer.
    const violations = reason instanceof A2AError ? reason.details.violations : undefined
    throw violations === undefined ? reason : invalidParams(violations)
  }
}

function dialectOf(payload: unknown, version: string | undefined): Dialect {
  const old = versionOf('0.3')
  if (!isBag(payload)) return old.json
  // Only 0.x says what kind of thing a thing is, whatever a header says.
  if (typeof payload['kind'] === 'string') return old.json
  const inner = wrappers.map((name) => payload[name]).find(isBag)
  if (inner === undefined) return isModern(payload) ? versionOf('1.0').json : old.json
  if (typeof inner['kind'] === 'string') return old.json
  return version?.startsWith('0.') === true ? old.proto : versionOf('1.0').json
}

/** A Task without its wrapper, which spells its state as 1.0 does. */
function isModern(payload: Bag): boolean {
  const status = payload['status']
  const state = isBag(status) ? status['state'] : undefined
  return typeof state === 'string' && state.startsWith('TASK_STATE_')
}

/** A direct message may name no task. */
export function taskIdOf(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.id
  if ('message' in event) return event.message.taskId
  return ('statusUpdate' in event ? event.statusUpdate : event.artifactUpdate).taskId
}
