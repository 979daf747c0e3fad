/** Asks an agent anew what it says of itself, and how it is. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.ts'
import { problemOf } from '../../api/problem.ts'
import { tell } from '../../app/announce.ts'
import { Icon } from '../../parts/icon.tsx'
import { agentLook } from './agent-look.ts'

export function LookAgain({ name, onLooked }: { readonly name: string; readonly onLooked: () => void }) {
  const isBusy = useSignal(false)

  async function look(): Promise<void> {
    isBusy.value = true
    try {
      const { word } = agentLook(await call('lookAtAgent', { params: { agent: name } }))
      tell(`${name} is ${word}`)
      onLooked()
    } catch (reason) {
      tell(problemOf(reason).message)
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
