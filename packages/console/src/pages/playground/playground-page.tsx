import { PageHead } from '../../parts/sheet.tsx'

export function PlaygroundPage() {
  return <PageHead title="Playground" />
}
