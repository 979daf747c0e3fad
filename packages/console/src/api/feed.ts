/**
 * What changes at the hub, as it changes: one stream with a cursor, so that after a restart of the hub it goes on where it
 * was. Whoever shows something listens here, and looks again at what it shows. A browser has six connections to a hub (HTTP/1.1):
 * one tab holds the stream and tells the others, and when it is closed another one goes on from the same cursor.
 */
import { linkSignals } from '@parley/a2a'
import { signal } from '@preact/signals'
import { createChangeReader } from './changes.ts'
import type { Change, HubSelf } from './changes.ts'
import { sessionEnded } from './session-state.ts'

export type { Change } from './changes.ts'
export type Liveness = 'connecting' | 'live' | 'away'

export const liveness = signal<Liveness>('connecting')
export const hub = signal<HubSelf | undefined>(undefined)

/** What one tab tells the others: what is new, and how things stand. */
interface Tidings {
  readonly changes: readonly Change[]
  readonly cursor: string
  readonly hub: HubSelf | undefined
  readonly liveness: Liveness
}

type Listener = (change: Change) => void
const listeners = new Set<Listener>()
const retryMs = 1_000
/** The hub says something every fifteen seconds, if only a comment. */
const silentMs = 40_000
const asks = 'how do things stand?'

let current: AbortController | undefined
let reader = createChangeReader()
let isLeading = false
const tabs = new BroadcastChannel('parley-changes')

/** Until the function that is answered is called. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function followChanges(): void {
  if (current !== undefined) return
  const { signal: stopped } = (current = new AbortController())
  tabs.addEventListener('message', ({ data }: MessageEvent<Tidings | typeof asks>) => hear(data), { signal: stopped })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  tabs.postMessage(asks)
  void lead(stopped)
}

export function stopFollowing(): void {
  current?.abort()
  current = undefined
  reader = createChangeReader()
  liveness.value = 'connecting'
}

/** When it is this tab's turn. Without TLS, away from this machine, a page has no locks, and every tab has a stream of its own. */
async function lead(stopped: AbortSignal): Promise<void> {
  const { locks } = navigator as { readonly locks?: LockManager }
  if (locks === undefined) return follow(stopped)
  try {
    await locks.request('parley-changes', { signal: stopped }, async () => {
      isLeading = true
      // Whoever led may have been gone before it said where it was.
      if (liveness.peek() !== 'connecting' && reader.lastEventId() === '') tell({ type: 'reset' })
      await follow(stopped)
    })
  } catch {
    // Signed out before it was this tab's turn.
  }
  isLeading = false
}

/** From another tab. */
function hear(said: Tidings | typeof asks): void {
  if (said === asks) return publish([])
  if (isLeading) return
  reader = createChangeReader(said)
  hub.value = said.hub
  liveness.value = said.liveness
  for (const change of said.changes) tell(change)
}

function publish(changes: readonly Change[]): void {
  if (!isLeading) return
  const tidings: Tidings = { changes, cursor: reader.lastEventId(), hub: hub.peek(), liveness: liveness.peek() }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  tabs.postMessage(tidings)
}

async function follow(stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    try {
      await listen(stopped)
    } catch {
      // The hub is away, or the line was: it is tried again below.
    }
    if (stopped.aborted) return
    liveness.value = 'away'
    publish([])
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

async function listen(stopped: AbortSignal): Promise<void> {
  const { signal, abort, end } = linkSignals([stopped])
  let timer = setTimeout(abort, silentMs)
  try {
    const cursor = reader.lastEventId()
    const answer = await fetch('/admin/events', {
      headers: { accept: 'text/event-stream', ...(cursor === '' ? {} : { 'last-event-id': cursor }) },
      signal,
    })
    if (answer.status === 401) return sessionEnded()
    if (!answer.ok || answer.body === null) throw new Error(`status ${answer.status}`)
    reader.begin()
    for await (const chunk of chunksOf(answer.body)) {
      clearTimeout(timer)
      timer = setTimeout(abort, silentMs)
      const changes = reader.read(chunk)
      for (const change of changes) tell(change)
      if (reader.hub() !== hub.value) hub.value = reader.hub()
      if (hub.value !== undefined) liveness.value = 'live'
      publish(changes)
    }
  } finally {
    clearTimeout(timer)
    end()
  }
}

/** Not every browser can iterate a stream by itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reading = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  try {
    for (;;) {
      const { done, value } = await reading.read()
      if (done) return
      yield value
    }
  } finally {
    void reading.cancel().catch(() => {})
  }
}

function tell(change: Change): void {
  for (const listener of listeners) listener(change)
}
