/** Signing in and out. The cookie is the browser's to keep; a page holds the other half, the token, and never the key. */
import type { Session } from './admin.ts'
import { call } from './call.ts'
import { followChanges, stopFollowing } from './feed.ts'
import { isProblem, Problem } from './problem.ts'
import { session } from './session-state.ts'

const triedAgainMs = 1_000

/** Looks whether there is one, for as long as the hub is away. */
export function startSession(): void {
  void look()
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
  let answer: Response
  try {
    answer = await fetch(path, { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  } catch (cause) {
    throw new Problem('The hub cannot be reached.', { code: 'UNREACHABLE', request, cause })
  }
  if (answer.ok) return begin((await answer.json()) as Session)
  if (answer.status === 429) {
    throw new Problem('Too many wrong keys. Wait a minute, then try again.', { code: 'RATE_LIMITED', request })
  }
  if (answer.status === 401 || answer.status === 403) {
    throw new Problem('This is not the admin key.', { code: 'UNAUTHENTICATED', status: answer.status, request })
  }
  throw new Problem(`The hub answered with status ${answer.status}.`, { code: 'INTERNAL', request })
}

export async function signOut(): Promise<void> {
  await call('signOut')
  stopFollowing()
  session.value = 'none'
}

function begin(found: Session): void {
  session.value = found
  followChanges()
}
