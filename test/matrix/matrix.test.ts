/** Every scenario in every cell. What a cell does not have is skipped with the reason; everything else must hold. */
import { describe, it } from 'node:test'
import { cells, nameOf } from './cells.ts'
import { createWorld } from './scenario.ts'
import type { Scenario } from './scenario.ts'
import { canceling } from './scenarios/canceling.ts'
import { followUps } from './scenarios/follow-ups.ts'
import { parts } from './scenarios/parts.ts'
import { questions } from './scenarios/questions.ts'
import { reading } from './scenarios/reading.ts'
import { sending } from './scenarios/sending.ts'
import { streaming } from './scenarios/streaming.ts'
import { subscribing } from './scenarios/subscribing.ts'

const scenarios: readonly Scenario[] = [
  ...sending,
  ...parts,
  ...streaming,
  ...questions,
  ...followUps,
  ...canceling,
  ...reading,
  ...subscribing,
]

for (const { name, skip, check } of scenarios) {
  describe(name, () => {
    for (const cell of cells) {
      const reason = skip?.(cell) ?? false
      it(`${nameOf(cell)} on ${cell.store}`, { skip: reason, timeout: 10_000 }, async (test) => {
        const { world, close } = createWorld(cell)
        test.after(close)
        await check(world)
      })
    }
  })
}
