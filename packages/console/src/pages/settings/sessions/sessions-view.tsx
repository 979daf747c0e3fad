/** Who is signed in at the console: what opened each session, when it was used, when it expires, and a way to end it. */
import type { ListedSession } from '../../../api/admin.ts'
import { call } from '../../../api/call.ts'
import { isProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { signOut, unsaved } from '../../../api/session.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { Mark } from '../../../parts/state.tsx'
import { Ago } from '../../../parts/time.tsx'
import { Empty, Loading, Trouble } from '../../../parts/trouble.tsx'
import { useEvery } from '../every.ts'
import './sessions.css'

const pageSize = 1_000
const mostPages = 20
/** The stream of changes has nothing about sessions. */
const reloadMs = 10_000

const openedBy: Readonly<Record<ListedSession['by'], string>> = {
  key: 'admin key',
  token: 'access token',
  oidc: 'OpenID Connect',
}

async function allSessions(signal: AbortSignal): Promise<readonly ListedSession[]> {
  const sessions: ListedSession[] = []
  let after: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await call('listSessions', { query: { limit: pageSize, after }, signal })
    sessions.push(...answer.sessions)
    after = answer.after
    if (after === undefined) break
  }
  // The current one first, then the one that was used last.
  return sessions.sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || (a.lastUsedAt < b.lastUsedAt ? 1 : -1))
}

export function SessionsView() {
  const { value, problem, reload } = useResource('sessions', allSessions)
  useEvery(reloadMs, reload)
  const sessions = value.value
  return (
    <div class="scroll">
      <div class="sessions">
        {problem.value !== undefined && <Trouble reason={problem.value} retry={reload} />}
        {sessions === undefined ? (
          problem.value === undefined && <Loading what="the sessions" />
        ) : sessions.length === 0 ? (
          <Empty title="No sessions">Nobody is signed in at the console.</Empty>
        ) : (
          <ul class="panel sessions-list" aria-label="Sessions">
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} onEnded={reload} />
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

function SessionRow({ session, onEnded }: { readonly session: ListedSession; readonly onEnded: () => void }) {
  const { id, subject, by, from, createdAt, lastUsedAt, expiresAt, isCurrent } = session

  async function signOutHere(): Promise<void> {
    const lost = unsaved.peek()
    await signOut()
    for (const one of lost) one.forget?.()
  }

  async function end(): Promise<void> {
    if (isCurrent) return signOutHere()
    try {
      await call('endSession', { params: { id } })
    } catch (reason) {
      // It has ended meanwhile.
      if (!isProblem(reason, 'NOT_FOUND')) throw reason
    }
    onEnded()
  }

  return (
    <li aria-current={isCurrent ? 'true' : undefined}>
      <span class="sessions-subject cut" title={subject}>
        {subject}
      </span>
      {isCurrent && <Mark tone="done" shape="●" word="current session" />}
      <div class="sessions-facts faint">
        <span>opened by {openedBy[by]}</span>
        <span>
          since <Ago at={createdAt} />
        </span>
        <span>
          last used <Ago at={lastUsedAt} />
        </span>
        <span>
          expires <Ago at={expiresAt} />
        </span>
        {from !== undefined && <span>from {from}</span>}
      </div>
      <div class="sessions-actions">
        <Confirm
          label="End session"
          class="small"
          title={isCurrent ? 'End session of this browser' : `End session of ${subject}`}
          question={isCurrent ? 'End the current session?' : `End the session of “${subject}”?`}
          does={end}
        >
          {isCurrent
            ? [
                'You are signed out of this browser, and its streams end.',
                ...unsaved.value.map(({ text }) => text),
              ].join(' ')
            : 'That browser is signed out, and its streams end.'}
        </Confirm>
      </div>
    </li>
  )
}
