/** Fetches the live card and the health of an agent again. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../api/admin-client.ts'
import { toProblem } from '../../api/problem.ts'
import { showToast } from '../../app/announce.ts'
import { Icon } from '../../components/icon.tsx'
import { agentStatus } from '../../agent/agent-status.ts'

export function RefreshAgentButton({ name, onLooked }: { readonly name: string; readonly onLooked: () => void }) {
  const isBusy = useSignal(false)

  async function look(): Promise<void> {
    isBusy.value = true
    try {
      const { word } = agentStatus(await callAdmin('lookAtAgent', { params: { agent: name } }))
      showToast(`${name} is ${word}`)
      onLooked()
    } catch (reason) {
      showToast(toProblem(reason).message)
    }
    isBusy.value = false
  }

  return (
    <button type="button" disabled={isBusy.value} onClick={() => void look()}>
      <Icon name="retry" />
      {isBusy.value ? 'Looking …' : 'Look again'}
    </button>
  )
}
