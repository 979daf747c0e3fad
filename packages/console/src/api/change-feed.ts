/**
 * The change feed of the hub: one stream with a cursor, so that it resumes at the same position after a restart of the hub. Views
 * subscribe here and reload what they show. A browser has six connections to a hub (HTTP/1.1), so one tab holds the stream and
 * broadcasts to the other tabs. When that tab is closed, another tab continues from the same cursor.
 */
import { linkSignals } from '@parley/a2a/internal'
import { signal } from '@preact/signals'
import { createChangeReader, type Change, type HubInstance } from './change-reader.ts'
import { currency } from './currency.ts'
import { markSignedOut } from './session-state.ts'

export type { Change } from './change-reader.ts'
export type ConnectionStatus = 'connecting' | 'live' | 'away'

export const connectionStatus = signal<ConnectionStatus>('connecting')
export const connectedHub = signal<HubInstance | undefined>(undefined)

/** What the leading tab broadcasts to the others: new changes and the connection status. */
interface TabBroadcast {
  readonly changes: readonly Change[]
  readonly cursor: string
  readonly hub: HubInstance | undefined
  readonly liveness: ConnectionStatus
}

type ChangeListener = (change: Change) => void
const listeners = new Set<ChangeListener>()
const retryMs = 1_000
/** The hub sends something every fifteen seconds, at least a comment. */
const idleTimeoutMs = 40_000
const statusRequest = 'status?'

let current: AbortController | undefined
let reader = createChangeReader()
let isLeader = false
const tabChannel = new BroadcastChannel('parley-changes')

/** Returns a function that ends the subscription. */
export function subscribeToChanges(listener: ChangeListener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function startChangeFeed(): void {
  if (current !== undefined) return
  const { signal: stopped } = (current = new AbortController())
  tabChannel.addEventListener(
    'message',
    ({ data }: MessageEvent<TabBroadcast | typeof statusRequest>) => receiveBroadcast(data),
    { signal: stopped },
  )
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  tabChannel.postMessage(statusRequest)
  void runAsLeader(stopped)
}

export function stopChangeFeed(): void {
  current?.abort()
  current = undefined
  reader = createChangeReader()
  connectionStatus.value = 'connecting'
}

/**
 * Waits for the lock and then streams. Without TLS, and not on localhost, a page has no locks; every tab then has a stream of its
 * own.
 */
async function runAsLeader(stopped: AbortSignal): Promise<void> {
  const { locks } = navigator as { readonly locks?: LockManager }
  if (locks === undefined) return streamWithRetry(stopped)
  try {
    await locks.request('parley-changes', { signal: stopped }, async () => {
      isLeader = true
      // The previous leader may have closed before it broadcast its cursor.
      if (connectionStatus.peek() !== 'connecting' && reader.lastEventId() === '') notifyListeners({ type: 'reset' })
      await streamWithRetry(stopped)
    })
  } catch {
    // The session ended before this tab got the lock.
  }
  isLeader = false
}

/** Handles a message from another tab. */
function receiveBroadcast(received: TabBroadcast | typeof statusRequest): void {
  if (received === statusRequest) return broadcastToTabs([])
  if (isLeader) return
  reader = createChangeReader(received)
  setHub(received.hub)
  connectionStatus.value = received.liveness
  for (const change of received.changes) notifyListeners(change)
}

function broadcastToTabs(changes: readonly Change[]): void {
  if (!isLeader) return
  const broadcast: TabBroadcast = {
    changes,
    cursor: reader.lastEventId(),
    hub: connectedHub.peek(),
    liveness: connectionStatus.peek(),
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  tabChannel.postMessage(broadcast)
}

async function streamWithRetry(stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    try {
      await readStream(stopped)
    } catch {
      // The hub is unreachable or the connection broke; the loop below retries.
    }
    if (stopped.aborted) return
    connectionStatus.value = 'away'
    broadcastToTabs([])
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

async function readStream(stopped: AbortSignal): Promise<void> {
  const { signal, abort, end } = linkSignals([stopped])
  let timer = setTimeout(abort, idleTimeoutMs)
  try {
    const cursor = reader.lastEventId()
    const response = await fetch('/admin/events', {
      headers: { accept: 'text/event-stream', ...(cursor === '' ? {} : { 'last-event-id': cursor }) },
      signal,
    })
    if (response.status === 401) return markSignedOut()
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
    reader.startConnection()
    for await (const chunk of decodedChunks(response.body)) {
      clearTimeout(timer)
      timer = setTimeout(abort, idleTimeoutMs)
      const changes = reader.read(chunk)
      for (const change of changes) notifyListeners(change)
      if (reader.hub() !== connectedHub.value) setHub(reader.hub())
      if (connectedHub.value !== undefined) connectionStatus.value = 'live'
      broadcastToTabs(changes)
    }
  } finally {
    clearTimeout(timer)
    end()
  }
}

/** Not every browser can iterate a ReadableStream. */
async function* decodedChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
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

function setHub(hub: HubInstance | undefined): void {
  connectedHub.value = hub
  currency.value = hub?.currency
}

function notifyListeners(change: Change): void {
  for (const listener of listeners) listener(change)
}
