/** Settings: health, configuration, keys, sessions, audit log and about. Each section has an address of its own. */
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { pageRoute } from '../../app/router.ts'
import { PageHead } from '../../components/layout/page-head.tsx'
import { Tabs } from '../../components/layout/tabs.tsx'
import { EmptyState } from '../../components/status/error-notice.tsx'
import { KeysPanel } from '../../keys/keys-panel.tsx'
import { AboutView } from './about/about-view.tsx'
import { AuditView } from './audit/audit-view.tsx'
import { ConfigView } from './config/config-view.tsx'
import { isDraftEdited } from './config/config-draft.ts'
import { HealthView } from './health/health-view.tsx'
import { SessionsView } from './sessions/sessions-view.tsx'

interface Section {
  readonly id: string
  readonly label: string
  readonly View: FunctionComponent
}

const sections: readonly Section[] = [
  { id: 'health', label: 'Health', View: HealthView },
  { id: 'config', label: 'Config', View: ConfigView },
  { id: 'keys', label: 'Keys', View: KeysView },
  { id: 'sessions', label: 'Sessions', View: SessionsView },
  { id: 'audit', label: 'Audit', View: AuditView },
  { id: 'about', label: 'About', View: AboutView },
]

export function SettingsPage() {
  const [name = 'health'] = pageRoute.value.segments
  const open = sections.find(({ id }) => id === name)
  useEffect(() => {
    document.title = `${open?.label ?? 'Settings'} · Settings · Parley`
  }, [open])
  const tabs = sections.map(({ id, label }) => ({
    id,
    label: id === 'config' && isDraftEdited.value ? `${label} (edited)` : label,
    href: `/settings/${id}`,
  }))
  return (
    <>
      <PageHead title="Settings" />
      <Tabs tabs={tabs} open={open?.id ?? ''} label="Sections of the settings" />
      {open === undefined ? (
        <EmptyState title="There are no such settings">
          <a href="/settings/health">How the hub is</a>
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
