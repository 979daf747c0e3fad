/**
 * The quick mode of the guided fuzz: every input of the corpus, regressions first, and some mutations of each target under
 * a fixed seed. Time is not checked here, because it depends on the load of the machine; `npm run fuzz` does that.
 */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCampaign } from './guided/campaign.ts'
import { readCorpus } from './guided/corpus.ts'
import { createMutator } from './guided/mutate.ts'
import { targets as plantedDefects } from './guided/planted-defects.ts'
import { createRandomChoices } from './guided/random.ts'
import { runTarget } from './guided/run-target.ts'
import { listTargets } from './targets.ts'

const seed = Number(process.env['PARLEY_SEED'] ?? 20_261_117)
/** The limit for a hang. */
const hangMs = 120_000
/** Mutated inputs of a target, per unit of its weight. */
const perWeight = 60

const listed = await listTargets()

describe('every decoder and entry point', () => {
  for (const { target } of listed) {
    it(`${target.name}: handles its corpus and mutations of it without breaking a rule`, async () => {
      const corpus = readCorpus(target.name).toSorted(
        (a, b) => Number(b.regression !== undefined) - Number(a.regression !== undefined),
      )
      const first = [...corpus.map(({ input }) => input), ...target.seeds()]
      const inputs = first.length + target.weight * perWeight
      const { done, findings } = await runCampaign(target, { inputs, seed, first, timed: false, hangMs })
      assert.equal(done, inputs)
      assert.deepEqual(
        findings.map(
          ({ kind, message, input }) =>
            `${kind}: ${message}\n${JSON.stringify(Buffer.from(input).toString('latin1').slice(0, 1_000))}`,
        ),
        [],
      )
    })
  }

  it('has a corpus of less than a megabyte', () => {
    const folder = join(import.meta.dirname, 'corpus')
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    assert.ok(bytes < 1_000_000, `the corpus has ${bytes} bytes`)
  })
})

describe('the guided fuzz', () => {
  const module = new URL('./guided/planted-defects.ts', import.meta.url).href
  const run = (target: string, inputs: number, limitMs = hangMs) =>
    runTarget({ module, target, inputs, seed: 1, first: [Uint8Array.of(0)], hangMs: limitMs })

  it('finds by coverage what random inputs do not', async () => {
    const deep = plantedDefects.find(({ name }) => name === 'deep')
    assert.ok(deep !== undefined)
    const blind = await runCampaign(deep, { inputs: 60_000, seed: 1, first: deep.seeds(), timed: false, hangMs })
    assert.deepEqual(blind.findings, [])
    const { findings } = await run('deep', 60_000)
    assert.deepEqual(
      findings.map(({ kind, input }) => [kind, Buffer.from(input).toString('latin1').slice(0, 4)]),
      [['violation', 'FUZ[']],
    )
  })

  it('reports an input that holds the event loop', async () => {
    const { findings } = await run('slow', 20)
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['slow'],
    )
  })

  it('reports an unhandled rejection', async () => {
    const { findings } = await run('unhandled', 20)
    assert.match(findings.find(({ kind }) => kind === 'unhandled')?.message ?? '', /unhandled on purpose/)
  })

  // The limits are short because the defect is permanent: a slow machine only delays it.
  for (const [target, kind] of [
    ['pending', 'hang'],
    ['endless', 'hang'],
    ['exits', 'crash'],
  ] as const) {
    it(`reports the input of a target that is ${target}`, async () => {
      const { findings } = await run(target, 12, 1_000)
      assert.deepEqual(
        findings.map((finding) => finding.kind),
        [kind],
      )
      assert.ok((findings[0]?.input.length ?? 0) > 2)
    })
  }

  it('creates the same inputs from the same seed', () => {
    const inputs = (from: number): readonly string[] => {
      const mutate = createMutator('json', ['word'], createRandomChoices(from))
      const start = Buffer.from('{"a":[1,"x"]}')
      return Array.from({ length: 50 }, () => Buffer.from(mutate(start, start)).toString('hex'))
    }
    assert.deepEqual(inputs(7), inputs(7))
    assert.notDeepEqual(inputs(7), inputs(8))
  })
})
