/** `parley erase` and `parley prune` on a store that no hub has open. test/erase covers running hubs. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { runCli } from './run.ts'
import { createTestTerminal, type TestTerminal } from './testing/test-terminal.ts'

const done = { state: 'TASK_STATE_COMPLETED', timestamp: '2020-01-01T00:00:00.000Z' } as const
const statusAt = Date.parse(done.timestamp)

async function directory(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-erase-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const store = sqliteStore(join(folder, 'parley.db'))
  for (const [id, owner] of [
    ['a', 'alice'],
    ['b', 'agent:boss|alice'],
    ['c', 'bob'],
  ] as const) {
    const create = { id, owner, tenant: '', agent: 'echo', contextId: 'x', status: done, statusAt, createdAt: statusAt }
    const records = [{ at: statusAt, body: { type: 'status', status: done } as const }]
    await store.tasks.append(id, { expectedSeq: 0, create, records })
  }
  await store.close()
  return folder
}

async function remaining(folder: string): Promise<readonly string[]> {
  const store = sqliteStore(join(folder, 'parley.db'))
  const { tasks } = await store.tasks.search({ limit: 10, order: 'oldest' })
  await store.close()
  return tasks.map(({ id }) => id)
}

/** `undefined`: no terminal. */
function terminalThat(typed: string | undefined, cwd?: string): TestTerminal {
  const terminal = createTestTerminal(cwd === undefined ? {} : { cwd })
  if (typed === undefined) return { ...terminal, isErrorTerminal: false }
  terminal.input.end(`${typed}\n`)
  return terminal
}

describe('parley erase', () => {
  it('shows what would go and changes nothing with --dry-run', async (t) => {
    const folder = await directory(t)
    const terminal = createTestTerminal()
    assert.equal(await runCli(['erase', '--data', folder, '--caller', 'alice', '--dry-run'], terminal), 0)
    assert.match(terminal.printed.join('\n'), /Would be erased:\n +2 tasks/)
    assert.match(terminal.printed.join('\n'), /Not included:\n {2}backups/)
    assert.deepEqual(await remaining(folder), ['a', 'b', 'c'])
  })

  it('erases after the caller was typed, tasks on its behalf included, and prints a receipt', async (t) => {
    const folder = await directory(t)
    const terminal = terminalThat('alice')
    assert.equal(await runCli(['erase', '--data', folder, '--caller', 'alice'], terminal), 0)
    const said = terminal.printed.join('\n')
    assert.match(said, /^Receipt [0-9a-f-]{36}, finished 2.*requested by operator\nPseudonym in the audit: erased:/)
    assert.match(said, / 2 tasks\n/)
    assert.match(said, /Compacted: yes/)
    assert.ok(!said.includes('alice'))
    assert.deepEqual(await remaining(folder), ['c'])
  })

  it('asks the operator, and erases nothing without a confirmation', async (t) => {
    const folder = await directory(t)
    const mistyped = terminalThat('alcie')
    assert.equal(await runCli(['erase', '--data', folder, '--caller', 'alice'], mistyped), 1)
    assert.match(mistyped.errors.join('\n'), /Not confirmed\. Nothing was erased/)
    assert.equal(await runCli(['erase', '--data', folder, '--caller', 'alice'], terminalThat(undefined)), 2)
    assert.equal(await runCli(['erase', '--data', folder], createTestTerminal()), 2)
    assert.deepEqual(await remaining(folder), ['a', 'b', 'c'])
  })

  it('reports without compaction, as JSON, and does nothing when repeated', async (t) => {
    const folder = await directory(t)
    const args = ['erase', '--data', folder, '--caller', 'bob', '--yes', '--no-compact', '-o', 'json']
    for (const tasks of [1, 0]) {
      const terminal = terminalThat(undefined)
      assert.equal(await runCli(args, terminal), 0)
      const receipt = JSON.parse(terminal.printed.join('\n'))
      assert.equal(receipt.counts.tasks, tasks)
      assert.equal(receipt.compaction, undefined)
    }
    assert.deepEqual(await remaining(folder), ['a', 'b'])
  })

  it('fails if the store was not compacted, unless the operator left it out', async (t) => {
    const folder = await directory(t)
    const backup = new DatabaseSync(join(folder, 'parley.db'), { readOnly: true })
    backup.exec('BEGIN')
    backup.prepare('SELECT count(*) FROM sqlite_schema').get()
    const args = ['erase', '--data', folder, '--yes', '--caller']
    const refused = terminalThat(undefined)
    assert.equal(await runCli([...args, 'alice'], refused), 1)
    assert.match(refused.printed.join('\n'), / 2 tasks\n[^]*Compacted: no: another process reads the file/)
    assert.match(
      refused.errors.join('\n'),
      /erased, but the store was not compacted.*may still contain text of the caller/,
    )
    assert.equal(await runCli([...args, 'bob', '--no-compact'], terminalThat(undefined)), 0)
    backup.close()
    const repeated = terminalThat(undefined)
    assert.equal(await runCli([...args, 'alice'], repeated), 0)
    assert.match(repeated.printed.join('\n'), /Compacted: yes/)
    assert.deepEqual(repeated.errors, [])
  })

  it('ends with an error if the erasure cannot be finished', async (t) => {
    const folder = await directory(t)
    const store = sqliteStore(join(folder, 'parley.db'))
    await store.kv.write('audit', { key: '0001', value: 'damaged' })
    await store.close()
    const terminal = terminalThat(undefined)
    assert.equal(await runCli(['erase', '--data', folder, '--caller', 'alice', '--yes'], terminal), 1)
    assert.match(
      terminal.errors.join('\n'),
      /^Erasure [0-9a-f-]{36} is not finished: .+ Repeat the command to continue/,
    )
  })

  it('refuses what is no caller, as the admin API does', async (t) => {
    const folder = await directory(t)
    for (const [caller, expected] of [
      ['admin', /is the operator, not a caller/],
      ['x'.repeat(1_025), /is longer than 1024 characters/],
    ] as const) {
      const terminal = createTestTerminal()
      assert.equal(await runCli(['erase', '--data', folder, '--caller', caller, '--yes'], terminal), 2)
      assert.match(terminal.errors.join('\n'), expected)
    }
  })

  it('creates no store where there is none', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-erase-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const terminal = createTestTerminal()
    assert.equal(await runCli(['erase', '--data', folder, '--caller', 'x', '--yes'], terminal), 1)
    assert.match(terminal.errors.join('\n'), /^No store at /)
  })
})

describe('parley prune', () => {
  it('shows what would go, then removes it', async (t) => {
    const folder = await directory(t)
    const config = join(folder, 'parley.yaml')
    writeFileSync(config, 'retention: { finished: 30d }\nagents: { echo: { kind: demo, agent: echo } }\n')
    const args = ['prune', '-c', config, '--data', folder]
    const dry = createTestTerminal()
    assert.equal(await runCli([...args, '--dry-run'], dry), 0)
    assert.match(
      dry.printed.join('\n'),
      /Would be removed:\nKIND +ROWS +BYTES +OLDEST +NEWEST\ntasks +3 +.*2020-01-01T00/,
    )
    assert.deepEqual(await remaining(folder), ['a', 'b', 'c'])
    const real = createTestTerminal()
    assert.equal(await runCli(args, real), 0)
    assert.match(real.printed[0] ?? '', /^Removed:/)
    assert.deepEqual(await remaining(folder), [])
    const again = createTestTerminal()
    await runCli([...args, '--dry-run'], again)
    assert.deepEqual(again.printed, ['Nothing is older than the retention settings allow.'])
  })

  it('keeps audit entries that have not expired if no configuration says how long they are kept', async (t) => {
    const folder = await directory(t)
    const file = join(folder, 'parley.db')
    const store = sqliteStore(file)
    const value = [{ at: statusAt, event: 'key.created' }]
    await store.kv.write('audit', { key: '0001', value, expiresAt: Date.now() + 86_400_000 })
    await store.close()
    const terminal = createTestTerminal()
    assert.equal(await runCli(['prune', '--data', folder], terminal), 0)
    assert.deepEqual(terminal.printed, ['Nothing is older than the retention settings allow.'])
    const reopened = sqliteStore(file)
    assert.ok(await reopened.kv.read('audit', '0001'))
    await reopened.close()
  })
})
