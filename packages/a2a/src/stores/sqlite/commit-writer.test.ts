import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openSqliteDatabase } from './database.ts'
import { createSqliteWriter } from './commit-writer.ts'

function setUp() {
  const database = openSqliteDatabase(':memory:', 0)
  database.exec('CREATE TABLE words (word TEXT NOT NULL UNIQUE) STRICT')
  const insert = database.prepare('INSERT INTO words VALUES (?)')
  const all = database.prepare<{ word: string }>('SELECT word FROM words ORDER BY rowid')
  const events: string[] = []
  const commits: string[] = []
  let refusal: Error | undefined
  const writer = createSqliteWriter(database, {
    begin: () => {
      events.push('begin')
      if (refusal) throw refusal
    },
    finish: () => void events.push('finish'),
    rollback: () => void events.push('abandon'),
    beforeCommit: () => commits.push(database.inTransaction ? 'before' : 'late'),
    afterCommit: () => commits.push(database.inTransaction ? 'early' : 'after'),
  })
  return {
    database,
    writer,
    events,
    commits,
    add: (...words: readonly string[]) => writer.write(() => words.map((word) => insert.run(word)).length),
    words: () => all.all().map(({ word }) => word),
    refuse: (error: Error | undefined) => void (refusal = error),
  }
}

describe('the commit writer', () => {
  it('commits the jobs of one turn together, and resolves each with its own result', async () => {
    const { add, words, events } = setUp()
    assert.deepEqual(await Promise.all([add('a'), add('b', 'c'), add()]), [1, 2, 0])
    assert.deepEqual(words(), ['a', 'b', 'c'])
    assert.deepEqual(events, ['begin', 'finish'])
  })

  it('waits a turn for jobs after the first, and only a few turns for a steady flow', async () => {
    const { add, events, words } = setUp()
    const first = add('a')
    setImmediate(() => void add('b'))
    await first
    assert.deepEqual(words(), ['a', 'b'])
    assert.deepEqual(events, ['begin', 'finish'])
    let added = 0
    const addMore = (): void => {
      added += 1
      void add(`more ${added}`)
      if (added < 100) setImmediate(addMore)
    }
    addMore()
    await add('c')
    assert.ok(added > 1 && added < 20, `${added} were added meanwhile`)
  })

  it('announces each commit before and after it, without rolled back jobs', async () => {
    const { add, commits, refuse } = setUp()
    await add('a')
    assert.deepEqual(commits, ['before', 'after'])
    refuse(new Error('taken over'))
    await assert.rejects(add('b'))
    assert.deepEqual(commits, ['before', 'after'])
  })

  it('resolves no write before the commit', async () => {
    const { writer, database, words } = setUp()
    const seen: unknown[] = []
    const written = writer.write(
      () => database.exec(`INSERT INTO words VALUES ('a')`),
      () => seen.push({ open: database.inTransaction, words: words() }),
    )
    assert.deepEqual(words(), [])
    await written
    assert.deepEqual(seen, [{ open: false, words: ['a'] }])
  })

  it('rejects a failed job and keeps the others, without a trace of the failed one', async () => {
    const { add, words, events } = setUp()
    const results = await Promise.allSettled([add('a'), add('b', 'a'), add('c')])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(words(), ['a', 'c'])
    assert.deepEqual(events, ['begin', 'abandon', 'begin', 'finish', 'abandon', 'finish'])
    await add('d')
    assert.deepEqual(words(), ['a', 'c', 'd'])
  })

  it('rejects all jobs when the transaction cannot begin, and works again afterwards', async () => {
    const { add, words, refuse, database } = setUp()
    refuse(new Error('taken over'))
    const results = await Promise.allSettled([add('a'), add('b')])
    for (const result of results) assert.match(String(result.status === 'rejected' && result.reason), /taken over/)
    assert.equal(database.inTransaction, false)
    refuse(undefined)
    await add('c')
    assert.deepEqual(words(), ['c'])
  })

  it('rejects all jobs when an error ends the transaction', async () => {
    const { add, words, writer, database } = setUp()
    const results = await Promise.allSettled([
      add('a'),
      writer.write(() => {
        database.exec('ROLLBACK')
        throw new Error('the disk is full')
      }),
      add('b'),
    ])
    for (const result of results) assert.match(String(result.status === 'rejected' && result.reason), /disk is full/)
    assert.deepEqual(words(), [])
    await add('c')
    assert.deepEqual(words(), ['c'])
  })

  it('writes jobs that a result triggers in the next commit', async () => {
    const { add, words, events } = setUp()
    await add('a').then(() => add('b'))
    assert.deepEqual(words(), ['a', 'b'])
    assert.deepEqual(events, ['begin', 'finish', 'begin', 'finish'])
  })

  it('writes pending jobs at once on flush', async () => {
    const { add, writer, words } = setUp()
    const waiting = add('a')
    writer.flush()
    assert.deepEqual(words(), ['a'])
    assert.equal(await waiting, 1)
  })
})

describe('large jobs of the commit writer', () => {
  const large = 1_000_000

  it('are separate transactions, which small ones do not wait for', async () => {
    const { add, words, writer, database } = setUp()
    const order: string[] = []
    const addLarge = (word: string): Promise<void> =>
      writer
        .write(() => database.exec(`INSERT INTO words VALUES ('${word}')`), undefined, large)
        .then(() => void order.push(word))
    await Promise.all([addLarge('A'), addLarge('B'), add('c').then(() => void order.push('c'))])
    assert.equal(order[0], 'c')
    assert.deepEqual(words().toSorted(), ['A', 'B', 'c'])
    assert.ok(words().indexOf('A') < words().indexOf('B'))
  })

  it('fail alone, and later jobs are written', async () => {
    const { words, writer, database } = setUp()
    const failing = writer.write(
      () => {
        throw new Error('broken')
      },
      undefined,
      large,
    )
    const next = writer.write(() => database.exec(`INSERT INTO words VALUES ('next')`), undefined, large)
    await assert.rejects(failing, { message: 'broken' })
    await next
    assert.deepEqual(words(), ['next'])
  })

  it('are written at once and in order on flush, and resolved even if the database is closed', async () => {
    const { writer, words, database } = setUp()
    const written = ['A', 'B', 'C'].map((word) =>
      writer.write(() => database.exec(`INSERT INTO words VALUES ('${word}')`), undefined, large),
    )
    writer.flush()
    assert.deepEqual(words(), ['A', 'B', 'C'])
    database.close()
    await Promise.all(written)
  })
})
