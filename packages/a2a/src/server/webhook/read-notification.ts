/**
 * Reads a notification of any version: the 1.0 wrapper, or a bare Task or event of 0.x. The shape decides, because most senders
 * name no version, and those of 0.x wrap inconsistently (B-121, B-122).
 */
import { isStruct } from '../../model/struct.ts'
import { type StreamEvent, taskIdOfEvent } from '../../model/task.ts'
import { A2AError, invalidParams } from '../../model/error.ts'
import { newest, newestLegacy } from '../../versions/index.ts'
import type { JsonRecord } from '../../versions/read.ts'
import { isLegacyVersion, type Dialect } from '../../versions/version.ts'

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate', 'status_update', 'artifact_update', 'msg']

export function readNotification(payload: unknown, version: string | undefined): StreamEvent {
  try {
    return dialectOf(payload, version).decodeEvent(payload)
  } catch (reason) {
    // For the sender, its request is malformed, and not the response of a peer.
    const violations = reason instanceof A2AError ? reason.details.violations : undefined
    throw violations === undefined ? reason : invalidParams(violations)
  }
}

function dialectOf(payload: unknown, version: string | undefined): Dialect {
  const old = newestLegacy
  if (!isStruct(payload)) return old.json
  // Only 0.x has `kind`, whatever a header says.
  if (typeof payload['kind'] === 'string') return old.json
  const inner = wrappers.map((name) => payload[name]).find(isStruct)
  if (inner === undefined) return isModern(payload) ? newest.json : old.json
  if (typeof inner['kind'] === 'string') return old.json
  return isLegacyVersion(version ?? '') ? old.proto : newest.json
}

/** A Task without its wrapper, whose state is spelled as in 1.0. */
function isModern(payload: JsonRecord): boolean {
  const status = payload['status']
  const state = isStruct(status) ? status['state'] : undefined
  return typeof state === 'string' && state.startsWith('TASK_STATE_')
}

/** A direct message may name no task. */
export function taskIdOf(event: StreamEvent): string | undefined {
  return 'message' in event ? event.message.taskId : taskIdOfEvent(event)
}
