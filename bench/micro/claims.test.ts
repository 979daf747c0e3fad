/** A case of `npm run bench -- --micro` ends with the comment that it measures. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { claims } from './claims.ts'

const textOf = (file: string): string =>
  readFileSync(join(import.meta.dirname, '../../packages', file), 'utf8').replaceAll(/\s*\n\s*(\/\/|\*)?\s*/g, ' ')

it('every measured claim is the comment of a file', async () => {
  for await (const { file, says, now, instead } of claims()) {
    assert.ok(textOf(file).includes(says), `${file} does not say "${says}" any more: remove its case`)
    await now()
    await instead?.()
  }
})
