/** Signing in and out. The cookie is the browser's to keep; a page holds the other half, the token, and never the key. */
import { effect, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { Session } from './admin.ts'
import { call } from './call.ts'
import { followChanges, stopFollowing } from './feed.ts'
import { isProblem, Problem } from './problem.ts'
import { session } from './session-state.ts'

const triedAgainMs = 1_000
/** Other tabs of this browser have the same cookie: when it comes and goes, they are told. */
const others = new BroadcastChannel('parley-session')

function tellOthers(news: 'in' | 'out'): void {
  // A channel has one origin, and its messages no target.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  others.postMessage(news)
}

export interface Unsaved {
  /** What would be lost, in words. */
  readonly text: string
  /** Whoever signs out wants it so. */
  forget?(): void
}

const held = signal<readonly Unsaved[]>([])
/** What would be lost by signing out. */
export const unsaved: ReadonlySignal<readonly Unsaved[]> = held

/** Until the function that is answered is called. */
export function holdUnsaved(one: Unsaved): () => void {
  held.value = [...held.peek(), one]
  return () => {
    held.value = held.peek().filter((other) => other !== one)
  }
}

/** Looks whether there is one, for as long as the hub is away. */
export function startSession(): void {
  others.addEventListener('message', ({ data }) => {
    if (data === 'out') session.value = 'none'
    else if (session.peek() === 'none') void look()
  })
  effect(() => {
    if (session.value === 'none') stopFollowing()
  })
  const key = takeKeyFromAddress()
  void (key === undefined ? look() : signIn(key).catch(look))
}

/** The hub prints such a link at its first start. What stands behind `#` is sent to nobody, and is gone from the address at once. */
function takeKeyFromAddress(): string | undefined {
  const [, key] = /^#key=(.+)$/.exec(location.hash) ?? []
  if (key === undefined) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  try {
    return decodeURIComponent(key)
  } catch {
    // Not a link of ours.
    return undefined
  }
}

async function look(): Promise<void> {
  try {
    begin(await call('getSession'))
  } catch (reason) {
    if (isProblem(reason, 'UNREACHABLE')) setTimeout(() => void look(), triedAgainMs)
    else session.value = 'none'
  }
}

export async function signIn(key: string): Promise<void> {
  const path = '/admin/session'
  const request = `POST ${path}`
  // A header cannot carry it, so it is none.
  if (/[^\x20-\x7e]/.test(key)) throw notTheKey(request, 401)
  let answer: Response
  try {
    answer = await fetch(path, { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  } catch (cause) {
    throw new Problem('The hub cannot be reached. Is it running?', { code: 'UNREACHABLE', request, cause })
  }
  if (!answer.ok) throw refused(answer, request)
  begin((await answer.json()) as Session)
  tellOthers('in')
}

function refused({ status, headers }: Response, request: string): Problem {
  if (status === 429) {
    const seconds = Number(headers.get('retry-after') ?? 60)
    const message = `Too many wrong keys. Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`
    return new Problem(message, { code: 'RATE_LIMITED', status, request })
  }
  if (status === 401 || status === 403) return notTheKey(request, status)
  return new Problem(`The hub answered with status ${status}.`, { code: 'INTERNAL', status, request })
}

function notTheKey(request: string, status: number): Problem {
  return new Problem('This is not the admin key.', { code: 'UNAUTHENTICATED', status, request })
}

export async function signOut(): Promise<void> {
  try {
    await call('signOut')
  } catch (reason) {
    // One that is over already is as good as ended.
    if (!isProblem(reason, 'UNAUTHENTICATED', 'NOT_FOUND')) throw reason
  }
  session.value = 'none'
  tellOthers('out')
}

function begin(found: Session): void {
  session.value = found
  followChanges()
}
