/** The server that is killed: it counts slowly, and tells its webhooks of every number. SQLite with full durability. */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

const [, , port = '0', file = './push.db'] = process.argv

/** Goes on where the log ends, so that each number is there exactly once. */
const counter: Agent = {
  resume: 'rerun',
  async *run({ text, resumed }: Turn): AsyncGenerator<Report> {
    const written = resumed?.task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
    const until = Number(text)
    for (let n = written.split(' ').length - 1; n < until; n += 1) {
      if (n % 3 === 0) await sleep(5)
      yield artifact('count', { text: `${n} `, append: n > 0, last: n === until - 1 })
    }
  },
}

const server = await serve({
  port: Number(port),
  store: sqliteStore({ file, durability: 'full' }),
  agents: { counter },
  // Patience of a kind that fits a test: many quick tries instead of nine slow ones.
  push: { allow: ['127.0.0.1'], triggers: 'all', timeoutMs: 250, scheduleMs: Array.from({ length: 500 }, () => 20) },
  log: { debug() {}, info() {}, warn: console.error, error: console.error },
})
process.send?.({ port: server.port })
