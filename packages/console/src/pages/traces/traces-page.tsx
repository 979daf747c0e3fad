import { PageHead } from '../../parts/sheet.tsx'

export function TracesPage() {
  return <PageHead title="Traces" />
}
