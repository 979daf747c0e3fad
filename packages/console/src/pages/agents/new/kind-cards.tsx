/** One card per agent kind: its icon, its name and what it is for. A card leads to the form of the kind. */
import { Icon } from '../../../components/icon.tsx'
import { kindText, sortKinds } from '../../../agent/kind-text.ts'
import type { AgentKind } from './entry-form.ts'
import './kind-cards.css'

export function KindCards({ kinds }: { readonly kinds: readonly AgentKind[] }) {
  return (
    <ul class="kind-cards" aria-label="Agent kinds">
      {sortKinds(kinds).map(({ kind }) => (
        <li key={kind}>
          <a class="panel kind-card" href={`/agents/new?form=${encodeURIComponent(kind)}`}>
            <KindLabel kind={kind} />
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The icon, the name and the purpose of a kind. */
export function KindLabel({ kind }: { readonly kind: string }) {
  const { name, about, icon } = kindText(kind)
  return (
    <>
      <span class="kind-icon">
        <Icon name={icon} size={20} />
      </span>
      <span class="stack-tight grow">
        <span class="kind-name">
          {name} {name !== kind && <code class="faint">{kind}</code>}
        </span>
        <span class="kind-about">{about}</span>
      </span>
    </>
  )
}
