/** The agents that the page calls, in a process that can be killed: SQLite, a given port, one origin that may call. */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact, fail } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

const [, , port = '0', file = './browser.db', origin = ''] = process.argv

/** Continues where the log ends, so that the log has each number exactly once. */
const counter: Agent = {
  resume: 'rerun',
  async *run({ text, resumed, signal }: Turn): AsyncGenerator<Report> {
    const written = resumed?.task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
    const until = Number(text)
    for (let n = written.split(' ').length - 1; n < until; n += 1) {
      await sleep(10, undefined, { signal })
      yield artifact('count', { text: `${n} `, append: n > 0, last: n === until - 1 })
    }
  },
}

const server = await serve({
  port: Number(port),
  store: sqliteStore(file),
  cors: [origin],
  agents: {
    echo: { name: 'Echo', agent: ({ text }) => `You said: ${text}` },
    counter: { name: 'Counter', agent: counter },
    grump: { name: 'Grump', agent: () => fail('Not today') },
  },
})
process.send?.({ url: server.url })
