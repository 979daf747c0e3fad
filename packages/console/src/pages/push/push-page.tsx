import { PageHead } from '../../parts/sheet.tsx'

export function PushPage() {
  return <PageHead title="Push" />
}
