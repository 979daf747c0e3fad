import { PageHead } from '../../parts/sheet.tsx'

export function TasksPage() {
  return <PageHead title="Tasks" />
}
