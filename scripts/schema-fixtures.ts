/** Makes the fixture databases of schemas that have none: run it after you added a migration step. Needs PostgreSQL. */
import { makePostgresFixtures } from '../test/stores/postgres-fixtures.ts'
import { makeSqliteFixtures } from '../test/stores/sqlite-fixtures.ts'

console.log('SQLite:', (await makeSqliteFixtures()).join(', ') || 'none missing')
console.log('PostgreSQL:', (await makePostgresFixtures()).join(', ') || 'none missing')
process.exit(0)
