/** How-to guides on operating a hub work as printed. */
import { describePage } from './describe-page.ts'

describePage('docs/guides/receive-webhooks.md', { ports: [3000, 3001, 9000], packages: ['@parley/a2a'] })
describePage('docs/guides/rotate-keys.md')
describePage('docs/guides/secrets.md')
describePage('docs/guides/debug-a-stuck-task.md', { packages: ['@parley/a2a'] })
describePage('docs/guides/production-checklist.md')
describePage('docs/guides/erase-a-caller.md')
describePage('docs/guides/retention.md')
describePage('docs/guides/verify-a-store.md')
describePage('docs/guides/upgrade.md')
describePage('docs/guides/monitor-the-hub.md')
describePage('docs/guides/export-the-audit.md')
describePage('docs/guides/back-up-and-restore.md')
