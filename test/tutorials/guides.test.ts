/** How-to guides that need nothing but Node work as printed. */
import { describePage } from './describe-page.ts'

describePage('docs/guides/call-with-curl.md')
describePage('docs/guides/serve-options.md', { packages: ['@parley/a2a', 'express'] })
