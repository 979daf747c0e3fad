/**
 * Every check of the judge fails for an agent that is wrong in what it checks, and what else fails for that agent is listed.
 * `PARLEY_FULL=1` compares the whole list, `PARLEY_UPDATE=1` writes it.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { allChecks } from '@parley/cli/conformance'
import { faults } from './faults/index.ts'
import { judgeFault } from './judge-fault.ts'

const file = join(import.meta.dirname, 'also-fails.json')
const alsoFails = JSON.parse(readFileSync(file, 'utf8')) as Record<string, readonly string[]>
const isUpdate = process.env['PARLEY_UPDATE'] === '1'
const isFull = isUpdate || process.env['PARLEY_FULL'] === '1'

/** Only a gRPC server can be wrong in these, and ours is not changed on the wire. */
const withoutAgent = ['error.info-grpc']

describe('the agents that are wrong on purpose', () => {
  it('are one for each check', () => {
    const judged = faults.map(({ check }) => check)
    assert.deepEqual(judged.toSorted(), [...new Set(judged)].toSorted(), 'a check has two agents')
    const ids = allChecks.map(({ id }) => id).filter((id) => !withoutAgent.includes(id))
    assert.deepEqual(judged.toSorted(), ids.toSorted())
  })

  for (const fault of faults) {
    it(`${fault.check} finds that ${fault.wrong}`, { timeout: 120_000 }, async () => {
      const results = await judgeFault(fault, isFull ? undefined : [fault.check])
      const failed = [...new Set(results.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id))]
      const of = results.filter(({ id }) => id === fault.check)
      assert.ok(
        failed.includes(fault.check),
        `it found: ${JSON.stringify(of.map(({ outcome, note }) => [outcome, note]))}`,
      )
      const others = failed.filter((id) => id !== fault.check).toSorted()
      if (isUpdate) alsoFails[fault.check] = others
      else if (isFull) {
        const unlisted = others.filter((id) => alsoFails[fault.check]?.includes(id) !== true)
        assert.deepEqual(unlisted, [], 'fails too, and is not listed')
      }
      for (const { id, evidence } of results.filter(({ outcome }) => outcome === 'fail')) {
        assert.ok(evidence === undefined || evidence.request !== '', `${id} shows an empty request`)
      }
    })
  }

  after(() => {
    if (isUpdate) writeFileSync(file, `${JSON.stringify(alsoFails, null, 2)}\n`)
  })
})
