/** Settings: how the hub is, what it is told, who may call it, who is signed in, who did what, and what this is. Each has its address. */
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { place } from '../../app/router.ts'
import { PageHead } from '../../parts/sheet.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Empty } from '../../parts/trouble.tsx'
import { AboutView } from './about/about-view.tsx'
import { AuditView } from './audit/audit-view.tsx'
import { ConfigView } from './config/config-view.tsx'
import { isEdited } from './config/draft.ts'
import { HealthView } from './health/health-view.tsx'
import { KeysView } from './keys/keys-view.tsx'
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
  const [name = 'health'] = place.value.rest
  const open = sections.find(({ id }) => id === name)
  useEffect(() => {
    document.title = `${open?.label ?? 'Settings'} · Settings · Parley`
  }, [open])
  const tabs = sections.map(({ id, label }) => ({
    id,
    label: id === 'config' && isEdited.value ? `${label} (edited)` : label,
    href: `/settings/${id}`,
  }))
  return (
    <>
      <PageHead title="Settings" />
      <Tabs tabs={tabs} open={open?.id ?? ''} label="Sections of the settings" />
      {open === undefined ? (
        <Empty title="There are no such settings">
          <a href="/settings/health">How the hub is</a>
        </Empty>
      ) : (
        <open.View key={open.id} />
      )}
    </>
  )
}
