/** The API keys of all agents. */
import { KeysPanel } from '../../../keys/keys-panel.tsx'

export function KeysView() {
  return (
    <div class="scroll">
      <KeysPanel />
    </div>
  )
}
