/** A process that is killed while it writes: every acknowledged append is stored afterwards, complete and once. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { assertAppended, chunks, createTask } from '../../testing/store-contract/harness.ts'
import { sqliteStore } from './index.ts'

const isFull = process.env['PARLEY_FULL'] === '1'
const killRounds = isFull ? 150 : 4

const loadFlag = '--load-store'
const toLoad = process.argv.indexOf(loadFlag)
if (toLoad > 0) void load(process.argv[toLoad + 1] as string)
else describeCrash()

/** The child: sixteen writers, each creating one task after the other, printing an append only when it was acknowledged. */
async function load(file: string): Promise<void> {
  const store = sqliteStore(file)
  const write = async (): Promise<never> => {
    for (;;) {
      const task = await createTask(store, {}, { take: { holder: 'child', ttlMs: Infinity }, records: chunks('1') })
      tell(`${task.id} 1\n`)
      let head = 1
      while (head < 20) {
        const records = chunks(...Array.from({ length: 1 + (head % 3) }, (_, n) => `${head + n + 1}`))
        // Not awaited: it must be durable no later than the append.
        void store.kv.write('heads', { key: task.id, value: head + records.length })
        ;({ head } = await assertAppended(store, task.id, { expectedSeq: head, records }))
        tell(`${task.id} ${head}\n`)
      }
    }
  }
  await Promise.all(Array.from({ length: 16 }, write))
}

/** The parent may be slower than the store: writing to a full pipe is retried. So short a line is written atomically. */
function tell(line: string): void {
  for (;;) {
    try {
      writeSync(1, line)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'EAGAIN') throw error
    }
  }
}

/** Returns the last acknowledged head of each task. */
async function killWhileLoading(file: string, afterLines: number): Promise<ReadonlyMap<string, number>> {
  const child = spawn(process.execPath, ['--conditions=parley-source', import.meta.filename, loadFlag, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'close')
  let output = ''
  let lines = 0
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString()
    lines += data.toString().split('\n').length - 1
    if (lines >= afterLines) child.kill('SIGKILL')
  })
  const [code, signal] = (await gone) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `it ended by itself with ${code}`)
  const heads = new Map<string, number>()
  for (const line of output.split('\n').slice(0, -1)) {
    const [id, head] = line.split(' ') as [string, string]
    heads.set(id, Math.max(heads.get(id) ?? 0, Number(head)))
  }
  return heads
}

function describeCrash(): void {
  describe('a SQLite store whose process was killed', () => {
    it('has every acknowledged append, complete, in order and once, after repeated kills', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'parley-'))
      const file = join(directory, 'tasks.db')
      const acknowledged = new Map<string, number>()
      try {
        for (const afterLines of isFull ? [1, 37, 400, 2_000] : [1, 400]) {
          for (const [id, head] of await killWhileLoading(file, afterLines)) acknowledged.set(id, head)
          const store = sqliteStore(file)
          for (const [id, head] of acknowledged) {
            const log = await store.tasks.read(id, 0)
            assert.ok(log.length >= head, `task ${id} lost records: ${log.length} of ${head}`)
            assert.equal((await store.tasks.load(id))?.head, log.length)
            if (log.length > 1) assert.ok(Number((await store.kv.read('heads', id))?.value) >= log.length)
            assert.ok(log.every(({ seq, body }, n) => seq === n + 1 && JSON.stringify(body).includes(`"${n + 1}"`)))
          }
          const { total } = await store.tasks.list({ tenant: 'acme', agent: 'echo', owner: 'alice', limit: 1 })
          const orphans = await store.tasks.claimOrphans('next', Date.now(), Infinity, 100_000)
          assert.equal(orphans.length, total)
          await store.close()
        }
        assert.ok(acknowledged.size > 4)
      } finally {
        await rm(directory, { recursive: true })
      }
    })

    it('is never refused as damaged, whenever it was killed', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'parley-'))
      const file = join(directory, 'tasks.db')
      try {
        for (let round = 0; round < killRounds; round += 1) {
          // Long rounds reach checkpoints; short ones kill the start itself.
          const heads = await killWhileLoading(file, round % 10 === 3 ? 6_000 : 1 + ((round * 97) % 300))
          // Every other time the next process finds what this one left, without a clean close in between.
          if (round % 2 === 0) continue
          const store = sqliteStore(file)
          for (const [id, head] of heads) assert.ok(((await store.tasks.load(id))?.head ?? 0) >= head)
          await store.close()
        }
      } finally {
        await rm(directory, { recursive: true })
      }
    })
  })
}
