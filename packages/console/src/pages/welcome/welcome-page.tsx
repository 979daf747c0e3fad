import { PageHead } from '../../parts/sheet.tsx'

export function WelcomePage() {
  return <PageHead title="Welcome" />
}
