import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readDump } from './dump-file.ts'

describe('readDump', () => {
  it('refuses a file without line breaks before it fills the memory', async () => {
    let pieces = 0
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      for (; pieces < 100; pieces += 1) yield Buffer.alloc(2 ** 20)
    }
    await assert.rejects(readDump(endless()), { name: 'DumpError', message: /^This is not a dump/ })
    assert.ok(pieces < 10, `${pieces} pieces were read`)
  })
})
