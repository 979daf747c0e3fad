/**
 * Each notification once, and those of one task one after the other. A sender tries again what it has no answer to, also
 * when it was the answer that was lost: what has been handled is then answered and not handled again, and what is
 * being handled is waited for. What failed is forgotten, so that the next try counts (B-133).
 */
import { A2AError } from '../model/error.ts'

export interface Arrival {
  readonly taskId: string
  /** Of the event, where the sender tells. The same event comes under the same id. */
  readonly event: { readonly configId: string; readonly id: string } | undefined
  /** Of the JWT, where there is one with an id: a JWT is good for one body, once. */
  readonly jwt:
    | { readonly key: string; readonly iat: number; readonly expiresAt: number; readonly body: string }
    | undefined
}

export interface Deliveries {
  /** Resolves when it has been handled, now or before. `late`: a later event of the task has been handled already. */
  once(arrival: Arrival, handle: (late: boolean) => Promise<void>): Promise<void>
}

interface Seen {
  readonly body: string
  readonly iat: number
  readonly expiresAt: number
}

export function createDeliveries(limit: number): Deliveries {
  const jwts = new Map<string, Seen>()
  const events = new Set<string>()
  /** The highest seq handled, by config and task. */
  const newest = new Map<string, number>()
  const running = new Map<string, Promise<void>>()
  /** The last in line of each task. */
  const lines = new Map<string, Promise<void>>()
  /** JWTs as old as this may have been seen and forgotten. */
  let forgottenIat = -1

  return { once }

  function once(arrival: Arrival, handle: (late: boolean) => Promise<void>): Promise<void> {
    const { jwt, event, taskId } = arrival
    const eventKey = event === undefined ? undefined : JSON.stringify([event.configId, taskId, event.id])
    if (jwt !== undefined) {
      const before = jwts.get(jwt.key)
      if (before !== undefined && before.body !== jwt.body) return refuse()
      if (before !== undefined) return Promise.resolve()
      // Its like may have been forgotten because too many came. With a newer JWT it can be judged.
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

  function isLate({ event, taskId }: Arrival): boolean {
    if (event === undefined) return false
    return Number(event.id) < (newest.get(JSON.stringify([event.configId, taskId])) ?? -Infinity)
  }

  function remember({ event, taskId, jwt }: Arrival, eventKey: string | undefined): void {
    if (eventKey !== undefined) keep(events, eventKey)
    if (event !== undefined && /^\d+$/.test(event.id)) {
      const key = JSON.stringify([event.configId, taskId])
      const seq = Math.max(Number(event.id), newest.get(key) ?? 0)
      // Put at the end again: what is oldest goes first.
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

  function rememberJwt(key: string, { body, iat, expiresAt }: Seen): void {
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
  throw new A2AError('UNAVAILABLE', 'too many notifications at once to tell a new one from an old one')
}
