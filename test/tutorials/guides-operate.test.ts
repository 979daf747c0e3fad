/** How-to guides on operating a hub work as printed. */
import { describePage } from './describe-page.ts'

describePage('docs/guides/receive-webhooks.md', { ports: [3000, 3001, 9000], packages: ['@parley/a2a'] })
describePage('docs/guides/rotate-keys.md')
describePage('docs/guides/debug-a-stuck-task.md', { packages: ['@parley/a2a'] })
describePage('docs/guides/production-checklist.md')
