/** Who may call the hub: the keys of all agents. */
import { KeysPanel } from '../../agents/keys-panel.tsx'

export function KeysView() {
  return (
    <div class="scroll">
      <KeysPanel />
    </div>
  )
}
