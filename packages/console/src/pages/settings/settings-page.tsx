/** Settings: health, configuration, secrets, keys, sessions, audit log and about. Each section has an address of its own. */
import type { FunctionComponent } from 'preact'
import { pageRoute } from '../../app/router.ts'
import { useDocumentTitle } from '../../components/layout/document-title.ts'
import { PageHead } from '../../components/layout/page-head.tsx'
import { Tabs } from '../../components/layout/tabs.tsx'
import { EmptyState } from '../../components/status/error-notice.tsx'
import { KeysPanel } from '../../keys/keys-panel.tsx'
import { AboutView } from './about/about-view.tsx'
import { AuditView } from './audit/audit-view.tsx'
import { ConfigView } from './config/config-view.tsx'
import { isDraftEdited } from './config/config-draft.ts'
import { HealthView } from './health/health-view.tsx'
import { SecretsView } from './secrets/secrets-view.tsx'
import { SessionsView } from './sessions/sessions-view.tsx'
import { settingsStrings as words } from './strings.ts'

interface Section {
  readonly id: string
  readonly label: string
  readonly View: FunctionComponent
}

const sections: readonly Section[] = [
  { id: 'health', label: words.health, View: HealthView },
  { id: 'config', label: words.config, View: ConfigView },
  { id: 'secrets', label: words.secrets, View: SecretsView },
  { id: 'keys', label: words.keys, View: KeysView },
  { id: 'sessions', label: words.sessions, View: SessionsView },
  { id: 'audit', label: words.audit, View: AuditView },
  { id: 'about', label: words.about, View: AboutView },
]

export function SettingsPage() {
  const [name = 'health'] = pageRoute.value.segments
  const open = sections.find(({ id }) => id === name)
  useDocumentTitle('section', open?.label ?? '')
  const tabs = sections.map(({ id, label }) => ({
    id,
    label: id === 'config' && isDraftEdited.value ? words.edited(label) : label,
    href: `/settings/${id}`,
  }))
  return (
    <>
      <PageHead title={words.title} />
      <Tabs tabs={tabs} open={open?.id ?? ''} label={words.sections} />
      {open === undefined ? (
        <EmptyState title={words.unknown}>
          <a class="button" href="/settings/health">
            {words.openHealth}
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
