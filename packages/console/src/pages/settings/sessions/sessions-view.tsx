/** Console sessions: how each was opened, when it was last used, when it expires, and a button to end it. */
import type { ListedSession } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { loadAllPages } from '../../../api/load-all-pages.ts'
import { isProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { signOut, unsavedWork } from '../../../api/session.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { EmptyState, LoadState } from '../../../components/status/error-notice.tsx'
import { useVisibleInterval } from '../use-visible-interval.ts'
import '../../../components/list/list-states.css'
import './sessions.css'

const openedBy = { key: 'admin key', token: 'access token', oidc: 'OpenID Connect' }

const pageSize = 1_000
/** The change feed has no events for sessions. */
const reloadMs = 10_000

async function listAllSessions(signal: AbortSignal): Promise<readonly ListedSession[]> {
  const sessions = await loadAllPages(async (after) => {
    const page = await callAdmin('listSessions', { query: { limit: pageSize, after }, signal })
    return { items: page.sessions, after: page.after }
  })
  // The current session first, then by last use.
  return sessions.sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || (a.lastUsedAt < b.lastUsedAt ? 1 : -1))
}

export function SessionsView() {
  const found = useResource('sessions', listAllSessions)
  useVisibleInterval(reloadMs, found.reload)
  const sessions = found.value.value
  return (
    <div class="scroll">
      <div class="sessions">
        <LoadState of={found} what="the sessions" />
        {sessions?.length === 0 && <EmptyState title="No sessions">No user is signed in to the console.</EmptyState>}
        {sessions !== undefined && sessions.length > 0 && (
          <ul class="panel record-list sessions-list" aria-label="Sessions">
            {sessions.map((session) => (
              <SessionRow key={session.id} session={session} onEnded={found.reload} />
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
    const lost = unsavedWork.peek()
    await signOut()
    for (const one of lost) one.discard?.()
  }

  async function end(): Promise<void> {
    if (isCurrent) return signOutHere()
    try {
      await callAdmin('endSession', { params: { id } })
    } catch (reason) {
      // The session has already ended.
      if (!isProblem(reason, 'NOT_FOUND')) throw reason
    }
    onEnded()
  }

  return (
    <li aria-current={isCurrent ? 'true' : undefined}>
      <span class="sessions-subject cut" title={subject}>
        {subject}
      </span>
      {isCurrent && <StatusBadge tone="done" shape="●" word="current session" />}
      <div class="record-facts faint">
        <span>Signed in with {openedBy[by]}</span>
        <span>
          since <RelativeTime at={createdAt} />
        </span>
        <span>
          last used <RelativeTime at={lastUsedAt} />
        </span>
        <span>
          expires <RelativeTime at={expiresAt} />
        </span>
        {from !== undefined && <span>from {from}</span>}
      </div>
      <div class="record-actions">
        <ConfirmButton
          label="End session"
          class="small"
          title={isCurrent ? 'End session of this browser' : `End session of ${subject}`}
          question={isCurrent ? 'End the current session?' : `End the session of “${subject}”?`}
          onConfirm={end}
        >
          {isCurrent
            ? [
                'You are signed out of this browser, and its streams end.',
                ...unsavedWork.value.map(({ text }) => text),
              ].join(' ')
            : 'That browser is signed out, and its streams end.'}
        </ConfirmButton>
      </div>
    </li>
  )
}
