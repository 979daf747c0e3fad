/**
 * Work that outlives the process. Kill it during a task (`kill -9`) and restart it: the task continues, and a
 * client that resumes its stream with `Last-Event-ID` sees each step once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { cursor } from '@parley/a2a/server'

/** Long enough to kill the program by hand during a task. */
const stepMs = Number(process.env['STEP_MS'] ?? 2_000)
const steps = ['fetch', 'clean', 'sort', 'sum', 'draw']

async function* run({ resumed, checkpoint, signal }: Turn): AsyncGenerator<Report> {
  // The checkpoint of the last run; `undefined` the first time.
  const done = typeof resumed?.checkpoint === 'number' ? resumed.checkpoint : 0
  for (let step = done; step < steps.length; step += 1) {
    await sleep(stepMs, undefined, { signal })
    yield artifact('report', { text: `${steps[step]}\n`, append: step > 0, last: step === steps.length - 1 })
    await checkpoint(step + 1)
  }
}

const server = await serve({
  name: 'Stepper',
  port: Number(process.env.PORT ?? 3000),
  agent: { resume: 'rerun', run },
  // Clients send a message again if its response was lost: the card says that it opens one task.
  extensions: [cursor()],
})
console.log(server.url)
console.log(`During a task, kill it: kill -9 ${process.pid}`)
