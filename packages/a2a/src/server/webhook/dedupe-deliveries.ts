/**
 * Handles each notification once, and those of one task in sequence. A sender retries without a response, also if only the response
 * was lost: a handled notification is acknowledged and not handled again, and one in progress is awaited. A failed one is
 * forgotten, so that the next attempt counts (B-133).
 */
import { A2AError } from '../../model/error.ts'

export interface IncomingDelivery {
  readonly taskId: string
  /** The id of the event, if the sender provides it. The same event has the same id. */
  readonly event: { readonly configId: string; readonly id: string } | undefined
  /** The JWT, if it has an id: a JWT is valid for one body, once. */
  readonly jwt:
    | { readonly key: string; readonly iat: number; readonly expiresAt: number; readonly body: string }
    | undefined
}

export interface DeliveryDeduplicator {
  /** Resolves when the notification has been handled, now or before. `late`: a later event of the task was already handled. */
  once(arrival: IncomingDelivery, handle: (late: boolean) => Promise<void>): Promise<void>
}

interface SeenJwt {
  readonly body: string
  readonly iat: number
  readonly expiresAt: number
}

export function createDeliveryDeduplicator(limit: number): DeliveryDeduplicator {
  const jwts = new Map<string, SeenJwt>()
  const events = new Set<string>()
  /** The highest seq handled, by config and task. */
  const newest = new Map<string, number>()
  const running = new Map<string, Promise<void>>()
  /** The last queued delivery of each task. */
  const lines = new Map<string, Promise<void>>()
  /** JWTs of this age may have been seen and forgotten. */
  let forgottenIat = -1

  return { once }

  function once(arrival: IncomingDelivery, handle: (late: boolean) => Promise<void>): Promise<void> {
    const { jwt, event, taskId } = arrival
    const eventKey = event === undefined ? undefined : JSON.stringify([event.configId, taskId, event.id])
    if (jwt !== undefined) {
      const before = jwts.get(jwt.key)
      if (before !== undefined && before.body !== jwt.body) return refuse()
      if (before !== undefined) return Promise.resolve()
      // An earlier use may have been forgotten because too many came. A newer JWT can be checked.
      if (jwt.iat <= forgottenIat) return overloaded()
    }
    if (eventKey !== undefined && events.has(eventKey)) return Promise.resolve()
    const keys = [eventKey, jwt === undefined ? undefined : `jwt ${jwt.key} ${jwt.body}`].filter(
      (key) => key !== undefined,
    )
    const same = keys.map((key) => running.get(key)).find((found) => found !== undefined)
    if (same !== undefined) return same
    const done = inLine(taskId, async () => {
      await handle(isLate(arrival))
      remember(arrival, eventKey)
    })
    for (const key of keys) running.set(key, done)
    const forget = (): void => keys.forEach((key) => running.delete(key))
    done.then(forget, forget)
    return done
  }

  function inLine(taskId: string, work: () => Promise<void>): Promise<void> {
    const before = lines.get(taskId) ?? Promise.resolve()
    const done = before.then(work, work)
    lines.set(taskId, done)
    const leave = (): void => {
      if (lines.get(taskId) === done) lines.delete(taskId)
    }
    done.then(leave, leave)
    return done
  }

  function isLate({ event, taskId }: IncomingDelivery): boolean {
    if (event === undefined) return false
    return Number(event.id) < (newest.get(JSON.stringify([event.configId, taskId])) ?? -Infinity)
  }

  function remember({ event, taskId, jwt }: IncomingDelivery, eventKey: string | undefined): void {
    if (eventKey !== undefined) keep(events, eventKey)
    if (event !== undefined && /^\d+$/.test(event.id)) {
      const key = JSON.stringify([event.configId, taskId])
      const seq = Math.max(Number(event.id), newest.get(key) ?? 0)
      // Moved to the end: the oldest is evicted first.
      newest.delete(key)
      newest.set(key, seq)
      if (newest.size > limit) newest.delete(newest.keys().next().value ?? '')
    }
    if (jwt !== undefined) rememberJwt(jwt.key, jwt)
  }

  function keep(set: Set<string>, key: string): void {
    set.add(key)
    if (set.size > limit) set.delete(set.values().next().value ?? '')
  }

  function rememberJwt(key: string, { body, iat, expiresAt }: SeenJwt): void {
    jwts.set(key, { body, iat, expiresAt })
    const now = Date.now()
    for (const [oldKey, old] of jwts) {
      const isOver = old.expiresAt < now
      if (!isOver && jwts.size <= limit) break
      jwts.delete(oldKey)
      if (!isOver) forgottenIat = Math.max(forgottenIat, old.iat)
    }
  }
}

async function refuse(): Promise<never> {
  throw new A2AError('UNAUTHENTICATED', 'the JWT was used for another body')
}

async function overloaded(): Promise<never> {
  throw new A2AError('UNAVAILABLE', 'too many notifications at once to detect repeats')
}
