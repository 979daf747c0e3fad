/**
 * `npm run test:stress`: every suite once, in its quick mode, beside four busy loops. A test that passes on an idle machine and fails
 * here waits for a time where it should wait for an event. Takes the arguments of `npm test` (`npm run test:stress -- fault-injection`).
 *
 * The loops end with this process, however it ends.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'

const loops = 4
/** A loop with another parent has outlived this process. */
const busyLoop = `
  const parent = process.ppid
  for (;;) {
    const until = performance.now() + 100
    while (performance.now() < until);
    if (process.ppid !== parent) process.exit()
  }`

const busy = Array.from({ length: loops }, () => spawn(process.execPath, ['-e', busyLoop], { stdio: 'ignore' }))
const { PARLEY_FULL: _, ...env } = process.env
const suites = spawn(process.execPath, [join(import.meta.dirname, 'test.ts'), ...process.argv.slice(2)], {
  stdio: ['ignore', 'inherit', 'inherit'],
  // A group of its own, so that a signal to us ends all that it started.
  detached: true,
  env: { ...env, PARLEY_STRESS: busy.map(({ pid }) => pid).join() },
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    endGroup(suites)
    process.exit(1)
  })
}
process.once('exit', () => {
  for (const loop of busy) loop.kill('SIGKILL')
})
suites.once('error', (reason) => {
  console.error(reason)
  process.exit(1)
})
suites.once('close', (code) => process.exit(code ?? 1))

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // It has ended.
  }
}
