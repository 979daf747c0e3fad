/** The console has the types of the current admin API. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { adminTypes, readDocument, outputFile } from './admin-types.ts'

const scratch = mkdtempSync(join(import.meta.dirname, '../node_modules/.parley-types-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the types of the admin API', () => {
  it('match the OpenAPI document of the hub: run `npm run admin-types`', async () => {
    const file = join(scratch, 'admin.ts')
    writeFileSync(file, adminTypes(await readDocument()))
    const settings = join(import.meta.dirname, '../.oxfmtrc.json')
    execFileSync('oxfmt', ['--config', settings, file])
    assert.equal(readFileSync(file, 'utf8'), readFileSync(outputFile, 'utf8'))
  })
})
