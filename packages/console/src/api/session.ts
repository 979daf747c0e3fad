/** Signs in and out. The browser keeps the cookie; the page holds the CSRF token and never the key. */
import { effect, signal, type ReadonlySignal } from '@preact/signals'
import type { Session } from './admin.ts'
import { callAdmin } from './admin-client.ts'
import { startChangeFeed, stopChangeFeed } from './change-feed.ts'
import { isProblem, Problem } from './problem.ts'
import { session } from './session-state.ts'
import { apiStrings } from './strings.ts'

const retryMs = 1_000
/** Other tabs of this browser share the cookie, so they are notified when it is set or cleared. */
const sessionChannel = new BroadcastChannel('parley-session')

function notifyOtherTabs(news: 'in' | 'out'): void {
  // A BroadcastChannel is limited to one origin, so its messages take no target origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  sessionChannel.postMessage(news)
}

export interface UnsavedWork {
  /** What would be lost, as text. */
  readonly text: string
  /** Discards the work when the user signs out. */
  discard?(): void
}

const unsavedItems = signal<readonly UnsavedWork[]>([])
/** What would be lost by signing out. */
export const unsavedWork: ReadonlySignal<readonly UnsavedWork[]> = unsavedItems

/** Returns a function that removes the entry. */
export function registerUnsavedWork(one: UnsavedWork): () => void {
  unsavedItems.value = [...unsavedItems.peek(), one]
  return () => {
    unsavedItems.value = unsavedItems.peek().filter((other) => other !== one)
  }
}

/** Asks the hub whether there is a session, and retries while the hub is unreachable. */
export function startSession(): void {
  sessionChannel.addEventListener('message', ({ data }) => {
    if (data === 'out') session.value = 'none'
    else if (session.peek() === 'none') void restoreSession()
  })
  effect(() => {
    if (session.value === 'none') stopChangeFeed()
  })
  const key = takeKeyFromAddress()
  void (key === undefined ? restoreSession() : signIn(key).catch(restoreSession))
}

/**
 * The hub prints such a link at its first start. The fragment behind `#` is sent to no server, and is removed from the address at
 * once.
 */
function takeKeyFromAddress(): string | undefined {
  const [, key] = /^#key=(.+)$/.exec(location.hash) ?? []
  if (key === undefined) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  try {
    return decodeURIComponent(key)
  } catch {
    // Not a sign-in link of the hub.
    return undefined
  }
}

async function restoreSession(): Promise<void> {
  try {
    openSession(await callAdmin('getSession'))
  } catch (reason) {
    if (isProblem(reason, 'UNREACHABLE')) setTimeout(() => void restoreSession(), retryMs)
    else session.value = 'none'
  }
}

export async function signIn(key: string): Promise<void> {
  const path = '/admin/session'
  const request = `POST ${path}`
  // An HTTP header cannot carry these characters, so the key cannot be valid.
  if (/[^\x20-\x7e]/.test(key)) throw wrongKeyProblem(request, 401)
  let answer: Response
  try {
    answer = await fetch(path, { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  } catch (cause) {
    throw new Problem(apiStrings.unreachableAtSignIn, { code: 'UNREACHABLE', request, cause })
  }
  if (!answer.ok) throw signInProblem(answer, request)
  openSession((await answer.json()) as Session)
  notifyOtherTabs('in')
}

function signInProblem({ status, headers }: Response, request: string): Problem {
  if (status === 429) {
    const seconds = Number(headers.get('retry-after') ?? 60)
    return new Problem(apiStrings.tooManyKeys(seconds), { code: 'RATE_LIMITED', status, request })
  }
  if (status === 401 || status === 403) return wrongKeyProblem(request, status)
  return new Problem(apiStrings.unexpectedStatus(status), { code: 'INTERNAL', status, request })
}

function wrongKeyProblem(request: string, status: number): Problem {
  return new Problem(apiStrings.wrongKey, { code: 'UNAUTHENTICATED', status, request })
}

export async function signOut(): Promise<void> {
  try {
    await callAdmin('signOut')
  } catch (reason) {
    // A session that has already ended counts as signed out.
    if (!isProblem(reason, 'UNAUTHENTICATED', 'NOT_FOUND')) throw reason
  }
  session.value = 'none'
  notifyOtherTabs('out')
}

function openSession(found: Session): void {
  session.value = found
  startChangeFeed()
}
