import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DumpEntry } from './dump-entry.ts'
import { readDump, writeDump, type WriteDumpOptions } from './dump-file.ts'
import type { StoreReader } from './store-dump.ts'

const entry: DumpEntry = { type: 'kv', kind: 'sessions', key: 'one', version: 1, updatedAt: 1, value: '{"a":1}' }
const reader = {
  ...{ kind: 'sqlite', schemaVersion: 100, position: 7 },
  async *entries() {
    yield entry
  },
} as unknown as StoreReader

async function fileOf(options?: WriteDumpOptions): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(writeDump(reader, options)))
}

async function read(bytes: Uint8Array): Promise<readonly DumpEntry[]> {
  const entries: DumpEntry[] = []
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let from = 0; from < bytes.length; from += 50) yield bytes.subarray(from, from + 50)
  }
  const { position } = await readDump(pieces(), { load: async (more) => void entries.push(...more) })
  assert.equal(position, 7)
  return entries
}

describe('readDump', () => {
  it('refuses a file without line breaks before it fills the memory', async () => {
    let pieces = 0
    async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
      for (; pieces < 100; pieces += 1) yield Buffer.alloc(2 ** 20)
    }
    await assert.rejects(readDump(endless()), { name: 'DumpError', message: /^This is not a dump/ })
    assert.ok(pieces < 10, `${pieces} pieces were read`)
  })

  for (const [name, options] of [
    ['an export', {}],
    ['a backup', { backup: { program: '1.0.0', createdAt: 0 } }],
  ] as const) {
    it(`reads ${name}, and refuses it if it ends at any other byte`, async () => {
      const file = await fileOf(options)
      assert.deepEqual(await read(file), [entry])
      for (let length = 0; length < file.length; length += 1)
        await assert.rejects(read(file.subarray(0, length)), { name: 'DumpError', message: /incomplete/ })
      for (const end of ['\0', '\n', '{}\n'])
        await assert.rejects(read(Buffer.concat([file, Buffer.from(end)])), { name: 'DumpError' })
    })
  }
})
