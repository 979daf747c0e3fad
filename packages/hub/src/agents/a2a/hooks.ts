/**
 * Notifications of an agent that cannot stream. Each is only taken as word that something has happened: what it was is
 * looked up with the agent, so that it does not matter in which version it is said, how often, in what order, or whether
 * another process gets it than the one that waits.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { pushHeaders } from '@parley/a2a/server'
import type { KindParts } from '../kind.ts'

export interface Hooks {
  /** What to ask the agent for, about a task of ours; nothing as long as nobody could reach us. */
  configFor(taskId: string): Promise<HookConfig | undefined>
  /** Until the function that is given back is called, `wake` is for notifications about this task. */
  listen(taskId: string, wake: () => void): () => void
  handle(request: Request): Promise<Response>
}

export interface HookConfig {
  readonly id: string
  readonly url: string
  readonly token: string
  readonly authentication: { readonly scheme: string; readonly credentials: string }
}

export function createHooks({ name, notes, publicUrl }: Pick<KindParts, 'name' | 'notes' | 'publicUrl'>): Hooks {
  const waiting = new Map<string, () => void>()
  let secret: Promise<string> | undefined

  return {
    async configFor(taskId) {
      const base = publicUrl()
      if (base === undefined) return undefined
      const token = await tokenOf(taskId)
      const url = `${base}/a2a/${encodeURIComponent(name)}/hooks/${encodeURIComponent(taskId)}`
      // Some senders show the one and some the other.
      return { id: taskId, url, token, authentication: { scheme: 'Bearer', credentials: token } }
    },
    listen(taskId, wake) {
      waiting.set(taskId, wake)
      return () => {
        if (waiting.get(taskId) === wake) waiting.delete(taskId)
      }
    },
    async handle(request) {
      const taskId = /\/hooks\/([^/]+)\/?$/.exec(new URL(request.url).pathname)?.[1]
      if (taskId === undefined) return new Response(null, { status: 404 })
      if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } })
      const id = decoded(taskId)
      if (!shownIn(request).some(isSame(await tokenOf(id)))) {
        return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
      }
      waiting.get(id)?.()
      return new Response(null, { status: 204 })
    },
  }

  /** Made of the task and a secret of ours, so that none has to be kept, and any process knows it. */
  async function tokenOf(taskId: string): Promise<string> {
    secret ??= readSecret()
    secret.catch(() => (secret = undefined))
    return createHmac('sha256', await secret)
      .update(taskId)
      .digest('base64url')
  }

  async function readSecret(): Promise<string> {
    const fresh = randomBytes(32).toString('base64url')
    // Whoever is first has made it.
    if ((await notes.write('hook', { key: 'secret', value: fresh }, 0)) !== undefined) return fresh
    const note = await notes.read('hook', 'secret')
    return typeof note?.value === 'string' ? note.value : fresh
  }
}

function shownIn({ headers }: Request): readonly string[] {
  const bearer = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  return [headers.get(pushHeaders.token), bearer].filter((shown) => typeof shown === 'string')
}

function isSame(token: string): (shown: string) => boolean {
  const expected = Buffer.from(token)
  return (shown) => {
    const given = Buffer.from(shown)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
