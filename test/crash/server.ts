/**
 * The server that is killed: agents of each kind of resumption, over SQLite with full durability: the store of the SDK, or the log
 * store of docs/guides/write-a-store.md.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact, inputRequired } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { LogStore } from '@parley/a2a/stores'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

const [, , port = '0', file = './crash.db', worker = '', kind = 'sqlite'] = process.argv

/** Continues where the log ends, so that the log has each number exactly once. */
const counter: Agent = {
  resume: 'rerun',
  async *run({ text, resumed }: Turn): AsyncGenerator<Report> {
    const written = resumed?.task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
    const until = Number(text)
    for (let n = written.split(' ').length - 1; n < until; n += 1) {
      if (n % 3 === 0) await sleep(4)
      yield artifact('count', { text: `${n} `, append: n > 0, last: n === until - 1 })
    }
  },
}

/** Cannot be resumed: a crash fails it, with a reason. */
async function* fragile({ text }: Turn): AsyncGenerator<Report> {
  for (let n = 0; n < Number(text); n += 1) {
    await sleep(4)
    yield `${n} `
  }
}

/** Two turns: asks for input, then answers with it. */
const asker: Agent = {
  resume: 'rerun',
  async *run({ text, history }: Turn): AsyncGenerator<Report> {
    const said = (await history()).filter(({ role }) => role === 'ROLE_USER')
    await sleep(2)
    yield said.length < 2 ? inputRequired('And?') : text
  },
}

/** Its work runs in another process and continues without this one. It must be started once, whatever happens here. */
const remote: Agent = { resume: 'reattach', run: startAndWatch, reattach: startAndWatch }

async function* startAndWatch({ task, resumed, checkpoint }: Turn): AsyncGenerator<Report> {
  const job = (resumed?.checkpoint as string | undefined) ?? task.id
  await checkpoint(job)
  // Starting is idempotent by the job's id: a crash between the checkpoint and the call is a repeat of it.
  await fetch(`${worker}/start?job=${job}`, { method: 'POST' })
  for (;;) {
    const { done } = (await (await fetch(`${worker}/job?job=${job}`)).json()) as { done: boolean }
    if (done) break
    await sleep(10)
  }
  yield `did ${job}`
}

const server = await serve({
  port: Number(port),
  store: kind === 'log' ? await openLogStore() : sqliteStore({ file, durability: 'full' }),
  agents: { counter, fragile, asker, remote },
  log: { debug() {}, info() {}, warn: console.error, error() {} },
})
process.send?.({ port: server.port })

async function openLogStore(): Promise<LogStore> {
  const { createTables, openSqlite, taskStore } = await import('../stores/guide-store.ts')
  const db = openSqlite(file)
  await createTables(db)
  return taskStore(db)
}
