/** Settings: health, configuration, secrets, keys, callers, sessions, audit log and about. Each section has an address of its own. */
import type { FunctionComponent } from 'preact'
import { pageRoute } from '../../app/router.ts'
import { useDocumentTitle } from '../../components/layout/document-title.ts'
import { PageHead } from '../../components/layout/page-head.tsx'
import { Tabs } from '../../components/layout/tabs.tsx'
import { EmptyState } from '../../components/status/error-notice.tsx'
import { KeysPanel } from '../../keys/keys-panel.tsx'
import { AboutView } from './about/about-view.tsx'
import { AuditView } from './audit/audit-view.tsx'
import { CallersView } from './callers/callers-view.tsx'
import { ConfigView } from './config/config-view.tsx'
import { isDraftEdited } from './config/config-draft.ts'
import { HealthView } from './health/health-view.tsx'
import { SecretsView } from './secrets/secrets-view.tsx'
import { SessionsView } from './sessions/sessions-view.tsx'

interface Section {
  readonly id: string
  readonly label: string
  readonly View: FunctionComponent
}

const sections: readonly Section[] = [
  { id: 'health', label: 'Health', View: HealthView },
  { id: 'config', label: 'Config', View: ConfigView },
  { id: 'secrets', label: 'Secrets', View: SecretsView },
  { id: 'keys', label: 'Keys', View: KeysView },
  { id: 'callers', label: 'Callers', View: CallersView },
  { id: 'sessions', label: 'Sessions', View: SessionsView },
  { id: 'audit', label: 'Audit', View: AuditView },
  { id: 'about', label: 'About', View: AboutView },
]

export function SettingsPage() {
  const [name = 'health'] = pageRoute.value.segments
  const open = sections.find(({ id }) => id === name)
  useDocumentTitle('section', open?.label ?? '')
  const tabs = sections.map(({ id, label }) => ({
    id,
    label: id === 'config' && isDraftEdited.value ? `${label} (edited)` : label,
    href: `/settings/${id}`,
  }))
  return (
    <>
      <PageHead title="Settings" />
      <Tabs tabs={tabs} open={open?.id ?? ''} label="Settings sections" />
      {open === undefined ? (
        <EmptyState title="Page not found">
          <a class="button" href="/settings/health">
            Open Health
          </a>
        </EmptyState>
      ) : (
        <open.View key={open.id} />
      )}
    </>
  )
}

function KeysView() {
  return (
    <div class="scroll">
      <KeysPanel />
    </div>
  )
}
