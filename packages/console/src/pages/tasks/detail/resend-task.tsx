/** Sends the first message again, to this agent or another; the result is compared with the old one. */
import { useSignal } from '@preact/signals'
import type { TaskDetail } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { navigate } from '../../../app/router.ts'
import { Icon } from '../../../components/icon.tsx'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'
import { firstMessage, resendMessage } from './resend-message.ts'
import { compareHref } from '../task-links.ts'

export function ResendTask({ detail }: { readonly detail: TaskDetail }) {
  const agents = useResource(
    'agents to resend to',
    async (signal) => (await callAdmin('listAgents', { signal })).agents,
  )
  const chosen = useSignal(detail.agent)
  const isBusy = useSignal(false)
  const problem = useSignal<unknown>(undefined)
  const message = firstMessage(detail)
  const open = (agents.value.value ?? []).filter(({ state }) => state === 'open')

  async function send(event: Event): Promise<void> {
    event.preventDefault()
    if (message === undefined) return
    isBusy.value = true
    problem.value = undefined
    try {
      navigate(compareHref(detail.id, await resendMessage(chosen.value, message)))
    } catch (reason) {
      problem.value = reason
      isBusy.value = false
    }
  }

  if (message === undefined) return <p class="task-ask">The message that began it is not in the log any more.</p>
  return (
    <form class="task-ask" onSubmit={(event) => void send(event)}>
      <p>Sends the first message again, as a new task of yours, and compares the answers.</p>
      <div class="field">
        <label for="resend-agent">Agent</label>
        <select id="resend-agent" value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {open.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      {agents.problem.value !== undefined && <ErrorNotice reason={agents.problem.value} />}
      {problem.value !== undefined && <ErrorNotice reason={problem.value} />}
      <button type="submit" class="primary" disabled={isBusy.value || open.length === 0}>
        <Icon name="send" size={14} />
        Send and compare
      </button>
    </form>
  )
}
