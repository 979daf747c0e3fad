/** The guide on moving a hub from SQLite to PostgreSQL and back works as printed. */
import { describe } from 'node:test'
import { createEmptyDatabase } from '../../operations/empty-database.ts'
import { skipReason } from '../../postgres/databases.ts'
import { describePage } from './describe-page.ts'

const skip = await skipReason()
if (skip !== false) describe('docs/guides/move-between-stores.md', { skip })
else describePage('docs/guides/move-between-stores.md', { env: { DATABASE_URL: await createEmptyDatabase() } })
