/** Every scenario in every cell. A scenario that does not apply to a cell is skipped with the reason; all others must pass. */
import { newestVersion } from '@parley/a2a/internal'
import { describe, it } from 'node:test'
import { cells, nameOf } from './cells.ts'
import type { Cell } from './cells.ts'
import { createScenarioContext } from './scenario.ts'
import type { Scenario } from './scenario.ts'
import { acrossVersions } from './scenarios/across-versions.ts'
import { canceling } from './scenarios/canceling.ts'
import { capabilities } from './scenarios/capabilities.ts'
import { failures } from './scenarios/failures.ts'
import { followUps } from './scenarios/follow-ups.ts'
import { parts } from './scenarios/parts.ts'
import { push } from './scenarios/push.ts'
import { questions } from './scenarios/questions.ts'
import { reading } from './scenarios/reading.ts'
import { repeating } from './scenarios/repeating.ts'
import { requests } from './scenarios/requests.ts'
import { sending } from './scenarios/sending.ts'
import { streaming } from './scenarios/streaming.ts'
import { subscribing } from './scenarios/subscribing.ts'
import { trust } from './scenarios/trust.ts'

const scenarios: readonly Scenario[] = [
  ...sending,
  ...parts,
  ...streaming,
  ...questions,
  ...followUps,
  ...canceling,
  ...reading,
  ...subscribing,
  ...repeating,
  ...failures,
  ...requests,
  ...capabilities,
  ...push,
  ...trust,
  ...acrossVersions,
]

/** PostgreSQL keeps the contract of stores (test/postgres), so one version over one binding shows that the server works on it. */
function isInFullSet({ version, binding, store }: Cell): boolean {
  return store === 'postgres' && !(version === newestVersion && binding === 'JSONRPC')
}

for (const { name, skip, check } of scenarios) {
  // Cells are independent, and those on SQLite mostly wait for the disk.
  describe(name, { concurrency: cells.length }, () => {
    for (const cell of cells) {
      const reason = skip?.(cell) ?? false
      it(
        `${nameOf(cell)} on ${cell.store}${isInFullSet(cell) ? ' [full]' : ''}`,
        { skip: reason, timeout: 120_000 },
        async (test) => {
          const { world, close } = createScenarioContext(cell)
          test.after(close)
          await check(world)
        },
      )
    }
  })
}
