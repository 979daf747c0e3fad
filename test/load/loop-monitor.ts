/**
 * Loaded into the hub: writes the most CPU time that the main thread took between two timers, four times a second. Unlike latency,
 * it does not depend on what else the machine does.
 */
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.env['LOOP_MONITOR']
if (file !== undefined && isMainThread) watch(file)

function watch(target: string): void {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let last = cpuMs()
  let longest = 0
  setInterval(() => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }, 5).unref()
  setInterval(() => {
    appendFileSync(target, `${Date.now()} ${longest.toFixed(1)}\n`)
    longest = 0
    last = cpuMs()
  }, 250).unref()
}
