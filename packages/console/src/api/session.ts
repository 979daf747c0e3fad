/** Signs in and out. The browser keeps the cookie; the page holds the CSRF token and never the key. */
import { effect, signal, type ReadonlySignal } from '@preact/signals'
import type { Session } from './admin.ts'
import { callAdmin } from './admin-client.ts'
import { startChangeFeed, stopChangeFeed } from './change-feed.ts'
import { isProblem, Problem, toProblem } from './problem.ts'
import { hasSessionEnded, session } from './session-state.ts'

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

/** Why the link of `parley open` did not sign in. */
export const linkProblem = signal('')

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
  // A link that is pasted into an open page of the console changes only the fragment.
  addEventListener('hashchange', () => void signInByLink())
  void signInByLink().then((hasCode) => (hasCode ? undefined : restoreSession()))
}

/**
 * `parley open` opens such a link. The page redeems its code by a POST, so that a preview of the link does not use it up, and removes
 * it from the address at once. Returns whether there was a code.
 */
async function signInByLink(): Promise<boolean> {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? []
  if (code === undefined) return false
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const body = JSON.stringify({ code })
    await openSessionBy('/admin/sign-in/code', { headers: { 'content-type': 'application/json' }, body })
  } catch (reason) {
    const { code: why, message } = toProblem(reason)
    linkProblem.value =
      why === 'UNAUTHENTICATED' ? 'The link was used, or its minute has passed. Run parley open for another.' : message
    await restoreSession()
  }
  return true
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
  // An HTTP header cannot carry these characters, so the key cannot be valid.
  if (/[^\x20-\x7e]/.test(key)) throw wrongKeyProblem(`POST ${path}`, 401)
  await openSessionBy(path, { headers: { authorization: `Bearer ${key}` } })
}

async function openSessionBy(path: string, init: RequestInit): Promise<void> {
  const request = `POST ${path}`
  let answer: Response
  try {
    answer = await fetch(path, { method: 'POST', ...init })
  } catch (cause) {
    throw new Problem('The hub cannot be reached. Is it running?', { code: 'UNREACHABLE', request, cause })
  }
  if (!answer.ok) throw signInProblem(answer, request)
  openSession((await answer.json()) as Session)
  notifyOtherTabs('in')
}

function signInProblem({ status, headers }: Response, request: string): Problem {
  if (status === 429) {
    const seconds = Number(headers.get('retry-after') ?? 60)
    return new Problem(`Too many wrong keys. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`, {
      code: 'RATE_LIMITED',
      status,
      request,
    })
  }
  if (status === 401 || status === 403) return wrongKeyProblem(request, status)
  return new Problem(`The hub answered with status ${status}.`, { code: 'INTERNAL', status, request })
}

function wrongKeyProblem(request: string, status: number): Problem {
  return new Problem('This is not the admin key.', { code: 'UNAUTHENTICATED', status, request })
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
  linkProblem.value = ''
  hasSessionEnded.value = false
  session.value = found
  startChangeFeed()
}
