/**
 * The open streams, by the grant that opened them. When a grant ends, so do its streams: at once in the process that revokes it,
 * within `checkIntervalMs` on other replicas, and when it expires. Each replica reads the list of recently revoked grants: one
 * query per second, whatever the number of streams, and none while no stream is open.
 */
import type { ServerResponse } from 'node:http'
import { A2AError } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'

export interface GrantStream {
  /** The agent of the stream; `undefined` for streams of the hub itself. */
  readonly agent?: string | undefined
  end(reason: A2AError): void
}

export interface GrantStreams {
  /** Returns the function to call when the stream has ended. */
  add(grant: Grant, stream: GrantStream): () => void
  /** Ends the streams of the grant, here and on other replicas. */
  revoke(grantId: string): Promise<void>
  /** Checks all grants again: their permissions may have changed. */
  recheck(): Promise<void>
  /** Ends streams whose grant was revoked elsewhere or has expired. Runs every second while streams are open. */
  check(): Promise<void>
  close(): void
}

export interface GrantStreamsDeps {
  readonly kv: KeyValueStore
  readonly now: () => number
  /** Whether these scopes permit the use of the agent. */
  canUse(scopes: readonly string[], agent: string): boolean
  /** Called for every grant that was revoked here or elsewhere, to drop it from caches. */
  onRevoked(grantId: string): void
  onError(cause: unknown): void
}

interface OpenGrant {
  readonly grant: Grant
  expiresAt: number
  readonly streams: Set<GrantStream>
}

const kind = 'revoked-grant'
const checkIntervalMs = 1_000
/** Longer than the interval of any replica and the lifetime of any cache. */
const revocationRetentionMs = 600_000
const pageSize = 1_000

export function createGrantStreams({ kv, now, canUse, onRevoked, onError }: GrantStreamsDeps): GrantStreams {
  const openGrants = new Map<string, OpenGrant>()
  let timer: ReturnType<typeof setInterval> | undefined
  let checking: Promise<void> | undefined

  function end(grantId: string, only?: (stream: GrantStream) => boolean): void {
    const found = openGrants.get(grantId)
    if (found === undefined) return
    for (const stream of [...found.streams]) if (only?.(stream) ?? true) stream.end(grantEndedError())
  }

  /** A grant that cannot be rechecked ends when it expires. */
  async function recheckGrant(grantId: string, { grant }: OpenGrant, isOver: boolean): Promise<void> {
    if (grant.recheck === undefined) return isOver ? end(grantId) : undefined
    let rights
    try {
      rights = await grant.recheck()
    } catch (cause) {
      // The issuer does not answer: an expired grant ends, any other is checked again later.
      onError(cause)
      if (!isOver) return
    }
    const after = openGrants.get(grantId)
    if (rights === undefined || (rights.expiresAt ?? Infinity) <= now()) return end(grantId)
    if (after !== undefined) after.expiresAt = rights.expiresAt ?? Infinity
    const { scopes } = rights
    end(grantId, ({ agent }) => agent !== undefined && !canUse(scopes, agent))
  }

  async function readRevoked(): Promise<void> {
    let after: string | undefined
    do {
      const page = await kv.list(kind, { limit: pageSize, ...(after !== undefined ? { after } : {}) })
      for (const { key } of page) {
        onRevoked(key)
        end(key)
      }
      after = page.length === pageSize ? page.at(-1)?.key : undefined
    } while (after !== undefined)
  }

  async function checkAll(): Promise<void> {
    const at = now()
    const expired = [...openGrants].filter(([, { expiresAt }]) => expiresAt <= at)
    await Promise.all([readRevoked().catch(onError), ...expired.map(([id, entry]) => recheckGrant(id, entry, true))])
  }

  function check(): Promise<void> {
    checking ??= checkAll().finally(() => (checking = undefined))
    return checking
  }

  return {
    add(grant, stream) {
      let entry = openGrants.get(grant.id)
      if (entry === undefined) {
        entry = { grant, expiresAt: grant.expiresAt ?? Infinity, streams: new Set() }
        openGrants.set(grant.id, entry)
      }
      const { streams } = entry
      streams.add(stream)
      timer ??= setInterval(() => void check(), checkIntervalMs).unref()
      return () => {
        streams.delete(stream)
        if (streams.size > 0 || openGrants.get(grant.id)?.streams !== streams) return
        openGrants.delete(grant.id)
        if (openGrants.size === 0) stop()
      }
    },
    async revoke(grantId) {
      onRevoked(grantId)
      end(grantId)
      await kv.write(kind, { key: grantId, value: true, expiresAt: now() + revocationRetentionMs })
      // A stream may have opened with the revoked grant while this was written.
      end(grantId)
    },
    async recheck() {
      await Promise.all([...openGrants].map(([id, entry]) => recheckGrant(id, entry, false)))
    },
    check,
    close: stop,
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }
}

/** Cuts the response when the grant ends. */
export function endWithGrant(
  streams: Pick<GrantStreams, 'add'>,
  grant: Grant,
  response: Pick<ServerResponse, 'destroyed' | 'destroy' | 'once'>,
): void {
  if (response.destroyed) return
  response.once('close', streams.add(grant, { end: () => void response.destroy() }))
}

function grantEndedError(): A2AError {
  return new A2AError(
    'UNAUTHENTICATED',
    'The credentials that opened this stream were revoked or have expired: authenticate again',
  )
}

/**
 * What authorized a request and can end: a key that is revoked, a session that is ended, a token that expires. Its streams end with
 * it.
 */
export interface Grant {
  /** `key:<id>`, `session:<id>` or `token:<hash>`: the same on all replicas. */
  readonly id: string
  /** Milliseconds since the epoch. The grant is then rechecked, or ends if it cannot be. */
  readonly expiresAt?: number | undefined
  /** The current permissions, after a configuration change or a renewal; `undefined` if the grant has ended. */
  recheck?(): Promise<GrantRights | undefined>
}

export interface GrantRights {
  readonly scopes: readonly string[]
  readonly expiresAt?: number | undefined
}

export const keyGrantId = (keyId: string): string => `key:${keyId}`
export const sessionGrantId = (sessionId: string): string => `session:${sessionId}`
