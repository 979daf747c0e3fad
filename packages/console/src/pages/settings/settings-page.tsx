import { PageHead } from '../../parts/sheet.tsx'

export function SettingsPage() {
  return <PageHead title="Settings" />
}
