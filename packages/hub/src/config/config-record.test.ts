import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { recordConfigFile } from './config-record.ts'

describe('the record of the configuration file', () => {
  it('warns if the file of an earlier start is missing, and of no file that never was', async () => {
    const store = memoryStore()
    const warnings: string[] = []
    const start = (file?: string) => recordConfigFile(store.kv, file, { warn: (text) => void warnings.push(text) })
    await start()
    await start('/hub/parley.yaml')
    await start('/hub/parley.yml')
    assert.deepEqual(warnings, [])
    await start()
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /^\/hub\/parley\.yml was removed: the demo agents, which are open to all callers/)
    await store.close()
  })
})
