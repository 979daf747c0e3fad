/**
 * What changes at the hub, as it changes: one stream for the whole page, with a cursor, so that after a restart of the hub it
 * goes on where it was. Whoever shows something listens here, and looks again at what it shows.
 */
import { signal } from '@preact/signals'
import type { TaskSummary } from './admin.ts'
import { sessionEnded } from './session-state.ts'
import { createSseReader } from './sse-reader.ts'

export type Change =
  | { readonly type: 'task'; readonly task: TaskSummary }
  /** So many at once that they are not told one by one. */
  | { readonly type: 'tasks'; readonly count: number }
  | { readonly type: 'agent'; readonly agent: string }
  | { readonly type: 'config' }
  | { readonly type: 'push'; readonly taskId: string; readonly configId: string }
  /** Something was missed: everything is to be looked at anew. */
  | { readonly type: 'reset' }

export type Liveness = 'connecting' | 'live' | 'away'

export const liveness = signal<Liveness>('connecting')
/** What the hub says of itself; the instance is another one after each restart. */
export const hub = signal<{ readonly instance: string; readonly version: string } | undefined>(undefined)

type Listener = (change: Change) => void
const listeners = new Set<Listener>()
const retryMs = 1_000
/** The hub says something every fifteen seconds, if only a comment. */
const silentMs = 40_000

let current: AbortController | undefined
let lastEventId = ''

/** Until the function that is answered is called. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function followChanges(): void {
  if (current !== undefined) return
  current = new AbortController()
  void follow(current.signal)
}

export function stopFollowing(): void {
  current?.abort()
  current = undefined
  lastEventId = ''
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
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

async function listen(stopped: AbortSignal): Promise<void> {
  const quiet = new AbortController()
  const signal = AbortSignal.any([stopped, quiet.signal])
  let timer = setTimeout(() => quiet.abort(), silentMs)
  try {
    const answer = await fetch('/admin/events', {
      headers: { accept: 'text/event-stream', ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }) },
      signal,
    })
    if (answer.status === 401) {
      stopFollowing()
      return sessionEnded()
    }
    if (!answer.ok || answer.body === null) throw new Error(`status ${answer.status}`)
    const read = createSseReader()
    for await (const chunk of chunksOf(answer.body)) {
      clearTimeout(timer)
      timer = setTimeout(() => quiet.abort(), silentMs)
      for (const { event, data, id } of read(chunk)) {
        take(event, data)
        if (id !== undefined) lastEventId = id
      }
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Not every browser can iterate a stream by itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

function take(event: string, data: string): void {
  const told = JSON.parse(data) as never
  switch (event) {
    case 'ready': {
      const { instance, version } = told as { instance: string; version: string }
      const isAnother = hub.value !== undefined && hub.value.instance !== instance
      hub.value = { instance, version }
      liveness.value = 'live'
      // The file may have been edited while the hub was down.
      if (isAnother) tell({ type: 'config' })
      return
    }
    case 'task':
      return tell({ type: 'task', task: told })
    case 'tasks':
    case 'agent':
    case 'config':
    case 'push':
    case 'reset':
      return tell({ type: event, ...(told as object) } as Change)
    default:
  }
}

function tell(change: Change): void {
  for (const listener of listeners) listener(change)
}
