import { PageHead } from '../../parts/sheet.tsx'

export function AgentsPage() {
  return <PageHead title="Agents" />
}
