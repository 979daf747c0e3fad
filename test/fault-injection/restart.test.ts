/** Our server with SQLite, stopped during a stream and restarted at the same port. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import type { Agent } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { Server } from '@parley/a2a/node'
import { faultCase } from './fault-case.ts'

const count = 12
const numbers = Array.from({ length: count }, (_, index) => `${index + 1} `)

/** Counts, and continues after a restart. Waits in the middle for `go`. */
function counter(go: Promise<void>): Agent {
  return {
    resume: 'rerun',
    async *run({ resumed }) {
      const said = resumed?.task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
      for (const number of numbers.slice(said.split(' ').length - 1)) {
        if (number === '7 ') await go
        yield number
      }
    },
  }
}

for (const binding of ['JSONRPC', 'HTTP+JSON']) {
  for (const version of ['1.0', '0.3'] as const) {
    describe(`our server, ${version} over ${binding}`, () => {
      faultCase('delivers each number once when it restarts during a stream [B-98 B-109]', async (stage) => {
        const { signal } = stage
        const dataDir = mkdtempSync(join(tmpdir(), 'parley-restart-'))
        const log = { debug() {}, info() {}, warn() {}, error() {} }
        const open = (agent: Agent, port = 0): Promise<Server> =>
          serve({ agent, port, dataDir, log, drainMs: 0, versions: [version] })
        const first = await open(counter(new Promise(() => {})))
        let second: Server | undefined
        stage.after(async () => {
          await first.close()
          await second?.close()
          rmSync(dataDir, { recursive: true, force: true })
        })
        const agent = await stage.connect(first.url, {
          prefer: [binding],
          limits: { attempts: 20, firstDelayMs: 10, maxDelayMs: 100 },
        })
        const chunks: string[] = []
        for await (const chunk of agent.stream('count', { signal }).text()) {
          if (chunks.push(chunk) !== 6) continue
          await first.close()
          second = await open(counter(Promise.resolve()), first.port)
        }
        assert.deepEqual(chunks.join(''), numbers.join(''))
      })
    })
  }
}
