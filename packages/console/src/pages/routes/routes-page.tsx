import { PageHead } from '../../parts/sheet.tsx'

export function RoutesPage() {
  return <PageHead title="Routes" />
}
