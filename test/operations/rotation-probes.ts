/**
 * What clients and operators do while keys are rotated: they verify signed cards with the published keys, continue lists with page
 * tokens, and use the admin key and a session. Each probe repeats until it is stopped, and keeps every refusal.
 */
import { verifyCard } from './verify-card.ts'

export interface Probes {
  /** Why requests were refused, one sentence each. */
  readonly refusals: readonly string[]
  /** How many requests were answered. */
  readonly answered: () => number
  /** Resolves when each probe has run once more from now on. */
  passes(): Promise<void>
  stop(): Promise<void>
}

export interface ProbeOptions {
  readonly url: string
  /** Read before each request: it changes when the admin key is rotated. */
  adminKeys(): readonly string[]
}

export async function startProbes({ url, adminKeys }: ProbeOptions): Promise<Probes> {
  const refusals: string[] = []
  let answered = 0
  let isOver = false
  const rounds: number[] = []
  const waiting = new Set<() => void>()

  async function ask(path: string, headers: Record<string, string> = {}, sent?: object): Promise<any> {
    const response = await fetch(url + path, {
      headers: { ...headers, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(sent === undefined ? {} : { method: 'POST', body: JSON.stringify(sent) }),
    })
    const body = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
    answered += 1
    return body
  }

  const modern = { 'a2a-version': '1.0' }
  // A caller with tasks of its own: only those are listed.
  const asAdmin = { authorization: `Bearer ${adminKeys()[0]}` }
  const { key } = await ask('/admin/keys', asAdmin, { name: 'probe', agents: ['counter'] })
  const asCaller = { ...modern, authorization: `Bearer ${key}` }
  for (const messageId of ['one', 'two', 'three']) {
    const message = { messageId, role: 'ROLE_USER', parts: [{ text: '1 0' }] }
    await ask('/a2a/counter/message:send', asCaller, { message })
  }
  let pageToken: string | undefined
  const probes: readonly (() => Promise<void>)[] = [
    // The card and the keys come from any replica, which may not know of each other yet.
    async () => {
      const [card, keys] = await Promise.all([
        ask('/a2a/counter/.well-known/agent-card.json', modern),
        ask('/.well-known/jwks.json'),
      ])
      await verifyCard(card, keys)
    },
    // A token from before a rotation, used after it: every second request continues the list of the one before.
    async () => {
      const query = pageToken === undefined ? '' : `&pageToken=${encodeURIComponent(pageToken)}`
      const { nextPageToken } = await ask(`/a2a/counter/tasks?pageSize=1${query}`, asCaller)
      if (pageToken === undefined && nextPageToken === '') throw new Error('there is no second page')
      pageToken = pageToken === undefined ? nextPageToken : undefined
    },
    async () => {
      for (const key of adminKeys()) await ask('/admin/session', { authorization: `Bearer ${key}` })
    },
  ]
  const running = probes.map(async (probe, index) => {
    rounds[index] = 0
    while (!isOver) {
      await probe().catch((reason: unknown) => refusals.push(String(reason)))
      rounds[index] = (rounds[index] ?? 0) + 1
      for (const look of waiting) look()
      // Fresh connections would use up ports; a pause keeps the machine for the load.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  return {
    refusals,
    answered: () => answered,
    async passes() {
      const from = [...rounds]
      const done = Promise.withResolvers<void>()
      const look = (): void => {
        // The probe that was under way began before: two more.
        if (rounds.every((count, index) => count >= (from[index] ?? 0) + 2)) done.resolve()
      }
      waiting.add(look)
      await done.promise
      waiting.delete(look)
    },
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}
