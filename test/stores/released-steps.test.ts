/** A step that was released is never changed: stores have it as it was. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { MigrationStep } from '../../packages/a2a/src/stores/migration-step.ts'
import { migrationSteps as postgresSteps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import { migrationSteps as sqliteSteps } from '../../packages/a2a/src/stores/sqlite/migrate.ts'

/** The start of the SHA-256 of the SQL of each step. A new step adds its own; the others stay. */
const released: Readonly<Record<'sqlite' | 'postgres', Readonly<Record<number, string>>>> = {
  sqlite: { 100: '84f761236e50c2ea' },
  postgres: { 100: '6e9900a0ba66db5d' },
}

const hashes = (steps: readonly MigrationStep[]) =>
  Object.fromEntries(steps.map(({ version, sql }) => [version, hash('sha256', sql).slice(0, 16)]))

describe('the migration steps', () => {
  for (const [name, steps] of [
    ['sqlite', sqliteSteps],
    ['postgres', postgresSteps],
  ] as const) {
    it(`of ${name} are as they were released, and numbered in order`, () => {
      assert.deepEqual(hashes(steps), released[name], 'a released step was changed: correct it by another step instead')
      assert.deepEqual(
        steps.map(({ version }) => version),
        steps.map((_, index) => 100 + index),
      )
    })
  }
})
