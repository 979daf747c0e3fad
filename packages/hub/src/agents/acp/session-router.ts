/**
 * Routes updates and permission requests of the agent to the turn that uses the session. Updates of idle sessions are
 * ignored.
 */
import type {
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import { cancelledPermission } from './permission.ts'

export interface SessionListener {
  onSessionUpdate(update: SessionUpdate): void
  onPermissionRequest?(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
}

export interface SessionRouter {
  /** Returns a function that removes the listener. */
  listen(sessionId: string, listener: SessionListener): () => void
  onUpdate(notification: SessionNotification): void
  onPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
}

export function createSessionRouter(): SessionRouter {
  const listeners = new Map<string, SessionListener>()
  return {
    listen(sessionId, listener) {
      listeners.set(sessionId, listener)
      return () => {
        if (listeners.get(sessionId) === listener) listeners.delete(sessionId)
      }
    },
    onUpdate: ({ sessionId, update }) => listeners.get(sessionId)?.onSessionUpdate(update),
    onPermission: async (request) =>
      (await listeners.get(request.sessionId)?.onPermissionRequest?.(request)) ?? cancelledPermission,
  }
}
