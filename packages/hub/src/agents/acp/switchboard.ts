/** Brings what the agent says and asks to whoever works on that session. Of sessions that nobody works on, nothing is heard. */
import type {
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import { refused } from './permission.ts'

export interface Ear {
  heard(update: SessionUpdate): void
  asked?(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
}

export interface Switchboard {
  /** Answers what ends it. */
  listen(sessionId: string, ear: Ear): () => void
  onUpdate(notification: SessionNotification): void
  onPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
}

export function createSwitchboard(): Switchboard {
  const ears = new Map<string, Ear>()
  return {
    listen(sessionId, ear) {
      ears.set(sessionId, ear)
      return () => {
        if (ears.get(sessionId) === ear) ears.delete(sessionId)
      }
    },
    onUpdate: ({ sessionId, update }) => ears.get(sessionId)?.heard(update),
    onPermission: async (request) => (await ears.get(request.sessionId)?.asked?.(request)) ?? refused,
  }
}
