/**
 * `npm run ha-chaos -- --minutes 10 --seed 7`: starts the recipe of deploy/high-availability in a folder of its own and breaks one
 * part after the other under load. Ends with exit code 1 if anything that a client received was lost, doubled or contradicted.
 */
import { parseArgs } from 'node:util'
import { createRandom } from '../../crash/random.ts'
import { allFaults, runChaos } from './chaos.ts'
import { createRecipe } from './running-recipe.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0')
const random = createRandom(Number(values.seed))
console.log(`chaos: ${minutes} minutes, seed ${values.seed}`)

const recipe = await createRecipe()
let isOver = false
// The first signal ends the run after its fault; the second one at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => (isOver ? process.exit(1) : (isOver = true)))
try {
  await recipe.start()
  const endAt = Date.now() + minutes * 60_000
  const pick = (): (typeof allFaults)[number] => allFaults[Math.floor(random() * allFaults.length)] ?? 'kill a hub'
  const nextFault = () => (isOver || Date.now() > endAt ? undefined : pick())
  const result = await runChaos({ recipe, nextFault, random, log: console.log })
  console.log(result)
  process.exitCode = result.violations.length > 0 ? 1 : 0
} finally {
  await recipe.close()
}
process.exit()
