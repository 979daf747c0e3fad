/**
 * Receives push notifications of an agent that cannot stream. A notification is only a signal that something changed; the
 * hub then fetches the task. So the version, repetition and order of notifications do not matter, nor whether another
 * process than the waiting one receives them.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { pushHeaders } from '@parley/a2a/server'
import type { AgentServices } from '../kind.ts'
import { attempt } from '../../json/attempt.ts'
import { isSameSecret } from '../../auth/key-format.ts'

export interface PushReceiver {
  /** The push config to send for a local task. Resolves to undefined while the hub has no public address. */
  configFor(taskId: string): Promise<RequestedPushConfig | undefined>
  /** Calls `wake` for each notification about this task, until the returned function is called. */
  onNotification(taskId: string, wake: () => void): () => void
  handle(request: Request): Promise<Response>
}

export interface RequestedPushConfig {
  readonly id: string
  readonly url: string
  readonly token: string
  readonly authentication: { readonly scheme: string; readonly credentials: string }
}

export function createPushReceiver({
  name,
  kv,
  publicUrl,
}: Pick<AgentServices, 'name' | 'kv' | 'publicUrl'>): PushReceiver {
  const waiting = new Map<string, () => void>()
  let secret: Promise<string> | undefined

  return {
    async configFor(taskId) {
      const base = publicUrl()
      if (base === undefined) return undefined
      const token = await tokenOf(taskId)
      const url = `${base}/a2a/${encodeURIComponent(name)}/hooks/${encodeURIComponent(taskId)}`
      // Senders present either the token or the credentials.
      return { id: taskId, url, token, authentication: { scheme: 'Bearer', credentials: token } }
    },
    onNotification(taskId, wake) {
      waiting.set(taskId, wake)
      return () => {
        if (waiting.get(taskId) === wake) waiting.delete(taskId)
      }
    },
    async handle(request) {
      const taskId = /\/hooks\/([^/]+)\/?$/.exec(new URL(request.url).pathname)?.[1]
      if (taskId === undefined) return new Response(null, { status: 404 })
      if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } })
      const id = attempt(() => decodeURIComponent(taskId)) ?? taskId
      const token = await tokenOf(id)
      if (!tokensIn(request).some((presented) => isSameSecret(presented, token))) {
        return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
      }
      waiting.get(id)?.()
      return new Response(null, { status: 204 })
    },
  }

  /** Derived from the task id and a secret, so that no token is stored and any process can verify it. */
  async function tokenOf(taskId: string): Promise<string> {
    secret ??= readSecret()
    secret.catch(() => (secret = undefined))
    return createHmac('sha256', await secret)
      .update(taskId)
      .digest('base64url')
  }

  async function readSecret(): Promise<string> {
    const generated = randomBytes(32).toString('base64url')
    // The first process to write the secret wins.
    if ((await kv.write('hook', { key: 'secret', value: generated }, 0)) !== undefined) return generated
    const stored = await kv.read('hook', 'secret')
    return typeof stored?.value === 'string' ? stored.value : generated
  }
}

function tokensIn({ headers }: Request): readonly string[] {
  const bearer = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  return [headers.get(pushHeaders.token), bearer].filter((presented) => typeof presented === 'string')
}
